"""The tolerant kernel behind the engine seam: whatever trains on fidelities trains on k^b."""

from typing import Generic

import numpy as np
from numpy.typing import ArrayLike

from mcquack.circuits.feature_map import FeatureMap
from mcquack.kernels.bitflip.tolerance import checked_tolerance, tolerant_kernel
from mcquack.simulators.engine import E, Engine, FloatArray, Gradient, Wrt, checked_cotangent
from mcquack.simulators.weights import pull_weights, weight_distributions


class TolerantEngine(Generic[E]):
    """An engine whose fidelities are k^b, exact, and whose pullback is their derivative; b = 0 is the engine itself.

    Unlike fidelities, k^b with 0 < b < n changes when samples and centroids change places.
    """

    def __init__(self, engine: Engine[E], *, tolerance: int) -> None:
        self.engine = engine
        self.tolerance = checked_tolerance(tolerance, engine.feature_map.n_qubits)

    @property
    def feature_map(self) -> FeatureMap:
        """The circuit of the engine behind this one."""
        return self.engine.feature_map

    def encode(self, X: FloatArray, weights: FloatArray, bias: FloatArray) -> E:
        """What the engine behind this one encodes."""
        return self.engine.encode(X, weights, bias)

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        """k^b(x_i, c_m), shape (N, M)."""
        if self.tolerance == 0:
            return self.engine.fidelities(samples, centroids)
        return tolerant_kernel(weight_distributions(self.engine, samples, centroids), self.tolerance)

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘k^b by the embedding or by the centroids' features."""
        slopes = checked_cotangent(cotangent, samples, centroids)
        if self.tolerance == 0:
            return self.engine.pullback(samples, centroids, slopes, wrt=wrt)
        by_weight = np.zeros((*slopes.shape, self.feature_map.n_qubits + 1))
        by_weight[..., : self.tolerance + 1] = slopes[..., None]
        return pull_weights(self.engine, samples, centroids, by_weight, wrt=wrt)
