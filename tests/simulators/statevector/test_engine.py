"""The CPU engine against two independent simulators, and what it promises beyond the contract of all engines."""

import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pennylane as qml
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, MemoryLimitError
from mcquack.randomness import stream
from mcquack.simulators.compiled import memory
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector import base as engine_module
from tests.oracles import oracle_kernel, oracle_states, phase_aligned
from tests.problems import Problem, random_problem

FloatArray = NDArray[np.floating]
ComplexArray = NDArray[np.complexfloating]
N_CIRCUITS = 30  # for each number of qubits and each of the two simulators
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def random_feature_map(rng: np.random.Generator, n_qubits: int) -> FeatureMap:
    return FeatureMap(
        n_qubits=n_qubits,
        n_features=int(rng.integers(1, 12)),
        n_layers=int(rng.integers(1, 6)),
        final_entangler=bool(rng.integers(2)),
        features_per_gate=rng.choice([1, 3]),
    )


def entangled_after(feature_map: FeatureMap, layer: int) -> bool:
    """Whether a ring follows this layer's rotations; one qubit has no ring."""
    return feature_map.n_qubits > 1 and (feature_map.final_entangler or layer + 1 < feature_map.n_layers)


def qiskit_states(feature_map: FeatureMap, angles: FloatArray) -> ComplexArray:
    """Qubits in reverse: for Qiskit the first qubit is the least significant bit."""
    n = feature_map.n_qubits
    states = []
    for of_sample in angles:
        circuit = QuantumCircuit(n)
        for layer, of_layer in enumerate(of_sample):
            for q, (phi, theta, omega) in enumerate(of_layer):
                circuit.rz(phi, n - 1 - q)
                circuit.ry(theta, n - 1 - q)
                circuit.rz(omega, n - 1 - q)
            for q in range(n if entangled_after(feature_map, layer) else 0):
                circuit.cx(n - 1 - q, n - 1 - (q + 1) % n)
        states.append(Statevector(circuit).data)
    return np.array(states)


def pennylane_states(feature_map: FeatureMap, angles: FloatArray) -> ComplexArray:
    n = feature_map.n_qubits
    gates: list[Any] = []
    for layer in range(feature_map.n_layers):
        gates += [qml.Rot(*angles[:, layer, q].T, wires=q) for q in range(n)]
        if entangled_after(feature_map, layer):
            gates += [qml.CNOT([q, (q + 1) % n]) for q in range(n)]
    return qml.devices.qubit.simulate(qml.tape.QuantumScript(gates, [qml.state()]))


def states_of(engine: StatevectorEngine, problem: Problem) -> ComplexArray:
    return engine.statevectors(engine.encode(problem.X, problem.weights, problem.bias))


def exact_states(problem: Problem) -> ComplexArray:
    return oracle_states(problem.feature_map, problem.X, weights=problem.weights, bias=problem.bias)


def results(engine: StatevectorEngine, problem: Problem) -> list[NDArray[Any]]:
    """Everything the engine can say about a problem."""
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    of_embedding = engine.pullback(samples, centroids, problem.cotangent, wrt="embedding")
    of_centroids = engine.pullback(samples, centroids, problem.cotangent, wrt="centroids")
    gradients = of_embedding.weights, of_embedding.bias, of_centroids.centroids
    slopes = [slope for slope in gradients if slope is not None]
    assert len(slopes) == 3
    return [engine.statevectors(samples), engine.fidelities(samples, centroids), *slopes]


def assert_equal_to_the_last_bit(left: list[NDArray[Any]], right: list[NDArray[Any]]) -> None:
    for one, other in zip(left, right, strict=True):
        assert one.tobytes() == other.tobytes()


# Against other simulators


@pytest.mark.parametrize("n_qubits", range(1, 9))
@pytest.mark.parametrize("simulator", [qiskit_states, pennylane_states])
def test_states_are_those_of_other_simulators(
    simulator: Callable[[FeatureMap, FloatArray], ComplexArray], n_qubits: int
) -> None:
    rng = stream(n_qubits, "circuits")
    for number in range(N_CIRCUITS):
        feature_map = random_feature_map(rng, n_qubits)
        problem = random_problem(feature_map, n_samples=2, spread=2, seed=100 * n_qubits + number)
        angles = feature_map.angles(problem.X, problem.weights, problem.bias)
        expected = simulator(feature_map, angles)
        found = states_of(StatevectorEngine(feature_map, dtype=np.float64), problem)
        assert_allclose(phase_aligned(found, expected), expected, rtol=0, atol=1e-12)


def test_many_qubits_are_no_different() -> None:
    problem = random_problem(FeatureMap(n_qubits=14, n_features=10, n_layers=2), n_samples=2, n_classes=2)
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    angles = problem.feature_map.angles(problem.X, problem.weights, problem.bias)
    expected = qiskit_states(problem.feature_map, angles)
    assert_allclose(phase_aligned(states_of(engine, problem), expected), expected, rtol=0, atol=1e-12)

    def value(bias: FloatArray) -> float:
        samples = engine.encode(problem.X, problem.weights, bias)
        return float(np.sum(engine.fidelities(samples, engine.encode(problem.centroids, problem.weights, bias))))

    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    pulled = engine.pullback(samples, centroids, np.ones((2, 2)), wrt="embedding").bias
    assert pulled is not None
    step = 1e-5 * stream(0, "direction").normal(size=pulled.shape)
    assert_allclose(np.sum(pulled * step), (value(problem.bias + step) - value(problem.bias - step)) / 2, rtol=1e-5)


# Numbers


@both_types
@pytest.mark.parametrize("n_layers", [1, 500])
def test_states_are_normalised_however_deep_the_circuit(dtype: type, n_layers: int) -> None:
    problem = random_problem(FeatureMap(n_qubits=5, n_features=7, n_layers=n_layers), n_samples=20)
    states = states_of(StatevectorEngine(problem.feature_map, dtype=dtype), problem)
    assert states.shape == (20, 32)
    assert states.dtype == (np.complex64 if dtype == np.float32 else np.complex128)
    norms = np.sum(np.abs(states.astype(np.complex128)) ** 2, axis=1)
    assert_allclose(norms, 1, rtol=0, atol=20 * np.finfo(dtype).eps * np.sqrt(n_layers * 5))


def test_single_precision_is_close_to_double() -> None:
    problem = random_problem(FeatureMap(n_qubits=6, n_features=10, n_layers=20), n_samples=50)
    single = results(StatevectorEngine(problem.feature_map, dtype=np.float32), problem)
    double = results(StatevectorEngine(problem.feature_map, dtype=np.float64), problem)
    for left, right in zip(single[1:], double[1:], strict=True):
        assert left.dtype == np.float32
        assert_allclose(left, right, rtol=0, atol=2e-5 * max(1.0, float(np.abs(right).max())))


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 2e-3), (np.float64, 1e-11)])
def test_large_angles_lose_only_the_digits_that_they_lack(dtype: type, error: float) -> None:
    problem = random_problem(FeatureMap(n_qubits=4, n_features=6, n_layers=3), spread=1e3)
    found = states_of(StatevectorEngine(problem.feature_map, dtype=dtype), problem)
    expected = exact_states(problem)
    assert_allclose(phase_aligned(found, expected), expected, rtol=0, atol=error)


@both_types
def test_no_samples_are_no_problem(dtype: type) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=0, n_classes=2)
    states, kernel, by_weights, by_bias, by_centroids = results(
        StatevectorEngine(problem.feature_map, dtype=dtype), problem
    )
    assert states.shape == (0, 8)
    assert kernel.shape == (0, 2)
    for slopes in (by_weights, by_bias, by_centroids):
        assert_array_equal(slopes, np.zeros_like(slopes))


def test_encoded_data_survive_pickling() -> None:
    """Which moves them to where registers cannot be loaded from."""
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    encoded = [engine.encode(rows, problem.weights, problem.bias) for rows in (problem.X, problem.centroids)]
    copies = pickle.loads(pickle.dumps(encoded))
    for copy in copies:
        astray = np.empty(copy.states.nbytes + 72, dtype=np.uint8)
        start = -astray.ctypes.data % 64 + 8
        moved = astray[start : start + copy.states.nbytes].view(np.float64).reshape(copy.states.shape)
        moved[:] = copy.states
        object.__setattr__(copy, "states", moved)
    assert_array_equal(engine.fidelities(*copies), engine.fidelities(*encoded))
    for wrt in ("embedding", "centroids"):
        left = engine.pullback(*copies, problem.cotangent, wrt=wrt)  # type: ignore[misc, arg-type]
        right = engine.pullback(*encoded, problem.cotangent, wrt=wrt)  # type: ignore[misc, arg-type]
        for one, other in zip(left, right, strict=True):
            assert_array_equal(one, other)


# Threads


@both_types
@pytest.mark.parametrize("n_qubits", [1, 3, 7])
def test_results_do_not_depend_on_threads(dtype: type, n_qubits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "FLOPS_WORTH_A_THREAD", 1.0)
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=6, n_layers=4)
    problem = random_problem(feature_map, n_samples=333, n_classes=18)
    engines = [StatevectorEngine(feature_map, dtype=dtype, n_threads=n_threads) for n_threads in (1, 2, 3)]
    assert [engine.threads_for(1e9, 20) for engine in engines] == [1, 2, 3]
    alone, *shared = (results(engine, problem) for engine in engines)
    for together in shared:
        assert_equal_to_the_last_bit(alone, together)


def test_listening_for_interrupts_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    patient = results(engine, problem)
    monkeypatch.setattr(engine_module, "FLOPS_WORTH_LISTENING", 0.0)
    assert_equal_to_the_last_bit(results(engine, problem), patient)


def test_small_work_and_single_blocks_stay_with_one_thread() -> None:
    engine = StatevectorEngine(FeatureMap(n_qubits=6, n_features=6, n_layers=3), n_threads=8)
    assert engine.threads_for(0.0, 100) == 1
    assert engine.threads_for(1e12, 1) == 1
    assert engine.threads_for(1e12, 5) == 5
    assert engine.threads_for(1e12, 100) == 8


# Limits


@pytest.mark.parametrize("n_qubits", [21, 124])
def test_too_many_qubits_are_refused_when_the_engine_is_made(n_qubits: int) -> None:
    with pytest.raises(InvalidInputError, match=f"20 qubits.*{n_qubits}"):
        StatevectorEngine(FeatureMap(n_qubits=n_qubits, n_features=2, n_layers=1))


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.complex128])
def test_states_are_of_single_or_double_precision(dtype: type) -> None:
    with pytest.raises(InvalidInputError, match="float32"):
        StatevectorEngine(FeatureMap(n_qubits=2, n_features=2, n_layers=1), dtype=dtype)


@pytest.mark.parametrize("n_threads", [0, -1])
def test_at_least_one_thread_is_needed(n_threads: int) -> None:
    with pytest.raises(InvalidInputError, match="n_threads"):
        StatevectorEngine(FeatureMap(n_qubits=2, n_features=2, n_layers=1), n_threads=n_threads)


def peak_bytes(function: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_states_beyond_memory_are_refused_before_they_are_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**20)
    feature_map = FeatureMap(n_qubits=12, n_features=4, n_layers=1)
    problem = random_problem(feature_map, n_samples=1000)
    engine = StatevectorEngine(feature_map)

    def encode() -> None:
        with pytest.raises(MemoryLimitError, match=r"1000.*12 qubits"):
            engine.encode(problem.X, problem.weights, problem.bias)

    assert peak_bytes(encode) < engine.state_bytes(1000) / 10


def test_derivatives_beyond_memory_are_refused_before_they_are_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(FeatureMap(n_qubits=10, n_features=4, n_layers=1))
    engine = StatevectorEngine(problem.feature_map)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**10)

    def pull() -> None:
        with pytest.raises(MemoryLimitError, match="10 qubits"):
            engine.pullback(samples, centroids, problem.cotangent, wrt="embedding")

    assert peak_bytes(pull) < engine.scratch_bytes(backward=True) / 10


@both_types
def test_announced_memory_is_what_states_take(dtype: type) -> None:
    problem = random_problem(FeatureMap(n_qubits=5, n_features=4, n_layers=1), n_samples=21)
    engine = StatevectorEngine(problem.feature_map, dtype=dtype)
    encoded = engine.encode(problem.X, problem.weights, problem.bias)
    assert encoded.states.nbytes == engine.state_bytes(21)


def test_memory_does_not_grow_with_depth() -> None:
    """Only the parameters and the partial sums of their derivatives do."""

    def peak(n_layers: int) -> int:
        problem = random_problem(FeatureMap(n_qubits=10, n_features=4, n_layers=n_layers), n_samples=16)
        engine = StatevectorEngine(problem.feature_map, dtype=np.float32, n_threads=1)
        results(engine, problem)  # fills the caches of masks and compiled code
        return peak_bytes(lambda: results(engine, problem))

    n_parameters = 200 * 10 * 3
    assert peak(200) - peak(2) < (2 * engine_module.N_PARTIAL_SUMS + 8) * n_parameters * 4
    states_of_every_layer = 200 * StatevectorEngine(FeatureMap(n_qubits=10, n_features=4, n_layers=1)).state_bytes(16)
    assert peak(200) < states_of_every_layer / 10


def test_the_kernel_of_many_samples_is_that_of_the_oracle() -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=1000, n_classes=40)
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    kernel = results(engine, problem)[1]
    expected = oracle_kernel(
        problem.feature_map, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias
    )
    assert_allclose(kernel, expected, rtol=0, atol=1e-13)


def test_rows_from_a_processor_with_other_registers_are_encoded_anew() -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=9, seed=1)
    engine = StatevectorEngine(problem.feature_map, dtype="float64")
    encoded = engine.encode(problem.X, problem.weights, problem.bias)
    elsewhere = replace(encoded, states=np.repeat(encoded.states, 2, axis=3))
    assert_array_equal(engine.fidelities(elsewhere, encoded), engine.fidelities(encoded, encoded))
    cotangent = stream(0, "cotangent").normal(size=(9, 9))
    for wrt in ("embedding", "centroids"):
        found = engine.pullback(elsewhere, elsewhere, cotangent, wrt=wrt)
        expected = engine.pullback(encoded, encoded, cotangent, wrt=wrt)
        for left, right in zip(found, expected, strict=True):
            assert_array_equal(left, right)
    assert_array_equal(engine.expectations(elsewhere, [0, 2]), engine.expectations(encoded, [0, 2]))


@both_types
@pytest.mark.parametrize("n_qubits", [1, 3, 6, 9])
def test_half_turns_of_many_qubits_are_as_exact_as_other_angles(n_qubits: int, dtype: type) -> None:
    """Where all cosines of a layer vanish, for some samples of a block and not for others."""
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=1, n_layers=3, final_entangler=False)
    problem = random_problem(feature_map, n_samples=5, seed=n_qubits)
    X = np.array([[0.0], [1.0], [0.3], [-1.0], [3.0]])
    weights, bias = problem.weights.copy(), problem.bias.copy()
    weights[1:, :, 1], bias[1:, :, 1] = np.pi, 0.0
    engine = StatevectorEngine(feature_map, dtype=dtype)
    found = engine.statevectors(engine.encode(X, weights, bias))
    expected = oracle_states(feature_map, X=X, weights=weights, bias=bias)
    error = 2e-6 if dtype is np.float32 else 1e-14
    assert_allclose(phase_aligned(found, expected), expected, rtol=0, atol=error)
