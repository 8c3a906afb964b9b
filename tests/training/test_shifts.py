"""What engines that take derivatives from values share, and the shifts that give those of the adjoint."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import Circuit, b, ring, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Gradient, Wrt
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.shots import SampledEngine, TolerantEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, SpsaEngine, StochasticShiftEngine, total_shots
from mcquack.training import shifts as from_values
from mcquack.training.shifts import drawn_for, kernels_of, live_angles
from tests.problems import Problem, problems, random_problem
from tests.random_circuits import random_circuit, random_point
from tests.training.measured import Remembering, given, pulled, sampled

PROBLEM = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=5, n_classes=2, spread=0.5)
N_ANGLES = 15  # 18, of which three turn |0⟩ about z
METHODS = (ParameterShiftEngine, StochasticShiftEngine, SpsaEngine)
every_method = pytest.mark.parametrize("method", METHODS)
both_sides = pytest.mark.parametrize("wrt", ["embedding", "centroids"])


@both_sides
@pytest.mark.parametrize(
    ("method", "settings", "n_kernels"),
    [
        (ParameterShiftEngine, {}, {"embedding": 4 * N_ANGLES, "centroids": 2 * N_ANGLES}),
        (StochasticShiftEngine, {}, {"embedding": 4, "centroids": 2}),
        (StochasticShiftEngine, {"n_angles": 4}, {"embedding": 16, "centroids": 8}),
        (SpsaEngine, {}, {"embedding": 2, "centroids": 2}),
        (SpsaEngine, {"n_directions": 3}, {"embedding": 6, "centroids": 6}),
    ],
)
def test_a_pullback_measures_what_it_says(
    method: Any, settings: dict[str, Any], n_kernels: dict[str, int], wrt: Any
) -> None:
    sampler = Remembering()
    engine = method(sampled(PROBLEM, sampler), **settings)
    pulled(engine, PROBLEM, wrt=wrt)
    assert engine.cost(wrt).kernels_per_pullback == n_kernels[wrt]
    assert sampler.n_circuits == n_kernels[wrt] * 5 * 2


@pytest.mark.parametrize(
    ("method", "wrt", "n_calls"),
    [
        (ParameterShiftEngine, "embedding", 2),
        (ParameterShiftEngine, "centroids", 1),
        (StochasticShiftEngine, "embedding", 2),
        (StochasticShiftEngine, "centroids", 1),
        (SpsaEngine, "embedding", 2),
        (SpsaEngine, "centroids", 1),
    ],
)
def test_a_sampler_is_called_once_or_twice(method: Any, wrt: Any, n_calls: int) -> None:
    """Where samples and centroids move at once their kernels have nothing in common, and are two calls."""
    sampler = Remembering()
    pulled(method(sampled(PROBLEM, sampler)), PROBLEM, wrt=wrt)
    assert len(sampler.shapes) == n_calls


def test_more_rows_than_memory_are_more_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_values, "ANGLES_AT_ONCE", 12 * 18)
    sampler = Remembering()
    pulled(ParameterShiftEngine(sampled(PROBLEM, sampler)), PROBLEM, wrt="embedding")
    assert sampler.shapes == [(5, 12)] * 5 + [(10, 2)] * 15


@pytest.mark.parametrize("side", ["samples", "centroids"])
def test_kernels_come_in_the_order_of_their_parts(side: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined or one by one, for parts of different lengths."""
    monkeypatch.setattr(from_values, "ANGLES_AT_ONCE", 4 * 18)
    exact = StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)
    many = sampled(PROBLEM, Remembering(), shots=40_000)
    pieces = [PROBLEM.X[:1], PROBLEM.X[1:4], PROBLEM.X[2:], PROBLEM.X[:2]]
    found = []
    engines: tuple[Any, ...] = exact, many
    for engine in engines:
        others = engine.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
        parts = [engine.encode(rows, PROBLEM.weights, PROBLEM.bias) for rows in pieces]
        found.append(list(kernels_of(engine, parts, others, side=side)))
    assert [kernel.shape[0 if side == "samples" else 1] for kernel in found[0]] == [1, 3, 3, 2]
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=0, atol=0.015)


@every_method
@both_sides
def test_the_same_call_has_the_same_answer(method: Any, wrt: Any) -> None:
    engine = method(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64))
    again = method(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64))
    assert_array_equal(given(pulled(engine, PROBLEM, wrt=wrt)), given(pulled(again, PROBLEM, wrt=wrt)))


def test_draws_depend_on_seed_purpose_and_data() -> None:
    engine = StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)
    samples = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    moved = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias + 1e-9)
    calls = [
        (0, "a", samples, samples),
        (1, "a", samples, samples),
        (0, "b", samples, samples),
        (0, "a", moved, samples),
    ]
    draws = [tuple(drawn_for(*call).integers(2**32, size=3)) for call in calls]
    assert len(set(draws)) == 4
    assert tuple(drawn_for(*calls[0]).integers(2**32, size=3)) == draws[0]


@every_method
def test_values_are_those_of_the_engine_behind(method: Any) -> None:
    engine = StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)
    samples = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    assert_array_equal(method(engine).fidelities(samples, samples), engine.fidelities(samples, samples))
    assert method(engine).feature_map == PROBLEM.feature_map
    assert method(engine).rows_at_once is not None
    assert method(sampled(PROBLEM, Remembering())).rows_at_once is None


@every_method
def test_only_what_is_trained_has_derivatives(method: Any) -> None:
    engine = method(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64))
    with pytest.raises(InvalidInputError, match="samples"):
        pulled(engine, PROBLEM, wrt="samples")
    samples = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    with pytest.raises(InvalidInputError, match="cotangent"):
        engine.pullback(samples, samples, PROBLEM.cotangent, wrt="embedding")


def assert_close_gradients(left: Gradient, right: Gradient, *, atol: float) -> None:
    for one, other in zip(left, right, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.shape == other.shape
            assert_allclose(one, other, rtol=0, atol=atol)


@pytest.mark.parametrize("wrt", ["embedding", "centroids"])
@settings(max_examples=15)
@examples(problem=problems(max_qubits=5, max_layers=3, max_samples=20))
def test_parameter_shift_is_the_adjoint(wrt: Wrt, problem: Problem) -> None:
    adjoint = StatevectorEngine(problem.feature_map, dtype=np.float64)
    shifted = ParameterShiftEngine(adjoint)
    samples = adjoint.encode(problem.X, problem.weights, problem.bias)
    centroids = adjoint.encode(problem.centroids, problem.weights, problem.bias)
    left, right = (engine.pullback(samples, centroids, problem.cotangent, wrt=wrt) for engine in (shifted, adjoint))
    assert_close_gradients(left, right, atol=1e-11)


def test_shots_of_the_papers_device_experiment() -> None:
    """124 qubits, two layers, 248 features, two classes: 1.488e8 shots for one epoch."""
    feature_map = FeatureMap(n_qubits=124, n_features=248, n_layers=2, final_entangler=False)
    assert total_shots(feature_map, n_classes=2, n_train=100, n_shots=100) == 148_800_000


@examples(
    n_epochs=st.integers(1, 10),
    n_train=st.integers(1, 10**6),
    n_classes=st.integers(1, 50),
    n_shots=st.integers(1, 10**6),
    epochs_ka=st.integers(0, 3),
    epochs_co=st.integers(0, 3),
)
def test_shots_are_linear_in_everything_that_is_repeated(
    n_epochs: int, n_train: int, n_classes: int, n_shots: int, epochs_ka: int, epochs_co: int
) -> None:
    feature_map = FeatureMap(n_qubits=4, n_features=7, n_layers=2)
    D, d = 48, 7
    shots = total_shots(
        feature_map,
        n_classes=n_classes,
        n_train=n_train,
        n_shots=n_shots,
        n_epochs=n_epochs,
        epochs_ka=epochs_ka,
        epochs_co=epochs_co,
    )
    assert shots == 2 * n_epochs * n_train * n_classes * n_shots * (2 * epochs_ka * D + 3 * epochs_co * d)


# Any circuit

MIXED = (
    Circuit(3, 2).h([0, 1, 2]).crx(ring(3), w * x[0] + b("one")).ry([0, 1], 2 * b("one") - 1).rzz((1, 2), x[0] * x[1])
)
EMPTY = Circuit(2, 2).rx([0, 1], [x[0], x[1]]).cz(0, 1).ry([0, 1], [x[1], x[0]])


class Counting(GateEngine):
    """Notes how many entries of kernels it was asked for."""

    n_entries = 0

    def fidelities(self, samples: Any, centroids: Any) -> Any:
        Counting.n_entries += len(samples) * len(centroids)
        return super().fidelities(samples, centroids)


@both_sides
@pytest.mark.parametrize("seed", range(12))
def test_parameter_shift_is_the_adjoint_of_any_circuit(seed: int, wrt: Wrt) -> None:
    """All gates and all kinds of angles, shared parameters among them; derivatives by amplitudes are no shifts."""
    amplitudes = wrt == "embedding" and seed % 4 == 3
    circuit = random_circuit(seed, n_qubits=1 + seed % 4, n_features=3, n_gates=30, amplitudes=amplitudes)
    X, weights, bias = random_point(circuit, seed, n_rows=5)
    problem = Problem(
        feature_map=circuit, X=X[:3], centroids=X[3:], weights=weights, bias=bias, cotangent=np.ones((3, 2)) - X[:3, :2]
    )
    adjoint = GateEngine(circuit, dtype=np.float64)
    left, right = (pulled(engine, problem, wrt=wrt) for engine in (ParameterShiftEngine(adjoint), adjoint))
    assert_close_gradients(left, right, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_a_freed_circuit_is_the_circuit_with_a_bias_for_each_angle(seed: int) -> None:
    circuit = random_circuit(seed, n_qubits=2, n_gates=25, amplitudes=seed == 3)
    X, weights, bias = random_point(circuit, seed, n_rows=4)
    freed = circuit.with_free_angles()
    assert freed.bias_shape == circuit.angles_shape
    assert freed.weights_shape == circuit.weights_shape
    own = circuit.angle_table.constants(bias)
    assert_allclose(freed.angles(X, weights, own), circuit.angles(X, weights, bias), rtol=0, atol=1e-14)
    assert Circuit.from_json(freed.to_json()) == freed
    assert PROBLEM.feature_map.with_free_angles() is PROBLEM.feature_map


@pytest.mark.parametrize("seed", range(6))
def test_angles_that_are_not_live_change_no_number_of_ones(seed: int) -> None:
    circuit = random_circuit(seed, n_qubits=3, n_gates=9).rx([0, 1, 2], x[0]).rz([0, 1, 2], b)
    circuit = Circuit(3, 3).rz(0, x[0] + b).rzz((0, 1), w * x[1]).crz((1, 2), b) + circuit
    X, weights, bias = random_point(circuit, seed, n_rows=3)
    own = circuit.angle_table.constants(bias)
    engine = GateEngine(circuit.with_free_angles(), dtype=np.float64)
    still = engine.encode(X, weights, own)
    expected = engine.hamming_distributions(still, still)
    live = {angle.number for angle in live_angles(circuit)}
    hidden = [
        number for number in range(circuit.n_angles) if number not in live and circuit.angle_table.input[number] >= 0
    ]
    assert {0, 1} <= set(hidden)
    for number in hidden:
        own[number] += 0.7
    moved = engine.encode(X, weights, own)
    for pair in ((moved, still), (still, moved)):
        assert_allclose(engine.hamming_distributions(*pair), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("circuit", "n_kernels"), [(MIXED, (4 * (3 * 2 + 2), 2 * (3 * 2 + 1))), (EMPTY, (0, 8))])
def test_shifts_of_a_circuit_cost_what_they_say(circuit: Circuit, n_kernels: tuple[int, int]) -> None:
    """A controlled rotation takes four values, and angles that do not depend on what is asked for take none."""
    problem = random_problem(circuit, n_samples=3, n_classes=2)
    sides: tuple[Wrt, ...] = ("embedding", "centroids")
    for wrt, expected in zip(sides, n_kernels, strict=True):
        engine = ParameterShiftEngine(Counting(circuit))
        Counting.n_entries = 0
        pulled(engine, problem, wrt=wrt)
        assert engine.cost(wrt).kernels_per_pullback == expected
        assert Counting.n_entries == expected * 3 * 2


@both_sides
def test_a_tolerant_kernel_of_any_circuit_is_shifted_too(wrt: Any) -> None:
    tolerant = TolerantEngine(GateEngine(MIXED, dtype=np.float64), tolerance=1)
    problem = random_problem(MIXED, n_samples=2, n_classes=2)
    found = given(pulled(ParameterShiftEngine(tolerant), problem, wrt=wrt))

    def value(weights: Any, bias: Any, centroids: Any) -> float:
        kernel = tolerant.kernel(problem.X, centroids, weights=weights, bias=bias)
        return float(np.sum(problem.cotangent * kernel))

    arrays = [problem.weights, problem.bias, problem.centroids]
    slopes = []
    for place in (0, 1) if wrt == "embedding" else (2,):
        for entry in np.ndindex(arrays[place].shape):
            both = []
            for step in (1e-5, -1e-5):
                moved = [array.copy() for array in arrays]
                moved[place][entry] += step
                both.append(value(*moved))
            slopes.append((both[0] - both[1]) / 2e-5)
    assert_allclose(found, slopes, rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", [ParameterShiftEngine, StochasticShiftEngine])
def test_amplitudes_are_no_angles(method: Any) -> None:
    circuit = Circuit(2, 3, start="amplitudes").ry([0, 1], b).cnot(0, 1).rx(0, w * x[0])
    problem = random_problem(circuit, n_samples=3, n_classes=2)
    engine = method(GateEngine(circuit, dtype=np.float64))
    assert given(pulled(engine, problem, wrt="embedding")).shape == (1 + 2,)
    for refused in (engine.cost, lambda wrt: pulled(engine, problem, wrt=wrt)):
        with pytest.raises(InvalidInputError, match='gradient="spsa"'):
            refused("centroids")


@every_method
def test_a_circuit_without_parameters_has_empty_gradients(method: Any) -> None:
    problem = random_problem(EMPTY, n_samples=3, n_classes=2)
    engine = method(Counting(EMPTY, dtype=np.float64))
    Counting.n_entries = 0
    found = pulled(engine, problem, wrt="embedding")
    assert given(found).shape == (0,)
    assert engine.cost("embedding").kernels_per_pullback == Counting.n_entries == 0


@pytest.mark.parametrize("method", [ParameterShiftEngine, StochasticShiftEngine])
def test_samplers_are_asked_for_the_circuit_itself_and_its_budget_goes_along(method: Any) -> None:
    """Not for the freed one: a device is prepared for the circuit, whose constant angles stay numbers."""
    problem = random_problem(MIXED, n_samples=3, n_classes=2)
    sampler = Remembering()
    sampled_engine = SampledEngine(sampler, MIXED, shots=5, budget=10_000).for_training(spent=7)
    engine = method(sampled_engine)
    pulled(engine, problem, wrt="embedding")
    assert set(sampler.circuits) == {MIXED}
    assert engine.spent == 7 + 5 * sampler.n_circuits
