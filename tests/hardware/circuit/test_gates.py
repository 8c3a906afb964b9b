"""How many gates there are, and between which qubits."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.native import n_angles, native_gates, textbook_gates
from tests.hardware.circuit.overlaps import overlap_circuits

sizes = st.tuples(st.integers(1, 9), st.integers(1, 4))


def native_counts(n_qubits: int, n_layers: int) -> Counter[str]:
    return Counter(gate.name for gate in native_gates(n_qubits, n_layers, range(n_angles(n_qubits, n_layers))))


def test_counts_of_the_paper_on_124_qubits() -> None:
    assert native_counts(124, 2) == {"rz": 1612, "sx": 992, "cz": 248}


@given(size=sizes)
def test_counts_of_every_size(size: tuple[int, int]) -> None:
    n_qubits, n_layers = size
    rotations = n_qubits * (2 * n_layers - 1)
    hadamards = 2 * n_qubits * (n_layers - 1) if n_qubits > 1 else 0
    expected = {"rz": 3 * rotations + 2 * hadamards, "sx": 2 * rotations + hadamards, "cz": hadamards}
    assert native_counts(n_qubits, n_layers) == Counter(expected)


@given(size=sizes)
def test_every_angle_is_used_once_and_in_order_on_each_qubit(size: tuple[int, int]) -> None:
    n_qubits, n_layers = size
    count = n_angles(n_qubits, n_layers)
    used = [gate for gate in native_gates(n_qubits, n_layers, range(count)) if isinstance(gate.angle, int)]
    assert [gate.angle for gate in used] == list(range(count))
    assert [gate.qubits[0] for gate in used] == [number // 3 % n_qubits for number in range(count)]


@given(size=sizes)
def test_the_second_half_entangles_as_the_first_one_read_backwards(size: tuple[int, int]) -> None:
    n_qubits, n_layers = size
    gates = native_gates(n_qubits, n_layers, range(n_angles(n_qubits, n_layers)))
    pairs = [gate.qubits for gate in gates if gate.name == "cz"]
    ring = [(qubit, (qubit + 1) % n_qubits) for qubit in range(n_qubits)] if n_qubits > 1 else []
    assert pairs == ring * (n_layers - 1) + ring[::-1] * (n_layers - 1)


@given(size=sizes)
def test_between_two_gates_of_a_kind_a_qubit_meets_another_kind(size: tuple[int, int]) -> None:
    """So nothing is left to merge: RZ and SX take turns between the CZs."""
    n_qubits, n_layers = max(size[0], 2), size[1]
    gates = list(native_gates(n_qubits, n_layers, range(n_angles(n_qubits, n_layers))))
    for qubit in range(n_qubits):
        names = [gate.name for gate in gates if qubit in gate.qubits]
        assert all(first != second for first, second in pairwise(names))


@given(circuits=overlap_circuits())
def test_textbook_gates_are_a_circuit_and_an_inverse(circuits: OverlapCircuits) -> None:
    gates = list(textbook_gates(circuits.samples[0], circuits.samples[0]))
    backwards = [gate if gate.angle is None else gate._replace(angle=-gate.angle) for gate in reversed(gates)]
    assert gates == backwards
    counts = Counter(gate.name for gate in gates)
    n_qubits, n_layers = circuits.n_qubits, circuits.n_layers
    n_rings = 2 * (n_layers - 1) if n_qubits > 1 else 0
    assert counts == Counter(rz=4 * n_qubits * n_layers, ry=2 * n_qubits * n_layers, cx=n_rings * n_qubits)


@pytest.mark.parametrize("n_layers", [1, 2, 5])
def test_one_qubit_has_no_ring(n_layers: int) -> None:
    assert native_counts(1, n_layers)["cz"] == 0
