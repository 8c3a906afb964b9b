"""Whether several centroids per class help: ``python -m studies.centroids_per_class.measure`` adds missing rows.

Rows say what a setting scored with one seed on the parts that it was trained on and tested on.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcquack import McQuackClassifier, datasets
from mcquack.kernels import Alignment
from mcquack.simulators import StatevectorEngine
from studies.tables import growing_rows

ROWS = Path(__file__).with_name("rows.csv")
KEYS = ("circuit", "k", "class_score", "dataset", "seed")
FIELDS = (*KEYS, "alignment", "train_accuracy", "accuracy", "n_parameters", "best_epoch", "seconds")
SETTINGS = ((1, "max"), (2, "max"), (2, "sum"), (3, "max"), (3, "sum"))
SEEDS = (0, 1, 2)
# A deep circuit can gather a class around one point by itself; one pass over the features often cannot.
CIRCUITS: dict[str, dict[str, Any]] = {"default": {}, "one repetition": {"n_repetitions": 1}}
# Sixty epochs of the pictures take some six seconds; nearly all fits are best in the last few of them.
DATASETS: dict[str, dict[str, Any]] = {
    "iris3": {},
    "two_curves_diff_10": {},
    "hidden_manifold_10": {},
    "mnist10": {"epochs": 60},
}


def loaded(name: str, seed: int) -> datasets.Dataset:
    """Drawn anew for each seed where it is a draw; the files are found through the variable MCQUACK_DATA."""
    return datasets.load(name, seed=seed if datasets.describe(name).is_seeded else 0)


def runs(dataset: str) -> Iterator[tuple[str, int, str]]:
    """Circuit, k and score; the pictures need many layers for one pass already."""
    for circuit in CIRCUITS if dataset != "mnist10" else ("default",):
        yield from ((circuit, k, class_score) for k, class_score in SETTINGS)


def measured(dataset: datasets.Dataset, settings: dict[str, Any]) -> dict[str, Any]:
    """One fit and what it scored."""
    (X, y), (X_test, y_test) = dataset.parts["train"], dataset.parts["test"]
    model = McQuackClassifier(engine=StatevectorEngine(n_threads=1), **DATASETS[dataset.name], **settings)
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    kept = model.history_[model.best_epoch_ - 1]
    return {
        "alignment": round(float(kept["alignment"] or 0), 4),
        "train_accuracy": round(model.score(X, y), 4),
        "accuracy": round(model.score(X_test, y_test), 4),
        "n_parameters": model.n_parameters_,
        "best_epoch": model.best_epoch_,
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Appends one line for each missing run; interrupt it at will."""
    with growing_rows(ROWS, FIELDS, keys=KEYS) as rows:
        for seed in SEEDS:
            for name in DATASETS:
                dataset = loaded(name, seed)
                for circuit, k, class_score in runs(name):
                    key = (circuit, k, class_score, name, seed)
                    if key in rows:
                        continue
                    settings = {"n_centroids_per_class": k, "loss": Alignment(class_score), "random_state": seed}
                    row = measured(dataset, settings | CIRCUITS[circuit])
                    rows.add(dict(zip(KEYS, key, strict=True)) | row)


if __name__ == "__main__":
    main()
