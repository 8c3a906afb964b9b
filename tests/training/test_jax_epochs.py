"""An epoch that JAX runs as one call is the reference trainer's."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack import McQuackClassifier
from mcquack.kernels import Alignment, LogCrossEntropy
from mcquack.kernels.losses import SquaredError
from mcquack.simulators import JaxEngine, StatevectorEngine
from mcquack.training import TrainingData, TrainingSettings, TrainingState
from mcquack.training.jax_epochs import JaxEpochs
from mcquack.training.reference import ReferenceEpochs
from tests.training.setups import FEATURE_MAP, assert_close_epochs, clusters, engine_of, start_of
from tests.training.test_compiled import SETTINGS

# Adam divides small gradients by their own size, and so makes 1e-9 of a difference in the last bit.
TOLERANCE = 1e-8
N_EPOCHS = 2


def assert_same_training(settings: TrainingSettings, *, weighted: bool, k: int = 1) -> None:
    data, engine = clusters(weighted=weighted), JaxEngine(FEATURE_MAP, dtype="float64")
    reference, by_jax = ReferenceEpochs(engine_of(), data, settings), JaxEpochs(engine, data, settings)
    left = right = start_of(data, k=k, loss=settings.loss)
    for _ in range(N_EPOCHS):
        slow, fast = reference(left), by_jax(right)
        assert_close_epochs(fast, slow, TOLERANCE)
        assert (fast.state.steps == slow.state.steps).all()
        left, right = slow.state, fast.state


# JAX compiles each of these for some seconds, so few settings show all that a step may do.
@pytest.mark.parametrize("name", ["all penalties", "noise and drop"])
def test_alternating_steps_are_the_reference_trainers(name: str) -> None:
    assert_same_training(TrainingSettings(**SETTINGS[name]), weighted=True)


@pytest.mark.parametrize("loss", [LogCrossEntropy(smoothing=0.2, learned=True, class_score="sum"), Alignment("max")])
def test_joint_steps_are_the_reference_trainers(loss: Any) -> None:
    settings = TrainingSettings(
        batch_size=14, steps="joint", n_centroids_per_class=2, loss=loss, optimizer="adamw", reg_param_weights=0.3
    )
    assert_same_training(settings, weighted=False, k=2)


def test_a_head_on_squared_errors_is_the_reference_trainers() -> None:
    loss: Any = SquaredError()
    settings = TrainingSettings(batch_size=14, steps="joint", n_outputs=2, loss=loss)
    given = clusters()
    data = TrainingData.regression(given.X, given.X[:, :2], n_scores=given.n_classes)
    start = start_of(given)
    head = np.linspace(-1, 1, 8).reshape(4, 2)
    state = TrainingState.start(replace(start.parameters, head=head))
    slow = ReferenceEpochs(engine_of(), data, settings)(state)
    fast = JaxEpochs(JaxEngine(FEATURE_MAP, dtype="float64"), data, settings)(state)
    assert_close_epochs(fast, slow, TOLERANCE)


def test_numbers_of_settings_compile_nothing() -> None:
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if "backend_compile" in event else None
    )
    try:
        counts = []
        for number in (0.01, 0.02):
            settings = TrainingSettings(batch_size=14, steps="joint", lr_ka=number, reg_param_co=number)
            JaxEpochs(JaxEngine(FEATURE_MAP), clusters(), settings)(start_of(clusters(), dtype=np.float32))
            counts.append(len(compiled))
    finally:
        jax.monitoring.clear_event_listeners()
    assert counts[0] == counts[1] > 0


def test_an_estimator_on_jax_trains_as_on_the_cpu_engine() -> None:
    X = np.linspace(0, 1, 30)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    by_jax, by_cpu = (
        McQuackClassifier(1, epochs=2, engine=engine(dtype="float64"), random_state=0).fit(X, y)
        for engine in (JaxEngine, StatevectorEngine)
    )
    assert_allclose(by_jax.centroids_, by_cpu.centroids_, rtol=0, atol=TOLERANCE)
    assert_allclose(by_jax.predict_proba(X), by_cpu.predict_proba(X), rtol=0, atol=TOLERANCE)
