"""The chain of one overlap: what it must give wherever a shorter way to the same number exists, at any width."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.rotations import rotation_matrices
from mcquack.randomness import stream
from mcquack.simulators.ring import MAX_LAYERS, RingEngine
from mcquack.simulators.ring.engine import RotationRows
from tests.problems import Problem, random_problem

WIDE = 124


def problem_with(n_qubits: int, n_layers: int, *, seed: int = 0, **settings: Any) -> Problem:
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=n_qubits * n_layers, n_layers=n_layers, **settings)
    return random_problem(feature_map, n_samples=3, n_classes=2, seed=seed)


def encoded(problem: Problem) -> tuple[RingEngine, RotationRows, RotationRows]:
    engine = RingEngine(problem.feature_map)
    samples, centroids = (engine.encode(x, problem.weights, problem.bias) for x in (problem.X, problem.centroids))
    return engine, samples, centroids


def logs(problem: Problem) -> FloatArray:
    return RingEngine.log_fidelities(*encoded(problem))


def without_layer(problem: Problem, layer: int) -> Problem:
    """The circuit of one layer less, with the features that the other layers encode."""
    n_qubits, kept = problem.feature_map.n_qubits, np.arange(problem.feature_map.n_layers) != layer
    features = np.repeat(kept, n_qubits)
    return replace(
        problem,
        feature_map=replace(problem.feature_map, n_layers=kept.sum(), n_features=features.sum()),
        X=problem.X[:, features],
        centroids=problem.centroids[:, features],
        weights=problem.weights[kept],
        bias=problem.bias[kept],
    )


def product_logs(samples: ComplexArray, centroids: ComplexArray) -> FloatArray:
    """Σ over qubits of log |⟨0|R†(c) R(x)|0⟩|² for rotations (N, n, 2, 2)."""
    joint = np.einsum("mqk,iqk->imq", centroids[..., 0].conj(), samples[..., 0])
    logs: FloatArray = 2 * np.log(np.abs(joint)).sum(axis=-1)
    return logs


@pytest.mark.parametrize("n_qubits", [1, 2, 7, 124, 1000])
def test_without_a_ring_every_qubit_is_by_itself(n_qubits: int) -> None:
    engine, samples, centroids = encoded(problem_with(n_qubits, 1))
    expected = product_logs(samples.rotations[:, 0], centroids.rotations[:, 0])
    assert_allclose(engine.log_fidelities(samples, centroids), expected, rtol=1e-12)


@pytest.mark.parametrize("n_layers", range(2, MAX_LAYERS + 1))
@pytest.mark.parametrize("n_qubits", [2, 3, WIDE])
def test_last_rotations_that_are_equal_cancel_with_the_ring_before(n_qubits: int, n_layers: int) -> None:
    problem = problem_with(n_qubits, n_layers)
    problem.weights[-1] = 0
    assert_allclose(logs(problem), logs(without_layer(problem, n_layers - 1)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_layers", range(2, MAX_LAYERS + 1))
@pytest.mark.parametrize("n_qubits", [2, 3, WIDE])
def test_a_ring_leaves_zeros_as_they_are(n_qubits: int, n_layers: int) -> None:
    """So a first layer of turns about z alone is none."""
    problem = problem_with(n_qubits, n_layers)
    problem.weights[0, :, 1] = problem.bias[0, :, 1] = 0
    assert_allclose(logs(problem), logs(without_layer(problem, 0)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_layers", range(1, MAX_LAYERS + 1))
def test_a_last_ring_changes_nothing(n_layers: int) -> None:
    with_ring, without = (problem_with(WIDE, n_layers, final_entangler=last) for last in (True, False))
    assert_allclose(logs(with_ring), logs(without), rtol=0, atol=0)


@pytest.mark.parametrize("n_layers", range(1, MAX_LAYERS + 1))
@pytest.mark.parametrize("n_qubits", [9, WIDE])
def test_overlaps_follow_rotations_put_on_both_sides(n_qubits: int, n_layers: int) -> None:
    """One and the same rotation of a qubit at the end of both circuits is seen by neither."""
    engine, samples, centroids = encoded(problem_with(n_qubits, n_layers))
    turn = rotation_matrices(stream(0, "turns").normal(size=(n_qubits, 3)))

    def turned(rows: RotationRows) -> RotationRows:
        rotations = rows.rotations.copy()
        rotations[:, -1] = np.einsum("qij,nqjk->nqik", turn, rotations[:, -1])
        return replace(rows, rotations=rotations)

    expected = engine.log_fidelities(samples, centroids)
    assert_allclose(engine.log_fidelities(turned(samples), turned(centroids)), expected, rtol=1e-10)


@pytest.mark.parametrize("n_qubits", [2, 8, 9, 16, 17, 1000])
def test_a_point_overlaps_with_itself_whether_or_not_sizes_were_taken_out(n_qubits: int) -> None:
    """They are taken out of the chain every few qubits."""
    engine, samples, _ = encoded(problem_with(n_qubits, 2))
    assert_allclose(np.diag(engine.log_fidelities(samples, samples)), 0, rtol=0, atol=1e-11)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_orthogonal_states_have_no_logarithm_and_no_slope(n_layers: int) -> None:
    """A flipped qubit at the very end."""
    engine, samples, _ = encoded(problem_with(20, n_layers))
    flipped = samples.rotations.copy()
    flipped[:] = np.eye(2)
    plain = replace(samples, rotations=flipped.copy())
    flipped[:, -1, 13] = [[0, -1], [1, 0]]
    orthogonal = replace(samples, rotations=flipped)
    assert_allclose(engine.log_fidelities(plain, plain), 0, rtol=0, atol=0)
    assert (engine.log_fidelities(plain, orthogonal) == -np.inf).all()
    assert (engine.fidelities(plain, orthogonal) == 0).all()
    pulled = engine.pullback(plain, orthogonal, np.ones((3, 3)), wrt="embedding")
    for slopes in (pulled.weights, pulled.bias):
        assert slopes is not None
        assert_allclose(slopes, 0, rtol=0, atol=0)
