"""Which defaults suit many datasets: ``python -m studies.defaults.measure`` adds the rows that are missing.

Rows say what a setting scored on a test part with one seed.
"""

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sklearn.metrics import accuracy_score, balanced_accuracy_score

from mcquack import McQuackClassifier
from mcquack.models import preset
from studies.defaults.data import IMAGE_SETS, splits

ROWS = Path(__file__).with_name("rows.csv")
FIELDS = ("setting", "dataset", "seed", "accuracy", "balanced_accuracy", "epochs", "best_epoch", "seconds")
SEEDS = (0, 1, 2)

SLOWER: dict[str, Any] = {"lr_ka": 1e-2, "lr_co": 1e-2}
# Each is the estimator's defaults with these values changed.
CHANGES: tuple[dict[str, Any], ...] = (
    {"lr_ka": 3e-2, "lr_co": 3e-2},
    {"lr_ka": 2e-2, "lr_co": 2e-2},
    SLOWER,
    {**SLOWER, "n_repetitions": 1},
)
# Tried only where a fit takes a second or so.
MORE_CHANGES: tuple[dict[str, Any], ...] = (
    {**SLOWER, "n_repetitions": 3},
    {"lr_ka": 3e-3, "lr_co": 3e-3},
    {**SLOWER, "decay_rate": 0.98},
    {**SLOWER, "decay_rate": 1.0},
    {**SLOWER, "batch_size": 32},
    {**SLOWER, "batch_size": 200},
    {**SLOWER, "init_strategy": "wx+b=0"},
    {**SLOWER, "init_small": False},
    {**SLOWER, "reg_param_weights": 1e-4, "reg_param_bias": 1e-4},
    {**SLOWER, "epochs": 400, "patience": 50, "decay_rate": 1.0},
    {**SLOWER, "validation_fraction": 0.15},
    {"optimizer": "sgd", "lr_ka": 1e-1, "lr_co": 1e-1},
)


def settings(dataset: str) -> Iterator[dict[str, Any]]:
    """The paper's presets, the defaults, and changes of these."""
    yield preset("paper")
    if dataset not in IMAGE_SETS:
        yield preset("qml")
    yield from CHANGES if dataset in IMAGE_SETS else CHANGES + MORE_CHANGES


def _done() -> set[tuple[str, str, str]]:
    if not ROWS.exists():
        return set()
    with ROWS.open(newline="") as stream:
        return {(row["setting"], row["dataset"], row["seed"]) for row in csv.DictReader(stream)}


def main() -> None:
    """Appends one line for each missing run; interrupt it at will."""
    done = _done()
    with ROWS.open("a", newline="") as stream:
        rows = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if not done:
            rows.writeheader()
        for seed in SEEDS:
            for name, split in splits(seed):
                for setting in settings(name):
                    key = json.dumps(setting, sort_keys=True)
                    if (key, name, str(seed)) in done:
                        continue
                    started = time.perf_counter()
                    model = McQuackClassifier(**setting, random_state=seed).fit(split.X_train, split.y_train)
                    seconds = time.perf_counter() - started
                    predicted = model.predict(split.X_test)
                    scores = accuracy_score(split.y_test, predicted), balanced_accuracy_score(split.y_test, predicted)
                    outcome = (
                        *(round(score, 4) for score in scores),
                        model.n_iter_,
                        model.best_epoch_,
                        round(seconds, 3),
                    )
                    rows.writerow(dict(zip(FIELDS, (key, name, seed, *outcome), strict=True)))
                    stream.flush()


if __name__ == "__main__":
    main()
