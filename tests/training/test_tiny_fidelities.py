"""Training and prediction where fidelities are smaller than any float: only their ratios matter, and these are kept."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack import McQuackClassifier
from mcquack.circuits.feature_map import FeatureMap
from mcquack.kernels import target_alignment
from mcquack.randomness import stream
from mcquack.simulators.engine import lifted
from mcquack.simulators.ring import RingEngine
from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState, train
from mcquack.training.reference import ReferenceEpochs
from tests.oracles import slope
from tests.problems import random_problem

FloatArray = NDArray[np.floating]
WIDE = 4000
SMALLEST = np.log(np.nextafter(0.0, 1.0))


class PlainRing(RingEngine):
    """The ring engine as if fidelities were never tiny."""

    tiny_fidelities = False


def start_of(problem: Any) -> TrainingState:
    return TrainingState.start(Parameters(problem.weights, problem.bias, problem.centroids))


def far_problem(n_layers: int) -> tuple[RingEngine, TrainingData, TrainingState]:
    """Samples close to one another and centroids too, but both far apart: all fidelities vanish, and are alike."""
    circuit = FeatureMap(n_qubits=WIDE, n_features=50, n_layers=n_layers, final_entangler=False)
    problem = random_problem(circuit, n_samples=6, n_classes=2)
    closeness = 2e-3 / n_layers
    X = problem.X[0] + closeness * problem.X
    centroids = problem.centroids[0] + closeness * problem.centroids
    parameters = Parameters(problem.weights, problem.bias, centroids)
    data = TrainingData(X, np.array([0, 1, 0, 1, 1, 0]), np.ones(6), 2)
    return RingEngine(circuit, dtype="float64"), data, TrainingState.start(parameters)


def logs_of(engine: RingEngine, data: TrainingData, parameters: Parameters) -> FloatArray:
    return engine.log_kernel(data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)


@pytest.mark.parametrize("n_qubits", [3, 124])
@pytest.mark.parametrize("n_centroids_per_class", [1, 2])
def test_nothing_changes_where_fidelities_are_floats(n_qubits: int, n_centroids_per_class: int) -> None:
    circuit = FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=2)
    problem = random_problem(circuit, n_samples=7, n_classes=2 * n_centroids_per_class)
    data = TrainingData(problem.X, np.array([0, 1, 1, 0, 1, 0, 0]), np.ones(7), 2)
    settings = TrainingSettings(batch_size=4, n_centroids_per_class=n_centroids_per_class)
    sums = [
        ReferenceEpochs(kind(circuit, dtype="float64"), data, settings)(start_of(problem))
        for kind in (RingEngine, PlainRing)
    ]
    left, right = (found.state.parameters for found in sums)
    for name in ("weights", "bias", "centroids"):
        assert_allclose(getattr(left, name), getattr(right, name), rtol=0, atol=1e-9)
    assert_allclose(sums[0].kernel, sums[1].kernel, rtol=1e-6)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_steps_follow_the_slope_of_the_alignment(n_layers: int) -> None:
    """One step of plain descent says what the gradient was."""
    engine, data, start = far_problem(n_layers)
    rate = 1e-6
    settings = TrainingSettings(optimizer="sgd", lr_ka=rate, epochs_co=0, batch_size=6)
    moved = ReferenceEpochs(engine, data, settings)(start).state.parameters

    def loss(bias: FloatArray) -> float:
        logs = logs_of(engine, data, Parameters(start.parameters.weights, bias, start.parameters.centroids))
        assert logs.max() < SMALLEST
        return 1 - target_alignment(np.exp(logs - logs.max()), data.labels)

    gradient = (start.parameters.bias - moved.bias) / rate
    along = gradient / np.linalg.norm(gradient)
    assert np.linalg.norm(gradient) > 1e-3
    assert_allclose(np.linalg.norm(gradient), slope(loss, start.parameters.bias, along), rtol=1e-4)
    rng = stream(0, "direction")
    other = rng.normal(size=along.shape) + 30 * along
    other /= np.linalg.norm(other)
    assert_allclose(np.sum(gradient * other), slope(loss, start.parameters.bias, other), rtol=1e-3)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_training_raises_the_alignment_of_fidelities_that_are_no_floats(n_layers: int) -> None:
    engine, data, start = far_problem(n_layers)
    settings = TrainingSettings(lr_ka=1e-5, lr_co=1e-4)
    epochs = train(engine, data, start, settings=settings, validation=data)
    reports = [next(epochs).report for _ in range(4)]
    alignments = [report.alignment for report in reports]
    assert alignments == sorted(alignments)
    assert alignments[-1] > alignments[0] + 1e-3
    for report in reports:
        assert report.validation_alignment == pytest.approx(report.alignment, rel=1e-12)
        assert_allclose(report.loss, 1 - report.alignment, rtol=1e-12)


def test_rows_keep_their_order_and_their_ratios() -> None:
    logs = np.array([[-0.1, -3.0], [-900.0, -901.0], [-5000.0, -4990.0], [-700.0, -2000.0], [-np.inf, -np.inf]])
    kernel = lifted(logs)
    assert_allclose(kernel[0], np.exp(logs[0]), rtol=0, atol=0)
    assert_array_equal(kernel.argmax(axis=1)[:4], logs.argmax(axis=1)[:4])
    assert_allclose(kernel[1, 0] / kernel[1, 1], np.e, rtol=1e-6)
    assert np.all(np.abs(kernel - np.exp(logs)) <= 1.01e-300)
    assert_array_equal(kernel[4], 0)


# Whole models


def samples_of_classes(n_classes: int, spread: float) -> tuple[FloatArray, NDArray[np.int64]]:
    rng = stream(0, "samples")
    labels = np.arange(30) % n_classes
    return rng.uniform(0.2, 0.8, size=(n_classes, 12))[labels] + spread * rng.normal(size=(30, 12)), labels


@pytest.mark.parametrize("n_repetitions", [1, 2])
def test_a_model_of_thousands_of_qubits_trains_and_predicts(n_repetitions: int) -> None:
    X, y = samples_of_classes(3, 0.05)
    model = McQuackClassifier(
        n_qubits=WIDE, feature_map="device", n_repetitions=n_repetitions, epochs=4, lr_ka=3e-3, random_state=0
    )
    model.fit(X[:18], y[:18])
    alignments = [row["alignment"] for row in model.history_]
    assert alignments == sorted(alignments)
    assert model.score(X[18:], y[18:]) > 0.8


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_a_model_says_agrees_though_all_fidelities_vanish(n_classes: int) -> None:
    X, y = samples_of_classes(n_classes, 0.25)
    model = McQuackClassifier(
        n_qubits=WIDE, feature_map="device", n_repetitions=2, init_small=False, scale=(-1, 1), epochs=1, random_state=0
    )
    model.fit(X[:18], y[:18])
    kernel, shares, predicted = model.transform(X[18:]), model.predict_proba(X[18:]), model.predict(X[18:])
    decisions = model.decision_function(X[18:])
    assert kernel.max() <= 1.01e-300
    assert_array_equal(predicted, shares.argmax(axis=1))
    assert_array_equal(predicted, decisions > 0 if n_classes == 2 else decisions.argmax(axis=1))
    assert_allclose(shares.sum(axis=1), 1)
    assert len(np.unique(predicted)) == n_classes
    assert np.mean(predicted == y[18:]) > 1.3 / n_classes
