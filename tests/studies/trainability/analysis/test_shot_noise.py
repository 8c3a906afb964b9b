import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import Circuit, b, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import alignment_gradient
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis.shot_noise import (
    alignment_gradient_shots,
    derivative,
    entry_gradient_shots,
    log10_shots_to_tell,
    prediction_shots,
    shifted_logs,
)
from mcquack.training import Parameters, TrainingData
from tests.known import known
from tests.problems import random_problem

FEATURE_MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
PROBLEM = random_problem(FEATURE_MAP, n_samples=8, n_classes=2)
DATA = TrainingData(PROBLEM.X, np.arange(8) % 2, np.ones(8), 2)
PARAMETERS = Parameters(PROBLEM.weights, PROBLEM.bias, PROBLEM.centroids)
ENGINE = StatevectorEngine(FEATURE_MAP, dtype=np.float64)
N_ANGLES = math.prod(FEATURE_MAP.parameter_shape)


def shots_to_tell(first, second):
    with np.errstate(divide="ignore"):
        return np.power(10.0, log10_shots_to_tell(np.log(first), np.log(second)))


def test_after_that_many_shots_counts_differ_by_one_standard_error():
    first, second = 0.3, 0.27
    shots = int(shots_to_tell(first, second))
    rng = np.random.default_rng(0)
    differences = (rng.binomial(shots, first, size=20_000) - rng.binomial(shots, second, size=20_000)) / shots
    assert differences.mean() / differences.std() == pytest.approx(1, rel=0.03)


def test_the_smaller_the_fidelities_the_more_shots_in_proportion():
    shots = shots_to_tell([1e-3, 1e-6, 1e-200], [2e-3, 2e-6, 2e-200])
    assert_allclose(shots * [1e-3, 1e-6, 1e-200], 3, rtol=5e-3)
    assert_allclose(shots_to_tell(0.2, [0.2, 0.7]), shots_to_tell([0.2, 0.7], 0.2))
    assert shots_to_tell(0.2, 0.2) == np.inf
    assert shots_to_tell(0.0, 1.0) == 1


def test_shifted_circuits_give_the_derivatives_of_the_engine():
    samples = ENGINE.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    centroids = ENGINE.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
    exact = ENGINE.pullback(samples, centroids, PROBLEM.cotangent, wrt="embedding")
    shifts = shifted_logs(ENGINE, PROBLEM.X, PARAMETERS, n_components=10**6, seed=0)
    found = [np.sum(PROBLEM.cotangent * derivative(logs, -2.0)) for logs in shifts]
    assert_allclose(np.array(found) * math.exp(-2), known(exact.bias).ravel(), atol=1e-10)


def test_shots_for_the_alignment_are_those_of_a_simulated_measurement():
    needed = alignment_gradient_shots(ENGINE, DATA, PARAMETERS, n_components=N_ANGLES)
    shots = 2000
    rng = np.random.default_rng(0)
    samples = ENGINE.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    centroids = ENGINE.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
    slopes = alignment_gradient(ENGINE.fidelities(samples, centroids), DATA.labels)
    signals, errors = [], []
    for logs in shifted_logs(ENGINE, PROBLEM.X, PARAMETERS, n_components=N_ANGLES, seed=0):
        exact, measured = 0.0, np.zeros(200)
        for plus, minus in np.exp(logs):
            exact += np.sum(slopes * (plus - minus) / 2)
            counts = rng.binomial(shots, np.minimum([plus, minus], 1), size=(200, 2, *plus.shape)) / shots
            measured += np.sum(slopes * (counts[:, 0] - counts[:, 1]) / 2, axis=(1, 2))
        signals.append(exact**2)
        errors.append(np.mean((measured - exact) ** 2))
    assert 10**needed == pytest.approx(shots * np.mean(errors) / np.mean(signals), rel=0.1)


def test_all_engines_need_the_same_shots():
    cases: list[tuple[Any, Any]] = [
        (alignment_gradient_shots, DATA),
        (entry_gradient_shots, PROBLEM.X),
        (prediction_shots, PROBLEM.X),
    ]
    for function, data in cases:
        one, other = (function(engine, data, PARAMETERS) for engine in (ENGINE, RingEngine(FEATURE_MAP)))
        assert one == pytest.approx(other, abs=1e-6)


def test_shots_of_deep_random_circuits_grow_as_the_dimension():
    logs = []
    for n in (2, 4, 6, 8):
        feature_map = FeatureMap(n_qubits=n, n_features=4, n_layers=10)
        problem = random_problem(feature_map, n_samples=20, n_classes=2, spread=3.0)
        parameters = Parameters(problem.weights, problem.bias, problem.centroids)
        data = TrainingData(problem.X, np.arange(20) % 2, np.ones(20), 2)
        engine = StatevectorEngine(feature_map, dtype=np.float64)
        logs.append(
            [
                alignment_gradient_shots(engine, data, parameters),
                entry_gradient_shots(engine, problem.X, parameters),
            ]
        )
    per_qubit = np.polyfit([2, 4, 6, 8], np.array(logs) / math.log10(2), 1)[0]
    assert_allclose(per_qubit, 1, atol=0.35)


def test_the_decision_between_centroids_takes_the_shots_that_tell_the_highest_two_apart():
    samples = ENGINE.encode(PROBLEM.X[:1], PROBLEM.weights, PROBLEM.bias)
    centroids = ENGINE.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
    needed = prediction_shots(ENGINE, PROBLEM.X[:1], PARAMETERS)
    assert 10**needed == pytest.approx(float(shots_to_tell(*ENGINE.fidelities(samples, centroids)[0])))


def test_a_thousand_qubits_need_more_shots_than_there_are_numbers_and_it_can_be_said():
    feature_map = FeatureMap(n_qubits=1000, n_features=1000, n_layers=1, final_entangler=False)
    problem = random_problem(feature_map, n_samples=4, n_classes=2, spread=2.0)
    parameters = Parameters(problem.weights, problem.bias, problem.centroids)
    needed = entry_gradient_shots(RingEngine(feature_map), problem.X, parameters, n_components=3)
    assert needed > 200
    assert math.isfinite(needed)


def test_a_single_centroid_is_refused():
    with pytest.raises(InvalidInputError, match="single centroid"):
        prediction_shots(ENGINE, PROBLEM.X, Parameters(PROBLEM.weights, PROBLEM.bias, PROBLEM.centroids[:1]))


def test_only_the_papers_map_has_these_two_shifts():
    engine = GateEngine(Circuit(2, 1).h([0, 1]).crz((0, 1), x[0] + b))
    parameters = Parameters(np.empty(0), np.zeros(1), np.zeros((2, 1)))
    with pytest.raises(InvalidInputError, match="take a FeatureMap"):
        entry_gradient_shots(engine, [[0.1]], parameters)
