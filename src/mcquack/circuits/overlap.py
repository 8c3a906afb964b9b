"""The circuits that a kernel is measured by on a device, as plain values, and whoever can run them."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlapCircuits:
    """U†(c_m) U(x_i) for every sample and every centroid, by the angles φ, θ, ω of their rotations.

    ``samples`` has the shape (N, L, n, 3), ``centroids`` (M, L, n, 3). Between two layers is the ring of CNOTs; a ring
    after the last one would meet its inverse, so there is none, whatever the feature map says.
    """

    samples: FloatArray
    centroids: FloatArray

    def __post_init__(self) -> None:
        for name in ("samples", "centroids"):
            angles = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if angles.ndim != 4 or angles.shape[3] != 3 or not np.all(np.isfinite(angles)):
                raise InvalidInputError(
                    f"{name} must be finite angles of the shape (number, layers, qubits, 3), got {angles.shape}."
                )
            object.__setattr__(self, name, angles)
        if self.samples.shape[1:] != self.centroids.shape[1:]:
            raise InvalidInputError(
                f"samples and centroids must pass the same circuit, got layers and qubits {self.samples.shape[1:3]} "
                f"and {self.centroids.shape[1:3]}."
            )

    @classmethod
    def of(
        cls, feature_map: FeatureMap, X: ArrayLike, centroids: ArrayLike, *, weights: FloatArray, bias: FloatArray
    ) -> Self:
        """Of rows of features, with the parameters of their embedding."""
        # In full precision, whatever they come in: rounding would make other circuits of them, to be measured anew.
        w, b = np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        samples, others = (feature_map.angles(np.asarray(rows, dtype=np.float64), w, b) for rows in (X, centroids))
        return cls(samples=samples, centroids=others)

    @property
    def n_qubits(self) -> int:
        return int(self.samples.shape[2])

    @property
    def n_layers(self) -> int:
        return int(self.samples.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Of the kernel: (N, M)."""
        return len(self.samples), len(self.centroids)

    @property
    def digest(self) -> str:
        """Of the angles: equal for equal circuits, on any machine."""
        found = hashlib.sha256(repr((self.samples.shape, self.centroids.shape)).encode())
        for angles in (self.samples, self.centroids):
            found.update(angles.astype("<f8").tobytes())
        return found.hexdigest()[:16]

    def __getitem__(self, rows: Any) -> Self:
        """The circuits of some samples, with all centroids."""
        return replace(self, samples=self.samples[rows])


class Sampler(Protocol):
    """Runs overlap circuits, on a device or as if, and counts. All samplers keep the laws in ``tests/contracts``."""

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        """How many shots of each circuit found k ones, shape (N, M, n + 1)."""
        ...
