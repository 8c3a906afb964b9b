"""The overlap circuit U†(c) U(x) of the paper in the gates of a device with their angles.

Every rotation is RZ SX RZ SX RZ on a device, and a CNOT is a CZ between two Hadamards on its target. In a ring each
qubit meets two CZs: the Hadamard between them stays a gate of its own, the one before or after is absorbed into a
rotation. The angles are computed here, in NumPy, so that no compiler merges or drops any; nothing here needs Qiskit.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits

Angle = TypeVar("Angle", covariant=True)
ComplexArray = NDArray[np.complex128]

QUARTER_TURN = math.pi / 2
# Up to its phase. All of SU(2) is the first column (a, b) of the matrix ((a, -b*), (b, a*)), which arrays keep last.
HADAMARD = np.array([-1j, -1j]) / np.sqrt(2)


class NativeGate(NamedTuple, Generic[Angle]):
    """One gate and the qubits that it acts on, the control first; only rotations have an angle, maybe a symbol."""

    name: Literal["rx", "rz", "ry", "sx", "cz", "cx"]
    qubits: tuple[int, ...]
    angle: Angle | None = None


def n_angles(circuit: Circuit) -> int:
    """Return how many angles one overlap circuit has.

    They are 3n(2L - 1) for the paper's feature map, as the last rotations of U(x) and the first of U†(c) become one
    layer, and for any other circuit the angles of U(x) and of U†(c) that are no constants.
    """
    if isinstance(circuit, FeatureMap):
        return 3 * circuit.n_qubits * (2 * circuit.n_layers - 1)
    return 2 * len(free_angles(circuit))


def free_angles(circuit: Circuit) -> IntArray:
    """The places of the angles of a circuit that depend on samples or parameters."""
    table = circuit.angle_table
    return np.flatnonzero((table.input >= 0) | (table.bias >= 0))


def two_qubit_depth(circuit: Circuit) -> int:
    """Return the longest chain of two-qubit gates of an overlap circuit, as if every pair of qubits had a coupler.

    It is 2n(L - 1) for the paper's feature map, whose CNOTs all wait for the one before.
    """
    circuit = circuit.for_overlaps()
    busy = [0] * circuit.n_qubits
    for gate in circuit.gates:
        if len(gate.qubits) == 2:
            busy[gate.qubits[0]] = busy[gate.qubits[1]] = 1 + max(busy[qubit] for qubit in gate.qubits)
    return 2 * max(busy)


def native_gates(n_qubits: int, n_layers: int, angles: Sequence[Angle]) -> Iterator[NativeGate[Angle | float]]:
    """The circuit in RZ, SX and CZ, the same for all pairs, with angles in the order of ``angle_sets``."""
    ring = tuple(_native_ring(n_qubits))
    for layer in range(2 * n_layers - 1):
        if layer:
            # A Hadamard read backwards is one too, so the inverse ring is the ring from its end.
            yield from ring if layer < n_layers else ring[::-1]
        for qubit in range(n_qubits):
            start = 3 * (layer * n_qubits + qubit)
            first, second, third = angles[start : start + 3]
            for angle in (first, second):
                yield NativeGate("rz", (qubit,), angle)
                yield NativeGate("sx", (qubit,))
            yield NativeGate("rz", (qubit,), third)


def _native_ring(n_qubits: int) -> Iterator[NativeGate[float]]:
    """The CZs of CNOT 0→1, 1→2, …, n-1→0, with the Hadamard of each qubit between its two."""
    for control in range(n_qubits if n_qubits > 1 else 0):
        target = (control + 1) % n_qubits
        yield NativeGate("cz", (control, target))
        if control == 0:
            yield from _hadamard(control)
        if target != 0:
            yield from _hadamard(target)


def _hadamard(qubit: int) -> Iterator[NativeGate[float]]:
    yield NativeGate("rz", (qubit,), QUARTER_TURN)
    yield NativeGate("sx", (qubit,))
    yield NativeGate("rz", (qubit,), QUARTER_TURN)


def angle_sets(circuits: OverlapCircuits) -> FloatArray:
    """The native angles of every circuit, (N, M, P) from -π to π, by layer, then by qubit, then in time.

    Those of any other circuit than the paper's are the angles of its own gates, U(x) first, without constants.
    """
    if not isinstance(circuits.circuit, FeatureMap):
        free, shape = free_angles(circuits.circuit), circuits.shape
        pairs = circuits.samples[:, None, free], circuits.centroids[None, :, free]
        return np.concatenate([np.broadcast_to(own, (*shape, len(free))) for own in pairs], axis=-1)
    n_layers, n_qubits = circuits.n_layers, circuits.n_qubits
    samples, centroids = _dressed(circuits.samples), _inverse(_dressed(circuits.centroids))
    middle = n_layers - 1
    angles = np.empty((*circuits.shape, 2 * n_layers - 1, n_qubits, 3))
    angles[:, :, :middle] = _native(samples[:, :middle])[:, None]
    angles[:, :, middle] = _native(_product(centroids[None, :, middle], samples[:, None, middle]))
    angles[:, :, n_layers:] = _native(centroids[:, :middle][:, ::-1])[None]
    return angles.reshape(*circuits.shape, n_angles(circuits.circuit))


def _dressed(angles: NDArray[np.floating]) -> ComplexArray:
    """The rotations Rot(φ, θ, ω) of U, with the Hadamards of the rings around them, shape (N, L, n, 2).

    The first gate of a ring makes qubit 0 a control and the last one a target, so the Hadamard that is left of qubit 0
    comes after the ring; all others are targets first, and theirs comes before it.
    """
    phi, theta, omega = np.moveaxis(angles, -1, 0)
    gates = np.stack(
        [np.exp(-0.5j * (omega + phi)) * np.cos(theta / 2), np.exp(0.5j * (omega - phi)) * np.sin(theta / 2)], axis=-1
    )
    if angles.shape[2] > 1:  # a single qubit has no ring
        gates[:, 1:, 0] = _product(gates[:, 1:, 0], HADAMARD)
        gates[:, :-1, 1:] = _product(HADAMARD, gates[:, :-1, 1:])
    return gates


def _product(second: ComplexArray, first: ComplexArray) -> ComplexArray:
    (a, b), (c, d) = np.moveaxis(second, -1, 0), np.moveaxis(first, -1, 0)
    return np.stack([a * c - b.conj() * d, b * c + a.conj() * d], axis=-1)


def _inverse(gates: ComplexArray) -> ComplexArray:
    return np.stack([gates[..., 0].conj(), -gates[..., 1]], axis=-1)


def _native(gates: ComplexArray) -> FloatArray:
    """The angles of RZ SX RZ SX RZ, first to last: φ, θ + π and ω + π for RZ(ω) RY(θ) RZ(φ)."""
    a, b = np.moveaxis(gates, -1, 0)
    # Where a or b vanishes one of the phases is noise, and means nothing: only their sum or difference acts then.
    difference, total = np.angle(a), np.angle(b)
    theta = 2 * np.arctan2(np.abs(b), np.abs(a))
    angles = np.stack([-total - difference, theta + np.pi, total - difference + np.pi], axis=-1)
    return np.asarray(np.remainder(angles + np.pi, 2 * np.pi) - np.pi)
