"""The kernel in pieces is the kernel in one piece."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.kernels import centroid_kernel
from mcquack.simulators.statevector import StatevectorEngine
from tests.oracles import oracle_kernel
from tests.problems import Problem, random_problem


def problem_of(n_samples: int) -> Problem:
    return random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=n_samples)


def kernel_of(problem: Problem) -> np.ndarray:
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    return centroid_kernel(engine, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias)


def test_kernel_is_the_fidelity_of_every_pair() -> None:
    problem = problem_of(30)
    expected = oracle_kernel(
        problem.feature_map, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias
    )
    assert_allclose(kernel_of(problem), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("rows_at_a_time", [1, 7, 16, 59, 60, 1000])
def test_pieces_change_nothing(rows_at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(60)
    whole = kernel_of(problem)
    monkeypatch.setattr(StatevectorEngine, "rows_at_once", rows_at_a_time)
    assert_array_equal(kernel_of(problem), whole)


def test_no_samples_give_no_rows() -> None:
    assert kernel_of(problem_of(0)).shape == (0, 3)


class Wide(StatevectorEngine):
    """As if there were statevectors of any width."""

    def check(self, feature_map: FeatureMap) -> None:
        pass


@pytest.mark.parametrize("n_qubits", [*range(1, 30), 124])
def test_pieces_are_large_enough_for_all_lanes_and_small_enough_for_memory(n_qubits: int) -> None:
    rows = Wide(FeatureMap(n_qubits=n_qubits, n_features=1, n_layers=1)).rows_at_once
    assert rows is not None
    assert rows >= 16
    assert rows == 16 or rows * 2**n_qubits * 8 <= 64 * 2**20
