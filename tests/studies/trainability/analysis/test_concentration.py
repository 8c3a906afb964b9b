import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis import haar_log_moments, kernel_concentration, pair_log_fidelities
from tests.problems import random_problem


def test_mean_and_variance_are_those_of_the_fidelities():
    fidelities = np.random.default_rng(0).uniform(size=200)
    found = kernel_concentration(np.log(fidelities), 3)
    assert found.mean == pytest.approx(fidelities.mean())
    assert found.variance == pytest.approx(fidelities.var())
    assert found.relative_std == pytest.approx(fidelities.std() / fidelities.mean())
    assert found.log_std == pytest.approx(np.log(fidelities).std())
    assert found.n_pairs == 200


def test_a_common_factor_below_all_numbers_is_no_obstacle():
    logs = np.log(np.random.default_rng(0).uniform(size=50))
    one, other = kernel_concentration(logs, 1000), kernel_concentration(logs - 3000, 1000)
    assert other.log_mean == pytest.approx(one.log_mean - 3000)
    assert other.log_variance == pytest.approx(one.log_variance - 6000)
    assert other.relative_std == pytest.approx(one.relative_std)
    assert other.mean == 0.0
    assert all(math.isfinite(value) for value in other.as_row().values())


@pytest.mark.parametrize("n_qubits", [1, 3, 8])
def test_haars_moments_are_those_of_haar_random_states(n_qubits):
    fidelities = np.random.default_rng(1).beta(1, 2**n_qubits - 1, size=200_000)
    log_mean, log_variance = haar_log_moments(n_qubits)
    assert math.exp(log_mean) == pytest.approx(fidelities.mean(), rel=0.02)
    assert math.exp(log_variance) == pytest.approx(fidelities.var(), rel=0.03)
    assert kernel_concentration(np.log(fidelities), n_qubits).halvings_per_qubit == pytest.approx(1, abs=0.02)


def test_haars_moments_exist_for_thousands_of_qubits():
    assert_allclose(haar_log_moments(5000), [-5000 * math.log(2), -10000 * math.log(2)])


def test_pairs_are_the_entries_above_the_diagonal_on_every_engine():
    feature_map = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
    problem = random_problem(feature_map, n_samples=6)
    engine = StatevectorEngine(feature_map, dtype=np.float64)
    encoded = engine.encode(problem.X, problem.weights, problem.bias)
    K = engine.fidelities(encoded, encoded)
    for each in (engine, RingEngine(feature_map)):
        logs = pair_log_fidelities(each, problem.X, problem.weights, problem.bias)
        assert_allclose(np.exp(logs), K[np.triu_indices(6, 1)], atol=1e-10)


def test_a_kernel_of_a_hundred_and_more_qubits_concentrates_exponentially():
    sizes, found = (50, 100, 200, 400), []
    for n in sizes:
        feature_map = FeatureMap(n_qubits=n, n_features=n, n_layers=1, final_entangler=False)
        problem = random_problem(feature_map, n_samples=6)
        logs = pair_log_fidelities(RingEngine(feature_map), problem.X, problem.weights, problem.bias)
        found.append(kernel_concentration(logs, n))
    per_qubit = [each.log_median / n for n, each in zip(sizes, found, strict=True)]
    assert_allclose(per_qubit, per_qubit[-1], rtol=0.3)
    assert found[-1].log_median < -50


def test_equal_states_do_not_vary_and_orthogonal_ones_count_as_zero():
    same = kernel_concentration(np.zeros(5), 2)
    assert (same.mean, same.variance, same.log_variance, same.relative_std) == (1.0, 0.0, None, 0.0)
    assert "log_variance" not in same.as_row()
    half = kernel_concentration([0.0, -math.inf], 2)
    assert (half.mean, half.variance, half.log_median) == (0.5, 0.25, 0.0)


def test_what_has_no_pairs_is_refused():
    with pytest.raises(InvalidInputError, match="at most 0"):
        kernel_concentration([-math.inf], 2)
    with pytest.raises(InvalidInputError, match="at most 0"):
        kernel_concentration([0.5], 2)
    with pytest.raises(InvalidInputError, match="two samples"):
        pair_log_fidelities(RingEngine(FeatureMap(n_qubits=2, n_features=1, n_layers=1)), [[0.0]], [], [])
