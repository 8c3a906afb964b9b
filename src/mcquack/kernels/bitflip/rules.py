"""From weights between samples and centroids to classes: by k^b, by mean weight alone, and b by training accuracy."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip.calibration import best_nearest
from mcquack.kernels.bitflip.tolerance import checked_tolerance, checked_weights, mean_weights, tolerant_kernels
from mcquack.simulators.engine import FloatArray

IntArray = NDArray[np.intp]


def predicted_classes(weights: ArrayLike, tolerance: int) -> IntArray:
    """The centroid with the largest k^b for every sample, from weights (N, M, n + 1).

    Few shots tie often, and argmax alone would send all ties to the first class: the smaller mean weight decides.
    """
    counts = checked_weights(weights, n_axes=3)
    b = checked_tolerance(tolerance, counts.shape[-1] - 1)
    return _largest(tolerant_kernels(counts)[..., b], mean_weights(counts))


def classes_by_mean_weight(weights: ArrayLike) -> IntArray:
    """The centroid with the smallest mean weight for every sample: no b to choose."""
    smallest: IntArray = np.argmin(mean_weights(checked_weights(weights, n_axes=3)), axis=1)
    return smallest


def accuracies_by_tolerance(weights: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Share of samples that k^b puts into their class, for b = 0 … n; labels are numbers of centroids."""
    counts = checked_weights(weights, n_axes=3)
    truth = _checked_labels(labels, counts)
    means, kernels = mean_weights(counts), tolerant_kernels(counts)
    return np.array([np.mean(_largest(kernel, means) == truth) for kernel in np.moveaxis(kernels, -1, 0)])


def training_tolerance(weights: ArrayLike, labels: ArrayLike) -> int:
    """The b with the best accuracy on training samples, weights (N, M, n + 1).

    Of several it is the one nearest to the middle between the mean weights with the own class and with others.
    """
    counts = checked_weights(weights, n_axes=3)
    truth = _checked_labels(labels, counts)
    means = mean_weights(counts)
    own = truth[:, None] == np.arange(counts.shape[1])
    target = float(means[own].mean() + means[~own].mean()) / 2
    return best_nearest(accuracies_by_tolerance(counts, truth), target)


def _largest(kernel: FloatArray, means: FloatArray) -> IntArray:
    tied = kernel == kernel.max(axis=1, keepdims=True)
    largest: IntArray = np.argmin(np.where(tied, means, np.inf), axis=1)
    return largest


def _checked_labels(labels: ArrayLike, counts: NDArray[Any]) -> IntArray:
    truth = np.asarray(labels)
    n_samples, n_classes = counts.shape[:2]
    if n_samples < 1 or n_classes < 2:
        raise InvalidInputError(f"expected weights of samples with two or more centroids, got shape {counts.shape}.")
    if truth.shape != (n_samples,):
        raise InvalidInputError(
            f"weights have {n_samples} samples but labels the shape {truth.shape}; use one for each."
        )
    if truth.dtype.kind not in "iu" or truth.min() < 0 or truth.max() >= n_classes:
        raise InvalidInputError(
            f"labels must be the numbers 0 to {n_classes - 1} of centroids; encode class names first."
        )
    return truth.astype(np.intp)
