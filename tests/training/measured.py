"""Engines for tests of derivatives from values: what was asked of a sampler, and a kernel that is linear."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.randomness import stream
from mcquack.simulators.engine import Cost, Engine, Gradient, Wrt
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.simulators.shots import SampledEngine
from tests.problems import Problem

FloatArray = NDArray[np.floating]


@dataclass
class Remembering:
    """A sampler that notes the shapes of the kernels it was asked for."""

    shapes: list[tuple[int, int]] = field(default_factory=list)
    circuits: list[Any] = field(default_factory=list)

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        self.shapes.append(circuits.shape)
        self.circuits.append(circuits.circuit)
        return SimulatedSampler().hamming_counts(circuits, shots=shots)

    @property
    def n_circuits(self) -> int:
        return sum(rows * columns for rows, columns in self.shapes)


def sampled(problem: Problem, sampler: Any, *, shots: int = 20) -> SampledEngine:
    return SampledEngine(sampler, problem.feature_map, shots=shots)


def pulled(engine: Any, problem: Problem, *, wrt: Any) -> Gradient:
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    found: Gradient = engine.pullback(samples, centroids, problem.cotangent, wrt=wrt)
    return found


def given(gradient: Gradient) -> FloatArray:
    """All numbers that were asked for, in one row."""
    return np.concatenate([np.ravel(part) for part in gradient if part is not None])


@dataclass(frozen=True, eq=False)
class Rows:
    """Data points of the linear kernel."""

    features: FloatArray
    weights: FloatArray
    bias: FloatArray

    def __len__(self) -> int:
        return len(self.features)


class LinearEngine(Engine[Rows]):
    """K[i, m] is linear in the weights, in the biases and in the features of centroid m."""

    def __init__(self, feature_map: Circuit, *, shots: int = 0) -> None:
        super().__init__(feature_map, dtype="float64")
        self.shots = shots
        draw = stream(0, "linear")
        self.by_weights, self.by_bias = draw.normal(size=(2, *feature_map.weights_shape))
        self.by_features = draw.normal(size=feature_map.n_features)

    def cost(self, wrt: Wrt = "embedding") -> Cost:
        return Cost(shots_per_entry=self.shots)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> Rows:
        return Rows(np.asarray(X), np.asarray(weights), np.asarray(bias))

    def fidelities(self, samples: Rows, centroids: Rows) -> FloatArray:
        common = np.sum(self.by_weights * samples.weights) + np.sum(self.by_bias * centroids.bias)
        return np.broadcast_to(common + centroids.features @ self.by_features, (len(samples), len(centroids)))

    def pullback(self, samples: Rows, centroids: Rows, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """In closed form."""
        weighting = np.asarray(cotangent)
        if wrt == "embedding":
            return Gradient(weights=self.by_weights * weighting.sum(), bias=self.by_bias * weighting.sum())
        return Gradient(centroids=np.outer(weighting.sum(axis=0), self.by_features))
