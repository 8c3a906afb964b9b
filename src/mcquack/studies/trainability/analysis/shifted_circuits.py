"""The circuits that a device runs for a derivative: one angle shifted by ±π/2, on either side of the overlap."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.checks import require, required_count
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.studies.trainability.analysis.concentration import log_fidelities
from mcquack.training.parameters import Parameters

FloatArray = NDArray[np.float64]
EmbeddingGroup = Literal["weights", "bias"]


@dataclass(frozen=True, eq=False)
class Shift:
    """Logarithms of the fidelities (N, M) with one angle of one side moved by ±π/2, and ∂angle/∂parameter."""

    plus: FloatArray
    minus: FloatArray
    factor: FloatArray

    def derivative(self, unit: float) -> FloatArray:
        """In units of exp(unit)."""
        return np.asarray(self.factor * (np.exp(self.plus - unit) - np.exp(self.minus - unit)) / 2)

    def variance(self, unit: float) -> FloatArray:
        """Of the derivative for a single shot, in units of exp(unit)."""
        plus, minus = (np.exp(logs - unit) * -np.expm1(logs) for logs in (self.plus, self.minus))
        return np.asarray(self.factor**2 * (plus + minus) / 4)


def shifted_pairs(
    engine: Engine[Any], X: ArrayLike, parameters: Parameters, *, group: EmbeddingGroup, n_components: int, seed: int
) -> Iterator[tuple[Shift, Shift]]:
    """For some components by chance, the shifts of the samples' and of the centroids' gate."""
    require(group in ("weights", "bias"), "group", '"weights" or "bias"', group)
    shape = engine.feature_map.parameter_shape
    n_all = math.prod(shape)
    n_chosen = min(required_count("n_components", n_components), n_all)
    chosen = stream(seed, "shot noise").choice(n_all, size=n_chosen, replace=False)
    rows, weights = np.asarray(X), parameters.weights
    samples = engine.encode(rows, weights, parameters.bias)
    centroids = engine.encode(parameters.centroids, weights, parameters.bias)
    for number in np.sort(chosen):
        place = np.unravel_index(number, shape)
        feature = engine.feature_map.feature_index[place]
        biases = []
        for angle in (math.pi / 2, -math.pi / 2):
            moved = np.array(parameters.bias, copy=True)
            moved[place] += angle
            biases.append(moved)
        by_samples = [log_fidelities(engine, engine.encode(rows, weights, each), centroids) for each in biases]
        by_centroids = [
            log_fidelities(engine, samples, engine.encode(parameters.centroids, weights, each)) for each in biases
        ]
        is_bias = group == "bias"
        of_samples = np.ones((1, 1)) if is_bias else rows[:, feature, None]
        of_centroids = np.ones((1, 1)) if is_bias else np.asarray(parameters.centroids[None, :, feature], np.float64)
        yield (
            Shift(by_samples[0], by_samples[1], of_samples),
            Shift(by_centroids[0], by_centroids[1], of_centroids),
        )
