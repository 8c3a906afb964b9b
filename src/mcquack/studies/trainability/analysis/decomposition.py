"""Variances of a grid's main effects and interactions, for one table of cells or for many resampled ones at once."""

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.randomness import stream
from mcquack.studies.trainability.analysis.complete_grid import CompleteGrid

FloatArray = NDArray[np.float64]
Names = tuple[str, ...]


class Parts(NamedTuple):
    """Variances of each effect, of all between cells and within them, for one table of cells or for many at once."""

    effects: dict[Names, FloatArray]
    between: FloatArray
    within: FloatArray

    def shares(self, which: Names) -> FloatArray:
        """Of an effect in the whole variance."""
        total = self.between + self.within
        return np.divide(self.effects[which], total, out=np.zeros_like(total), where=total > 0)


class Scatter(NamedTuple):
    """Of replicates around the mean of their cell: variance of one, of a cell's mean, and how well that is known."""

    variance: float
    of_means: float
    degrees: int
    everywhere: bool  # whether every cell has two or more


def scatter_of(grid: CompleteGrid) -> Scatter | None:
    """None where there are no replicates, or no two that differ."""
    degrees = sum(len(cell) - 1 for cell in grid.cells)
    squares = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in grid.cells)
    if degrees == 0 or squares == 0:
        return None
    # Of unweighted means: where some cells have lost replicates, each mean is as good as with the harmonic number.
    of_means = squares / degrees * sum(1 / len(cell) for cell in grid.cells) / len(grid.cells)
    return Scatter(squares / degrees, of_means, degrees, all(len(cell) > 1 for cell in grid.cells))


def parts_of(grid: CompleteGrid, means: FloatArray, variances: FloatArray) -> Parts:
    """From means and variances of the cells (…, G)."""
    n_before = means.ndim - 1
    table = (means - means.mean(axis=-1, keepdims=True)).reshape(*means.shape[:-1], *grid.shape)
    axes = range(n_before, table.ndim)

    def averaged(*kept: int) -> FloatArray:
        return np.asarray(table.mean(axis=tuple(axis for axis in axes if axis not in kept), keepdims=True))

    def variance(effect: FloatArray) -> FloatArray:
        return np.asarray(np.mean(effect**2, axis=tuple(axes)))

    alone = {axis: averaged(axis) for axis in axes}
    effects: dict[Names, FloatArray] = {}
    for axis, effect in alone.items():
        effects[grid.names[axis - n_before],] = variance(effect)
    for one, two in itertools.combinations(axes, 2):
        names = grid.names[one - n_before], grid.names[two - n_before]
        effects[names] = variance(averaged(one, two) - alone[one] - alone[two])
    return Parts(effects, np.asarray(means.var(axis=-1)), np.asarray(variances.mean(axis=-1)))


def resampled_parts(grid: CompleteGrid, n_resamples: int, *, seed: int) -> Parts:
    """From replicates drawn anew within each cell."""
    rng = stream(seed, "bootstrap of importance")
    drawn = [_drawn(cell, rng.integers(len(cell), size=(n_resamples, len(cell)))) for cell in grid.cells]
    means = np.stack([each.mean(axis=1) for each in drawn], axis=1)
    return parts_of(grid, means, np.stack([each.var(axis=1) for each in drawn], axis=1))


def _drawn(cell: FloatArray, places: NDArray[np.int64]) -> FloatArray:
    # Draws from k values vary by (k - 1) / k of what they are to estimate, which for few replicates is too little.
    wider = math.sqrt(len(cell) / (len(cell) - 1))
    drawn: FloatArray = cell.mean() + wider * (cell[places] - cell.mean())
    return drawn
