"""The angles of the overlap circuit in the gates of a device, computed here so that no compiler merges or drops any.

Every rotation is RZ SX RZ SX RZ, and a CNOT is a CZ between two Hadamards on its target. In a ring each qubit meets two
CZs: the Hadamard between them stays a gate of its own, the one before or after is absorbed into a rotation.
"""

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.overlap import OverlapCircuits

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

# Up to its phase. All of SU(2) is the first column (a, b) of the matrix ((a, -b*), (b, a*)), which arrays keep last.
HADAMARD = np.array([-1j, -1j]) / np.sqrt(2)


def n_angles(n_qubits: int, n_layers: int) -> int:
    """3n(2L - 1): three for each qubit of 2L - 1 layers, as the last of U(x) and the first of U†(c) become one."""
    return 3 * n_qubits * (2 * n_layers - 1)


def angle_sets(circuits: OverlapCircuits) -> FloatArray:
    """The angles of every circuit, from -π to π, shape (N, M, P): by layer, then by qubit, then in time."""
    n_layers, n_qubits = circuits.n_layers, circuits.n_qubits
    samples, centroids = _dressed(circuits.samples), _inverse(_dressed(circuits.centroids))
    middle = n_layers - 1
    angles = np.empty((*circuits.shape, 2 * n_layers - 1, n_qubits, 3))
    angles[:, :, :middle] = _native(samples[:, :middle])[:, None]
    angles[:, :, middle] = _native(_product(centroids[None, :, middle], samples[:, None, middle]))
    angles[:, :, n_layers:] = _native(centroids[:, :middle][:, ::-1])[None]
    return angles.reshape(*circuits.shape, n_angles(n_qubits, n_layers))


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
    """The matrices second · first."""
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
