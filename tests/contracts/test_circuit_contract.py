"""What every engine promises that runs any circuit: all gates, all angles, both starts, values and derivatives.

Oracles are Qiskit and PennyLane, which share neither angles nor matrices with the code under test.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import JAX
from mcquack.circuits import Circuit, FeatureMap, arccos, b, pi_minus, ring, w, x
from mcquack.errors import InvalidInputError
from mcquack.simulators import GateEngine, JaxEngine
from tests.circuit_oracles import (
    kernel_of_states,
    pennylane_states,
    product_of_inputs,
    qiskit_expectations,
    qiskit_hamming,
    qiskit_state,
    qiskit_states,
    shifted_slopes,
    steep_slope,
    turns,
)
from tests.random_circuits import random_circuit, random_point

ComplexArray = NDArray[np.complexfloating[Any, Any]]


class Implementation(NamedTuple):
    """How to make an engine, and how far from exact arithmetic its numbers of size 1 may be."""

    name: str
    make: Callable[[Circuit], Any]
    error: float


GATES = (
    Implementation("gates-float64", partial(GateEngine, dtype="float64"), 1e-12),
    Implementation("gates-float32", partial(GateEngine, dtype="float32"), 5e-6),
)
IN_JAX = (
    Implementation("jax-float64", partial(JaxEngine, dtype="float64"), 1e-12),
    Implementation("jax-float32", partial(JaxEngine, dtype="float32"), 5e-6),
)
needs_jax = pytest.mark.skipif(not JAX.is_installed, reason="needs the extra jax")
every_engine = pytest.mark.parametrize(
    "implementation",
    [*GATES, *(pytest.param(each, marks=needs_jax) for each in IN_JAX)],
    ids=lambda implementation: implementation.name,
)


@dataclass(frozen=True, eq=False)
class Problem:
    """A circuit with samples (4, d), centroids (3, d), weights and biases, and what the oracle says of them."""

    circuit: Circuit
    seed: int = 0

    @cached_property
    def arrays(self) -> dict[str, FloatArray]:
        rows, weights, bias = random_point(self.circuit, self.seed, n_rows=7)
        return {"X": rows[:4], "centroids": rows[4:], "weights": weights, "bias": bias}

    @cached_property
    def cotangent(self) -> FloatArray:
        return np.random.default_rng([self.seed, 1]).normal(size=(4, 3))

    @cached_property
    def cotangent_of_expectations(self) -> FloatArray:
        return np.random.default_rng([self.seed, 2]).normal(size=(4, 4))

    @cached_property
    def states(self) -> ComplexArray:
        return qiskit_states(self.circuit, self.arrays["X"], self.arrays["weights"], self.arrays["bias"])

    @cached_property
    def largest_angle(self) -> float:
        arrays = self.arrays
        rows = np.concatenate([arrays["X"], arrays["centroids"]])
        each = (turns(self.circuit, row, arrays["weights"], arrays["bias"]) for row in rows)
        return max((abs(angle) for row in each for gate in row for angle in gate), default=0.0)

    def error(self, implementation: Implementation) -> float:
        """In single precision, few digits of an angle of many turns remain for the part of a turn that matters."""
        many = max(1.0, self.largest_angle / math.pi) if implementation.error > 1e-9 else 1.0
        return implementation.error * many

    @property
    def observables(self) -> list[Any]:
        n = self.circuit.n_qubits
        return [0, (n - 1,), tuple(range(n)), tuple(range(0, n, 2))]

    def kernel(self, **changed: FloatArray) -> FloatArray:
        arrays = self.arrays | changed
        parameters = arrays["weights"], arrays["bias"]
        sides = (qiskit_states(self.circuit, arrays[name], *parameters) for name in ("X", "centroids"))
        return kernel_of_states(*sides)

    def expectations(self, **changed: FloatArray) -> FloatArray:
        arrays = self.arrays | changed
        states = qiskit_states(self.circuit, arrays["X"], arrays["weights"], arrays["bias"])
        return qiskit_expectations(states, self.observables)

    def encoded(self, engine: Any) -> tuple[Any, Any]:
        parameters = self.arrays["weights"], self.arrays["bias"]
        return engine.encode(self.arrays["X"], *parameters), engine.encode(self.arrays["centroids"], *parameters)


def all_gates_twice() -> Circuit:
    return random_circuit(1, n_qubits=3, n_gates=22).repeated(2)


def products_and_functions() -> Circuit:
    """Few gates, and all ways in which features and parameters meet in an angle; amplitudes to begin with."""
    shared = w("shared") * pi_minus(x[0]) * pi_minus(x[1]) + b("turn")
    begin = Circuit(2, 3, start="amplitudes", padding=0.4)
    return begin.ry([0, 1], [2 * w * x[0] * x[2] + b, shared]).crx((1, 0), arccos(x[1])).rzz((0, 1), shared - 0.3)


PROBLEMS = {
    "all_gates": Problem(all_gates_twice()),
    "amplitudes": Problem(products_and_functions()),
    "paper": Problem(FeatureMap(n_qubits=3, n_features=2, n_layers=4)),
    "one_qubit": Problem(Circuit(1, 2).h(0).rz(0, x[0] * x[1]).t(0).ry(0, b).sx(0).rx(0, w * x[0])),
    "constant": Problem(Circuit(2, 1).h([0, 1]).rot(1, 0.1, 0.2, 0.3).cz(0, 1)),
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def assert_close(actual: Any, expected: Any, error: float) -> None:
    """Equal up to ``error`` times the largest number, or ``error`` if all are small."""
    assert actual.shape == expected.shape
    assert_allclose(actual, expected, rtol=0, atol=error * max(1.0, float(np.abs(expected).max(initial=0))))


# Many circuits


@lru_cache(maxsize=600)
def drawn(n_qubits: int, seed: int) -> Problem:
    """Every third circuit begins with amplitudes; the widest have a few gates of each kind."""
    n_features = 1 + seed % 5
    circuit = random_circuit(
        seed, n_qubits=n_qubits, n_features=n_features, n_gates=10 + 7 * (seed % 4), amplitudes=seed % 3 == 2
    )
    return Problem(circuit, seed)


def assert_states_and_kernel(implementation: Implementation, problem: Problem) -> None:
    engine = implementation.make(problem.circuit)
    samples, centroids = problem.encoded(engine)
    assert_close(engine.statevectors(samples), problem.states, problem.error(implementation))
    assert_close(engine.fidelities(samples, centroids), problem.kernel(), problem.error(implementation))


@pytest.mark.parametrize("n_qubits", range(1, 9))
def test_states_and_kernels_of_random_circuits_are_those_of_qiskit(n_qubits: int) -> None:
    for seed in range(6):
        for implementation in GATES:
            assert_states_and_kernel(implementation, drawn(n_qubits, seed))


@pytest.mark.parametrize("n_qubits", range(1, 9))
def test_states_of_random_circuits_are_those_of_pennylane(n_qubits: int) -> None:
    for seed in range(13):
        problem = drawn(n_qubits, seed)
        arrays = problem.arrays
        expected = pennylane_states(problem.circuit, arrays["X"], arrays["weights"], arrays["bias"])
        for implementation in GATES:
            engine = implementation.make(problem.circuit)
            assert_close(engine.statevectors(problem.encoded(engine)[0]), expected, problem.error(implementation))


@every_engine
@every_problem
def test_states_and_kernels_are_those_of_qiskit(implementation: Implementation, problem: Problem) -> None:
    assert_states_and_kernel(implementation, problem)


@pytest.mark.campaign
@pytest.mark.parametrize("n_qubits", range(1, 9))
def test_states_and_kernels_of_many_random_circuits_are_those_of_qiskit(n_qubits: int) -> None:
    for seed in range(70):
        for implementation in GATES:
            assert_states_and_kernel(implementation, drawn(n_qubits, seed))


@needs_jax
@pytest.mark.campaign
@pytest.mark.parametrize("n_qubits", range(1, 9))
def test_random_circuits_in_jax_are_those_of_qiskit(n_qubits: int) -> None:
    for seed in range(4):
        for implementation in IN_JAX:
            assert_states_and_kernel(implementation, drawn(n_qubits, seed))


@pytest.mark.campaign
@pytest.mark.parametrize("n_qubits", range(1, 7))
def test_derivatives_of_many_random_circuits_meet_finite_differences(n_qubits: int) -> None:
    for seed in range(6):
        for implementation in GATES:
            assert_pullback_meets_finite_differences(implementation, drawn(n_qubits, seed))


# Kernels


@every_engine
@every_problem
def test_fidelities_are_a_kernel(implementation: Implementation, problem: Problem) -> None:
    engine = implementation.make(problem.circuit)
    samples, centroids = problem.encoded(engine)
    itself, across = engine.fidelities(samples, samples), engine.fidelities(samples, centroids)
    for kernel in (itself, across):
        assert kernel.min() >= 0
        assert kernel.max() <= 1
    assert_allclose(np.diag(itself), 1, rtol=0, atol=problem.error(implementation))
    assert_close(itself, itself.T, problem.error(implementation))
    assert_close(engine.fidelities(centroids, samples), across.T, problem.error(implementation))


@every_engine
@pytest.mark.parametrize("name", ["paper", "one_qubit"])
def test_distributions_of_ones_are_those_of_qiskit(implementation: Implementation, name: str) -> None:
    problem = PROBLEMS[name]
    engine = implementation.make(problem.circuit)
    found = engine.hamming_distributions(*problem.encoded(engine))
    assert_close(found, qiskit_hamming(problem.circuit, **problem.arrays), problem.error(implementation))


# Derivatives


class Along(NamedTuple):
    """A direction, and the slope of a value along it."""

    direction: FloatArray
    slope: float


def along_random(value: Callable[[FloatArray], float], at: FloatArray) -> Along:
    direction = np.random.default_rng(at.size).normal(size=at.shape)
    return Along(direction, steep_slope(value, at, direction) if at.size else 0.0)


@lru_cache(maxsize=600)
def slope_of_kernel(problem: Problem, name: str) -> Along:
    def value(moved: FloatArray) -> float:
        return float(np.sum(problem.cotangent * problem.kernel(**{name: moved})))

    return along_random(value, problem.arrays[name])


@lru_cache
def slope_of_expectations(problem: Problem, name: str) -> Along:
    def value(moved: FloatArray) -> float:
        return float(np.sum(problem.cotangent_of_expectations * problem.expectations(**{name: moved})))

    return along_random(value, problem.arrays[name])


def assert_slope(found: Any, expected: Along, error: float) -> None:
    assert found.shape == expected.direction.shape
    scale = max(1.0, float(np.abs(found).max(initial=0))) * max(1.0, float(np.abs(expected.direction).sum()))
    assert abs(np.sum(found * expected.direction) - expected.slope) < max(error, 1e-10) * scale


def assert_pullback_meets_finite_differences(implementation: Implementation, problem: Problem) -> None:
    engine = implementation.make(problem.circuit)
    pull = partial(engine.pullback, *problem.encoded(engine), problem.cotangent)
    of_embedding, of_centroids = pull(wrt="embedding"), pull(wrt="centroids")
    assert of_embedding.centroids is of_centroids.weights is of_centroids.bias is None
    pulled = of_embedding._replace(centroids=of_centroids.centroids)
    for name in ("weights", "bias", "centroids"):
        assert_slope(getattr(pulled, name), slope_of_kernel(problem, name), problem.error(implementation))


@every_engine
@pytest.mark.parametrize("name", ["all_gates", "amplitudes", "one_qubit"])
def test_pullbacks_meet_finite_differences(implementation: Implementation, name: str) -> None:
    assert_pullback_meets_finite_differences(implementation, PROBLEMS[name])


@pytest.mark.parametrize("implementation", GATES, ids=lambda implementation: implementation.name)
@pytest.mark.parametrize("name", ["paper", "constant"])
def test_pullbacks_of_other_circuits_meet_finite_differences(implementation: Implementation, name: str) -> None:
    assert_pullback_meets_finite_differences(implementation, PROBLEMS[name])


@lru_cache
def derivatives_by_shifts(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Derivatives by weights and biases, from those by every angle of the circuits of samples and centroids."""
    circuit, arrays = problem.circuit, problem.arrays
    by_weights, by_bias = np.zeros(circuit.n_weights), np.zeros(circuit.n_bias)
    parameters = arrays["weights"], arrays["bias"]
    for rows, others, weighting in (
        (arrays["X"], arrays["centroids"], problem.cotangent),
        (arrays["centroids"], arrays["X"], problem.cotangent.T),
    ):
        fixed = qiskit_states(circuit, others, *parameters)
        for row, own in zip(rows, weighting, strict=True):

            def value(angles: Any, row: Any = row, own: Any = own, fixed: Any = fixed) -> float:
                return float(np.sum(own * kernel_of_states(qiskit_state(circuit, row, angles)[None], fixed)[0]))

            slopes = shifted_slopes(circuit, turns(circuit, row, *parameters), value)
            for gate, of_gate in zip(circuit.gates, slopes, strict=True):
                for angle, of_angle in zip(gate.angles, of_gate, strict=True):
                    if isinstance(angle.weight, int):
                        by_weights[angle.weight] += of_angle * angle.factor * product_of_inputs(angle, row)
                    if isinstance(angle.bias, int):
                        by_bias[angle.bias] += of_angle * angle.bias_factor
    return by_weights.reshape(circuit.weights_shape), by_bias.reshape(circuit.bias_shape)


@every_engine
@pytest.mark.parametrize("name", ["all_gates", "amplitudes"])
def test_pullbacks_meet_the_parameter_shift_rules(implementation: Implementation, name: str) -> None:
    problem = PROBLEMS[name]
    engine = implementation.make(problem.circuit)
    found = engine.pullback(*problem.encoded(engine), problem.cotangent, wrt="embedding")
    for pulled, expected in zip(found[:2], derivatives_by_shifts(problem), strict=True):
        assert_close(pulled, expected, problem.error(implementation))


@every_engine
@pytest.mark.parametrize("name", ["all_gates", "amplitudes", "one_qubit"])
def test_products_of_z_and_their_derivatives_are_those_of_qiskit(implementation: Implementation, name: str) -> None:
    problem = PROBLEMS[name]
    engine = implementation.make(problem.circuit)
    samples, _ = problem.encoded(engine)
    found = engine.expectations(samples, problem.observables)
    assert_close(found, problem.expectations(), problem.error(implementation))
    pulled = engine.pull_expectations(samples, problem.cotangent_of_expectations, problem.observables)
    for kind in ("weights", "bias"):
        assert_slope(getattr(pulled, kind), slope_of_expectations(problem, kind), problem.error(implementation))


@every_engine
def test_a_sample_of_zeros_has_a_state_and_finite_derivatives(implementation: Implementation) -> None:
    circuit = Circuit(2, 3, start="amplitudes").ry([0, 1], b).cnot(ring(2))
    engine = implementation.make(circuit)
    bias = np.array([0.3, 0.7])
    encoded = engine.encode([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]], np.zeros(0), bias)
    expected = qiskit_states(circuit, np.array([[1.0, 0, 0], [0, 1, 0]]), np.zeros(0), bias)
    assert_close(engine.statevectors(encoded), expected, implementation.error)
    pulled = engine.pullback(encoded, encoded, np.ones((2, 2)), wrt="centroids").centroids
    assert np.isfinite(pulled).all()
    assert_array_equal(pulled[0], 0)


@every_engine
def test_functions_of_features_stay_finite_where_their_slopes_are_not(implementation: Implementation) -> None:
    circuit = Circuit(1, 1).ry(0, arccos(x[0]))
    engine = implementation.make(circuit)
    samples = engine.encode([[0.3]], [], [])
    edges = engine.encode([[1.0], [-1.0], [1.5]], [], [])
    pulled = engine.pullback(samples, edges, np.ones((1, 3)), wrt="centroids").centroids
    assert np.isfinite(pulled).all()
    assert pulled[2] == 0


# Handling


@every_engine
def test_there_may_be_no_rows(implementation: Implementation) -> None:
    problem = PROBLEMS["amplitudes"]
    engine = implementation.make(problem.circuit)
    samples, centroids = problem.encoded(engine)
    parameters = problem.arrays["weights"], problem.arrays["bias"]
    empty = engine.encode(np.empty((0, 3)), *parameters)
    assert engine.fidelities(empty, centroids).shape == (0, 3)
    assert engine.fidelities(samples, empty).shape == (4, 0)
    assert engine.statevectors(empty).shape == (0, 4)
    assert engine.expectations(empty, [0, (0, 1)]).shape == (0, 2)
    assert_array_equal(engine.pullback(empty, centroids, np.empty((0, 3)), wrt="embedding").bias, 0)
    assert engine.pullback(samples, empty, np.empty((4, 0)), wrt="centroids").centroids.shape == (0, 3)


@every_engine
def test_a_sample_does_not_notice_its_neighbours(implementation: Implementation) -> None:
    """There are more of them than lie side by side in a block."""
    problem = PROBLEMS["amplitudes"]
    parameters = problem.arrays["weights"], problem.arrays["bias"]
    engine = implementation.make(problem.circuit)
    rows = np.random.default_rng(0).uniform(-0.9, 0.9, (40, 3))
    many, (_, centroids) = engine.encode(rows, *parameters), problem.encoded(engine)
    kernel = engine.fidelities(many, centroids)
    cotangent = np.random.default_rng(1).normal(size=kernel.shape)
    whole = engine.pullback(many, centroids, cotangent, wrt="embedding")
    weights = np.zeros_like(whole.weights)
    for first in range(0, 40, 4):
        some = engine.encode(rows[first : first + 4], *parameters)
        assert_close(engine.fidelities(some, centroids), kernel[first : first + 4], problem.error(implementation))
        weights += engine.pullback(some, centroids, cotangent[first : first + 4], wrt="embedding").weights
    assert_close(whole.weights, weights, 10 * problem.error(implementation))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_number_of_threads_changes_nothing(dtype: str) -> None:
    circuit = random_circuit(3, n_qubits=8, n_gates=60)
    rows, *parameters = random_point(circuit, 0, n_rows=80)
    answers = []
    for n_threads in (1, 2, 3):
        engine = GateEngine(circuit, dtype=dtype, n_threads=n_threads)
        samples, centroids = engine.encode(rows[:77], *parameters), engine.encode(rows[77:], *parameters)
        pulled = engine.pullback(samples, centroids, np.ones((77, 3)), wrt="embedding")
        answers.append([engine.fidelities(samples, centroids), pulled.weights, pulled.bias])
    for one, two, three in zip(*answers, strict=True):
        assert_array_equal(one, two)
        assert_array_equal(one, three)


@every_engine
def test_inputs_stay_as_they_are_and_encoded_data_can_be_used_again(implementation: Implementation) -> None:
    problem = PROBLEMS["amplitudes"]
    before = {name: array.copy() for name, array in problem.arrays.items()}
    engine = implementation.make(problem.circuit)
    encoded = problem.encoded(engine)
    first = [engine.fidelities(*encoded), *engine.pullback(*encoded, problem.cotangent, wrt="embedding")[:2]]
    second = [engine.fidelities(*encoded), *engine.pullback(*encoded, problem.cotangent, wrt="embedding")[:2]]
    for left, right in zip(first, second, strict=True):
        assert_array_equal(left, right)
    for name, array in problem.arrays.items():
        assert_array_equal(array, before[name])
        if name != "centroids":
            assert_close(getattr(encoded[0], {"X": "features"}.get(name, name)), array, implementation.error)


@every_engine
@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [("X", (4, 2), "3 features"), ("X", (3,), "3 features"), ("weights", (3,), "(2,)"), ("bias", (1, 2), "(2,)")],
)
def test_wrong_shapes_are_refused(
    implementation: Implementation, name: str, shape: tuple[int, ...], expected: str
) -> None:
    problem = PROBLEMS["amplitudes"]
    arrays = {key: problem.arrays[key] for key in ("X", "weights", "bias")}
    with pytest.raises(InvalidInputError) as refusal:
        implementation.make(problem.circuit).encode(**arrays | {name: np.zeros(shape)})
    assert str(shape) in str(refusal.value)
    assert expected in str(refusal.value)


@every_engine
def test_what_makes_no_sense_is_refused(implementation: Implementation) -> None:
    problem = PROBLEMS["amplitudes"]
    engine = implementation.make(problem.circuit)
    samples, centroids = problem.encoded(engine)
    with pytest.raises(InvalidInputError, match="shape"):
        engine.pullback(samples, centroids, np.zeros((3, 4)), wrt="embedding")
    with pytest.raises(InvalidInputError, match="samples"):
        engine.pullback(samples, centroids, problem.cotangent, wrt="samples")
    with pytest.raises(InvalidInputError, match=r"0 to 1.*2"):
        engine.expectations(samples, [(0, 2)])
    with pytest.raises(InvalidInputError, match="shape"):
        engine.pull_expectations(samples, np.zeros((4, 1)), [0, 1])
    with pytest.raises(InvalidInputError, match=r"20 qubits.*21"):
        implementation.make(Circuit(21, 1).h(0))
    with pytest.raises(InvalidInputError, match="float32"):
        type(engine)(problem.circuit, dtype="float16")
