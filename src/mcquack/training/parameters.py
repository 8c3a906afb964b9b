"""What is trained, and the values it starts from."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream

FloatArray = NDArray[np.floating]
InitStrategy = Literal["default", "wx+b=0"]


@dataclass(frozen=True, eq=False)
class Parameters:
    """The embedding's weights and biases (L, n, 3) and the centroids (M, d), or (M·k, d) with k of them per class."""

    weights: FloatArray
    bias: FloatArray
    centroids: FloatArray

    def copy(self) -> "Parameters":
        return Parameters(self.weights.copy(), self.bias.copy(), self.centroids.copy())


def initial_embedding(
    feature_map: FeatureMap,
    first_batch: FloatArray,
    *,
    row_weights: FloatArray | None = None,
    init_small: bool,
    init_strategy: InitStrategy,
    seed: int,
    dtype: DTypeLike,
) -> tuple[FloatArray, FloatArray]:
    """Weights and biases of variance 1/(3nL), or all ones.

    ``"wx+b=0"`` chooses the biases so that the angles of the first batch vanish on average.
    """
    shape = feature_map.parameter_shape
    if init_small:
        deviation = np.sqrt(1 / (3 * feature_map.n_qubits * feature_map.n_layers))
        weights = stream(seed, "weights").normal(scale=deviation, size=shape)
        bias = stream(seed, "bias").normal(scale=deviation, size=shape)
    else:
        weights, bias = np.ones(shape), np.ones(shape)
    if init_strategy == "wx+b=0":
        means = np.average(first_batch, axis=0, weights=row_weights)
        bias = -weights * means[feature_map.feature_index]
    return weights.astype(dtype), bias.astype(dtype)


def class_means(X: FloatArray, labels: NDArray[np.int64], n_classes: int, row_weights: FloatArray) -> FloatArray:
    """Mean of each class; a class without samples (or weight) starts in the middle of all."""
    sums = np.zeros((n_classes, X.shape[1]))
    np.add.at(sums, labels, X * row_weights[:, None])
    mass = np.bincount(labels, weights=row_weights, minlength=n_classes)[:, None]
    overall = sums.sum(axis=0) / max(float(mass.sum()), np.finfo(float).tiny)
    return np.where(mass > 0, sums / np.where(mass > 0, mass, 1), overall)
