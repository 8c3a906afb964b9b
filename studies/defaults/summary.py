"""Mean balanced accuracy of each setting: ``python -m studies.defaults.summary`` prints the table of the README."""

import csv
import json
from collections import defaultdict
from statistics import mean

from mcquack.models import PRESETS
from studies.defaults.data import IMAGE_SETS
from studies.defaults.measure import ROWS


def _name(setting: str) -> str:
    values = json.loads(setting)
    for name, preset in PRESETS.items():
        if values == dict(preset) and values:
            return f'preset "{name}"'
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def main() -> None:
    """Prints one line for each setting, best first: mean over datasets without images, then the image sets."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, list[float]] = defaultdict(list)
    with ROWS.open(newline="") as stream:
        for row in csv.DictReader(stream):
            scores[row["setting"]][row["dataset"]].append(float(row["balanced_accuracy"]))
            if row["dataset"] not in IMAGE_SETS:
                seconds[row["setting"]].append(float(row["seconds"]))
    lines = []
    for setting, by_dataset in scores.items():
        means = {dataset: mean(values) for dataset, values in by_dataset.items()}
        small = mean(value for dataset, value in means.items() if dataset not in IMAGE_SETS)
        images = [f"{means[name]:.3f}" if name in means else "–" for name in IMAGE_SETS]
        lines.append((small, [_name(setting), f"{small:.3f}", *images, f"{mean(seconds[setting]):.1f}"]))
    header = ["setting", "eight small sets", *IMAGE_SETS, "seconds (small sets)"]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))  # noqa: T201
    for _, cells in sorted(lines, reverse=True, key=lambda line: line[0]):
        print("| " + " | ".join(cells) + " |")  # noqa: T201


if __name__ == "__main__":
    main()
