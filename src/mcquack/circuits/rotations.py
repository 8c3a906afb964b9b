"""Rotations as matrices, and unitary matrices of one and two qubits as rotations."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import ComplexArray, FloatArray

PAULIS: Mapping[str, ComplexArray] = MappingProxyType(
    {
        "x": np.array([[0, 1], [1, 0]], dtype=complex),
        "y": np.array([[0, -1j], [1j, 0]]),
        "z": np.diag([1.0 + 0j, -1]),
    }
)


def rotation_entries(phi: Any, theta: Any, omega: Any, numbers: Any = np) -> list[list[Any]]:
    """Return the four entries of Rot(φ, θ, ω); ``numbers`` is the module that computes them, NumPy or jax.numpy."""
    cosine, sine = numbers.cos(theta / 2), numbers.sin(theta / 2)
    outer, inner = numbers.exp(0.5j * (phi + omega)), numbers.exp(0.5j * (phi - omega))
    return [[outer.conj() * cosine, -inner * sine], [inner.conj() * sine, outer * cosine]]


def rotation_matrices(angles: FloatArray) -> ComplexArray:
    """Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) for angles (…, 3), shape (…, 2, 2)."""
    # Row by row whatever the layout of the angles: compiled code would be made anew, and slower, for any other.
    matrices = np.empty((*angles.shape[:-1], 2, 2), dtype=np.complex128)
    for row, entries in enumerate(rotation_entries(*(angles[..., number] for number in range(3)))):
        for column, entry in enumerate(entries):
            matrices[..., row, column] = entry
    return matrices


def rotation_angles(matrix: NDArray[Any]) -> tuple[float, float, float, float]:
    """φ, θ, ω and the phase α of a unitary (2, 2) = exp(iα) RZ(ω) RY(θ) RZ(φ)."""
    alpha = float(np.angle(np.linalg.det(matrix))) / 2
    special = matrix * np.exp(-1j * alpha)
    theta = 2 * math.atan2(abs(special[1, 0]), abs(special[0, 0]))
    plus = 2 * float(np.angle(special[1, 1])) if abs(special[1, 1]) > 1e-12 else 0.0
    minus = 2 * float(np.angle(special[1, 0])) if abs(special[1, 0]) > 1e-12 else 0.0
    return (plus - minus) / 2, theta, (plus + minus) / 2, alpha


# The basis in which products of one-qubit gates are real: the Bell states with suitable phases.
_MAGIC = np.array([[1, 0, 0, 1j], [0, 1j, 1, 0], [0, 1j, -1, 0], [1, 0, 0, -1j]]) / math.sqrt(2)
_SIGNS = np.array([np.diag(_MAGIC.conj().T @ np.kron(own, own) @ _MAGIC).real for own in PAULIS.values()])


def interaction(
    matrix: ComplexArray,
) -> tuple[tuple[ComplexArray, ComplexArray], tuple[float, float, float], tuple[ComplexArray, ComplexArray], float]:
    """A unitary (4, 4) as one-qubit gates, then RXX RYY RZZ with three angles, then one-qubit gates, and a phase.

    In the magic basis the one-qubit gates are real orthogonal matrices, and the interaction is diagonal (the Cartan
    decomposition): what is to be found are the real eigenvectors of MᵀM.
    """
    magic = _MAGIC.conj().T @ (matrix / np.linalg.det(matrix) ** 0.25) @ _MAGIC
    square = magic.T @ magic
    right = _common_eigenvectors(square)
    if np.linalg.det(right) < 0:
        right[:, 0] = -right[:, 0]
    halves = np.angle(np.diag(right.T @ square @ right)) / 2
    left = magic @ right @ np.diag(np.exp(-1j * halves))
    if np.linalg.det(left).real < 0:
        halves[0] += math.pi
        left[:, 0] = -left[:, 0]
    after = _factors(_MAGIC @ left @ _MAGIC.conj().T)
    before = _factors(_MAGIC @ right.T @ _MAGIC.conj().T)
    # exp(-i/2 (a XX + b YY + c ZZ)) has the phases -(a, b, c)·signs/2, and what they all have in common is left over.
    xx, yy, zz = (float(angle) for angle in -2 * (_SIGNS @ halves) / 4)
    found = np.kron(*after) @ _canonical(xx, yy, zz) @ np.kron(*before)
    at = np.unravel_index(np.argmax(np.abs(found)), found.shape)
    return before, (xx, yy, zz), after, float(np.angle(matrix[at] / found[at]))


def _canonical(xx: float, yy: float, zz: float) -> ComplexArray:
    phases = -0.5 * (np.array([xx, yy, zz]) @ _SIGNS)
    return np.asarray(_MAGIC @ np.diag(np.exp(1j * phases)) @ _MAGIC.conj().T, dtype=np.complex128)


def _common_eigenvectors(square: ComplexArray) -> NDArray[np.float64]:
    """Real orthonormal vectors that diagonalise a symmetric unitary: those of a mixture of its two real parts."""
    best: NDArray[Any] = np.eye(4)
    least = np.inf
    for number in range(64):
        # Where two eigenvalues of a mixture happen to agree, the next mixture tells them apart.
        part = math.cos(1 + number) * square.real + math.sin(1 + number) * square.imag
        vectors = np.asarray(np.linalg.eigh(part)[1], dtype=np.float64)
        turned = vectors.T @ square @ vectors
        rest = float(np.abs(turned - np.diag(np.diag(turned))).max())
        if rest < least:
            best, least = vectors, rest
        if least < 1e-14:
            break
    return best


def _factors(product: NDArray[Any]) -> tuple[ComplexArray, ComplexArray]:
    """Two unitary matrices (2, 2) whose Kronecker product this is."""
    blocks = product.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3)  # [i, j, k, l]: entry (i, j) of one, (k, l) of the other
    i, j = np.unravel_index(np.argmax(np.abs(blocks).sum(axis=(2, 3))), (2, 2))
    right = blocks[i, j] / np.sqrt(np.linalg.det(blocks[i, j]))
    left = np.einsum("ijkl,kl->ij", blocks, right.conj()) / 2
    return left, right
