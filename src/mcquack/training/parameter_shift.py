"""Derivatives as a device would take them: from shifted circuits alone, through the same seam."""

import math
from collections.abc import Iterator
from typing import Generic

import numpy as np
from numpy.typing import ArrayLike

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import E, Engine, FloatArray, Gradient, Wrt, checked_cotangent


class ParameterShiftEngine(Generic[E]):
    """An engine whose pullback asks another engine for nothing but fidelities.

    An angle of one gate enters a fidelity as a + b·cos + c·sin, so half the difference of its values at ±π/2 is the
    exact derivative. A shift of one angle is a shift of one bias.
    """

    def __init__(self, engine: Engine[E]) -> None:
        self.engine = engine

    @property
    def feature_map(self) -> FeatureMap:
        """The circuit of the engine behind this one."""
        return self.engine.feature_map

    def encode(self, X: FloatArray, weights: FloatArray, bias: FloatArray) -> E:
        """What the engine behind this one encodes."""
        return self.engine.encode(X, weights, bias)

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        """What the engine behind this one measures."""
        return self.engine.fidelities(samples, centroids)

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Two evaluations of the kernel for each angle, and twice as many where samples are shifted too."""
        weighting = checked_cotangent(cotangent, samples, centroids)
        shape = self.feature_map.parameter_shape
        if wrt == "centroids":
            by_centroids = np.zeros_like(centroids.features)
            for gate in np.ndindex(shape):
                slopes = (weighting * self._half_difference(samples, centroids, gate, shifted="centroids")).sum(axis=0)
                by_centroids[:, self.feature_map.feature_index[gate]] += centroids.weights[gate] * slopes
            return Gradient(centroids=by_centroids)
        if wrt != "embedding":
            raise InvalidInputError(f'wrt must be "embedding" or "centroids", got {wrt!r}.')
        by_weights, by_bias = np.zeros(shape), np.zeros(shape)
        for gate in np.ndindex(shape):
            feature = self.feature_map.feature_index[gate]
            of_samples = (weighting * self._half_difference(samples, centroids, gate, shifted="samples")).sum(axis=1)
            of_centroids = (weighting * self._half_difference(samples, centroids, gate, shifted="centroids")).sum(
                axis=0
            )
            by_bias[gate] = of_samples.sum() + of_centroids.sum()
            by_weights[gate] = of_samples @ samples.features[:, feature] + of_centroids @ centroids.features[:, feature]
        return Gradient(weights=by_weights, bias=by_bias)

    def _half_difference(self, samples: E, centroids: E, gate: tuple[int, ...], *, shifted: str) -> FloatArray:
        if shifted == "samples":
            kernels = [self.fidelities(moved, centroids) for moved in self._shifted(samples, gate)]
        else:
            kernels = [self.fidelities(samples, moved) for moved in self._shifted(centroids, gate)]
        return (kernels[0] - kernels[1]) / 2

    def _shifted(self, encoded: E, gate: tuple[int, ...]) -> Iterator[E]:
        for shift in (math.pi / 2, -math.pi / 2):
            bias = encoded.bias.copy()
            bias[gate] += shift
            yield self.encode(encoded.features, encoded.weights, bias)


def total_shots(
    feature_map: FeatureMap,
    *,
    n_classes: int,
    n_train: int,
    n_shots: int,
    n_epochs: int = 1,
    epochs_ka: int = 1,
    epochs_co: int = 1,
) -> int:
    """Shots that training on a device takes: 2 n_epochs n_train M n_shots (2 n_KAO D + 3 n_CO d) (paper, eq. 10)."""
    per_kernel_entry = 2 * epochs_ka * feature_map.n_embedding_parameters + 3 * epochs_co * feature_map.n_features
    return 2 * n_epochs * n_train * n_classes * n_shots * per_kernel_entry
