"""One template serves all pairs, lies on a ring without SWAPs, and keeps its gates whatever is bound."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import Operator, Statevector
from qiskit.transpiler import CouplingMap, Target
from qiskit_aer import AerSimulator
from qiskit_ibm_runtime.fake_provider import FakePittsburgh, FakeTorino

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError, LayoutError
from mcquack.hardware.layout.ring import best_ring
from mcquack.hardware.native import angle_sets, n_angles, overlap_template, placed, textbook_circuit
from mcquack.hardware.snapshot import coupling_of
from tests.hardware.circuit.overlaps import of_itself, overlap_circuits, overlap_probabilities, some_circuits

# A ring of six with a tail; some couplers have only one direction, and not always the one of the circuit.
COUPLERS = [[0, 1], [2, 1], [2, 3], [4, 3], [4, 5], [0, 5], [5, 6], [6, 7]]
RING = [3, 2, 1, 0, 5, 4]
BASES = [["rz", "sx", "cz"], ["rz", "sx", "x", "ecr"], ["rz", "sx", "x", "cx"], ["rx", "rz", "cz"], ["rx", "ry", "rxx"]]


def device(basis: list[str]) -> GenericBackendV2:
    return GenericBackendV2(8, basis_gates=basis, coupling_map=CouplingMap(COUPLERS), seed=0)


def without_measurements(circuit: QuantumCircuit) -> QuantumCircuit:
    return circuit.remove_final_measurements(inplace=False)


def measured_qubits(circuit: QuantumCircuit) -> list[int]:
    """The qubit that each classical bit reads."""
    reads = [gate for gate in circuit.data if gate.operation.name == "measure"]
    places = {circuit.find_bit(gate.clbits[0]).index: circuit.find_bit(gate.qubits[0]).index for gate in reads}
    assert len(places) == len(reads)
    return [places[bit] for bit in range(len(reads))]


def probabilities(circuit: QuantumCircuit) -> NDArray[np.float64]:
    """Of the measured bit strings, bit 0 the most significant, computed on all qubits of the device."""
    state = Statevector(without_measurements(circuit))
    return np.asarray(state.probabilities(qargs=measured_qubits(circuit)[::-1]))


@given(circuits=overlap_circuits())
def test_binding_gives_the_textbook_circuit(circuits: OverlapCircuits) -> None:
    template = overlap_template(circuits.n_qubits, circuits.n_layers)
    bound = without_measurements(template.assign_parameters(angle_sets(circuits)[0, 1]))
    textbook = textbook_circuit(circuits, sample=0, centroid=1, measured=False)
    assert Operator(bound).equiv(Operator(textbook), atol=1e-9)


@given(size=st.tuples(st.integers(1, 5), st.integers(1, 3)))
def test_parameters_are_in_the_order_of_the_angles(size: tuple[int, int]) -> None:
    """Qiskit sorts them by name, and what is sent is one array."""
    template = overlap_template(*size)
    numbers = np.arange(100.0, 100 + n_angles(*size))
    bound = template.assign_parameters(numbers)
    found = [gate.operation.params[0] for gate in bound.data if gate.operation.name == "rz"]
    assert [angle for angle in found if angle >= 100] == numbers.tolist()


def test_names_of_parameters_are_never_shared() -> None:
    templates = [overlap_template(2, 2) for _ in range(3)]
    names = [parameter.name for template in templates for parameter in template.parameters]
    assert len(set(names)) == len(names) == 3 * 18
    together = QuantumCircuit(2)
    for template in templates:
        together.compose(without_measurements(template), inplace=True)  # a clash of names would raise
    assert together.num_parameters == 3 * 18


def test_template_survives_a_pickle() -> None:
    template, angles = overlap_template(3, 2), angle_sets(some_circuits(3, 2))[0, 0]
    restored = pickle.loads(pickle.dumps(template))
    assert restored.assign_parameters(angles) == template.assign_parameters(angles)


def test_qubits_are_read_in_order_into_one_register() -> None:
    template = overlap_template(5, 2)
    assert [(register.name, register.size) for register in template.cregs] == [("meas", 5)]
    assert measured_qubits(template) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("basis", BASES, ids="-".join)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), n_layers=st.integers(1, 3))
def test_a_placed_circuit_measures_the_same_on_every_device(basis: list[str], seed: int, n_layers: int) -> None:
    circuits = some_circuits(6, n_layers, seed=seed)
    ring_circuit = placed(overlap_template(6, n_layers), RING, device(basis))
    assert measured_qubits(ring_circuit) == RING
    assert set(ring_circuit.count_ops()) <= {*basis, "measure", "barrier"}
    bound = ring_circuit.assign_parameters(angle_sets(circuits)[1, 0])
    assert_allclose(probabilities(bound), overlap_probabilities(circuits, 1, 0), atol=1e-9)


@pytest.mark.parametrize("basis", BASES, ids="-".join)
def test_there_are_no_swaps_and_every_gate_is_one_of_the_device(basis: list[str]) -> None:
    backend = device(basis)
    ring_circuit = placed(overlap_template(6, 3), RING, backend)
    on_two = [gate for gate in ring_circuit.data if len(gate.qubits) == 2]
    assert len(on_two) == 4 * 6
    for gate in ring_circuit.data:
        if gate.operation.name != "barrier":
            places = tuple(ring_circuit.find_bit(qubit).index for qubit in gate.qubits)
            assert backend.target.instruction_supported(gate.operation.name, places)


@pytest.mark.parametrize(("backend", "length"), [(FakePittsburgh, 124), (FakeTorino, 104)])
def test_the_longest_rings_have_the_counts_of_the_paper_also_for_a_pair_of_equals(backend: Any, length: int) -> None:
    device = backend()
    ring = best_ring(coupling_of(device), length, allow_faulty=True)
    ring_circuit = placed(overlap_template(length, 2), ring.qubits, device)
    assert measured_qubits(ring_circuit) == list(ring.qubits)
    assert list(ring_circuit.parameters) == sorted(ring_circuit.parameters, key=lambda parameter: parameter.index)
    circuits = of_itself(some_circuits(length, 2, n_samples=2))
    for angles in angle_sets(circuits)[0]:  # equals, and then others
        counts = ring_circuit.assign_parameters(angles).count_ops()
        assert counts.pop("barrier") == 1
        assert counts == {"rz": 13 * length, "sx": 8 * length, "cz": 2 * length, "measure": length}


@pytest.mark.parametrize(
    "target",
    [
        AerSimulator(),
        GenericBackendV2(4, basis_gates=["rz", "sx", "cz"], seed=0).target,
        Target.from_configuration(["rz", "sx", "cz", "measure"]),
    ],
    ids=["simulator", "all coupled", "any size"],
)
def test_where_all_qubits_are_coupled_any_order_is_a_ring(target: Any) -> None:
    ring_circuit = placed(overlap_template(4, 2), (3, 1, 0, 2), target)
    assert measured_qubits(ring_circuit) == [3, 1, 0, 2]
    counts = ring_circuit.count_ops()
    assert (counts["rz"], counts["sx"], counts["cz"]) == (4 * 13, 4 * 8, 4 * 2)


def test_without_a_second_layer_the_qubits_need_no_couplers() -> None:
    ring_circuit = placed(overlap_template(3, 1), [7, 1, 4], device(["rz", "sx", "cz"]))
    assert measured_qubits(ring_circuit) == [7, 1, 4]
    assert dict(ring_circuit.count_ops()) == {"rz": 9, "sx": 6, "measure": 3, "barrier": 1}


@pytest.mark.parametrize("n_qubits", [1, 2])
def test_one_and_two_qubits_need_no_cycle(n_qubits: int) -> None:
    ring_circuit = placed(overlap_template(n_qubits, 2), [7, 6][:n_qubits], device(["rz", "sx", "cz"]))
    assert measured_qubits(ring_circuit) == [7, 6][:n_qubits]
    assert ring_circuit.count_ops().get("cz", 0) == 4 * (n_qubits - 1)


@pytest.mark.parametrize(
    ("ring", "message"),
    [
        ([3, 2, 1, 0, 5], "needs 6 different qubits, got 5"),
        ([3, 2, 1, 0, 5, 5], "got 6 of which 5 differ"),
        ([3, 2, 1, 0, 5, 8], r"the qubits 0 to 7 of the device, and has \[8\] too"),
        ([3, 2, 1, 0, 5, -1], r"has \[-1\] too"),
        ([1, 0, 5, 6, 7, 2], r"the device has none for \[\(7, 2\)\]"),
    ],
)
def test_a_ring_that_is_none_is_refused(ring: list[int], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        placed(overlap_template(6, 2), ring, device(["rz", "sx", "cz"]))


@pytest.mark.parametrize("size", [(0, 2), (3, 0), (2.5, 1), (True, 1)])
def test_a_circuit_has_at_least_one_qubit_and_layer(size: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidInputError, match="must be a whole number of at least 1"):
        overlap_template(*size)
