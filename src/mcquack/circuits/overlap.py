"""The circuits by which a device measures a kernel, as plain values, and the protocol of whoever can run them."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError


def n_layers_of(circuit: Circuit) -> int:
    """Return the layers of the paper's feature map; any other circuit counts as one layer."""
    return circuit.n_layers if isinstance(circuit, FeatureMap) else 1


def depth_text(circuit: Circuit) -> str:
    """How deep a circuit is, in words: by the layers of the paper's feature map, by gates of any other."""
    return f"{circuit.n_layers} layers" if isinstance(circuit, FeatureMap) else f"{len(circuit.gates)} gates"


def circuit_json(circuit: Circuit) -> str | None:
    """One text for equal circuits, on every machine; None for the paper's, of which files hold the sizes alone."""
    return None if isinstance(circuit, FeatureMap) else json.dumps(circuit.to_json(), sort_keys=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlapCircuits:
    """The circuits U†(c_m) U(x_i) of every sample with every centroid, by the angles of their gates.

    The share of shots in which such a circuit finds zeros only is the fidelity of the sample with the centroid.

    Parameters
    ----------
    samples : Angles (N, …), as ``Circuit.angles`` gives them: (N, L, n, 3) for φ, θ, ω of the paper's feature map.
    centroids : Angles (M, …) of the same circuit.
    circuit : The circuit, which is kept as ``Circuit.for_overlaps`` gives it. Of the paper's feature map only the
        numbers of qubits and layers matter.

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
    circuit: Circuit

    def __post_init__(self) -> None:
        object.__setattr__(self, "circuit", self.circuit.for_overlaps())
        shape = self.circuit.angles_shape
        for name in ("samples", "centroids"):
            angles = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if angles.shape[1:] != shape or not angles.ndim or not np.all(np.isfinite(angles)):
                wanted = ", ".join(map(str, ("number", *shape)))
                raise InvalidInputError(f"{name} must be finite angles of the shape ({wanted}), got {angles.shape}.")
            object.__setattr__(self, name, angles)

    @classmethod
    def of(
        cls, feature_map: Circuit, X: ArrayLike, centroids: ArrayLike, *, weights: FloatArray, bias: FloatArray
    ) -> Self:
        """The circuits of samples (N, d) and centroids (M, d) under a feature map with the parameters w and b."""
        # In full precision, whatever they come in: rounding would make other circuits of them, to be measured anew.
        w, b = np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        samples, others = (feature_map.angles(np.asarray(rows, dtype=np.float64), w, b) for rows in (X, centroids))
        return cls(samples=samples, centroids=others, circuit=feature_map)

    @property
    def n_qubits(self) -> int:
        return self.circuit.n_qubits

    @property
    def n_layers(self) -> int:
        """The layers of the paper's feature map, once for the sample and once for the centroid; 1 for any other."""
        return n_layers_of(self.circuit)

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
        # Names of the paper's circuits are those that they had before there were others.
        found.update((circuit_json(self.circuit) or "").encode())
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
