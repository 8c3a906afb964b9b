"""The circuits by which a device measures a kernel, as plain values, and the protocol of whoever can run them."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import ANGLES_PER_GATE, FeatureMap
from mcquack.errors import InvalidInputError


class Size(TypedDict):
    """What overlap circuits have in common, whatever their angles are: one template serves all of one size.

    The layers are those of the paper's feature map. Any other circuit is a size of its own, and counts as one layer.
    """

    n_qubits: int
    n_layers: int
    circuit: Circuit | None


def size_of(circuit: Circuit) -> Size:
    """The size of the overlap circuits of a feature map.

    >>> size_of(FeatureMap(n_qubits=2, n_features=3, n_layers=2))
    {'n_qubits': 2, 'n_layers': 2, 'circuit': None}
    """
    if isinstance(circuit, FeatureMap):
        return {"n_qubits": circuit.n_qubits, "n_layers": circuit.n_layers, "circuit": None}
    return {"n_qubits": circuit.n_qubits, "n_layers": 1, "circuit": require_gates(circuit)}


def require_gates(circuit: Circuit) -> Circuit:
    """The circuit, refused if it does not begin with zeros: to undo a start that is no gate is none either."""
    if circuit.start != "zeros":
        raise InvalidInputError(
            "the overlap U†(c) U(x) is run gate by gate, and a circuit that starts with the amplitudes of a sample has "
            "no gates for them; compute its kernel exactly, with a simulator as the engine, or encode the features in "
            "angles."
        )
    return circuit


def depth_text(size: Size) -> str:
    """How deep a circuit of this size is, in words: by the layers of the paper's feature map, by gates of any other."""
    circuit = size["circuit"]
    return f"{size['n_layers']} layers" if circuit is None else f"{len(circuit.gates)} gates"


def circuit_json(circuit: Circuit) -> str:
    """One text for equal circuits, on every machine."""
    return json.dumps(circuit.to_json(), sort_keys=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlapCircuits:
    """The circuits U†(c_m) U(x_i) of every sample with every centroid, by the angles of their gates.

    The share of shots in which such a circuit finds zeros only is the fidelity of the sample with the centroid.

    Parameters
    ----------
    samples : Angles (N, …), as ``Circuit.angles`` gives them: (N, L, n, 3) for φ, θ, ω of the paper's feature map.
    centroids : Angles (M, …) of the same circuit.
    circuit : The circuit, if it is not the feature map of the paper. In the latter the ring of CNOTs is between two
        layers; one after the last would meet its inverse, so there is none, whatever the feature map says.

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
    circuit: Circuit | None = None

    def __post_init__(self) -> None:
        if self.circuit is None:
            wanted = f"(number, layers, qubits, {ANGLES_PER_GATE})"
        else:
            wanted = f"(number, {', '.join(map(str, require_gates(self.circuit).angles_shape))})"
        for name in ("samples", "centroids"):
            angles = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if self.circuit is None:
                fits = angles.ndim == 4 and angles.shape[3] == ANGLES_PER_GATE
            else:
                fits = angles.ndim > 0 and angles.shape[1:] == self.circuit.angles_shape
            if not fits or not np.all(np.isfinite(angles)):
                raise InvalidInputError(f"{name} must be finite angles of the shape {wanted}, got {angles.shape}.")
            object.__setattr__(self, name, angles)
        if isinstance(self.circuit, FeatureMap):
            object.__setattr__(self, "circuit", None)
        if self.samples.shape[1:] != self.centroids.shape[1:]:
            raise InvalidInputError(
                f"samples and centroids must pass the same circuit, got layers and qubits {self.samples.shape[1:3]} "
                f"and {self.centroids.shape[1:3]}."
            )

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
    def size(self) -> Size:
        """All that decides the template of which these are the angles."""
        if self.circuit is not None:
            return size_of(self.circuit)
        return {"n_qubits": int(self.samples.shape[2]), "n_layers": int(self.samples.shape[1]), "circuit": None}

    @property
    def n_qubits(self) -> int:
        return self.size["n_qubits"]

    @property
    def n_layers(self) -> int:
        """The layers of the paper's feature map, once for the sample and once for the centroid; 1 for any other."""
        return self.size["n_layers"]

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
        if self.circuit is not None:  # names of the paper's circuits are those that they had before there were others
            found.update(circuit_json(self.circuit).encode())
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
