import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import alignment_gradient
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis import (
    ShotsNeeded,
    alignment_gradient_shots,
    entry_gradient_shots,
    prediction_shots,
    shots_to_resolve,
    shots_to_tell,
)
from mcquack.studies.trainability.analysis.shot_noise import shifted_pairs
from mcquack.training import Parameters, TrainingData
from tests.problems import random_problem

FEATURE_MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
PROBLEM = random_problem(FEATURE_MAP, n_samples=8, n_classes=2)
DATA = TrainingData(PROBLEM.X, np.arange(8) % 2, np.ones(8), 2)
PARAMETERS = Parameters(PROBLEM.weights, PROBLEM.bias, PROBLEM.centroids)
ENGINE = StatevectorEngine(FEATURE_MAP, dtype=np.float64)
N_ANGLES = math.prod(FEATURE_MAP.parameter_shape)


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


@pytest.mark.parametrize("group", ["weights", "bias"])
def test_shifted_circuits_give_the_derivatives_of_the_engine(group):
    samples = ENGINE.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    centroids = ENGINE.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
    exact = ENGINE.pullback(samples, centroids, PROBLEM.cotangent, wrt="embedding")
    pairs = shifted_pairs(ENGINE, PROBLEM.X, PARAMETERS, group=group, n_components=10**6, seed=0)
    found = [np.sum(PROBLEM.cotangent * (one.derivative(-2.0) + two.derivative(-2.0))) for one, two in pairs]
    assert_allclose(np.array(found) * math.exp(-2), getattr(exact, group).ravel(), atol=1e-10)


def test_shots_for_the_alignment_are_those_of_a_simulated_measurement():
    needed = alignment_gradient_shots(ENGINE, DATA, PARAMETERS, n_components=N_ANGLES)
    shots = 2000
    rng = np.random.default_rng(0)
    samples = ENGINE.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    centroids = ENGINE.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
    slopes = alignment_gradient(ENGINE.fidelities(samples, centroids), DATA.labels)
    signals, errors = [], []
    for pair in shifted_pairs(ENGINE, PROBLEM.X, PARAMETERS, group="bias", n_components=N_ANGLES, seed=0):
        exact, measured = 0.0, np.zeros(200)
        for shift in pair:
            plus, minus = np.exp(shift.plus), np.exp(shift.minus)
            exact += np.sum(slopes * (plus - minus) / 2)
            counts = rng.binomial(shots, np.minimum([plus, minus], 1), size=(200, 2, *plus.shape)) / shots
            measured += np.sum(slopes * (counts[:, 0] - counts[:, 1]) / 2, axis=(1, 2))
        signals.append(exact**2)
        errors.append(np.mean((measured - exact) ** 2))
    assert needed.per_circuit == pytest.approx(shots * np.mean(errors) / np.mean(signals), rel=0.1)
    assert needed.n_circuits == 4 * 8 * 2


def test_all_engines_need_the_same_shots():
    for function, data in (
        (alignment_gradient_shots, DATA),
        (entry_gradient_shots, PROBLEM.X),
        (prediction_shots, PROBLEM.X),
    ):
        one, other = (function(engine, data, PARAMETERS) for engine in (ENGINE, RingEngine(FEATURE_MAP)))
        assert one.log10_per_circuit == pytest.approx(other.log10_per_circuit, abs=1e-6)


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
                alignment_gradient_shots(engine, data, parameters).log10_per_circuit,
                entry_gradient_shots(engine, problem.X, parameters).log10_per_circuit,
            ]
        )
    per_qubit = np.polyfit([2, 4, 6, 8], np.array(logs) / math.log10(2), 1)[0]
    assert_allclose(per_qubit, 1, atol=0.35)


def test_the_guess_from_stored_numbers_is_close_where_fidelities_are_small():
    feature_map = FeatureMap(n_qubits=7, n_features=4, n_layers=10)
    problem = random_problem(feature_map, n_samples=10, n_classes=2, spread=3.0)
    parameters = Parameters(problem.weights, problem.bias, problem.centroids)
    engine = StatevectorEngine(feature_map, dtype=np.float64)
    samples, centroids = (engine.encode(rows, problem.weights, problem.bias) for rows in (problem.X, problem.centroids))
    squares = []
    for entry in np.ndindex(10, 2):
        cotangent = np.zeros((10, 2))
        cotangent[entry] = 1
        squares.append(np.mean(engine.pullback(samples, centroids, cotangent, wrt="embedding").bias ** 2))
    guess = shots_to_resolve(math.sqrt(np.mean(squares)), engine.fidelities(samples, centroids).mean())
    exact = entry_gradient_shots(engine, problem.X, parameters, n_components=40).per_circuit
    assert 0.2 < guess / exact < 5


def test_a_guess_near_fidelity_one_reckons_with_shifted_circuits_at_one_half():
    assert_allclose(shots_to_resolve(1e-3, [0.5, 0.9, 1.0]), 0.25 / 1e-6)
    assert_allclose(shots_to_resolve(1e-100, 1e-100), 1e100)
    assert shots_to_resolve(0.0, 0.1) == np.inf


def test_the_decision_between_centroids_takes_the_shots_that_tell_the_highest_two_apart():
    samples = ENGINE.encode(PROBLEM.X[:1], PROBLEM.weights, PROBLEM.bias)
    centroids = ENGINE.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
    needed = prediction_shots(ENGINE, PROBLEM.X[:1], PARAMETERS)
    assert needed.per_circuit == pytest.approx(max(1, float(shots_to_tell(*ENGINE.fidelities(samples, centroids)[0]))))
    assert needed.n_circuits == 2


def test_a_thousand_qubits_need_more_shots_than_there_are_numbers_and_it_can_be_said():
    feature_map = FeatureMap(n_qubits=1000, n_features=1000, n_layers=1, final_entangler=False)
    problem = random_problem(feature_map, n_samples=4, n_classes=2, spread=2.0)
    parameters = Parameters(problem.weights, problem.bias, problem.centroids)
    needed = entry_gradient_shots(RingEngine(feature_map), problem.X, parameters, n_components=3)
    assert needed.log10_per_circuit > 200
    assert math.isfinite(needed.log10_per_circuit)
    assert ShotsNeeded(log10_per_circuit=400.0, n_circuits=2).total == math.inf
    assert ShotsNeeded(log10_per_circuit=-3.0, n_circuits=2).total == 2


def test_what_is_no_fidelity_or_no_choice_is_refused():
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        shots_to_tell(1.5, 0.1)
    with pytest.raises(InvalidInputError, match="single centroid"):
        prediction_shots(ENGINE, PROBLEM.X, Parameters(PROBLEM.weights, PROBLEM.bias, PROBLEM.centroids[:1]))
    with pytest.raises(InvalidInputError, match='"weights" or "bias"'):
        entry_gradient_shots(ENGINE, PROBLEM.X, PARAMETERS, group="centroids")
