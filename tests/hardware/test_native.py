"""The gates of the overlap circuit are as many as they must be, and with their angles they are that circuit."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.native import angle_sets, n_angles, native_gates, overlap_gates
from tests.hardware.overlaps import (
    ComplexArray,
    FloatArray,
    of_itself,
    overlap_circuits,
    overlap_probabilities,
    overlap_unitary,
    paper_overlaps,
    ring_map,
    some_circuits,
)
from tests.oracles import after_cnot, after_gate, rot

sizes = st.tuples(st.integers(1, 9), st.integers(1, 4))


def native_counts(n_qubits: int, n_layers: int) -> Counter[str]:
    return Counter(
        gate.name for gate in native_gates(n_qubits, n_layers, range(n_angles(ring_map(n_qubits, n_layers))))
    )


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
    count = n_angles(ring_map(n_qubits, n_layers))
    used = [gate for gate in native_gates(n_qubits, n_layers, range(count)) if isinstance(gate.angle, int)]
    assert [gate.angle for gate in used] == list(range(count))
    assert [gate.qubits[0] for gate in used] == [number // 3 % n_qubits for number in range(count)]


@given(size=sizes)
def test_the_second_half_entangles_as_the_first_one_read_backwards(size: tuple[int, int]) -> None:
    n_qubits, n_layers = size
    gates = native_gates(n_qubits, n_layers, range(n_angles(ring_map(n_qubits, n_layers))))
    pairs = [gate.qubits for gate in gates if gate.name == "cz"]
    ring = [(qubit, (qubit + 1) % n_qubits) for qubit in range(n_qubits)] if n_qubits > 1 else []
    assert pairs == ring * (n_layers - 1) + ring[::-1] * (n_layers - 1)


@given(size=sizes)
def test_between_two_gates_of_a_kind_a_qubit_meets_another_kind(size: tuple[int, int]) -> None:
    """So nothing is left to merge: RZ and SX take turns between the CZs."""
    n_qubits, n_layers = max(size[0], 2), size[1]
    gates = list(native_gates(n_qubits, n_layers, range(n_angles(ring_map(n_qubits, n_layers)))))
    for qubit in range(n_qubits):
        names = [gate.name for gate in gates if qubit in gate.qubits]
        assert all(first != second for first, second in pairwise(names))


@given(circuits=overlap_circuits())
def test_textbook_gates_are_a_circuit_and_an_inverse(circuits: OverlapCircuits) -> None:
    gates = list(overlap_gates(of_itself(circuits)))
    backwards = [gate if gate.angle is None else gate._replace(angle=-gate.angle) for gate in reversed(gates)]
    assert gates == backwards
    counts = Counter(gate.name for gate in gates)
    n_qubits, n_layers = circuits.n_qubits, circuits.n_layers
    n_rings = 2 * (n_layers - 1) if n_qubits > 1 else 0
    assert counts == Counter(rz=4 * n_qubits * n_layers, ry=2 * n_qubits * n_layers, cx=n_rings * n_qubits)


@pytest.mark.parametrize("n_layers", [1, 2, 5])
def test_one_qubit_has_no_ring(n_layers: int) -> None:
    assert native_counts(1, n_layers)["cz"] == 0


# Native gates with these angles are the overlap circuit, for every pair and also where Euler angles are not unique.

SX = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]], dtype=complex) / 2
H = np.array([[1, 1], [1, -1]], dtype=complex) / np.sqrt(2)


def native_unitary(circuits: OverlapCircuits, angles: FloatArray) -> ComplexArray:
    """Gate by gate in NumPy; a CZ is a CNOT between two Hadamards."""
    states = np.eye(1 << circuits.n_qubits, dtype=complex)
    for gate in native_gates(circuits.n_qubits, circuits.n_layers, angles.tolist()):
        if gate.name == "cz":
            control, target = gate.qubits
            states = after_gate(after_cnot(after_gate(states, H, target), control, target), H, target)
        else:
            nothing = np.zeros(1)
            matrix: Any = SX if gate.angle is None else rot(np.array([gate.angle]), nothing, nothing)
            states = after_gate(states, matrix, gate.qubits[0])
    return states.T


@given(circuits=overlap_circuits(max_qubits=4))
def test_native_gates_are_the_overlap_circuit_up_to_a_phase(circuits: OverlapCircuits) -> None:
    angles = angle_sets(circuits)
    for i, j in np.ndindex(circuits.shape):
        found, expected = native_unitary(circuits, angles[i, j]), overlap_unitary(circuits, i, j)
        phase = np.sum(expected.conj() * found) / len(found)
        assert abs(phase) == pytest.approx(1, abs=1e-12)
        assert_allclose(found, phase * expected, atol=1e-12)


@given(circuits=overlap_circuits())
def test_native_gates_measure_what_the_overlap_circuit_does(circuits: OverlapCircuits) -> None:
    found = np.abs(native_unitary(circuits, angle_sets(circuits)[1, 0])[:, 0]) ** 2
    assert_allclose(found, overlap_probabilities(circuits, 1, 0), atol=1e-12)


@given(circuits=overlap_circuits())
def test_a_sample_that_is_its_centroid_measures_nothing_but_zeros(circuits: OverlapCircuits) -> None:
    found = native_unitary(circuits, angle_sets(of_itself(circuits))[0, 0])[:, 0]
    assert abs(found[0]) ** 2 == pytest.approx(1, abs=1e-12)


@given(circuits=overlap_circuits(), turns=st.sampled_from([0, 1, -3, 1000]))
def test_angles_are_finite_and_within_half_a_turn(circuits: OverlapCircuits, turns: int) -> None:
    turned = paper_overlaps(circuits.samples + 2 * np.pi * turns, circuits.centroids)
    angles = angle_sets(turned)
    assert angles.dtype == np.float64
    assert angles.shape == (*circuits.shape, n_angles(circuits.circuit))
    assert np.all(np.abs(angles) <= np.pi)  # false for nan too


def test_a_set_depends_on_its_own_sample_and_centroid_only() -> None:
    circuits = some_circuits(3, 3, n_samples=4, n_centroids=3)
    angles = angle_sets(circuits)
    for i, j in np.ndindex(circuits.shape):
        alone = paper_overlaps(circuits.samples[[i]], circuits.centroids[[j]])
        assert_allclose(angle_sets(alone)[0, 0], angles[i, j], rtol=0, atol=1e-13)


def test_no_samples_give_no_sets() -> None:
    assert angle_sets(some_circuits(3, 2)[:0]).shape == (0, 2, 27)


@pytest.mark.parametrize(("n_qubits", "n_layers", "count"), [(1, 1, 3), (2, 1, 6), (3, 3, 45), (124, 2, 1116)])
def test_number_of_angles(n_qubits: int, n_layers: int, count: int) -> None:
    assert n_angles(ring_map(n_qubits, n_layers)) == count
