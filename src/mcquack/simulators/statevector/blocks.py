"""Moving samples in and out of blocks of W lanes. Plain loops: they compile in a fraction of the time of slices."""

from typing import Any

from numba import njit

from mcquack.simulators.statevector.lanes import load, splat, store


@njit(nogil=True)
def gather_block(X: Any, first: int, features: Any) -> None:
    """Transposes W rows of X, from ``first`` on, into the rows (d, W) of a block; lanes beyond the end get zeros."""
    for lane in range(features.shape[1]):
        for feature in range(features.shape[0]):
            features[feature, lane] = X[first + lane, feature] if first + lane < X.shape[0] else 0


@njit(nogil=True)
def gather_rows(X: Any, order: Any, first: int, count: int, block: int, features: Any) -> None:
    """Rows ``order[first + …]`` of a mini-batch's block, transposed into (d, W); lanes beyond its end get zeros."""
    width = features.shape[1]
    for lane in range(width):
        position = block * width + lane
        if position < count:
            row = order[first + position]
            for feature in range(features.shape[0]):
                features[feature, lane] = X[row, feature]
        else:
            for feature in range(features.shape[0]):
                features[feature, lane] = 0


@njit(nogil=True)
def copy_block(source: Any, target: Any) -> None:
    """Copies all amplitudes (2**n, 2, W)."""
    for row in range(2 * target.shape[0]):
        store(target, row, load(source, row))


@njit(nogil=True)
def clear_block(features: Any) -> None:
    """Sets all rows (d, W) to zero."""
    for row in range(features.shape[0]):
        store(features, row, splat(features.dtype.type(0)))
