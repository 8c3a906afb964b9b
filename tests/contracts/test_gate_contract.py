"""What the table of gates promises: its parts agree, and a gate that is added by one entry works everywhere."""

from typing import Any

import numpy as np
import pennylane as qml
import pytest
from numpy.testing import assert_allclose
from qiskit import qasm3
from qiskit.quantum_info import Statevector

from mcquack.checks import JAX
from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.gates import GATES, PHASE, Gate, GateDefinition, Share, Step, decomposed, gate_matrices
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.circuits.rotations import PAULIS
from mcquack.errors import InvalidInputError
from mcquack.hardware.native import overlap_gates
from mcquack.models.robustness.turns import turn_of
from mcquack.simulators import GateEngine, JaxEngine
from mcquack.simulators.statevector.hamming import applied
from mcquack.training.shifts import ParameterShiftEngine
from tests.plain_states import states_of

needs_jax = pytest.mark.skipif(not JAX.is_installed, reason="needs the extra jax")
NAMES = [name for name in GATES if name != "unitary"]
ELEMENTS = {"ry", "rz", "rzz", "x", "cnot", "swap"}
X, Y, Z = PAULIS.values()
NEW = {
    "by its generator": GateDefinition(
        2,
        1,
        steps=(Step("h", (1,)), Step("rzz", (0, 1), Share(1.0, 0)), Step("h", (1,))),
        generator=np.kron(Z, X),
        marks=("ZX", "ZX"),
    ),
    "with the eigenvalue 0": GateDefinition(
        2,
        1,
        steps=(Step("rxx", (0, 1), Share(0.5, 0)), Step("ryy", (0, 1), Share(0.5, 0))),
        generator=(np.kron(X, X) + np.kron(Y, Y)) / 2,
    ),
    "by its steps alone": GateDefinition(
        2,
        2,
        steps=(
            Step("rx", (1,), Share(-1.0, 1)),
            Step("cnot", (1, 0)),
            Step("rz", (0,), Share(1.0, 0)),
            Step(PHASE, angle=Share(0.5, 0)),
        ),
    ),
    "on one qubit": GateDefinition(1, 1, steps=(Step("rz", (0,), Share(1.0, 0)), Step(PHASE, angle=Share(0.5, 0)))),
}


def matrix_of(name: str, angles: Any) -> Any:
    return gate_matrices(Gate(name, tuple(range(GATES[name].n_qubits))), np.asarray(angles, dtype=float))


def product(name: str, angles: Any, *, into: Any, as_circuit: bool) -> Any:
    """The matrix of a decomposition, by its action on each basis state."""
    n_qubits = GATES[name].n_qubits
    states = np.eye(1 << n_qubits, dtype=complex)
    gate = Gate(name, tuple(range(n_qubits)))
    for step, qubits, own in decomposed(gate, angles, into=into, as_circuit=as_circuit):
        phase = step == PHASE
        states = states * np.exp(1j * own[0]) if phase else applied(states, matrix_of(step, own), qubits)
    return states.T


def assert_definition_agrees(name: str) -> None:
    known, angles = GATES[name], np.random.default_rng(3).uniform(-3, 3, GATES[name].n_angles)
    matrix = matrix_of(name, angles)
    assert_allclose(product(name, angles, into=ELEMENTS, as_circuit=False), matrix, atol=1e-14)
    assert_allclose(product(name, angles, into={"rx", "ry", "rz", "cnot"}, as_circuit=True), matrix, atol=1e-14)
    for number, generator in enumerate(known.generators(angles)):
        moved = np.eye(known.n_angles)[number] * 1e-6
        slope = (matrix_of(name, angles + moved) - matrix_of(name, angles - moved)) / 2e-6
        dense = np.array([[0 if entry is None else entry for entry in row] for row in generator])
        assert_allclose(-0.5j * dense @ matrix, slope, atol=1e-9)
    assert known.is_diagonal == (np.abs(matrix - np.diag(np.diag(matrix))).max() < 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_decompositions_and_generators_agree_with_the_matrix(name: str) -> None:
    assert_definition_agrees(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_steps_say_agrees_with_what_is_given(name: str) -> None:
    """A definition without a generator and a matrix is completed from its steps."""
    known = GATES[name]
    if not known.steps:
        return
    alone = GateDefinition(known.n_qubits, known.n_angles, steps=known.steps)
    angles = np.random.default_rng(4).uniform(-3, 3, known.n_angles)
    for found, expected in zip(
        (alone.entries(angles), *alone.generators(angles)),
        (known.entries(angles), *known.generators(angles)),
        strict=True,
    ):
        dense = (
            np.array([[0 if entry is None else entry for entry in row] for row in each]) for each in (found, expected)
        )
        left, right = dense
        assert_allclose(left, right, atol=1e-14)


@pytest.fixture(params=NEW)
def new_gate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a gate that is in the table for one test."""
    name = f"new_{list(NEW).index(request.param)}"
    monkeypatch.setitem(GATES, name, NEW[request.param])
    return name


def circuit_with(name: str) -> Circuit:
    """Three qubits, so that the gate acts on neighbours and on others, in both orders."""
    known = GATES[name]
    angles = [w * x[0] + b, 2 * x[1] - b][: known.n_angles]
    places = [(2, 0), (0, 1)] if known.n_qubits == 2 else [2, 0]
    begin = Circuit(3, 2).h(range(3)).ry(range(3), [0.3, x[1], b])
    return begin.gate(name, places, *angles).rx(range(3), b).gate(name, places[:1], *angles)


def point_of(circuit: Circuit) -> tuple[Any, Any, Any]:
    draws = np.random.default_rng(7)
    return draws.uniform(-1, 1, (4, 2)), draws.normal(size=circuit.weights_shape), draws.normal(size=circuit.bias_shape)


def test_a_new_gate_agrees_with_itself(new_gate: str) -> None:
    assert_definition_agrees(new_gate)


@pytest.mark.parametrize(
    "make",
    [
        GateEngine,
        pytest.param(JaxEngine, marks=needs_jax),
        lambda circuit, dtype: ParameterShiftEngine(GateEngine(circuit, dtype=dtype)),
    ],
    ids=["gates", "jax", "shifts"],
)
def test_a_new_gate_is_simulated_and_differentiated(new_gate: str, make: Any) -> None:
    circuit = circuit_with(new_gate)
    rows, *parameters = point_of(circuit)
    engine = make(circuit, dtype="float64")
    samples, centroids = (engine.encode(some, *parameters) for some in (rows[:2], rows[2:]))

    def kernel(*parameters: Any) -> Any:
        states = states_of(circuit, rows, *parameters)
        return np.abs(states[:2] @ states[2:].conj().T) ** 2

    assert_allclose(engine.fidelities(samples, centroids), kernel(*parameters), atol=1e-12)
    cotangent = np.random.default_rng(8).normal(size=(2, 2))
    found = engine.pullback(samples, centroids, cotangent, wrt="embedding")
    for place, slopes in enumerate((found.weights, found.bias)):
        for number, slope in enumerate(slopes):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [own.copy() for own in parameters]
                moved[place][number] += step
                ends.append(np.sum(cotangent * kernel(*moved)))
            assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("make", [GateEngine, pytest.param(JaxEngine, marks=needs_jax)], ids=["gates", "jax"])
def test_states_with_a_new_gate_have_its_phase(new_gate: str, make: Any) -> None:
    circuit = circuit_with(new_gate)
    rows, *parameters = point_of(circuit)
    engine = make(circuit, dtype="float64")
    found = engine.statevectors(engine.encode(rows, *parameters))
    assert_allclose(found, states_of(circuit, rows, *parameters), atol=1e-12)


def test_a_new_gate_is_drawn_and_kept(new_gate: str) -> None:
    circuit = circuit_with(new_gate)
    assert (GATES[new_gate].marks or (new_gate.upper(),))[0] + "(" in circuit.draw()
    assert Circuit.from_json(circuit.to_json()) == circuit


def test_a_new_gate_goes_out_and_comes_back(new_gate: str) -> None:
    circuit = circuit_with(new_gate)
    rows, weights, bias = point_of(circuit)
    expected = states_of(circuit, rows, weights, bias)
    for read in (
        circuit.to_qiskit(x=rows[0], weights=weights, bias=bias),
        qasm3.loads(circuit.to_qasm(x=rows[0], weights=weights, bias=bias)),
    ):
        assert_allclose(np.asarray(Statevector(read).reverse_qargs()), expected[0], atol=1e-12)
    gates = circuit.to_pennylane()

    @qml.qnode(qml.device("default.qubit", wires=3))
    def states(*point: Any) -> Any:
        gates(*point)
        return qml.state()

    assert_allclose(states(rows, weights, bias), expected, atol=1e-12)
    inputs = qasm3.loads(circuit.to_qasm(weights=weights, bias=bias))
    back = Circuit.from_qiskit(inputs, features=inputs.parameters)
    overlaps = np.sum(expected.conj() * states_of(back, rows, np.zeros(0), np.zeros(0)), axis=1)
    assert_allclose(np.abs(overlaps), 1, atol=1e-12)  # Circuit.from_qiskit drops the phase of whole states


def test_a_new_gate_has_a_form_for_devices(new_gate: str) -> None:
    circuit = circuit_with(new_gate)
    rows, weights, bias = point_of(circuit)
    overlap = OverlapCircuits.of(circuit, rows[:1], rows[1:2], weights=weights, bias=bias)
    state = np.eye(8, dtype=complex)[:1]
    for name, qubits, angle in overlap_gates(overlap):
        angles = [] if angle is None else [angle]
        state = applied(state, matrix_of("cnot" if name == "cx" else name, angles), qubits)
    sample, centroid = states_of(circuit, rows[:2], weights, bias)
    assert_allclose(abs(state[0, 0]) ** 2, abs(np.vdot(centroid, sample)) ** 2, atol=1e-12)


def test_certified_radii_know_how_fast_a_new_gate_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = Step("rx", (0,), Share(2.0, 0)), Step("ry", (0,), Share(-1.0, 0)), Step(PHASE, angle=Share(5.0, 0))
    monkeypatch.setitem(GATES, "new_fast", GateDefinition(1, 1, steps=twice))
    assert turn_of(Circuit(1, 1).gate("new_fast", 0, w * x[0]), np.array([2.0])) == (6.0, 6.0)


def test_a_gate_without_a_rule_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = Step("rx", (0,), Share(1.0, 0)), Step("ry", (0,), Share(1.0, 0))
    monkeypatch.setitem(GATES, "new_twice", GateDefinition(1, 1, steps=twice))
    with pytest.raises(InvalidInputError, match="new_twice"):
        ParameterShiftEngine(GateEngine(Circuit(1, 1).gate("new_twice", 0, b)))
    with pytest.raises(InvalidInputError, match="eigenvalues"):
        GateDefinition(1, 1, generator=2 * X)
    with pytest.raises(InvalidInputError, match=r"swap.*cnot"):
        list(decomposed(Gate("swap", (0, 1)), (), into=["cnot"]))
    for wrong in (lambda: Circuit(1, 1).gate("unknown", 0), lambda: Circuit(1, 1).gate("rx", 0)):
        with pytest.raises(InvalidInputError, match="rx"):
            wrong()
