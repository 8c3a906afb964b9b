"""Simultaneous perturbation (SPSA): all parameters move at once, and two kernels estimate every derivative."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require, require_positive, required_count
from mcquack.simulators.engine import E, Engine, Gradient, Wrt, checked_cotangent, checked_wrt
from mcquack.training.shifts import FromValues, drawn_for, kernels_of, live_angles

_TURN = 0.1  # of a vector of amplitudes by one step, so that its kernel is still close to linear


class SpsaEngine(FromValues[E]):
    """An engine whose pullback is Δ (f(θ + sΔ) - f(θ - sΔ)) / 2s for random signs Δ, a mean over ``n_directions``.

    Its mean over draws is the gradient of f = Σ cotangent∘K for small steps s; larger ones smooth f, and see more of it
    through the noise of shots. The step is that of weights and biases; the features of centroids move as far as moves
    their angles so much, or, as amplitudes, by a tenth of their vector at most. By default it is 1/√A for the A angles
    of the circuit: with that the smoothing takes a fixed share of the gradient of a fidelity, however many angles there
    are. The draw depends on the seed and on what is asked, so that the same call has the same one.
    """

    def __init__(self, engine: Engine[E], *, n_directions: int = 1, step: float | None = None, seed: int = 0) -> None:
        require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
        if step is not None:
            require_positive("step", step)
        self.n_directions = required_count("n_directions", n_directions)
        self._step = None if step is None else float(step)
        self.seed = int(seed)
        super().__init__(engine)

    @cached_property
    def step(self) -> float:
        """How far weights and biases are moved."""
        return 1 / math.sqrt(max(1, len(live_angles(self.feature_map)))) if self._step is None else self._step

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        draw = drawn_for(self.seed, f"spsa by {wrt}", samples, centroids)
        if wrt == "centroids":
            return Gradient(centroids=self._by_centroids(samples, centroids, weighting, draw))
        found = np.zeros(self.feature_map.n_embedding_parameters)
        for signs in _signs(draw, (self.n_directions if len(found) else 0, len(found))):
            up, down = (
                self._moved_kernel(samples, centroids, move) for move in (self.step * signs, -self.step * signs)
            )
            found += signs * np.sum(weighting * (up - down))
        weights, bias = self._parts(found / (2 * self.step * self.n_directions))
        return Gradient(weights=weights, bias=bias)

    def _parts(self, both: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and biases, of all parameters in one row."""
        circuit = self.feature_map
        weights, bias = both[: circuit.n_weights], both[circuit.n_weights :]
        return weights.reshape(circuit.weights_shape), bias.reshape(circuit.bias_shape)

    def n_kernels(self, wrt: Wrt) -> int:
        still = checked_wrt(wrt) == "embedding" and not self.feature_map.n_embedding_parameters
        return 0 if still else 2 * self.n_directions

    def _moved_kernel(self, samples: E, centroids: E, move: FloatArray) -> FloatArray:
        by_weights, by_bias = self._parts(move)
        weights, bias = samples.weights + by_weights, samples.bias + by_bias
        rows, columns = (self.encode(points.features, weights, bias) for points in (samples, centroids))
        return self.fidelities(rows, columns)

    def _by_centroids(self, samples: E, centroids: E, weighting: FloatArray, draw: np.random.Generator) -> FloatArray:
        """A column of the kernel knows one centroid only, so that each has a slope of its own from the same shots."""
        table = self.feature_map.angle_table
        slopes = table.slopes_in_inputs(centroids.weights)[table.input >= 0]
        size = float(np.sqrt(np.mean(np.square(slopes, dtype=np.float64)))) if len(slopes) else 0.0
        step = self._amplitude_steps(centroids.features, self.step / (size or 1.0))
        directions = _signs(draw, (self.n_directions, *centroids.features.shape))
        moved = (
            self.encode(centroids.features + move, centroids.weights, centroids.bias)
            for signs in directions
            for move in (step * signs, -step * signs)
        )
        kernels = kernels_of(self.engine, moved, samples, side="centroids")
        found = np.zeros(centroids.features.shape)
        for signs in directions:
            up, down = next(kernels), next(kernels)
            found += signs * np.sum(weighting * (up - down), axis=0)[:, None]
        return found / (2 * step * self.n_directions)

    def _amplitude_steps(self, features: FloatArray, step: float) -> FloatArray:
        """The step of each centroid (M, 1); where features are amplitudes, at most a tenth of the vector is moved."""
        circuit = self.feature_map
        steps = np.full((len(features), 1), step)
        if circuit.start == "zeros":
            return steps
        rest = (circuit.dimension - circuit.n_features) * circuit.padding**2
        norms = np.sqrt(np.sum(np.square(features, dtype=np.float64), axis=1, keepdims=True) + rest)
        return np.where(norms > 0, np.minimum(steps, _TURN * norms / math.sqrt(circuit.n_features)), steps)


def _signs(draw: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return 2.0 * draw.integers(2, size=shape) - 1.0
