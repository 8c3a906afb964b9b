"""What every engine promises, whatever it runs on. A new engine adds one line to ``ENGINES``."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine, Gradient
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine
from tests.contracts.toy_engine import ToyEngine
from tests.oracles import oracle_kernel, slope
from tests.problems import Problem, problems, random_problem

FloatArray = NDArray[np.floating]


class Implementation(NamedTuple):
    """How to make an engine, and how far from exact arithmetic its numbers of size 1 may be."""

    name: str
    make: Callable[[FeatureMap], Engine[Any]]
    error: float


def parameter_shift(feature_map: FeatureMap) -> Engine[Any]:
    return ParameterShiftEngine(StatevectorEngine(feature_map, dtype=np.float64))


ENGINES = (
    Implementation("statevector-float64", partial(StatevectorEngine, dtype=np.float64), 1e-12),
    Implementation("statevector-float32", partial(StatevectorEngine, dtype=np.float32), 5e-6),
    Implementation("gates-float64", partial(GateEngine, dtype=np.float64), 1e-12),
    Implementation("gates-float32", partial(GateEngine, dtype=np.float32), 5e-6),
    Implementation("parameter-shift", parameter_shift, 1e-12),
    Implementation("ring", RingEngine, 1e-12),
    Implementation("toy", partial(ToyEngine, dtype=np.float64), 1e-12),
)

every_engine = pytest.mark.parametrize("implementation", ENGINES, ids=lambda implementation: implementation.name)
every_size = pytest.mark.parametrize("n_qubits", range(1, 8))
few_examples = settings(max_examples=15)


def kernel_of(implementation: Implementation, problem: Problem) -> FloatArray:
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    return engine.fidelities(samples, engine.encode(problem.centroids, problem.weights, problem.bias))


def gradient_of(implementation: Implementation, problem: Problem, cotangent: FloatArray | None = None) -> Gradient:
    """Both pullbacks in one value."""
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    pull = partial(engine.pullback, samples, centroids, problem.cotangent if cotangent is None else cotangent)
    return pull(wrt="embedding")._replace(centroids=pull(wrt="centroids").centroids)


def exact_kernel(problem: Problem, **changed: FloatArray) -> FloatArray:
    arrays: dict[str, Any] = {name: getattr(problem, name) for name in ("X", "centroids", "weights", "bias")}
    return oracle_kernel(problem.feature_map, **(arrays | changed))


def assert_close(actual: FloatArray, expected: FloatArray, error: float) -> None:
    """Equal up to ``error`` times the largest number, or ``error`` if all are small."""
    assert actual.shape == expected.shape
    assert_allclose(actual, expected, rtol=0, atol=error * max(1.0, float(np.abs(expected).max(initial=0))))


def directions(shape: tuple[int, ...], n_random: int = 2, n_single: int = 3) -> list[FloatArray]:
    """Some random ones, and some along a single entry."""
    rng = stream(0, "directions", str(shape))
    chosen: list[FloatArray] = [rng.normal(size=shape) for _ in range(n_random)]
    for entry in rng.integers(np.prod(shape), size=n_single):
        unit = np.zeros(shape)
        unit.flat[entry] = 1
        chosen.append(unit)
    return chosen


def assert_gradient_meets_finite_differences(implementation: Implementation, problem: Problem) -> None:
    pulled = gradient_of(implementation, problem)
    for name in ("weights", "bias", "centroids"):
        found = getattr(pulled, name)
        start = getattr(problem, name)

        def value(moved: FloatArray, name: str = name) -> float:
            return float(np.sum(problem.cotangent * exact_kernel(problem, **{name: moved})))

        assert found.shape == start.shape
        for direction in directions(start.shape):
            expected = slope(value, start, direction)
            scale = max(1.0, float(np.abs(found).max())) * max(1.0, float(np.abs(direction).sum()))
            assert abs(np.sum(found * direction) - expected) < max(implementation.error, 1e-10) * 2 * scale


# Values


@every_engine
@few_examples
@given(problem=problems())
def test_fidelities_are_squared_overlaps_of_the_states(implementation: Implementation, problem: Problem) -> None:
    assert_close(kernel_of(implementation, problem), exact_kernel(problem), implementation.error)


@every_engine
@every_size
@pytest.mark.parametrize("features_per_gate", [1, 3])
@pytest.mark.parametrize("final_entangler", [True, False])
def test_values_and_gradients_hold_for_every_kind_of_feature_map(
    implementation: Implementation, n_qubits: int, final_entangler: bool, features_per_gate: Any
) -> None:
    feature_map = FeatureMap(
        n_qubits=n_qubits,
        n_features=5,
        n_layers=3,
        final_entangler=final_entangler,
        features_per_gate=features_per_gate,
    )
    problem = random_problem(feature_map, seed=n_qubits)
    assert_close(kernel_of(implementation, problem), exact_kernel(problem), implementation.error)
    assert_gradient_meets_finite_differences(implementation, problem)


@every_engine
@few_examples
@given(problem=problems())
def test_fidelities_lie_between_0_and_1(implementation: Implementation, problem: Problem) -> None:
    kernel = kernel_of(implementation, problem)
    assert kernel.shape == (len(problem.X), len(problem.centroids))
    assert kernel.min() >= 0
    assert kernel.max() <= 1


@every_engine
@few_examples
@given(problem=problems())
def test_fidelity_of_a_point_with_itself_is_1(implementation: Implementation, problem: Problem) -> None:
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    again = engine.encode(problem.X, problem.weights, problem.bias)
    assert_allclose(np.diag(engine.fidelities(samples, again)), 1, rtol=0, atol=implementation.error)


@every_engine
@few_examples
@given(problem=problems())
def test_swapping_samples_and_centroids_transposes_the_kernel(implementation: Implementation, problem: Problem) -> None:
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    swapped = engine.fidelities(centroids, samples)
    assert_close(engine.fidelities(samples, centroids), swapped.T, implementation.error)


@every_engine
@few_examples
@given(problem=problems())
def test_a_sample_does_not_notice_its_neighbours(implementation: Implementation, problem: Problem) -> None:
    together = kernel_of(implementation, problem)
    engine = implementation.make(problem.feature_map)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    for x, row in zip(problem.X, together, strict=True):
        alone = engine.fidelities(engine.encode(x[None], problem.weights, problem.bias), centroids)
        assert_close(alone, row[None], implementation.error)


@every_engine
@few_examples
@given(problem=problems(), data=st.data())
def test_whole_turns_of_angles_change_nothing(
    implementation: Implementation, problem: Problem, data: st.DataObject
) -> None:
    """They are global phases, as are the rotations by φ before the first RY."""
    turns = data.draw(st.integers(-3, 3))
    bias = problem.bias + 2 * np.pi * turns
    bias[0, :, 0] += 0.7
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, bias)
    kernel = engine.fidelities(samples, engine.encode(problem.centroids, problem.weights, bias))
    assert_close(kernel, exact_kernel(problem), 10 * implementation.error)


# Derivatives


@every_engine
@few_examples
@given(problem=problems(max_qubits=5, max_samples=20))
def test_pullback_is_the_derivative(implementation: Implementation, problem: Problem) -> None:
    assert_gradient_meets_finite_differences(implementation, problem)


@every_engine
@few_examples
@given(problem=problems(max_qubits=4, max_layers=3), data=st.data())
def test_pullback_is_linear_in_the_cotangent(
    implementation: Implementation, problem: Problem, data: st.DataObject
) -> None:
    factor = data.draw(st.floats(-2, 2))
    other = stream(1, "cotangent").normal(size=problem.cotangent.shape)
    combined = gradient_of(implementation, problem, factor * problem.cotangent + other)
    parts = gradient_of(implementation, problem), gradient_of(implementation, problem, other)
    for whole, left, right in zip(combined, *parts, strict=True):
        assert whole is not None
        assert left is not None
        assert right is not None
        assert_close(whole, factor * left + right, 10 * implementation.error)


@every_engine
@few_examples
@given(problem=problems(max_qubits=4, max_layers=3))
def test_pullback_of_zero_is_zero(implementation: Implementation, problem: Problem) -> None:
    for slopes in gradient_of(implementation, problem, np.zeros_like(problem.cotangent)):
        assert_array_equal(slopes, np.zeros_like(slopes))


@every_engine
@few_examples
@given(problem=problems(max_qubits=4, max_layers=3))
def test_rotations_about_z_of_the_zero_state_have_no_slope(implementation: Implementation, problem: Problem) -> None:
    pulled = gradient_of(implementation, problem)
    for slopes in (pulled.weights, pulled.bias):
        assert slopes is not None
        assert_close(slopes[0, :, 0], np.zeros(problem.feature_map.n_qubits), 100 * implementation.error)


@every_engine
def test_pullback_gives_only_what_is_asked_for(implementation: Implementation) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    of_embedding = engine.pullback(samples, centroids, problem.cotangent, wrt="embedding")
    of_centroids = engine.pullback(samples, centroids, problem.cotangent, wrt="centroids")
    assert of_embedding.centroids is None
    assert of_centroids.weights is of_centroids.bias is None


@every_engine
@few_examples
@given(problem=problems(max_qubits=4, max_layers=3))
def test_logarithms_are_those_of_the_fidelities_and_have_their_derivatives(
    implementation: Implementation, problem: Problem
) -> None:
    """∂ log K = ∂K / K, so that K log K' has the slopes of K'."""
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    kernel = np.asarray(engine.fidelities(samples, centroids), np.float64)
    assert_close(np.exp(engine.log_fidelities(samples, centroids)), kernel, implementation.error)
    expected = gradient_of(implementation, problem)
    pull = partial(engine.pull_logs, samples, centroids, problem.cotangent * kernel)
    found = pull(wrt="embedding")._replace(centroids=pull(wrt="centroids").centroids)
    for left, right in zip(found, expected, strict=True):
        assert left is not None
        assert right is not None
        assert_close(left, right, 10 * implementation.error)


# Handling


@every_engine
def test_encoded_data_tell_what_they_are(implementation: Implementation) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = implementation.make(problem.feature_map)
    encoded = engine.encode(problem.X, problem.weights, problem.bias)
    assert engine.feature_map == problem.feature_map
    assert len(encoded) == len(problem.X)
    for name, expected in (("features", problem.X), ("weights", problem.weights), ("bias", problem.bias)):
        assert_close(getattr(encoded, name), expected, implementation.error)


@every_engine
def test_inputs_stay_as_they_are(implementation: Implementation) -> None:
    problem = random_problem(FeatureMap(n_qubits=4, n_features=4, n_layers=3), n_samples=20)
    before = [array.copy() for array in problem.arrays]
    kernel_of(implementation, problem)
    gradient_of(implementation, problem)
    for array, copy in zip(problem.arrays, before, strict=True):
        assert_array_equal(array, copy)


@every_engine
def test_encoded_data_can_be_used_again(implementation: Implementation) -> None:
    """Whatever was asked before, the same question has the same answer, to the last bit."""
    problem = random_problem(FeatureMap(n_qubits=4, n_features=4, n_layers=3), n_samples=20)
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)

    def answers() -> list[FloatArray | None]:
        by_centroids = engine.pullback(samples, centroids, problem.cotangent, wrt="centroids")
        by_embedding = engine.pullback(samples, centroids, problem.cotangent, wrt="embedding")
        return [engine.fidelities(samples, centroids), *by_centroids, *by_embedding]

    for first, second in zip(answers(), answers(), strict=True):
        assert_array_equal(first, second)


@every_engine
@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, lambda array: np.repeat(array, 2, axis=0)[::2], lambda array: array.astype(np.float32)],
)
def test_layout_and_type_of_arrays_do_not_matter(
    implementation: Implementation, layout: Callable[[FloatArray], FloatArray]
) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    problem = Problem(
        feature_map=problem.feature_map,
        X=problem.X.astype(np.float32).astype(np.float64),
        centroids=problem.centroids.astype(np.float32).astype(np.float64),
        weights=problem.weights.astype(np.float32).astype(np.float64),
        bias=problem.bias.astype(np.float32).astype(np.float64),
        cotangent=problem.cotangent.astype(np.float32).astype(np.float64),
    )
    X, centroids, weights, bias, cotangent = map(layout, problem.arrays)
    other = Problem(
        feature_map=problem.feature_map, X=X, centroids=centroids, weights=weights, bias=bias, cotangent=cotangent
    )
    # NumPy may take another way through another layout: all but the last digits are the same.
    kernel = kernel_of(implementation, problem)
    error = 8 * float(np.finfo(kernel.dtype).eps)
    assert_close(kernel_of(implementation, other), kernel, error)
    for left, right in zip(gradient_of(implementation, other), gradient_of(implementation, problem), strict=True):
        assert left is not None
        assert right is not None
        assert_close(left, right, error)


@every_engine
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("X", (5, 3)),
        ("X", (4,)),
        ("X", (5, 4, 1)),
        ("weights", (2, 3)),
        ("weights", (1, 3, 3)),
        ("bias", (3, 3, 3)),
        ("bias", (2, 2, 3)),
    ],
)
def test_wrong_shapes_are_refused_with_both_shapes_named(
    implementation: Implementation, name: str, shape: tuple[int, ...]
) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = implementation.make(problem.feature_map)
    arrays = {"X": problem.X, "weights": problem.weights, "bias": problem.bias, name: np.zeros(shape)}
    with pytest.raises(InvalidInputError) as refusal:
        engine.encode(**arrays)
    assert str(shape) in str(refusal.value)
    assert "4 features" in str(refusal.value) or "(2, 3, 3)" in str(refusal.value)


@every_engine
def test_a_cotangent_must_fit_the_kernel(implementation: Implementation) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    for shape in ((5, 2), (4, 3), (3, 5)):
        with pytest.raises(InvalidInputError, match="shape"):
            gradient_of(implementation, problem, np.zeros(shape))


@every_engine
def test_derivatives_are_by_the_embedding_or_the_centroids(implementation: Implementation) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = implementation.make(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    with pytest.raises(InvalidInputError, match="samples"):
        engine.pullback(samples, samples, np.zeros((5, 5)), wrt="samples")  # type: ignore[arg-type]
