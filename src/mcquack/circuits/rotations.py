"""The gates Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) as matrices, and derivatives by their angles."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray

ComplexArray = NDArray[np.complex128]

# ∂R/∂φ and ∂R/∂ω multiply every entry of R by one of these.
_BY_PHI = 0.5j * np.array([[-1, 1], [-1, 1]])
_BY_OMEGA = 0.5j * np.array([[-1, -1], [1, 1]])


def rotation_matrices(angles: FloatArray) -> ComplexArray:
    """Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) for angles (…, 3), shape (…, 2, 2)."""
    return _with_phases(angles, np.cos(angles[..., 1] / 2), np.sin(angles[..., 1] / 2))


def rotation_angles(matrix: NDArray[Any]) -> tuple[float, float, float, float]:
    """φ, θ, ω and the phase α of a unitary (2, 2) = exp(iα) RZ(ω) RY(θ) RZ(φ)."""
    alpha = float(np.angle(np.linalg.det(matrix))) / 2
    special = matrix * np.exp(-1j * alpha)
    theta = 2 * math.atan2(abs(special[1, 0]), abs(special[0, 0]))
    plus = 2 * float(np.angle(special[1, 1])) if abs(special[1, 1]) > 1e-12 else 0.0
    minus = 2 * float(np.angle(special[1, 0])) if abs(special[1, 0]) > 1e-12 else 0.0
    return (plus - minus) / 2, theta, (plus + minus) / 2, alpha


def angle_slopes(angles: FloatArray, by_entries: ComplexArray) -> FloatArray:
    """Re Σ by_entries ∘ ∂R/∂angle, for each of the three angles."""
    rotations = rotation_matrices(angles)
    half_turned = _with_phases(angles, -np.sin(angles[..., 1] / 2) / 2, np.cos(angles[..., 1] / 2) / 2)
    slopes = (rotations * _BY_PHI, half_turned, rotations * _BY_OMEGA)
    return np.stack([(by_entries * slope).sum(axis=(-2, -1)).real for slope in slopes], axis=-1)


def _with_phases(angles: FloatArray, cosine: FloatArray, sine: FloatArray) -> ComplexArray:
    phi, omega = angles[..., 0], angles[..., 2]
    outer, inner = np.exp(0.5j * (phi + omega)), np.exp(0.5j * (phi - omega))
    # Row by row whatever the layout of the angles: compiled code would be made anew, and slower, for any other.
    matrices = np.empty((*angles.shape[:-1], 2, 2), dtype=np.complex128)
    matrices[..., 0, 0], matrices[..., 0, 1] = outer.conj() * cosine, -inner * sine
    matrices[..., 1, 0], matrices[..., 1, 1] = inner.conj() * sine, outer * cosine
    return matrices
