"""The radial basis function, in the two ways that the paper writes its one parameter."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_number, require

FloatArray = NDArray[np.floating]


def squared_distances(X: FloatArray, points: FloatArray) -> FloatArray:
    """‖x_i - p_j‖², shape (N, P)."""
    # Distances know no origin; one amid the points saves the digits that a large offset would cost.
    origin = points.mean(axis=0)
    left, right = X - origin, points - origin
    squares: FloatArray = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
    return np.maximum(squares, 0)


def rbf_kernel(X: FloatArray, points: FloatArray, gamma: float) -> FloatArray:
    """K[i, j] = exp(-γ ‖x_i - p_j‖²)."""
    kernel: FloatArray = np.exp(-gamma * squared_distances(X, points))
    return kernel


def gamma_of_width(width: float) -> float:
    """γ = 1 / (2 width²)."""
    return 1 / (2 * float(width) ** 2)


def check_width(width: Any) -> None:
    """Refuses what would not leave γ a finite positive number."""
    require(is_number(width) and 1e-50 <= width <= 1e50, "width", "a positive number (1e-50 to 1e50)", width)
