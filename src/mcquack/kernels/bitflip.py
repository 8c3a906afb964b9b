"""Bit-flip tolerance: outcomes with at most b ones count as zeros, which noise has moved. Here b is chosen.

All functions read how often k = 0 … n ones were found, in the last axis: exact probabilities, or counts of shots.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import winning_classes
from mcquack.randomness import stream
from mcquack.simulators.engine import Measured
from mcquack.simulators.hamming import (
    checked_hamming,
    checked_tolerance,
    mean_hamming,
    tolerant_kernel,
    tolerant_kernels,
)

__all__ = [
    "Calibration",
    "accuracies_by_tolerance",
    "calibrate",
    "checked_tolerance",
    "classes_by_mean_hamming",
    "mean_hamming",
    "predicted_classes",
    "tolerant_kernel",
    "tolerant_kernels",
    "training_tolerance",
]

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
    hamming: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """The paper's choice of b: where class means differ most from each other and least from themselves.

    b* is the argmax of mean diagonal minus mean off-diagonal k^b. Of several maxima it is the one nearest to the middle
    between the mean numbers of ones on and off the diagonal: where the criterion is flat, it does not tell which b
    separates the two best.

    Parameters
    ----------
    hamming : array (M, M, n + 1)
        Between class means. Whole numbers are taken as counts, and drawing the shots of each pair again gives the
        interval; floating-point numbers are exact probabilities, which have none.
    labels : array (M,), optional
        The classes where some have several means: pairs within a class need not differ, and do not count.
    n_resamples, confidence, seed
        Of the bootstrap.

    Examples
    --------
    >>> counts = [[[90, 10, 0], [0, 20, 80]], [[0, 30, 70], [80, 20, 0]]]
    >>> calibrate(counts).tolerance
    0
    """
    counts = checked_hamming(hamming, n_axes=3)
    if counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise InvalidInputError(
            "calibration needs the numbers of ones between at least two class means and themselves, shape "
            f"(M, M, n + 1), got {counts.shape}."
        )
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


def _others(n_means: int, labels: ArrayLike | None) -> Pairs:
    classes = np.arange(n_means) if labels is None else np.asarray(labels)
    if classes.shape != (n_means,):
        raise InvalidInputError(f"labels must name the class of each of {n_means} means, got shape {classes.shape}.")
    off: Pairs = classes[:, None] != classes
    if not off.any():
        raise InvalidInputError("calibration compares classes, but all labels are the same; give means of two or more.")
    return off


def _curves(counts: NDArray[np.number], off: Pairs) -> tuple[FloatArray, FloatArray]:
    kernels, on = tolerant_kernels(counts), np.eye(len(off), dtype=bool)
    return kernels[on].mean(axis=0), kernels[off].mean(axis=0)


def _best(counts: NDArray[np.number], off: Pairs, difference: FloatArray) -> int:
    means, on = mean_hamming(counts), np.eye(len(off), dtype=bool)
    return best_nearest(difference, float(means[on].mean() + means[off].mean()) / 2)


def _bootstrap(
    counts: NDArray[np.number], off: Pairs, n_resamples: int, confidence: float, seed: int
) -> tuple[tuple[int, int], FloatArray]:
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


Classes = NDArray[np.intp]


def predicted_classes(hamming: ArrayLike, tolerance: int) -> Classes:
    """The centroid with the largest k^b for every sample, from the numbers of ones (N, M, n + 1).

    Ties are decided as :func:`~mcquack.kernels.fidelity.winning_classes` does it: by fewer ones on average.

    Examples
    --------
    >>> predicted_classes([[[5, 3, 2], [5, 5, 0]]], tolerance=0).tolist()
    [1]
    """
    counts = checked_hamming(hamming, n_axes=3)
    b = checked_tolerance(tolerance, counts.shape[-1] - 1)
    return winning_classes(Measured(tolerant_kernels(counts)[..., b], -mean_hamming(counts)), counts.shape[1])


def classes_by_mean_hamming(hamming: ArrayLike) -> Classes:
    """The centroid with the smallest mean number of ones for every sample: no b to choose."""
    smallest: Classes = np.argmin(mean_hamming(checked_hamming(hamming, n_axes=3)), axis=1)
    return smallest


def accuracies_by_tolerance(hamming: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Share of samples that k^b puts into their class, for b = 0 … n; labels are numbers of centroids."""
    counts = checked_hamming(hamming, n_axes=3)
    truth = _checked_labels(labels, counts)
    ties, kernels = -mean_hamming(counts), np.moveaxis(tolerant_kernels(counts), -1, 0)
    found = (winning_classes(Measured(kernel, ties), counts.shape[1]) for kernel in kernels)
    return np.array([np.mean(classes == truth) for classes in found])


def training_tolerance(hamming: ArrayLike, labels: ArrayLike) -> int:
    """The b with the best accuracy on training samples, numbers of ones (N, M, n + 1).

    Of several it is the one nearest to the middle between the mean numbers of ones with the own class and with others.
    """
    counts = checked_hamming(hamming, n_axes=3)
    truth = _checked_labels(labels, counts)
    means = mean_hamming(counts)
    own = truth[:, None] == np.arange(counts.shape[1])
    target = float(means[own].mean() + means[~own].mean()) / 2
    return best_nearest(accuracies_by_tolerance(counts, truth), target)


def _checked_labels(labels: ArrayLike, counts: NDArray[Any]) -> Classes:
    truth = np.asarray(labels)
    n_samples, n_classes = counts.shape[:2]
    if n_samples < 1 or n_classes < 2:
        raise InvalidInputError(
            f"expected samples with two or more centroids, got numbers of ones of shape {counts.shape}."
        )
    if truth.shape != (n_samples,):
        raise InvalidInputError(
            f"hamming has {n_samples} samples but labels the shape {truth.shape}; use one for each."
        )
    if truth.dtype.kind not in "iu" or truth.min() < 0 or truth.max() >= n_classes:
        raise InvalidInputError(
            f"labels must be the numbers 0 to {n_classes - 1} of centroids; encode class names first."
        )
    return truth.astype(np.intp)
