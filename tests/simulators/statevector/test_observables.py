"""Expectation values and their derivatives, against states computed gate by gate, Qiskit and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from qiskit import QuantumCircuit
from qiskit.quantum_info import SparsePauliOp, Statevector

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.statevector import StatevectorEngine
from tests.oracles import oracle_states, slope
from tests.problems import feature_maps, random_problem


def oracle_expectations(feature_map, X, weights, bias, qubits):
    probabilities = np.abs(oracle_states(feature_map, X, weights=weights, bias=bias)) ** 2
    bits = np.arange(feature_map.dimension)[:, None] >> (feature_map.n_qubits - 1 - np.array(qubits)) & 1
    return probabilities @ (1 - 2 * bits)


@given(feature_map=feature_maps(max_qubits=7), n_samples=st.integers(1, 40), seed=st.integers(0, 1000))
def test_expectations_are_those_of_the_states(feature_map, n_samples, seed):
    problem = random_problem(feature_map, n_samples=n_samples, seed=seed)
    qubits = range(feature_map.n_qubits)
    expected = oracle_expectations(feature_map, problem.X, problem.weights, problem.bias, qubits)
    for dtype, error in ((np.float64, 1e-12), (np.float32, 1e-5)):
        engine = StatevectorEngine(feature_map, dtype=dtype)
        found = engine.expectations(engine.encode(problem.X, problem.weights, problem.bias), qubits)
        assert found.dtype == dtype
        assert_allclose(found, expected, atol=error)


@pytest.mark.parametrize("final_entangler", [True, False])
@pytest.mark.parametrize("n_qubits", [2, 3, 5])
def test_expectations_are_those_of_qiskit(n_qubits, final_entangler):
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=3, final_entangler=final_entangler)
    problem = random_problem(feature_map, n_samples=4)
    engine = StatevectorEngine(feature_map, dtype=np.float64)
    found = engine.expectations(engine.encode(problem.X, problem.weights, problem.bias), (0, 1))
    for sample, angles in enumerate(feature_map.angles(problem.X, problem.weights, problem.bias)):
        circuit = QuantumCircuit(n_qubits)
        for layer, of_layer in enumerate(angles):
            for qubit, (phi, theta, omega) in enumerate(of_layer):
                circuit.rz(phi, qubit)
                circuit.ry(theta, qubit)
                circuit.rz(omega, qubit)
            if layer + 1 < len(angles) or final_entangler:
                for qubit in range(n_qubits):
                    circuit.cx(qubit, (qubit + 1) % n_qubits)
        for qubit in (0, 1):
            observable = SparsePauliOp.from_sparse_list([("Z", [qubit], 1)], n_qubits)
            assert_allclose(found[sample, qubit], Statevector(circuit).expectation_value(observable).real, atol=1e-12)


@given(feature_map=feature_maps(max_qubits=5, max_layers=3), n_samples=st.integers(1, 20), seed=st.integers(0, 1000))
def test_derivatives_are_those_of_finite_differences(feature_map, n_samples, seed):
    problem = random_problem(feature_map, n_samples=n_samples, seed=seed)
    qubits = (0, feature_map.n_qubits - 1)
    rng = np.random.default_rng(seed)
    cotangent = rng.normal(size=(n_samples, 2))
    engine = StatevectorEngine(feature_map, dtype=np.float64)
    found = engine.pull_expectations(engine.encode(problem.X, problem.weights, problem.bias), cotangent, qubits)
    parameters = {"weights": problem.weights, "bias": problem.bias}
    for name, at in parameters.items():
        direction = rng.normal(size=at.shape)

        def total(moved, name=name):
            return float(
                np.sum(
                    cotangent
                    * oracle_expectations(feature_map, problem.X, **{**parameters, name: moved}, qubits=qubits)
                )
            )

        assert_allclose(np.sum(getattr(found, name) * direction), slope(total, at, direction), atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_nothing(dtype, monkeypatch):
    monkeypatch.setattr("mcquack.simulators.statevector.base.FLOPS_WORTH_A_THREAD", 1.0)
    feature_map = FeatureMap(n_qubits=4, n_features=5, n_layers=3)
    problem = random_problem(feature_map, n_samples=70, n_classes=2)
    results = []
    for n_threads in (1, 2, 3):
        engine = StatevectorEngine(feature_map, dtype=dtype, n_threads=n_threads)
        encoded = engine.encode(problem.X, problem.weights, problem.bias)
        gradient = engine.pull_expectations(encoded, problem.cotangent, (0, 1))
        results.append([engine.expectations(encoded, (0, 1)), gradient.weights, gradient.bias])
    for other in results[1:]:
        for found, expected in zip(other, results[0], strict=True):
            assert_array_equal(found, expected)


def test_what_cannot_be_measured_is_refused():
    feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=1)
    problem = random_problem(feature_map, n_samples=4, n_classes=2)
    engine = StatevectorEngine(feature_map)
    encoded = engine.encode(problem.X, problem.weights, problem.bias)
    with pytest.raises(InvalidInputError, match=r"0 to 1.*2"):
        engine.expectations(encoded, (0, 2))
    with pytest.raises(InvalidInputError, match=r"shape \(4, 2\), got \(4,\)"):
        engine.pull_expectations(encoded, np.ones(4), (0, 1))
