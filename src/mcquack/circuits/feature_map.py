"""The trainable feature map of the paper (appendix A) as a plain value.

Nothing here simulates: a feature map knows how many angles its circuit has and which feature each of them encodes, and
engines, samplers and drawings take all of that from it.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.circuits.angles import Angle, AngleTable, Parameter
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.drawing import circuit_text
from mcquack.circuits.gates import Gate, ring
from mcquack.errors import InvalidInputError

ANGLES_PER_GATE = 3
"""A rotation has the angles φ, θ, ω. All shapes of parameters follow from ``FeatureMap.parameter_shape``."""
_LARGEST = 1_000_000_000  # of the sizes in a description, where more is an accident


@dataclass(frozen=True, kw_only=True, repr=False)
class FeatureMap(Circuit):
    """L layers of a rotation Rot(φ, θ, ω) on each qubit followed by a ring of CNOTs; every angle is w·x + b.

    Parameters
    ----------
    n_qubits : The number n of qubits.
    n_features : The number d of features of a sample.
    n_layers : The number L of layers; ``with_repetitions`` chooses it such that every feature is encoded.
    final_entangler : Whether there is a ring after the last rotations. Devices do without it, as it changes no
        fidelity.
    features_per_gate : 1 is McQuack: gate (l, q) encodes feature (l·n + q) mod d in all three angles. 3 is its
        predecessor Quack, where the three angles take successive features.
    entangler : "ring" is the one of the paper, CNOT q → q+1 mod n in ascending order. A single qubit has none.

    Examples
    --------
    >>> feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=2)
    >>> print(feature_map)
    2 qubits, 2 layers, 3 features, 24 parameters
    q0: ─┤ Rot(x0) ├─●─⊕─┤ Rot(x2) ├─●─⊕─
                     │ │             │ │
    q1: ─┤ Rot(x1) ├─⊕─●─┤ Rot(x0) ├─⊕─●─
    >>> feature_map
    <FeatureMap of 2 qubits, 3 features, 8 gates, 24 parameters>
    """

    n_qubits: int
    n_features: int
    n_layers: int
    final_entangler: bool = True
    features_per_gate: Literal[1, 3] = 1
    entangler: Literal["ring"] = "ring"

    def __post_init__(self) -> None:
        if isinstance(self.features_per_gate, bool) or self.features_per_gate not in (1, ANGLES_PER_GATE):
            raise InvalidInputError(
                f"features_per_gate must be 1 (McQuack) or 3 (Quack), got {self.features_per_gate!r}."
            )
        for name in ("n_qubits", "n_features", "n_layers", "features_per_gate"):
            # Plain ints: a NumPy integer would overflow in 2**124.
            object.__setattr__(self, name, required_count(name, getattr(self, name)))
        if not isinstance(self.final_entangler, bool | np.bool_):
            raise InvalidInputError(f"final_entangler must be True or False, got {self.final_entangler!r}.")
        object.__setattr__(self, "final_entangler", bool(self.final_entangler))
        if self.entangler != "ring":
            raise InvalidInputError(f'entangler must be "ring", the one of the paper, got {self.entangler!r}.')

    @classmethod
    def with_repetitions(
        cls,
        *,
        n_qubits: int,
        n_features: int,
        n_repetitions: int = 1,
        final_entangler: bool = True,
        features_per_gate: Literal[1, 3] = 1,
    ) -> Self:
        """A feature map of r·ceil(d / n) layers, for Quack r·ceil(d / 3n), which encode every feature at least r times.

        >>> FeatureMap.with_repetitions(n_qubits=6, n_features=14).n_layers
        3
        """
        one_layer = cls(
            n_qubits=n_qubits,
            n_features=n_features,
            n_layers=1,
            final_entangler=final_entangler,
            features_per_gate=features_per_gate,
        )
        layers_per_pass = math.ceil(one_layer.n_features / (one_layer.features_per_gate * one_layer.n_qubits))
        return replace(one_layer, n_layers=required_count("n_repetitions", n_repetitions) * layers_per_pass)

    @classmethod
    def of_angles(cls, *, n_qubits: int, n_layers: int) -> Self:
        """A feature map whose features are its angles, in order: for weights of 1 and biases of 0.

        >>> FeatureMap.of_angles(n_qubits=2, n_layers=3).n_features
        18
        """
        n_qubits, n_layers = required_count("n_qubits", n_qubits), required_count("n_layers", n_layers)
        n_features = ANGLES_PER_GATE * n_qubits * n_layers
        sizes: Any = {"n_qubits": n_qubits, "n_features": n_features, "n_layers": n_layers}
        return cls(**sizes, final_entangler=False, features_per_gate=3)

    start = "zeros"
    padding = 0.0

    @property
    def parameter_shape(self) -> tuple[int, int, int]:
        """The shape (L, n, 3) of the weights w, and also of the biases b."""
        return self.n_layers, self.n_qubits, ANGLES_PER_GATE

    @property
    def weights_shape(self) -> tuple[int, ...]:
        return self.parameter_shape

    @property
    def bias_shape(self) -> tuple[int, ...]:
        return self.parameter_shape

    @property
    def angles_shape(self) -> tuple[int, ...]:
        return self.parameter_shape

    @property
    def gates(self) -> tuple[Gate, ...]:  # type: ignore[override]
        return _gates(self)

    @property
    def n_gates(self) -> int:
        n_rings = self.n_layers - (not self.final_entangler)
        return self.n_layers * self.n_qubits + n_rings * self.n_qubits * (self.n_qubits > 1)

    @property
    def angle_table(self) -> AngleTable:
        return _angle_table(self)

    @property
    def _weights(self) -> tuple[Parameter, ...]:  # type: ignore[override]
        return (Parameter(),) * math.prod(self.parameter_shape)

    @property
    def weight_starts(self) -> FloatArray:
        return np.zeros(self.parameter_shape)

    bias_starts = weight_starts

    _bias = _weights

    def for_overlaps(self) -> Self:
        """Return the feature map of as many qubits and layers whose features are its angles.

        Overlaps depend on nothing else: a ring after the last layer would meet its inverse.
        """
        return self.of_angles(n_qubits=self.n_qubits, n_layers=self.n_layers)

    def with_free_angles(self) -> Self:
        return self  # each angle has a bias for itself

    @property
    def feature_index(self) -> NDArray[np.int64]:
        """Which feature angle k of gate (l, q) encodes: a read-only array of the shape of the parameters."""
        return _feature_index(self.parameter_shape, self.n_features, self.features_per_gate)

    def angles(self, X: ArrayLike, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """The angles w·x + b (N, L, n, 3) of samples (N, d), in each gate in the order φ, θ, ω.

        >>> feature_map = FeatureMap(n_qubits=1, n_features=1, n_layers=1)
        >>> w, b = np.ones(feature_map.parameter_shape), np.array([[[0.0, 0.5, 1.0]]])
        >>> feature_map.angles([[2.0]], w, b).tolist()
        [[[[2.0, 2.5, 3.0]]]]
        """
        rows = self.checked_rows(X)
        return weights * rows[:, self.feature_index] + bias

    def draw(self, *, max_layers: int = 3) -> str:  # type: ignore[override]
        """The circuit as text; of more than ``max_layers`` layers only the first ones and the last are drawn."""
        return circuit_text(self, max_layers=max_layers)

    def __str__(self) -> str:
        return self.draw()

    def to_json(self) -> dict[str, Any]:
        """Its fields by name, for :meth:`Circuit.from_json`."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The feature map of such fields; InvalidInputError for anything else."""
        known = plain.keys() == {field.name for field in fields(cls)}
        sizes = [plain[name] for name in plain if name.startswith(("n_", "features"))] if known else []
        whole = known and all(type(size) is int and size <= _LARGEST for size in sizes)
        if not whole or type(plain["final_entangler"]) is not bool or not isinstance(plain["entangler"], str):
            raise InvalidInputError("a feature map must be described by its known fields, whole numbers and flags.")
        return cls(**plain)

    def __reduce__(self) -> Any:
        return Circuit.from_json, (self.to_json(),)


@lru_cache(maxsize=16)
def _gates(feature_map: FeatureMap) -> tuple[Gate, ...]:
    found: list[Gate] = []
    index = feature_map.feature_index
    places = np.arange(index.size).reshape(index.shape)
    for layer in range(feature_map.n_layers):
        for qubit in range(feature_map.n_qubits):
            angles = tuple(
                Angle((("x", feature),), weight=number, bias=number)
                for feature, number in zip(index[layer, qubit].tolist(), places[layer, qubit].tolist(), strict=True)
            )
            found.append(Gate("rot", (qubit,), angles))
        if layer + 1 < feature_map.n_layers or feature_map.final_entangler:
            found += [Gate("cnot", pair) for pair in ring(feature_map.n_qubits)]
    return tuple(found)


@lru_cache(maxsize=16)
def _angle_table(feature_map: FeatureMap) -> AngleTable:
    index = feature_map.feature_index.reshape(-1)
    places, ones = np.arange(index.size), np.ones(index.size)
    return AngleTable(
        inputs=tuple((("x", feature),) for feature in range(feature_map.n_features)),
        input=index,
        weight=places,
        factor=ones,
        bias=places,
        bias_factor=ones,
        offset=np.zeros(index.size),
    )


@lru_cache(maxsize=64)
def _feature_index(shape: tuple[int, int, int], n_features: int, features_per_gate: int) -> NDArray[np.int64]:
    n_layers, n_qubits, n_angles = shape
    gates = np.arange(n_layers * n_qubits).reshape(n_layers, n_qubits, 1)
    within_gate = np.arange(n_angles) if features_per_gate == n_angles else np.zeros(n_angles, dtype=np.int64)
    index: NDArray[np.int64] = (gates * features_per_gate + within_gate) % n_features
    index.setflags(write=False)
    return index
