"""The gates Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) as matrices, and angles from matrices."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray

ComplexArray = NDArray[np.complex128]


def rotation_matrices(angles: FloatArray) -> ComplexArray:
    """Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) for angles (…, 3), shape (…, 2, 2)."""
    phi, omega = angles[..., 0], angles[..., 2]
    cosine, sine = np.cos(angles[..., 1] / 2), np.sin(angles[..., 1] / 2)
    outer, inner = np.exp(0.5j * (phi + omega)), np.exp(0.5j * (phi - omega))
    # Row by row whatever the layout of the angles: compiled code would be made anew, and slower, for any other.
    matrices = np.empty((*angles.shape[:-1], 2, 2), dtype=np.complex128)
    matrices[..., 0, 0], matrices[..., 0, 1] = outer.conj() * cosine, -inner * sine
    matrices[..., 1, 0], matrices[..., 1, 1] = inner.conj() * sine, outer * cosine
    return matrices


def rotation_angles(matrix: NDArray[Any]) -> tuple[float, float, float, float]:
    """φ, θ, ω and the phase α of a unitary (2, 2) = exp(iα) RZ(ω) RY(θ) RZ(φ)."""
    alpha = float(np.angle(np.linalg.det(matrix))) / 2
    special = matrix * np.exp(-1j * alpha)
    theta = 2 * math.atan2(abs(special[1, 0]), abs(special[0, 0]))
    plus = 2 * float(np.angle(special[1, 1])) if abs(special[1, 1]) > 1e-12 else 0.0
    minus = 2 * float(np.angle(special[1, 0])) if abs(special[1, 0]) > 1e-12 else 0.0
    return (plus - minus) / 2, theta, (plus + minus) / 2, alpha
