"""The paper's choice of b: where centroids differ most from each other and least from themselves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.checks import is_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip.tolerance import checked_weights, mean_weights, tolerant_kernels
from mcquack.randomness import stream
from mcquack.simulators.engine import FloatArray

Pairs = NDArray[np.bool_]

_EQUAL = 1e-9  # differences closer than this are ties: no number of shots tells them apart


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration:
    """Mean k^b between class means for b = 0 … n, the best b, and how far shots alone would have moved it."""

    diagonal: FloatArray
    off_diagonal: FloatArray
    tolerance: int
    confidence: float
    interval: tuple[int, int] | None  # None for exact distributions, which no shot has touched
    band: FloatArray | None  # (2, n + 1): the interval of the difference, for every b

    @property
    def difference(self) -> FloatArray:
        """The criterion: mean diagonal minus mean off-diagonal."""
        return self.diagonal - self.off_diagonal


def calibrate(
    weights: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """b* = argmax of mean diagonal minus mean off-diagonal k^b, from the weights (M, M, n + 1) between class means.

    Of several maxima it is the one nearest to the middle between the mean weights on and off the diagonal: where the
    criterion is flat, it does not tell which b separates the two best. Whole numbers are taken as counts, and drawing
    the shots of each pair again gives the interval; floating-point numbers are exact probabilities, which have none.
    ``labels`` are the classes where some have several means: pairs within a class need not differ, and do not count.
    """
    counts = _checked_square(weights)
    off = _others(len(counts), labels)
    require(is_number(confidence) and 0 < confidence < 1, "confidence", "a number between 0 and 1", confidence)
    diagonal, off_diagonal = _curves(counts, off)
    interval = band = None
    if counts.dtype.kind in "iu":
        interval, band = _bootstrap(counts, off, required_count("n_resamples", n_resamples), confidence, seed)
    return Calibration(
        diagonal=diagonal,
        off_diagonal=off_diagonal,
        tolerance=_best(counts, off, diagonal - off_diagonal),
        confidence=float(confidence),
        interval=interval,
        band=band,
    )


def best_nearest(criterion: FloatArray, target: float) -> int:
    """Where the criterion is largest; of several such places the one nearest to the target."""
    best = np.flatnonzero(criterion >= criterion.max() - _EQUAL)
    return int(best[np.argmin(np.abs(best - target))])


def _checked_square(weights: ArrayLike) -> NDArray[np.number]:
    counts = checked_weights(weights, n_axes=3)
    if counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise InvalidInputError(
            "calibration needs the weights between at least two class means and themselves, shape (M, M, n + 1), got "
            f"{counts.shape}."
        )
    return counts


def _others(n_means: int, labels: ArrayLike | None) -> Pairs:
    """Which pairs are off the diagonal: those of different classes."""
    classes = np.arange(n_means) if labels is None else np.asarray(labels)
    if classes.shape != (n_means,):
        raise InvalidInputError(f"labels must name the class of each of {n_means} means, got shape {classes.shape}.")
    off: Pairs = classes[:, None] != classes
    if not off.any():
        raise InvalidInputError("calibration compares classes, but all labels are the same; give means of two or more.")
    return off


def _curves(counts: NDArray[np.number], off: Pairs) -> tuple[FloatArray, FloatArray]:
    """Mean k^b on the diagonal and off it, for every b."""
    kernels, on = tolerant_kernels(counts), np.eye(len(off), dtype=bool)
    return kernels[on].mean(axis=0), kernels[off].mean(axis=0)


def _best(counts: NDArray[np.number], off: Pairs, difference: FloatArray) -> int:
    means, on = mean_weights(counts), np.eye(len(off), dtype=bool)
    return best_nearest(difference, float(means[on].mean() + means[off].mean()) / 2)


def _bootstrap(
    counts: NDArray[np.number], off: Pairs, n_resamples: int, confidence: float, seed: int
) -> tuple[tuple[int, int], FloatArray]:
    """Intervals of b* and of the difference, from shots drawn again out of those that were counted."""
    rng = stream(seed, "bitflip", "bootstrap")
    shots = counts.sum(axis=-1)
    shares = counts / shots[..., None]
    best, differences = [], []
    for _ in range(n_resamples):
        drawn = rng.multinomial(shots, shares)
        diagonal, off_diagonal = _curves(drawn, off)
        differences.append(diagonal - off_diagonal)
        best.append(_best(drawn, off, differences[-1]))
    edges = (1 - confidence) / 2, (1 + confidence) / 2
    low, high = np.quantile(best, edges, method="inverted_cdf")
    return (int(low), int(high)), np.quantile(differences, edges, axis=0)
