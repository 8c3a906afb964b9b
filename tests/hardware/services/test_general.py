"""Any circuit is one template on a device: made native once, wherever its qubits lie, and bound for each entry."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Parameter
from qiskit.circuit.library import RZZGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import Statevector
from qiskit.transpiler import CouplingMap, InstructionProperties, Target
from qiskit_ibm_runtime.fake_provider import FakeTorino

from mcquack.circuits import Circuit, OverlapCircuits, b, line, w, x
from mcquack.circuits.gates import gate_matrices
from mcquack.errors import InvalidInputError, LayoutError
from mcquack.hardware.native import angle_sets, n_angles
from mcquack.hardware.sampler import device_sampler
from mcquack.hardware.services import general
from mcquack.hardware.services.general import chosen_qubits, cut_out, overlap_template, routed, symbolic_target
from mcquack.hardware.services.options import Options
from mcquack.hardware.services.program import DeviceProgram
from mcquack.simulators.statevector.hamming import applied, gates_with_angles
from tests.plain_states import start_states
from tests.random_circuits import random_circuit, random_point

# A line with a branch: hardly any circuit fits without SWAPs.
COUPLERS = [[0, 1], [1, 2], [2, 3], [3, 4], [2, 5], [5, 6]]
BASES = [["rz", "sx", "x", "cz"], ["rz", "sx", "x", "ecr"], ["rz", "sx", "x", "cx"], ["rx", "ry", "rxx"]]
SIZES = [1, 2, 3, 4]


def overlaps(n_qubits: int, *, seed: int = 0) -> OverlapCircuits:
    circuit = random_circuit(seed, n_qubits=n_qubits, n_features=3, n_gates=10)
    X, weights, bias = random_point(circuit, seed, n_rows=4)
    return OverlapCircuits.of(circuit, X[:2], X[2:], weights=weights, bias=bias)


def exact_probabilities(circuits: OverlapCircuits, sample: int, centroid: int) -> NDArray[np.float64]:
    """Of all bit strings that U†(c) U(x) leaves, qubit 0 the most significant."""
    circuit = circuits.circuit
    assert circuit is not None
    states = start_states(circuit, np.zeros((1, circuit.n_features)))
    for gate, own in gates_with_angles(circuit, circuits.samples[sample : sample + 1]):
        states = applied(states, gate_matrices(gate, own), gate.qubits)
    for gate, own in reversed(list(gates_with_angles(circuit, circuits.centroids[centroid : centroid + 1]))):
        states = applied(states, np.swapaxes(gate_matrices(gate, own).conj(), -1, -2), gate.qubits)
    return np.abs(states[0]) ** 2


def measured_probabilities(circuit: QuantumCircuit) -> NDArray[np.float64]:
    """Of the classical bits, bit 0 the most significant, whichever qubits they read."""
    reads = [step for step in circuit.data if step.operation.name == "measure"]
    places = {circuit.find_bit(step.clbits[0]).index: circuit.find_bit(step.qubits[0]).index for step in reads}
    state = Statevector(circuit.remove_final_measurements(inplace=False))
    return np.asarray(state.probabilities(qargs=[places[bit] for bit in range(len(places))][::-1]))


def bound(circuit: QuantumCircuit, angles: Any) -> QuantumCircuit:
    return circuit.assign_parameters({one: angles[one.index] for one in circuit.parameters})


def device(basis: list[str]) -> GenericBackendV2:
    return GenericBackendV2(7, basis_gates=basis, coupling_map=CouplingMap(COUPLERS), seed=0)


@pytest.mark.parametrize("n_qubits", SIZES)
def test_the_template_is_the_overlap_circuit_of_every_pair(n_qubits: int) -> None:
    circuits = overlaps(n_qubits)
    template, angles = overlap_template(circuits.circuit), angle_sets(circuits)
    assert angles.shape == (2, 2, n_angles(circuits.circuit))
    for pair in np.ndindex(2, 2):
        found = measured_probabilities(bound(template, angles[pair]))
        assert_allclose(found, exact_probabilities(circuits, *pair), atol=1e-10)


@pytest.mark.parametrize("basis", BASES, ids="-".join)
@pytest.mark.parametrize("n_qubits", SIZES)
def test_on_a_device_every_bit_is_read_where_its_qubit_ended(n_qubits: int, basis: list[str]) -> None:
    """Bits of random circuits differ from each other, so that no two of them could change places unseen."""
    circuits, target = overlaps(n_qubits, seed=1), device(basis).target
    template, angles = overlap_template(circuits.circuit), angle_sets(circuits)
    for qubits in (chosen_qubits(circuits.circuit, target), [6, 0, 3, 1][:n_qubits]):
        found = routed(template, qubits, target)
        assert {step.operation.name for step in found.data} <= {*basis, "measure", "barrier"}
        pairs = {tuple(found.find_bit(q).index for q in s.qubits) for s in found.data if s.operation.num_qubits == 2}
        assert all([min(pair), max(pair)] in COUPLERS for pair in pairs if len(pair) == 2)
        assert_allclose(
            measured_probabilities(bound(found, angles[1, 0])), exact_probabilities(circuits, 1, 0), atol=1e-8
        )


def test_what_is_not_used_of_a_device_is_cut_off() -> None:
    circuits, target = overlaps(3, seed=2), FakeTorino().target
    whole = routed(overlap_template(circuits.circuit), chosen_qubits(circuits.circuit, target), target)
    part, cut = cut_out(whole, target)
    assert part.num_qubits == cut.target.num_qubits < 6
    assert part.count_ops() == whole.count_ops()
    found = measured_probabilities(bound(part, angle_sets(circuits)[0, 1]))
    assert_allclose(found, exact_probabilities(circuits, 0, 1), atol=1e-8)
    for step in part.data:  # every gate is offered where it stands
        if step.operation.name != "barrier":
            assert cut.target.instruction_supported(
                step.operation.name, tuple(part.find_bit(qubit).index for qubit in step.qubits)
            )


def test_constants_are_no_parameters() -> None:
    circuit = Circuit(2, 1).rx([0, 1], 0.3).ry(0, x[0]).rz(1, b).rzz((0, 1), 1.5)
    assert len(overlap_template(circuit).parameters) == n_angles(circuit) == 4


def test_faults_and_gates_for_some_angles_are_left_out() -> None:
    target = Target(num_qubits=4)
    for name in ("rz", "sx", "x", "measure"):
        operation = GenericBackendV2(2, basis_gates=["rz", "sx", "x", "cz"]).target.operation_from_name(name)
        errors = [1e-4, 1e-4, 1e-4, 0.7 if name == "measure" else 1e-4]
        known = {(qubit,): InstructionProperties(error=error) for qubit, error in enumerate(errors)}
        target.add_instruction(operation, known)
    couplers = {
        pair: InstructionProperties(error=error) for pair, error in zip(line(4), [1.0, 0.01, 1e-5], strict=True)
    }
    target.add_instruction(GenericBackendV2(2, basis_gates=["cz"]).target.operation_from_name("cz"), couplers)
    target.add_instruction(RZZGate(Parameter("angle")), dict.fromkeys(couplers))
    found = symbolic_target(target)
    assert set(found["cz"]) == {(1, 2)}  # of the others one is faulty, and one leads to a qubit that cannot be read
    assert "rzz" not in found.operation_names
    assert set(chosen_qubits(Circuit(2, 1).rzz((0, 1), x[0]), target)) == {1, 2}
    with pytest.raises(LayoutError, match="not faulty"):
        chosen_qubits(Circuit(3, 1).rzz([(0, 1), (1, 2)], x[0]), target)
    with pytest.raises(LayoutError, match="not faulty"):
        routed(overlap_template(Circuit(2, 1).rzz((0, 1), x[0])), [0, 2], target)


def test_a_parameter_that_changes_nothing_does_no_harm() -> None:
    circuit = Circuit(1, 1).rz(0, x[0])
    program = DeviceProgram.on(device(BASES[0]).target, [3], circuit)
    found, values = program.pub(np.zeros((5, 2)))
    assert len(found.parameters) >= 1
    assert {array.shape[0] for array in values.values()} == {5}


def test_circuits_that_do_not_fit_are_refused() -> None:
    wide = Circuit(8, 1).ry(range(8), x[0]).cnot(line(8))
    with pytest.raises(LayoutError, match=r"8 qubits.* 7"):
        chosen_qubits(wide, device(BASES[0]).target)
    with pytest.raises(LayoutError, match="qubits 0 to 6"):
        routed(overlap_template(Circuit(1, 1).ry(0, x[0])), [7], device(BASES[0]).target)
    with pytest.raises(InvalidInputError, match="nothing to measure"):
        device_sampler("aer", Circuit(1, 1).h(0))


# Snapshots of devices


@pytest.mark.parametrize("name", ["fake_manila", "fake_torino"])
def test_without_errors_a_snapshot_counts_what_is_exact_and_transpiles_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def counted(*all_: Any, **named: Any) -> Any:
        calls.append(1)
        return transpile(*all_, **named)

    monkeypatch.setattr(general, "transpile", counted)
    circuits, shots = overlaps(3, seed=3), 2000
    sampler = device_sampler(name, circuits.circuit, options=Options(noise="none"))
    counts = sampler.hamming_counts(circuits, shots=shots)
    sampler.hamming_counts(circuits[:1], shots=100)
    assert len(calls) == 1
    ones = np.bitwise_count(np.arange(8))
    for pair in np.ndindex(2, 2):
        exact = np.bincount(ones, exact_probabilities(circuits, *pair), minlength=4)
        deviation = np.sqrt(np.maximum(exact * (1 - exact), 1 / shots) * shots)
        assert np.all(np.abs(counts[pair] - exact * shots) < 5 * deviation)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fake_manila", {"noise": "pauli"}),
        ("fake_manila", {"noise": "full"}),
        ("fake_manila", {"decoupling": "XX"}),
        ("fake_london", {"noise": "pauli"}),  # which has other gates, and does not say how long they take
    ],
)
def test_a_snapshot_has_its_errors(name: str, options: dict[str, Any]) -> None:
    circuit = Circuit(2, 1).ry([0, 1], w * x[0]).rzz((0, 1), x[0])
    X, weights = np.array([[0.4], [0.8]]), np.array([1.0, 2.0])
    circuits = OverlapCircuits.of(circuit, X, X, weights=weights, bias=np.zeros(0))
    counts = device_sampler(name, circuits.circuit, options=Options(**options)).hamming_counts(circuits, shots=500)
    alike = np.diagonal(counts[..., 0])
    assert np.all(alike < 500)  # a device never finds zeros alone
    assert np.all(alike > 350)
