"""Mean scores of each setting: ``python -m studies.defaults.summary`` puts the table into the README."""

import json
from collections import defaultdict
from statistics import mean
from typing import Any

from mcquack.models import PRESETS
from studies.defaults.data import PICTURES
from studies.defaults.measure import FORMER, OF_FEW, OF_PICTURES, ROWS, SETTINGS
from studies.tables import stored_rows, table, write_tables

README = ROWS.with_name("README.md")


def name_of(setting: dict[str, Any]) -> str:
    """What a setting changes of what the defaults were before."""
    for name, preset in PRESETS.items():
        if setting == dict(preset) and setting:
            return f'preset "{name}"'
    changed = {name: value for name, value in setting.items() if FORMER.get(name, "unsaid") != value}
    return ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "the defaults before"


def scores() -> dict[str, dict[str, list[tuple[float, float, float]]]]:
    """Balanced accuracy, AUC and seconds of all seeds, by setting and dataset."""
    known = {json.dumps(setting, sort_keys=True) for setting in SETTINGS + OF_FEW + OF_PICTURES}
    found: dict[str, dict[str, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    for row in stored_rows(ROWS):
        if row["setting"] in known:
            numbers = float(row["balanced_accuracy"]), float(row["auc"]), float(row["seconds"])
            found[row["setting"]][row["dataset"]].append(numbers)
    return found


def overview() -> str:
    """One line for each setting, best first on the sets without pictures."""
    lines = []
    for setting, by_dataset in scores().items():
        small = [[mean(part) for part in zip(*rows, strict=True)] for d, rows in by_dataset.items() if d != PICTURES]
        pictures = [mean(part) for part in zip(*by_dataset.get(PICTURES, ()), strict=True)]
        numbers = [mean(part) for part in zip(*small, strict=True)]
        texts = [f"{numbers[0]:.3f}", f"{numbers[1]:.3f}", f"{numbers[2]:.1f}"] if numbers else ["–"] * 3
        texts += [f"{pictures[0]:.3f}", f"{pictures[1]:.3f}", f"{pictures[2]:.1f}"] if pictures else ["–"] * 3
        lines.append((numbers[0] if numbers else pictures[0] - 1, [name_of(json.loads(setting)), *texts]))
    header = ["setting", "balanced accuracy", "AUC", "seconds", "pictures", "AUC", "seconds"]
    return table(header, [texts for _, texts in sorted(lines, reverse=True, key=lambda line: line[0])])


def tables() -> dict[str, str]:
    """What the README has from the rows, by the names of the places."""
    return {"overview": overview()}


def main() -> None:
    """Writes the table into the README."""
    write_tables(README, tables())


if __name__ == "__main__":
    main()
