"""Losses of short trainings, which hold the numerics version to what mcquack computes.

Write new values with ``python -m tests.golden.test_numerics`` from the folder of the project.
"""

import json
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.models import VariationalEnsembleClassifier, catalog
from mcquack.numerics import NUMERICS
from mcquack.randomness import stream
from mcquack.simulators.ring.engine import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import (
    Parameters,
    TrainingData,
    TrainingSettings,
    TrainingState,
    initial_centroids,
    initial_embedding,
    train,
)

GOLDEN = Path(__file__).with_name("numerics.json")
N_EPOCHS = 3
# Far above what another processor rounds differently, which the test below shows to be hardly amplified.
RTOL = {"float32": 1e-5, "float64": 1e-11}

SETTINGS = TrainingSettings(lr_ka=0.01, lr_co=0.01, reg_param_weights=1e-3, reg_param_co=1e-3, batch_size=10, seed=3)


def problem(n_classes: int = 3) -> TrainingData:
    """Twenty-four samples of four features, in clouds that overlap."""
    draws, labels = stream(0, "golden numerics"), np.arange(24) % n_classes
    X = 0.5 + 0.25 * np.sin(labels[:, None] + np.arange(4)) + 0.1 * draws.normal(size=(24, 4))
    return TrainingData(np.clip(X, 0, 1), labels, np.ones(24), n_classes)


def trained(engine, data: TrainingData, dtype: str) -> list[float]:
    """Losses of both halves and the alignment, epoch by epoch."""
    weights, bias = initial_embedding(
        engine.feature_map, data.X, init_small=True, init_strategy="default", seed=3, dtype=dtype
    )
    centroids = initial_centroids(data, SETTINGS).astype(dtype)
    state = TrainingState.start(Parameters(weights, bias, centroids))
    reports = [epoch.report for epoch in islice(train(engine, data, state, settings=SETTINGS), N_EPOCHS)]
    numbers = (number for report in reports for number in (report.loss_kao, report.loss_co, report.alignment))
    return [number for number in numbers if number is not None]


def statevector(dtype: str, *, shift: float = 0.0, features_per_gate=1, n_classes: int = 3) -> list[float]:
    data = problem(n_classes)
    data = TrainingData(data.X + shift, data.labels, data.row_weights, n_classes)
    feature_map = FeatureMap(n_qubits=3, n_features=4, n_layers=2, features_per_gate=features_per_gate)
    return trained(StatevectorEngine(feature_map, dtype=dtype, n_threads=1), data, dtype)


def ring() -> list[float]:
    feature_map = FeatureMap(n_qubits=5, n_features=4, n_layers=2, final_entangler=False)
    return trained(RingEngine(feature_map, n_threads=1), problem(), "float64")


def variational() -> list[float]:
    data = problem()
    model = VariationalEnsembleClassifier(n_qubits=3, epochs=N_EPOCHS, random_state=3).fit(data.X, data.labels)
    return [row["loss"] for row in model.history_]


def drawn(name: str) -> list[float]:
    """Losses of a model that is trained by drawn batches, at every tenth step; of several circuits, of the last."""
    data = problem()
    model = catalog.entry(name).new(max_steps=40, convergence_interval=None, random_state=3)
    losses = model.fit(data.X, data.labels).losses_
    return np.asarray(losses[-1] if isinstance(losses, list) else losses)[::10].tolist()


DRAWN = ("dressed", "boltzmann", "reuploading", "iqp_variational", "metric_learner", "circuit_centric", "tree_tensor")

CASES: dict[str, tuple[str, Callable[[], list[float]]]] = {
    "McQuack, float32": ("float32", lambda: statevector("float32")),
    "McQuack, float64": ("float64", lambda: statevector("float64")),
    "McQuack, ring engine": ("float64", ring),
    "Quack, float32": ("float32", lambda: statevector("float32", features_per_gate=3, n_classes=2)),
    "variational ensemble, float32": ("float32", variational),
    **{f"{name}, float64": ("float64", partial(drawn, name)) for name in DRAWN},
}


def written() -> dict[str, dict[str, list[float]]]:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_trainings_of_one_numerics_version_give_the_losses_they_gave(case):
    dtype, losses = CASES[case]
    golden = written().get(str(NUMERICS), {})
    assert case in golden, f"no golden losses of version {NUMERICS}: python -m tests.golden.test_numerics writes them."
    advice = (
        "Training rounds differently than it did. If that is meant, raise NUMERICS in src/mcquack/numerics.py by one "
        "and write new golden losses with: python -m tests.golden.test_numerics"
    )
    assert_allclose(losses(), golden[case], rtol=RTOL[dtype], atol=RTOL[dtype], err_msg=advice)


@pytest.mark.parametrize("dtype", RTOL)
def test_these_trainings_do_not_amplify_what_a_processor_rounds_differently(dtype):
    moved = statevector(dtype, shift=10 * np.finfo(dtype).eps)
    assert_allclose(moved, statevector(dtype), rtol=RTOL[dtype] / 10)


def test_golden_losses_of_earlier_versions_stay():
    assert [int(version) for version in written()] == list(range(2, NUMERICS + 1))


if __name__ == "__main__":
    found = {**written(), str(NUMERICS): {case: losses() for case, (_, losses) in CASES.items()}}
    GOLDEN.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
