"""Means over the seeds: ``python -m studies.calibration.summary`` writes the table into the pages that show it."""

import csv
from pathlib import Path
from statistics import mean

from studies.calibration.measure import CALIBRATIONS, DATASETS, MODELS, ROWS
from studies.tables import table, with_tables

README = ROWS.with_name("README.md")
PAGES = (README, Path(__file__).parents[2] / "docs" / "models.md")
METRICS = {"log_loss": "log loss", "brier": "Brier", "ece": "ECE", "accuracy": "accuracy"}


def overview() -> str:
    """One line for each dataset, model and calibration, with the mean over seeds of every metric."""
    with ROWS.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    lines = []
    for key in ((d, m, c) for d in DATASETS for m in MODELS for c in CALIBRATIONS):
        found = [row for row in rows if (row["dataset"], row["model"], row["calibration"]) == key]
        dataset, model, calibration = key
        scores = (f"{mean(float(row[metric]) for row in found):.3f}" for metric in METRICS)
        lines.append([f"{dataset}, {model}, {calibration}", *scores])
    return table(["dataset, model, calibration", *METRICS.values()], lines)


def main() -> None:
    """Puts the table below its name."""
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf-8"), {"calibration": overview()}), encoding="utf-8")


if __name__ == "__main__":
    main()
