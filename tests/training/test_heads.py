"""A linear head on fidelities: the compiled trainer against the reference, whose gradient meets finite differences."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.arrays import FloatArray
from mcquack.kernels.losses import CrossEntropy, SquaredError
from mcquack.training import TrainingData, TrainingSettings, TrainingState
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.loop import train
from mcquack.training.reference import Batch, CentroidGradient, ReferenceEpochs, outputs_of
from tests.oracles import gradient
from tests.training.setups import assert_close_epochs, clusters, engine_of, start_of

N_OUTPUTS = 2


def with_targets(data: TrainingData) -> TrainingData:
    targets = np.column_stack([data.X.sum(axis=1), data.X[:, 0] * data.X[:, 1]])
    return TrainingData.regression(data.X, targets, data.row_weights, n_scores=data.n_classes)


def with_head(state: TrainingState, n_outputs: int, dtype: type = np.float64) -> TrainingState:
    n_scores = len(state.parameters.centroids)
    head: FloatArray = np.random.default_rng(3).normal(size=(n_scores + 1, n_outputs)).astype(dtype)
    return TrainingState.start(replace(state.parameters, head=head))


CASES: dict[str, tuple[Any, bool, int]] = {
    "squares": (SquaredError(), True, N_OUTPUTS),
    "cross entropy": (CrossEntropy(beta=2.0), False, 3),
    "learned beta": (CrossEntropy(learned=True), False, 3),
}
cases = pytest.mark.parametrize(("loss", "is_regression", "n_outputs"), CASES.values(), ids=CASES.keys())


@cases
@pytest.mark.parametrize("steps", ["joint", "alternating"])
def test_the_compiled_trainer_is_the_reference(loss: Any, is_regression: bool, n_outputs: int, steps: Any) -> None:
    data = clusters(weighted=True)
    settings = TrainingSettings(loss=loss, steps=steps, n_outputs=n_outputs, epochs_co=2, batch_size=16, seed=1)
    start = with_head(start_of(data, loss=loss), n_outputs)
    data = with_targets(data) if is_regression else data
    fast, slow = (kind(engine_of(), data, settings)(start) for kind in (CompiledEpochs, ReferenceEpochs))
    assert_close_epochs(fast, slow, 1e-9)
    assert not np.array_equal(fast.state.parameters.head, start.parameters.head)


@cases
def test_its_gradient_is_that_of_finite_differences(loss: Any, is_regression: bool, n_outputs: int) -> None:
    data, engine = clusters(weighted=True, n_samples=9), engine_of()
    parameters = with_head(start_of(data, loss=loss), n_outputs).parameters
    data = with_targets(data) if is_regression else data
    batch = Batch(np.arange(9), 0, 0)
    found = CentroidGradient(engine, data, loss, data.X[None], 1)(
        parameters, batch, frozenset({"weights", "bias", "centroids", "log_beta", "head"})
    )[1]

    for name, slopes in found.items():

        def value(array: Any, name: str = name) -> float:
            moved = replace(parameters, **{name: array})
            kernel = engine.kernel(data.X, moved.centroids, weights=moved.weights, bias=moved.bias)
            given = moved.loss(loss)
            outputs = outputs_of(kernel, moved, data.n_classes, given)
            return float(given(outputs, data.labels, data.row_weights)[0])

        assert_allclose(slopes, gradient(value, getattr(parameters, name)), atol=1e-7, err_msg=name)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_regression_reports_its_loss_and_neither_alignment_nor_accuracy(n_threads: int) -> None:
    data = with_targets(clusters())
    settings = TrainingSettings(loss=SquaredError(), steps="joint", n_outputs=N_OUTPUTS, lr_ka=0.05, lr_co=0.05)
    start = with_head(start_of(clusters()), N_OUTPUTS)
    epochs = train(engine_of(n_threads=n_threads), data, start, settings=settings, validation=data)
    rows = [next(epochs).report.as_row() for _ in range(30)]
    assert rows[-1]["loss"] < 0.3 * rows[0]["loss"]  # type: ignore[operator]
    assert {rows[0][name] for name in ("alignment", "accuracy", "validation_alignment")} == {None}
