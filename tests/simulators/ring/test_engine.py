"""The ring engine beyond what every engine promises: as wide as one likes, and as exact where fidelities are tiny."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels import alignment_gradient, target_alignment
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine, Gradient
from mcquack.simulators.ring import MAX_LAYERS, RingEngine
from mcquack.simulators.ring.engine import RotationRows
from mcquack.simulators.statevector import StatevectorEngine
from tests.oracles import angles as oracle_angles
from tests.oracles import rot, slope
from tests.problems import Problem, random_problem

FloatArray = NDArray[np.floating]


def wide_problem(n_qubits: int, n_layers: int = 2, *, n_samples: int = 3, n_classes: int = 2, seed: int = 0) -> Problem:
    """A feature for each gate and the device variant of the circuit, as in the paper's experiment."""
    feature_map = FeatureMap(
        n_qubits=n_qubits, n_features=n_qubits * n_layers, n_layers=n_layers, final_entangler=False
    )
    return random_problem(feature_map, n_samples=n_samples, n_classes=n_classes, seed=seed)


def encoded(engine: Engine[Any], problem: Problem) -> tuple[Any, Any]:
    samples, centroids = (
        engine.encode(points, problem.weights, problem.bias) for points in (problem.X, problem.centroids)
    )
    return samples, centroids


def logs(problem: Problem, n_threads: int | None = None) -> FloatArray:
    engine = RingEngine(problem.feature_map, n_threads=n_threads)
    return engine.log_fidelities(*encoded(engine, problem))


def gradient_of(engine: Engine[Any], problem: Problem, cotangent: FloatArray) -> Gradient:
    """Both pullbacks in one value."""
    pull = partial(engine.pullback, *encoded(engine, problem), cotangent)
    return pull(wrt="embedding")._replace(centroids=pull(wrt="centroids").centroids)


# Values


@pytest.mark.parametrize("n_layers", range(1, MAX_LAYERS + 1))
@pytest.mark.parametrize("n_qubits", [1, 2, 3, 5, 8, 9, 12])
def test_values_and_gradients_are_those_of_the_statevector_engine(n_qubits: int, n_layers: int) -> None:
    problem = wide_problem(n_qubits, n_layers, seed=n_qubits)
    ring, other = RingEngine(problem.feature_map), StatevectorEngine(problem.feature_map, dtype=np.float64)
    expected = other.fidelities(*encoded(other, problem))
    assert_allclose(ring.fidelities(*encoded(ring, problem)), expected, rtol=0, atol=1e-13)
    for left, right in zip(*(gradient_of(engine, problem, problem.cotangent) for engine in (ring, other)), strict=True):
        assert_allclose(left, right, rtol=0, atol=1e-12)


def test_more_layers_than_rings_matter_not_for_a_single_qubit() -> None:
    problem = wide_problem(1, 30)
    ring, other = RingEngine(problem.feature_map), StatevectorEngine(problem.feature_map, dtype=np.float64)
    expected = other.fidelities(*encoded(other, problem))
    assert_allclose(ring.fidelities(*encoded(ring, problem)), expected, rtol=0, atol=1e-13)


def matrix_product_state(problem: Problem, point: FloatArray) -> Any:
    """U(x)|0…0⟩ gate by gate in quimb."""
    import quimb.tensor as qtn  # takes seconds, so only where it is needed

    n_qubits, n_layers = problem.feature_map.n_qubits, problem.feature_map.n_layers
    circuit = qtn.CircuitMPS(n_qubits, gate_opts={"cutoff": 1e-15})
    of_gates = oracle_angles(problem.feature_map, point[None], weights=problem.weights, bias=problem.bias)
    for layer, of_layer in enumerate(of_gates):
        for qubit, of_gate in enumerate(of_layer):
            circuit.apply_gate_raw(rot(*of_gate)[..., 0], [qubit])
        for control in range(n_qubits if layer + 1 < n_layers else 0):
            circuit.apply_gate("CNOT", control, (control + 1) % n_qubits)
    return circuit.psi


@pytest.mark.parametrize("n_qubits", [6, 124])
def test_fidelities_are_those_of_matrix_product_states(n_qubits: int) -> None:
    problem = wide_problem(n_qubits, n_samples=1, n_classes=1)
    left, right = (matrix_product_state(problem, points[0]) for points in (problem.centroids, problem.X))
    assert_allclose(logs(problem)[0, 0], 2 * np.log(abs(left.H @ right)), rtol=1e-10)


# Tiny ones


def test_a_thousand_qubits_keep_their_order_in_logarithms() -> None:
    """Centroids step by step further away from a sample overlap with it less and less."""
    problem = wide_problem(1000, n_samples=1)
    steps = np.linspace(0, 1, 12)[:, None]
    on_the_way = replace(problem, centroids=(1 - steps) * problem.X + steps * problem.centroids[0])
    found = logs(on_the_way)[0]
    assert np.isfinite(found).all()
    assert_allclose(found[0], 0, atol=1e-10)
    assert (np.diff(found[:6]) < 0).all()
    assert found.min() < -400


@pytest.mark.parametrize("n_qubits", [1000, 3000])
def test_logarithms_grow_with_the_qubits_far_beyond_the_smallest_number(n_qubits: int) -> None:
    per_qubit = logs(wide_problem(n_qubits)) / n_qubits
    assert_allclose(per_qubit, per_qubit.mean(), rtol=0.15)
    assert_allclose(per_qubit.mean(), -0.7, rtol=0.15)


def test_fidelities_are_the_exponentials_as_far_as_numbers_reach() -> None:
    problem = wide_problem(300)
    engine = RingEngine(problem.feature_map)
    fidelities = engine.fidelities(*encoded(engine, problem))
    assert 0 < fidelities.min() < 1e-80
    assert_allclose(np.log(fidelities), logs(problem), rtol=1e-14)


@pytest.mark.parametrize(("n_qubits", "n_layers"), [(124, 1), (124, 2), (40, 3), (12, 4)])
def test_slopes_of_logarithms_meet_finite_differences(n_qubits: int, n_layers: int) -> None:
    """∂ log K = ∂K / K, for fidelities down to 1e-50."""
    problem = wide_problem(n_qubits, n_layers, n_samples=2)
    cotangent = problem.cotangent / np.exp(logs(problem))
    gradient = gradient_of(RingEngine(problem.feature_map), problem, cotangent)
    for name in ("weights", "bias", "centroids"):

        def value(moved: FloatArray, name: str = name) -> float:
            return float(np.sum(problem.cotangent * logs(replace(problem, **{name: moved}))))

        start, found = getattr(problem, name), getattr(gradient, name)
        rng = stream(0, "directions", name)
        for direction in (rng.normal(size=start.shape), np.eye(1, start.size, rng.integers(start.size))):
            along = direction.reshape(start.shape) / np.linalg.norm(direction)
            expected = slope(value, start, along)
            assert_allclose(np.sum(found * along), expected, rtol=1e-7, atol=1e-7 * np.abs(found).max())


@pytest.mark.parametrize("exponent", [-90, -150, -200, -300])
def test_the_size_of_a_kernel_does_not_matter_to_its_alignment(exponent: int) -> None:
    """A(s·K) = A(K), so that its gradient is 1/s times as large."""
    rng = stream(0, "kernel")
    K, labels, row_weights = rng.uniform(size=(7, 3)), rng.integers(3, size=7), rng.uniform(0, 3, size=7)
    tiny = 10.0**exponent * K
    expected = target_alignment(K, labels, row_weights=row_weights)
    assert_allclose(target_alignment(tiny, labels, row_weights=row_weights), expected, rtol=1e-12)
    scaled = 10.0**exponent * alignment_gradient(tiny, labels, row_weights=row_weights)
    assert_allclose(scaled, alignment_gradient(K, labels, row_weights=row_weights), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_qubits", [124, 600])
def test_the_alignment_of_tiny_fidelities_has_a_gradient(n_qubits: int) -> None:
    problem = wide_problem(n_qubits, n_samples=4)
    labels = np.array([0, 1, 1, 0])

    def alignment(moved: FloatArray) -> float:
        return target_alignment(np.exp(logs(replace(problem, bias=moved))), labels)

    slopes = alignment_gradient(np.exp(logs(problem)), labels)
    found = gradient_of(RingEngine(problem.feature_map), problem, slopes).bias
    assert found is not None
    assert np.isfinite(found).all()
    along = found / np.linalg.norm(found)
    assert_allclose(np.linalg.norm(found), slope(alignment, problem.bias, along), rtol=1e-5)


# Handling


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_threads(n_layers: int) -> None:
    problem = wide_problem(30, n_layers, n_samples=35, n_classes=3)
    engines = [RingEngine(problem.feature_map, n_threads=n_threads) for n_threads in (1, 2, 5)]
    kernels = [engine.log_fidelities(*encoded(engine, problem)) for engine in engines]
    gradients = [gradient_of(engine, problem, problem.cotangent) for engine in engines]
    for kernel, gradient in zip(kernels[1:], gradients[1:], strict=True):
        assert_array_equal(kernel, kernels[0])
        for left, right in zip(gradient, gradients[0], strict=True):
            assert_array_equal(left, right)


def test_no_samples_have_an_empty_kernel_and_no_slopes() -> None:
    problem = wide_problem(30, n_samples=0)
    assert logs(problem).shape == (0, 2)
    for slopes in gradient_of(RingEngine(problem.feature_map), problem, np.zeros((0, 2))):
        assert_array_equal(slopes, np.zeros_like(slopes))


def test_encoded_rows_are_rotations() -> None:
    problem = wide_problem(124)
    samples, centroids = encoded(RingEngine(problem.feature_map), problem)
    assert isinstance(samples, RotationRows)
    assert (len(samples), len(centroids)) == (3, 2)
    assert samples.angles.shape == (3, 2, 124, 3)
    assert samples.rotations.shape == (3, 2, 124, 2, 2)


@pytest.mark.parametrize("n_samples", [0, 1, 2, 9])
def test_rotations_lie_row_by_row_however_many_there_are(n_samples: int) -> None:
    """Any other layout would have code compiled for itself, which takes longer than most fits."""
    feature_map = FeatureMap(n_qubits=4, n_features=3, n_layers=2)
    for rows in encoded(RingEngine(feature_map), random_problem(feature_map, n_samples=n_samples)):
        assert rows.rotations.flags.c_contiguous


@pytest.mark.parametrize(("n_layers", "states"), [(5, "256 × 256"), (7, "4,096 × 4,096")])
def test_deeper_circuits_are_refused_with_their_cost(n_layers: int, states: str) -> None:
    feature_map = FeatureMap(n_qubits=124, n_features=124, n_layers=n_layers)
    with pytest.raises(InvalidInputError, match=rf"4 layers.*{n_layers}.*{states}"):
        RingEngine(feature_map)
