"""Means over the seeds: ``python -m studies.centroids_per_class.summary`` puts the table into the README."""

from collections import defaultdict
from statistics import mean

from studies.centroids_per_class.measure import DATASETS, ROWS
from studies.tables import stored_rows, table, write_tables

README = ROWS.with_name("README.md")


def tables() -> dict[str, str]:
    """One line for each setting: test accuracy (training accuracy, alignment) on each dataset."""
    rows: dict[tuple[str, ...], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in stored_rows(ROWS):
        rows[row["circuit"], row["k"], row["class_score"]][row["dataset"]].append(row)
    lines = [
        [f"{circuit}, {k}" if k == "1" else f"{circuit}, {k}, {score}", *(_cell(found[name]) for name in DATASETS)]
        for (circuit, k, score), found in sorted(rows.items())
    ]
    return {"centroids": table(["circuit, k, score", *DATASETS], lines)}


def _cell(rows: list[dict[str, str]]) -> str:
    if not rows:
        return "–"
    test, train, alignment = (
        mean(float(row[name]) for row in rows) for name in ("accuracy", "train_accuracy", "alignment")
    )
    return f"{test:.3f} ({train:.3f}, {alignment:.3f})"


def main() -> None:
    """Writes the table into the README."""
    write_tables(README, tables())


if __name__ == "__main__":
    main()
