"""Circuits mean the same in Qiskit, PennyLane and OpenQASM as they do here, and come back from Qiskit as they went."""

import math
import sys
from typing import Any

import numpy as np
import pennylane as qml
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from qiskit.circuit import AnnotatedOperation, ControlModifier, Gate, InverseModifier, Parameter, ParameterVector
from qiskit.circuit.library import RXGate, SXGate, UnitaryGate, efficient_su2, zz_feature_map
from qiskit.quantum_info import Clifford, Operator, Statevector
from scipy.stats import unitary_group

from mcquack.circuits import Circuit, FeatureMap, arccos, arcsin, b, w, x
from mcquack.circuits.gates import GATES
from mcquack.errors import InvalidInputError, MissingDependencyError
from tests.plain_states import states_of
from tests.random_circuits import random_circuit, random_point

EXACT: dict[str, Any] = {"rtol": 0, "atol": 1e-12}


def qiskit_state(circuit: QuantumCircuit) -> NDArray[np.complex128]:
    """In our order of bits."""
    return np.asarray(Statevector(circuit).reverse_qargs())


def pennylane_states(circuit: Circuit, X: Any, weights: Any, bias: Any) -> Any:
    gates = circuit.to_pennylane()

    @qml.qnode(qml.device("default.qubit", wires=circuit.n_qubits))
    def state(x: Any, w: Any, b: Any) -> Any:
        gates(x, w, b)
        return qml.state()

    return state(X, weights, bias)


def assert_same_up_to_a_phase(found: NDArray[Any], expected: NDArray[Any]) -> None:
    overlap = np.sum(found.conj() * expected)
    assert_allclose(found * overlap / abs(overlap), expected, **EXACT)


def size(seed: int) -> dict[str, Any]:
    return {"n_qubits": 1 + seed % 6, "n_features": 1 + seed % 4, "n_gates": 25}


# Out, and the same states with the same phases


@pytest.mark.parametrize("first", range(0, 210, 30))
def test_random_circuits_have_the_same_states_in_qiskit_and_come_back_the_same(first: int) -> None:
    for seed in range(first, first + 30):
        circuit = random_circuit(seed, **size(seed))
        X, weights, bias = random_point(circuit, seed, n_rows=1)
        expected = states_of(circuit, X, weights, bias)[0]
        bound = circuit.to_qiskit(x=X[0], weights=weights, bias=bias)
        assert_allclose(qiskit_state(bound), expected, **EXACT)
        free = circuit.to_qiskit()
        values = {"x": X[0], "w": weights, "b": bias}
        numbers = {one: values[one.vector.name][one.index] for one in free.parameters}
        assert_allclose(qiskit_state(free.assign_parameters(numbers)), expected, **EXACT)
        features = ParameterVector("x", circuit.n_features)
        renamed = {one: features[one.index] for one in free.parameters if one.vector.name == "x"}
        back = Circuit.from_qiskit(free.assign_parameters(renamed), features=features)
        assert back.n_embedding_parameters == circuit.n_embedding_parameters
        own = weights[[int(name[2:]) for name in back.weight_names]], bias[[int(name[2:]) for name in back.bias_names]]
        assert_same_up_to_a_phase(states_of(back, X, *own)[0], expected)


@pytest.mark.parametrize("first", range(0, 210, 70))
def test_random_circuits_have_the_same_states_in_pennylane(first: int) -> None:
    for seed in range(first, first + 70):
        circuit = random_circuit(seed, **size(seed), amplitudes=seed % 5 == 0)
        X, weights, bias = random_point(circuit, seed, n_rows=3)
        expected = states_of(circuit, X, weights, bias)
        # Several samples are a batch, unless no gate depends on them.
        assert_allclose(np.broadcast_to(pennylane_states(circuit, X, weights, bias), expected.shape), expected, **EXACT)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_circuits_have_the_same_states_in_qasm(first: int) -> None:
    from qiskit import qasm3

    for seed in range(first, first + 20):
        circuit = random_circuit(seed, **size(seed))
        X, weights, bias = random_point(circuit, seed, n_rows=1)
        read = qasm3.loads(circuit.to_qasm(x=X[0], weights=weights, bias=bias))
        assert_allclose(qiskit_state(read), states_of(circuit, X, weights, bias)[0], **EXACT)


def test_the_circuits_of_these_tests_have_all_gates() -> None:
    assert {name for seed in range(12) for name in random_circuit(seed, **size(seed)).counts} == set(GATES)


@pytest.mark.parametrize("seed", range(6))
def test_amplitudes_are_prepared_for_a_sample(seed: int) -> None:
    circuit = random_circuit(seed, n_qubits=1 + seed % 3, n_features=3, n_gates=8, amplitudes=True)
    X, weights, bias = random_point(circuit, seed, n_rows=1)
    found = circuit.to_qiskit(x=X[0], weights=weights, bias=bias)
    assert_same_up_to_a_phase(qiskit_state(found), states_of(circuit, X, weights, bias)[0])
    partly = circuit.to_qiskit(x=X[0])
    assert {one.vector.name for one in partly.parameters} <= {"w", "b"}


def test_a_sample_of_zeros_begins_with_zeros_in_pennylane() -> None:
    circuit = Circuit(2, 3, start="amplitudes").h(1)
    X = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    found = pennylane_states(circuit, X, np.zeros(0), np.zeros(0))
    assert_allclose(found, states_of(circuit, X, np.zeros(0), np.zeros(0)), **EXACT)


def test_the_papers_map_goes_out_with_its_arrays() -> None:
    circuit = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
    X, weights, bias = random_point(circuit, 0)
    expected = states_of(circuit, X, weights, bias)
    assert_allclose(qiskit_state(circuit.to_qiskit(x=X[0], weights=weights, bias=bias)), expected[0], **EXACT)
    assert_allclose(pennylane_states(circuit, X, weights, bias), expected, **EXACT)


def test_pennylane_differentiates_by_all_three() -> None:
    circuit = random_circuit(3, n_qubits=2, n_features=2, n_gates=20)
    X, weights, bias = random_point(circuit, 3, n_rows=1)
    gates = circuit.to_pennylane()

    @qml.qnode(qml.device("default.qubit", wires=2))
    def excited(x: Any, w: Any, b: Any) -> Any:
        gates(x, w, b)
        return qml.expval(qml.PauliZ(0))

    point = [qml.numpy.array(values, requires_grad=True) for values in (X[0], weights, bias)]
    slopes = qml.grad(excited)(*point)
    for place, values in enumerate(point):
        for index in range(len(values)):
            moved = [np.array(values) for values in point]
            ends = []
            for step in (1e-6, -1e-6):
                moved[place][index] = values[index] + step
                ends.append(float(excited(*moved)))
            assert_allclose(slopes[place][index], (ends[0] - ends[1]) / 2e-6, rtol=0, atol=1e-7)


def test_what_is_not_given_stays_inputs_of_the_text() -> None:
    circuit = Circuit(2, 2).rx(0, 2 * w * arccos(x[1]) - b + 0.5).rzz((0, 1), -1 * x[0] * x[1]).cnot(0, 1)
    lines = circuit.to_qasm(bias=[0.25]).splitlines()
    assert [line for line in lines if line.startswith("input")] == [
        "input float x_0;",
        "input float x_1;",
        "input float w_0;",
    ]
    assert lines[-3:] == [
        "rx(2.0*w_0*arccos(x_1) - 0.25 + 0.5) q[0];",
        "rzz(-1.0*x_0*x_1) q[0], q[1];",
        "cx q[0], q[1];",
    ]


def test_numbers_follow_our_functions_beyond_where_others_end() -> None:
    circuit = Circuit(1, 1).ry(0, arcsin(x[0]))
    none = np.zeros(0)
    expected = states_of(circuit, np.array([[1.5]]), none, none)[0]
    assert_allclose(qiskit_state(circuit.to_qiskit(x=[1.5])), expected, **EXACT)
    assert_allclose(pennylane_states(circuit, np.array([1.5]), none, none), expected, **EXACT)


def test_refusals_on_the_way_out_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = Circuit(2, 2).rx(0, w * x[0] + b)
    with pytest.raises(InvalidInputError, match=r"^x.*\(2,\).*\(3,\)"):
        circuit.to_qiskit(x=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidInputError, match="weights"):
        circuit.to_qasm(weights=[np.nan])
    with pytest.raises(InvalidInputError, match=r"2 features.*\(1,\).*\(1,\)"):
        pennylane_states(circuit, [1.0], [1.0], [1.0])
    amplitudes = Circuit(2, 2, start="amplitudes")
    with pytest.raises(InvalidInputError, match=r"to_qiskit\(x=…\)"):
        amplitudes.to_qiskit()
    with pytest.raises(InvalidInputError, match=r"to_qiskit\(x=…\)"):
        amplitudes.to_qasm()
    for package, call in (("qiskit", circuit.to_qiskit), ("pennylane", circuit.to_pennylane)):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingDependencyError, match="pip install"):
            call()


# In


def states_at(circuit: QuantumCircuit, values: dict[Any, float]) -> NDArray[np.complex128]:
    return qiskit_state(circuit.assign_parameters(values))


def test_a_parameter_with_a_feature_is_a_weight_and_one_alone_a_bias() -> None:
    features, theta, free = ParameterVector("x", 2), ParameterVector("θ", 3), Parameter("w0")
    known = QuantumCircuit(2)
    known.rx(2 * theta[0] * features[0] - theta[1] / 2 + 0.25, 0)
    known.ry(theta[2], 1)
    known.rzz((math.pi - features[0]) * (math.pi - features[1]) * 2, 0, 1)
    known.crz(theta[0] * features[1] ** 2 + free, 1, 0)
    known.u(theta[1], features[0].arctan(), 0.5, 0)
    found = Circuit.from_qiskit(known, features=features)
    assert found.weight_names == ("θ_0",)
    assert found.bias_names == ("p_w0", "θ_1", "θ_2")  # the order of Qiskit, which sorts them by name
    point = np.array([[0.3, -0.8]]), np.array([0.7]), np.array([0.9, 1.1, -0.4])
    values = dict(zip([*features, *theta, free], [0.3, -0.8, 0.7, 1.1, -0.4, 0.9], strict=True))
    assert_same_up_to_a_phase(states_of(found, *point)[0], states_at(known, values))


@pytest.mark.parametrize("seed", range(4))
def test_any_gate_that_qiskit_can_take_apart_is_taken(seed: int) -> None:
    features, theta = ParameterVector("x", 3), ParameterVector("t", 40)
    draws = np.random.default_rng(seed)
    known = QuantumCircuit(4)
    known.compose(zz_feature_map(3, reps=2).assign_parameters(features), [0, 2, 3], inplace=True)
    known.ccx(0, 1, 2)
    known.cp(features[0] * theta[0], 1, 3)
    known.sdg(0)
    known.tdg(1)
    known.sxdg(2)
    known.iswap(0, 3)
    known.cswap(1, 2, 3)
    known.append(UnitaryGate(unitary_group.rvs(8, random_state=draws)), [3, 1, 0])
    known.append(UnitaryGate(unitary_group.rvs(4, random_state=draws)), [2, 0])
    known.barrier()
    ansatz = efficient_su2(4, reps=1)
    known.compose(ansatz.assign_parameters(theta[1 : 1 + ansatz.num_parameters]), inplace=True)
    known.append(known.copy_empty_like().to_gate(), range(4))
    known.cx(0, 1, ctrl_state=0)
    inner = QuantumCircuit(2, name="rx")  # a gate of one's own that has a name of ours
    inner.ry(theta[39], 0)
    inner.cx(0, 1)
    known.append(inner.to_gate(), [2, 1])
    known.measure_all()
    found = Circuit.from_qiskit(known, features=[*features])
    numbers = draws.normal(size=(2, 40))
    values = dict(zip([*features, *theta], np.concatenate([numbers[0, :3], numbers[1]]), strict=False))
    free = known.remove_final_measurements(inplace=False)
    by_name = {f"t_{place}": number for place, number in enumerate(numbers[1])}
    own = [np.array([by_name[name] for name in names]) for names in (found.weight_names, found.bias_names)]
    expected = states_at(free, {one: values[one] for one in free.parameters})
    assert_same_up_to_a_phase(states_of(found, numbers[:1, :3], *own)[0], expected)


@pytest.mark.parametrize(
    "angle",
    [
        lambda x, p, q: p * x[0] + q * x[1],
        lambda x, p, q: p * q,
        lambda x, p, q: p * q * x[0],
        lambda x, p, q: p + q,
        lambda x, p, q: x[0] + x[1],
        lambda x, p, q: p * (x[0] + 1),
        lambda x, p, q: x[0].sin(),
        lambda x, p, q: x[0] / x[1],
        lambda x, p, q: x[0] ** 0.5,
        lambda x, p, q: p**2,
        lambda x, p, q: (p * x[0]).arccos(),
        lambda x, p, q: x[0].exp(),
    ],
)
def test_an_angle_of_another_form_is_refused_by_its_expression(angle: Any) -> None:
    features, p, q = ParameterVector("x", 2), Parameter("p"), Parameter("q")
    known = QuantumCircuit(1)
    expression = angle(features, p, q)
    known.rx(expression, 0)
    with pytest.raises(InvalidInputError) as told:
        Circuit.from_qiskit(known, features=features)
    assert str(expression) in str(told.value)
    assert "w·t(x) + b" in str(told.value)


def test_a_parameter_is_a_weight_or_a_bias() -> None:
    features, p = ParameterVector("x", 1), Parameter("p")
    known = QuantumCircuit(1)
    known.rx(p * features[0], 0)
    known.ry(p, 0)
    with pytest.raises(InvalidInputError, match="parameter p"):
        Circuit.from_qiskit(known, features=features)


def test_names_that_look_alike_stay_two_parameters() -> None:
    features, vector, single = ParameterVector("x", 1), ParameterVector("a", 1), Parameter("a_0")
    known = QuantumCircuit(1)
    known.rx(features[0] + vector[0], 0)
    known.ry(single, 0)
    assert Circuit.from_qiskit(known, features=features).n_bias == 2


def test_operations_without_a_definition_are_taken_by_their_matrix() -> None:
    feature, inner = Parameter("x"), QuantumCircuit(2)
    inner.h(1)
    inner.cx(1, 0)
    known = QuantumCircuit(3)
    known.rx(feature, 1)
    known.append(Clifford(inner), [1, 2])
    known.append(AnnotatedOperation(SXGate(), [ControlModifier(1), InverseModifier()]), [2, 0])
    found = Circuit.from_qiskit(known, features=feature)
    state = states_of(found, np.array([[0.7]]), np.empty(0), np.empty(0))[0]
    assert_same_up_to_a_phase(state, states_at(known, {feature: 0.7}))
    for operation in (Clifford(QuantumCircuit(3)), AnnotatedOperation(RXGate(feature), [ControlModifier(2)])):
        known = QuantumCircuit(3)
        known.append(operation, [0, 1, 2])
        with pytest.raises(InvalidInputError, match="decompose"):
            Circuit.from_qiskit(known, features=feature)


def test_what_is_no_circuit_of_gates_is_refused() -> None:
    feature = Parameter("x")
    measured = QuantumCircuit(1, 1)
    measured.rx(feature, 0)
    measured.measure(0, 0)
    measured.h(0)
    with pytest.raises(InvalidInputError, match="'measure'"):
        Circuit.from_qiskit(measured, features=[feature])
    unknown = QuantumCircuit(3)
    unknown.append(Gate("mystery", 3, []), [0, 1, 2])
    with pytest.raises(InvalidInputError, match="'mystery'"):
        Circuit.from_qiskit(unknown, features=[feature])
    with pytest.raises(InvalidInputError, match="QuantumCircuit"):
        Circuit.from_qiskit("h q[0];", features=[feature])
    for features in ([], [feature, feature], ["x"], None, 5, [5]):
        with pytest.raises(InvalidInputError, match="features"):
            Circuit.from_qiskit(measured, features=features)  # type: ignore[arg-type]


def test_the_first_qubit_of_a_matrix_is_the_higher_bit_on_both_sides() -> None:
    matrix = unitary_group.rvs(4, random_state=np.random.default_rng(0))
    circuit = Circuit(2, 1).unitary((1, 0), matrix)
    found = circuit.to_qiskit()
    assert_allclose(
        Operator(found).reverse_qargs().data[:, 0], states_of(circuit, np.ones((1, 1)), *[np.zeros(0)] * 2)[0]
    )
    assert Circuit.from_qiskit(found, features=[Parameter("x")]) == circuit
