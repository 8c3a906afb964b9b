"""Kernels that a sampler measures, a device or what stands in for one, behind the seam of engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import is_whole_number, require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, Sampler
from mcquack.errors import DeviceError, InvalidInputError
from mcquack.kernels.bitflip import checked_tolerance, tolerant_kernel
from mcquack.simulators.engine import E, Engine, Gradient, Wrt, checked_cotangent
from mcquack.simulators.hamming import hamming_distributions, pull_hamming

_ANGLES_AT_ONCE = 1 << 23  # 64 MiB for the circuits of one call, however many samples there are


@dataclass(frozen=True, eq=False)
class AngleRows:
    """Data points as the angles of their circuits: nothing is run before two of them meet."""

    features: FloatArray
    weights: FloatArray
    bias: FloatArray
    angles: FloatArray  # (N, L, n, 3)

    def __len__(self) -> int:
        return len(self.features)


class SampledEngine:
    """An engine whose fidelities are shares of shots with at most ``tolerance`` ones: the k^b that a device measures.

    It has no derivatives of its own; ParameterShiftEngine, StochasticShiftEngine and SpsaEngine take them from values.
    """

    splits_rows = True  # a call is a job, or several; fewer rows at once would only mean more of them

    def __init__(self, sampler: Sampler, feature_map: FeatureMap, *, shots: int, tolerance: int = 0) -> None:
        require(callable(getattr(sampler, "hamming_counts", None)), "sampler", "one with hamming_counts", sampler)
        counted = is_whole_number(shots) and shots >= 1
        require(counted, "shots", "a whole number of at least 1, since a sampler counts", shots)
        self.sampler = sampler
        self.feature_map = feature_map
        self.shots = int(shots)
        self.tolerance = checked_tolerance(tolerance, feature_map.n_qubits)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> AngleRows:
        """The angles of every row."""
        features, w, b = np.asarray(X), np.asarray(weights), np.asarray(bias)
        shape = self.feature_map.parameter_shape
        for name, array in (("weights", w), ("bias", b)):
            if array.shape != shape:
                raise InvalidInputError(f"{name} must have the shape {shape} of the feature map, got {array.shape}.")
        angles = self.feature_map.angles(features.astype(np.float64), w.astype(np.float64), b.astype(np.float64))
        return AngleRows(features, w, b, angles)

    def stacked(self, parts: Sequence[AngleRows]) -> AngleRows:
        """Rows of different parameters as if encoded together, for one call; their parameters are the first ones'."""
        return AngleRows(
            np.concatenate([part.features for part in parts]),
            parts[0].weights,
            parts[0].bias,
            np.concatenate([part.angles for part in parts]),
        )

    def hamming_counts(self, samples: AngleRows, centroids: AngleRows) -> IntArray:
        """How many shots of each circuit found k ones, shape (N, M, n + 1)."""
        n_qubits, n_angles = self.feature_map.n_qubits, int(np.prod(self.feature_map.parameter_shape))
        size = max(1, _ANGLES_AT_ONCE // (n_angles * max(1, len(centroids))))
        found = np.empty((len(samples), len(centroids), n_qubits + 1), dtype=np.int64)
        if found.size == 0:
            return found
        circuits = OverlapCircuits(samples=samples.angles, centroids=centroids.angles)
        for first in range(0, len(samples), size):
            some = circuits[first : first + size]
            found[first : first + size] = self._checked(self.sampler.hamming_counts(some, shots=self.shots), some)
        return found

    def fidelities(self, samples: AngleRows, centroids: AngleRows) -> FloatArray:
        """k^b(x_i, c_m) as measured, shape (N, M); with no tolerance an estimate of the fidelity."""
        if len(samples) == 0:
            return np.empty((0, len(centroids)))
        return tolerant_kernel(self.hamming_counts(samples, centroids), self.tolerance)

    def pullback(self, samples: AngleRows, centroids: AngleRows, cotangent: ArrayLike, *, wrt: Wrt) -> NoReturn:
        """Refused: counts have no derivatives."""
        checked_cotangent(cotangent, samples, centroids)
        raise InvalidInputError(
            f"a sampler gives counts and no derivatives by the {wrt}; wrap this engine into a SpsaEngine, a "
            'StochasticShiftEngine or a ParameterShiftEngine, as gradient="spsa" and the like do in a classifier.'
        )

    def _checked(self, counts: ArrayLike, circuits: OverlapCircuits) -> IntArray:
        """Anybody may write a sampler; what it counts must at least be counts of what was asked."""
        array, expected = np.asarray(counts), (*circuits.shape, circuits.n_qubits + 1)
        name = type(self.sampler).__name__
        if array.shape != expected or array.dtype.kind not in "iu":
            raise DeviceError(
                f"{name} must give whole numbers of the shape {expected}, got {array.dtype} of the shape "
                f"{array.shape}; correct its hamming_counts."
            )
        if (array < 0).any() or (array.sum(axis=-1) != self.shots).any():
            raise DeviceError(
                f"{name} must count {self.shots} shots for each circuit, but some of its counts sum to another number."
            )
        return array.astype(np.int64, copy=False)


# The tolerant kernel behind the engine seam: whatever trains on fidelities trains on k^b.


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
        return tolerant_kernel(hamming_distributions(self.engine, samples, centroids), self.tolerance)

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘k^b by the embedding or by the centroids' features."""
        slopes = checked_cotangent(cotangent, samples, centroids)
        if self.tolerance == 0:
            return self.engine.pullback(samples, centroids, slopes, wrt=wrt)
        by_weight = np.zeros((*slopes.shape, self.feature_map.n_qubits + 1))
        by_weight[..., : self.tolerance + 1] = slopes[..., None]
        return pull_hamming(self.engine, samples, centroids, by_weight, wrt=wrt)
