"""Means over the seeds: ``python -m studies.calibration.summary`` writes the table into the pages that show it."""

from pathlib import Path
from statistics import mean

from studies.calibration.measure import CALIBRATIONS, DATASETS, MODELS, ROWS
from studies.tables import stored_rows, table, write_tables

README = ROWS.with_name("README.md")
PAGES = (README, Path(__file__).parents[2] / "docs" / "models.md")
METRICS = {"log_loss": "log loss", "brier": "Brier", "ece": "ECE", "accuracy": "accuracy"}


def overview() -> str:
    """One line for each dataset, model and calibration, with the mean over seeds of every metric."""
    rows = stored_rows(ROWS)
    lines = []
    for key in ((d, m, c) for d in DATASETS for m in MODELS for c in CALIBRATIONS):
        found = [row for row in rows if (row["dataset"], row["model"], row["calibration"]) == key]
        dataset, model, calibration = key
        scores = (f"{mean(float(row[metric]) for row in found):.3f}" for metric in METRICS)
        lines.append([f"{dataset}, {model}, {calibration}", *scores])
    return table(["dataset, model, calibration", *METRICS.values()], lines)


def tables() -> dict[str, str]:
    """What the pages have from the rows, by the names of the places."""
    return {"calibration": overview()}


def main() -> None:
    """Writes the table into the pages."""
    for page in PAGES:
        write_tables(page, tables())


if __name__ == "__main__":
    main()
