"""Rows of the training study: ``python -m studies.hardware.training [--seeds 3]`` adds what ``training.csv`` lacks.

A model of 12 qubits and two layers is trained by counts alone on the noisy twin of a snapshot's best ring of 12, and
judged there too; an untrained model and one with exact derivatives stand beside it.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mcquack import McQuackClassifier, datasets, open_device
from studies.tables import growing_rows, stored_rows

ROWS = Path(__file__).parent / "training.csv"
DEVICE = "twin:fake_torino"
DATASETS = ("hidden_manifold_20", "linearly_separable_20", "two_curves_20")
SETTINGS: dict[str, Any] = {
    "n_qubits": 12,
    "n_repetitions": 1,
    "feature_map": "device",
    "batch_size": 10,
    "lr_ka": 0.03,
    "lr_co": 0.03,
    "patience": None,
    "epochs": 200,
    "loss": "alignment",
    "steps": "alternating",
}
SHOTS = 100
BUDGETS = (500_000, 2_000_000)
METHODS = ("spsa", "stochastic_shift")
KEYS = ("dataset", "method", "budget", "seed")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One model, trained in one way and judged on the device."""

    dataset: str
    method: str
    budget: int
    seed: int
    shots_spent: int = 0
    epochs: int = 0
    train_accuracy: float = 0.0
    test_accuracy: float = 0.0


def wanted(n_seeds: int) -> Iterator[Row]:
    """All rows of the study, without their results."""
    for seed in range(n_seeds):
        for dataset in DATASETS:
            yield Row(dataset=dataset, method="untrained", budget=0, seed=seed)
            yield Row(dataset=dataset, method="exact", budget=0, seed=seed)
            for budget in BUDGETS:
                for method in METHODS:
                    yield Row(dataset=dataset, method=method, budget=budget, seed=seed)


def measured(row: Row) -> Row:
    """The row with its results."""
    data = datasets.load(row.dataset)
    model = McQuackClassifier(**SETTINGS, random_state=row.seed)
    if row.method in METHODS:
        model.set_params(engine=open_device(DEVICE, shots=SHOTS, gradient=row.method, budget=row.budget, seed=row.seed))
    elif row.method == "untrained":
        model.set_params(epochs=0)
    else:
        model.set_params(epochs=50)
    model.fit(*data.train)
    model.set_params(engine=open_device(DEVICE, shots=SHOTS, seed=row.seed))
    return Row(
        dataset=row.dataset,
        method=row.method,
        budget=row.budget,
        seed=row.seed,
        shots_spent=model.shots_,
        epochs=model.n_iter_,
        train_accuracy=round(float(model.score(*data.train)), 4),
        test_accuracy=round(float(model.score(*data.test)), 4),
    )


def stored() -> list[Row]:
    """What was measured already."""
    kinds = {field.name: field.type for field in fields(Row)}
    return [Row(**{name: kind(line[name]) for name, kind in kinds.items()}) for line in stored_rows(ROWS)]


def main() -> None:
    """Adds the rows that are missing, one by one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    names = [field.name for field in fields(Row)]
    with growing_rows(ROWS, names, keys=KEYS) as rows:
        for row in wanted(parser.parse_args().seeds):
            if [getattr(row, name) for name in KEYS] not in rows:
                rows.add(asdict(measured(row)))


if __name__ == "__main__":
    main()
