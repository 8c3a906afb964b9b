"""Kernel-target alignment of the N × M matrix of fidelities between samples and class centroids."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.simulators.statevector.entry import entry

_TINY = 1e-100


@njit(nogil=True)
def _unit(K: Any) -> float:
    """What fidelities are measured in: their size does not matter to the alignment, but squares of tiny ones vanish."""
    top = 0.0
    for row in range(K.shape[0]):
        for column in range(K.shape[1]):
            top = max(top, float(K[row, column]))
    return top if 0.0 < top < _TINY else 1.0


@entry
def alignment_slopes(K: Any, labels: Any, row_weights: Any) -> tuple[float, float, float, float]:
    """(A, s, t, u) with ∂A/∂K[i, m] = row_weights[i] * (s * K*[i, m] - t * (u * K[i, m])), K* given by the labels.

    u brings tiny fidelities to the size of 1, and is 1 for others: t · u would overflow where s and t do not.

    A is 0 with zero slopes where it is undefined: all fidelities, or all weights, vanish.
    """
    agreement, power, mass = 0.0, 0.0, 0.0
    unit = _unit(K)
    for row in range(K.shape[0]):
        weight = float(row_weights[row])
        along, squared = 0.0, 0.0
        for column in range(K.shape[1]):
            value = float(K[row, column]) / unit
            along += value if column == labels[row] else -value
            squared += value * value
        agreement += weight * along
        power += weight * squared
        mass += weight * K.shape[1]
    if power <= 0.0 or mass <= 0.0:
        return 0.0, 0.0, 0.0, 1.0
    scale = 1.0 / (np.sqrt(power) * np.sqrt(mass))
    alignment = agreement * scale
    return alignment, scale / unit, alignment / power / unit, 1.0 / unit


def ideal_kernel(labels: ArrayLike, n_classes: int) -> FloatArray:
    """K*[i, m] = 1 where sample i is of class m, else -1 (paper, eq. 3)."""
    classes = np.asarray(labels)
    if classes.ndim != 1 or (classes.size and (classes.min() < 0 or classes.max() >= n_classes)):
        raise InvalidInputError(f"labels must be a list of class numbers from 0 to {n_classes - 1}.")
    return np.where(classes[:, None] == np.arange(n_classes), 1.0, -1.0)


def target_alignment(K: ArrayLike, labels: ArrayLike, *, row_weights: ArrayLike | None = None) -> float:
    """A(K, K*) = ⟨K, K*⟩ / √(⟨K, K⟩⟨K*, K*⟩), at most 1/√M (paper, eq. 5).

    Every sample counts ``row_weights[i]`` times. Renaming the classes along with the columns changes nothing.
    """
    return float(alignment_slopes(*_checked(K, labels, row_weights))[0])


def alignment_gradient(K: ArrayLike, labels: ArrayLike, *, row_weights: ArrayLike | None = None) -> FloatArray:
    """∂A/∂K in closed form."""
    kernel, classes, weights = _checked(K, labels, row_weights)
    _, toward, away, unit = alignment_slopes(kernel, classes, weights)
    gradient: FloatArray = weights[:, None] * (toward * ideal_kernel(classes, kernel.shape[1]) - away * (unit * kernel))
    return gradient


def _checked(
    K: ArrayLike, labels: ArrayLike, row_weights: ArrayLike | None
) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    kernel = np.asarray(K)
    classes = np.asarray(labels)
    if kernel.ndim != 2 or classes.shape != kernel.shape[:1]:
        raise InvalidInputError(
            f"kernel of shape {kernel.shape} does not fit labels of shape {classes.shape}; use one row for each label."
        )
    if not np.issubdtype(classes.dtype, np.integer):
        raise InvalidInputError(f"labels must be class numbers 0 … {kernel.shape[1] - 1}, got {classes.dtype}.")
    ideal_kernel(classes, kernel.shape[1])
    weights = np.ones(len(classes)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    if weights.shape != classes.shape or not (weights >= 0).all():
        raise InvalidInputError(f"row_weights must be {len(classes)} numbers of at least 0.")
    return kernel.astype(np.float64, copy=False), classes.astype(np.int64, copy=False), weights
