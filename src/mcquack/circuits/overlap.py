"""The circuits by which a device measures a kernel, as plain values, and the protocol of whoever can run them."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.feature_map import ANGLES_PER_GATE, FeatureMap
from mcquack.errors import InvalidInputError


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlapCircuits:
    """The circuits U†(c_m) U(x_i) of every sample with every centroid, by the angles φ, θ, ω of their rotations.

    The share of shots in which such a circuit finds zeros only is the fidelity of the sample with the centroid. Between
    two layers is the ring of CNOTs; a ring after the last one would meet its inverse, so there is none, whatever the
    feature map says.

    Parameters
    ----------
    samples : Angles (N, L, n, 3), as ``FeatureMap.angles`` gives them.
    centroids : Angles (M, L, n, 3) of the same circuit.

    Examples
    --------
    >>> feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=2)
    >>> w, b = np.ones(feature_map.parameter_shape), np.zeros(feature_map.parameter_shape)
    >>> circuits = OverlapCircuits.of(feature_map, np.eye(3), np.ones((2, 3)), weights=w, bias=b)
    >>> circuits.shape, circuits.n_layers, circuits.n_qubits
    ((3, 2), 2, 2)
    >>> circuits[:1].shape  # those of the first sample
    (1, 2)
    """

    samples: FloatArray
    centroids: FloatArray

    def __post_init__(self) -> None:
        for name in ("samples", "centroids"):
            angles = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if angles.ndim != 4 or angles.shape[3] != ANGLES_PER_GATE or not np.all(np.isfinite(angles)):
                raise InvalidInputError(
                    f"{name} must be finite angles of the shape (number, layers, qubits, {ANGLES_PER_GATE}), got "
                    f"{angles.shape}."
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
        """The circuits of samples (N, d) and centroids (M, d) under a feature map with the parameters w and b."""
        # In full precision, whatever they come in: rounding would make other circuits of them, to be measured anew.
        w, b = np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        samples, others = (feature_map.angles(np.asarray(rows, dtype=np.float64), w, b) for rows in (X, centroids))
        return cls(samples=samples, centroids=others)

    @property
    def n_qubits(self) -> int:
        return int(self.samples.shape[2])

    @property
    def n_layers(self) -> int:
        """The number of layers of the feature map; a circuit has it once for the sample and once for the centroid."""
        return int(self.samples.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (N, M) of the kernel that they measure."""
        return len(self.samples), len(self.centroids)

    @property
    def digest(self) -> str:
        """A short name that equal circuits share on every machine, and others do not."""
        found = hashlib.sha256(repr((self.samples.shape, self.centroids.shape)).encode())
        for angles in (self.samples, self.centroids):
            found.update(angles.astype("<f8").tobytes())
        return found.hexdigest()[:16]

    def __getitem__(self, rows: Any) -> Self:
        return replace(self, samples=self.samples[rows])


class Sampler(Protocol):
    """Whoever runs overlap circuits, on a device or as if, and counts; the laws of all are in ``tests/contracts``.

    Examples
    --------
    The simplest sampler never sees a one, as if every centroid were equal to every sample:

    >>> class Zeros:
    ...     def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
    ...         counts = np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
    ...         counts[..., 0] = shots
    ...         return counts
    """

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        """How many of the shots of each circuit found k ones, for k = 0 … n: shape (N, M, n + 1)."""
        ...
