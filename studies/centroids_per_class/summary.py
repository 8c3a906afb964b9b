"""Means over the seeds: ``python -m studies.centroids_per_class.summary`` prints the table of the README."""

import csv
from collections import defaultdict
from statistics import mean

from studies.centroids_per_class.measure import DATASETS, ROWS


def main() -> None:
    """Prints one line for each setting: test accuracy (training accuracy, alignment) on each dataset."""
    rows: dict[tuple[str, ...], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    with ROWS.open(newline="") as stream:
        for row in csv.DictReader(stream):
            rows[row["circuit"], row["k"], row["class_score"]][row["dataset"]].append(row)
    print("| circuit | k, score | " + " | ".join(DATASETS) + " |\n|" + "---|" * (2 + len(DATASETS)))  # noqa: T201
    for (circuit, k, class_score), by_dataset in sorted(rows.items()):
        name = k if k == "1" else f"{k}, {class_score}"
        print(f"| {circuit} | {name} | " + " | ".join(_cell(by_dataset[dataset]) for dataset in DATASETS) + " |")  # noqa: T201


def _cell(rows: list[dict[str, str]]) -> str:
    if not rows:
        return "–"
    test, train, alignment = (
        mean(float(row[name]) for row in rows) for name in ("accuracy", "train_accuracy", "alignment")
    )
    return f"{test:.3f} ({train:.3f}, {alignment:.3f})"


if __name__ == "__main__":
    main()
