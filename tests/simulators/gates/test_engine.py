"""The gate engine beside plain NumPy, the faster engine of the paper's circuit, and itself on more threads."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import Circuit, FeatureMap, all_to_all, b, ring, w, x
from mcquack.errors import InvalidInputError, MemoryLimitError
from mcquack.kernels import Alignment
from mcquack.simulators import GateEngine, RingEngine, StatevectorEngine
from mcquack.simulators.jax import JaxEngine
from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.ensembles import ClassLogits
from mcquack.training.reference import ReferenceEpochs
from tests.oracles import gradient
from tests.plain_states import states_of
from tests.problems import random_problem
from tests.random_circuits import random_circuit, random_point
from tests.training.setups import assert_close_epochs, bits

CIRCUITS = {
    "random": random_circuit(3, n_qubits=3, n_features=3, n_gates=40),
    "amplitudes": random_circuit(4, n_qubits=2, n_features=3, n_gates=20, amplitudes=True),
    "no weights": Circuit(2, 3).h(range(2)).rz([0, 1], [x[0], x[1]]).rzz((0, 1), x[1] * x[2]).ry([0, 1], b),
    "no biases": Circuit(2, 3).rx([0, 1, 0], [w * x[q] for q in range(3)]).cz(0, 1),
    "no parameters": Circuit(2, 3).rx([0, 1, 0], [x[q] for q in range(3)]).cnot(ring(2)),
}
every_circuit = pytest.mark.parametrize("name", CIRCUITS)


@pytest.mark.parametrize("seed", range(24))
def test_states_are_those_of_the_gates_one_by_one_with_their_phase(seed: int) -> None:
    circuit = random_circuit(seed, n_qubits=1 + seed % 8, n_gates=10 + 2 * seed, amplitudes=seed % 4 == 3)
    X, weights, bias = random_point(circuit, seed, n_rows=11)
    engine = GateEngine(circuit, dtype="float64")
    found = engine.statevectors(engine.encode(X, weights, bias))
    assert_allclose(found, states_of(circuit, X, weights, bias), atol=1e-12)


@pytest.mark.parametrize("n_qubits", [1, 2, 5, 10])
@pytest.mark.parametrize("features_per_gate", [1, 3])
def test_the_paper_s_circuit_has_a_faster_engine_with_the_same_results(n_qubits: int, features_per_gate: Any) -> None:
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=3, features_per_gate=features_per_gate)
    problem = random_problem(feature_map, n_samples=20)
    results = []
    for engine in (GateEngine(feature_map, dtype="float64"), StatevectorEngine(feature_map, dtype="float64")):
        parameters = problem.weights, problem.bias
        samples, centroids = (engine.encode(rows, *parameters) for rows in (problem.X, problem.centroids))
        by_embedding = engine.pullback(samples, centroids, problem.cotangent, wrt="embedding")
        by_centroids = engine.pullback(samples, centroids, problem.cotangent, wrt="centroids").centroids
        kernel = engine.fidelities(samples, centroids)
        ones = engine.hamming_distributions(samples, centroids)
        results.append((kernel, ones, by_embedding.weights, by_embedding.bias, by_centroids))
    for found, expected in zip(*results, strict=True):
        assert_allclose(found, expected, atol=1e-11)


def test_single_precision_keeps_to_double_precision_with_many_diagonal_gates() -> None:
    circuit = Circuit(8, 8)
    for _ in range(5):
        circuit = circuit.h(range(8)).rzz(all_to_all(8), [40 * x[p] * x[q] for p, q in all_to_all(8)])
    X = np.random.default_rng(0).uniform(size=(5, 8)).astype(np.float32)
    single, double = (GateEngine(circuit, dtype=dtype) for dtype in ("float32", "float64"))
    found, expected = (engine.statevectors(engine.encode(X, [], [])) for engine in (single, double))
    assert_allclose(found, expected, atol=5e-5)


@every_circuit
def test_compiled_epochs_are_those_of_the_seam(name: str) -> None:
    circuit = CIRCUITS[name]
    rng = np.random.default_rng(0)
    labels = np.arange(23) % 3
    X = rng.uniform(-0.9, 0.9, (23, circuit.n_features))
    data = TrainingData(X, labels, rng.uniform(0.5, 2, 23), 3)
    _, weights, bias = random_point(circuit, 0)
    start = TrainingState.start(Parameters(weights, bias, X[:6] / 2))
    settings = TrainingSettings(
        batch_size=9,
        epochs_co=2,
        reg_param_weights=0.01,
        reg_param_bias=0.02,
        n_centroids_per_class=2,
        loss=Alignment("sum"),
    )
    left = right = start
    slow = ReferenceEpochs(GateEngine(circuit, dtype="float64"), data, settings)
    fast = CompiledEpochs(GateEngine(circuit, dtype="float64"), data, settings)
    for _ in range(2):
        by_seam, by_compiler = slow(left), fast(right)
        assert_close_epochs(by_compiler, by_seam, 1e-9)
        left, right = by_seam.state, by_compiler.state


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcquack.simulators.statevector.base.FLOPS_WORTH_A_THREAD", 1.0)
    circuit = CIRCUITS["random"]
    X, weights, bias = random_point(circuit, 0, n_rows=70)
    data = TrainingData(X, np.arange(70) % 2, np.ones(70), 2)
    start, settings = TrainingState.start(Parameters(weights, bias, X[:2])), TrainingSettings(batch_size=40)
    done = [CompiledEpochs(GateEngine(circuit, dtype="float64", n_threads=n), data, settings)(start) for n in (1, 2, 3)]
    assert len({str(bits(one.state)) for one in done}) == 1
    assert_array_equal(done[0].kernel, done[2].kernel)


def test_products_of_z_are_expectation_values_of_the_states() -> None:
    circuit = CIRCUITS["random"]
    engine = GateEngine(circuit, dtype="float64")
    X, weights, bias = random_point(circuit, 1, n_rows=9)
    encoded = engine.encode(X, weights, bias)
    z = np.diag([1.0, -1.0])
    matrices = {
        (0,): np.kron(z, np.eye(4)),
        (0, 2): np.kron(np.kron(z, np.eye(2)), z),
        (0, 1, 2): np.kron(np.kron(z, z), z),
    }
    states = engine.statevectors(encoded)
    expected = np.stack([np.einsum("ia,ab,ib->i", states.conj(), m, states).real for m in matrices.values()], axis=1)
    assert_allclose(engine.expectations(encoded, list(matrices)), expected, atol=1e-12)
    assert_allclose(engine.expectations(encoded, [(), (1, 1)]), 1, atol=1e-12)
    with pytest.raises(InvalidInputError, match=r"0 to 2.*3"):
        engine.expectations(encoded, [(0, 3)])


def test_variational_classifiers_measure_any_circuit() -> None:
    circuit = CIRCUITS["random"]
    engine = GateEngine(circuit, dtype="float64")
    X, weights, bias = random_point(circuit, 2, n_rows=20)
    logits = ClassLogits(engine, X, n_classes=2)(Parameters(np.stack([weights, -weights]), np.stack([bias, bias])))
    for own, sign in enumerate((1, -1)):
        assert_allclose(logits[:, own], engine.expectations(engine.encode(X, sign * weights, bias), (0, 1)), atol=1e-12)


def test_too_many_qubits_are_refused_before_anything_is_allocated() -> None:
    with pytest.raises(InvalidInputError, match=r"20 qubits.*21"):
        GateEngine(Circuit(21, 1))


def test_a_batch_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcquack.simulators.compiled.memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryLimitError):
        GateEngine(Circuit(10, 1).h(0)).encode(np.zeros((100, 1)), [], [])


@pytest.mark.parametrize("engine", [StatevectorEngine, RingEngine])
def test_engines_of_the_paper_s_circuit_refuse_others(engine: Any) -> None:
    with pytest.raises(InvalidInputError, match="gates"):
        engine().on(Circuit(3, 1).h(0))


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", 1e5), ("float32", 1e30), ("float64", 1e12), ("float64", 1e200)]
)
def test_states_have_norm_1_however_large_the_angles_are(dtype: Any, size: float) -> None:
    circuit = Circuit(3, 2).h(range(3)).rzz(all_to_all(3), x[0] * x[1]).ry(range(3), x[0] * x[1] * x[1]).cz(ring(3))
    engine = GateEngine(circuit, dtype=dtype)
    states = engine.statevectors(engine.encode([[size, -size], [size, 0.5]], [], []))
    assert_allclose(np.linalg.norm(states, axis=1), 1, atol=1e-5)


def test_many_fixed_phases_lose_no_digits_in_single_precision() -> None:
    circuit = Circuit(1, 1).h(0).t([0] * 3001).h(0)
    engine = GateEngine(circuit)
    expected = np.abs(1 + np.exp(0.25j * np.pi * 3001)) ** 2 / 4
    states = engine.statevectors(engine.encode([[0.0]], [], []))
    assert_allclose(np.abs(states[0, 0]) ** 2, expected, atol=1e-6)


def test_numbers_of_ones_take_circuits_that_start_with_zeros() -> None:
    circuit = CIRCUITS["amplitudes"]
    engine = GateEngine(circuit, dtype="float64")
    X, weights, bias = random_point(circuit, 0)
    encoded = engine.encode(X, weights, bias)
    with pytest.raises(InvalidInputError, match="amplitudes"):
        engine.hamming_distributions(encoded, encoded)


@pytest.mark.parametrize("name", ["random", "amplitudes"])
@pytest.mark.parametrize("kind", [GateEngine, JaxEngine])
def test_expectations_are_differentiated_by_the_features_too(name: str, kind: Any) -> None:
    if kind is JaxEngine:
        pytest.importorskip("jax")
    circuit = CIRCUITS[name]
    engine = kind(circuit, dtype="float64")
    X, weights, bias = random_point(circuit, 3, n_rows=5)
    observables, slopes = [0, (0, 1)], np.random.default_rng(0).normal(size=(5, 2))

    def value(rows: Any) -> float:
        return float(np.sum(slopes * engine.expectations(engine.encode(rows, weights, bias), observables)))

    found = engine.expectation_slopes(engine.encode(X, weights, bias), slopes, observables)
    assert_allclose(found, gradient(value, X), atol=1e-7)
