"""The trainable feature map of the paper (appendix A) as a plain value."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.circuits.drawing import circuit_text
from mcquack.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class FeatureMap:
    """L layers of a Rot(φ, θ, ω) on each qubit followed by a ring of CNOTs; every angle is w·x + b.

    ``features_per_gate=1`` is McQuack: gate (l, q) encodes feature (l·n + q) mod d in all three angles.
    ``features_per_gate=3`` is its predecessor Quack: the three angles take successive features.
    ``final_entangler=False`` is the device variant, which leaves out the ring after the last rotations.
    """

    n_qubits: int
    n_features: int
    n_layers: int
    final_entangler: bool = True
    features_per_gate: Literal[1, 3] = 1
    entangler: Literal["ring"] = "ring"

    def __post_init__(self) -> None:
        if isinstance(self.features_per_gate, bool) or self.features_per_gate not in (1, 3):
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
        """As many layers as encode every feature at least ``n_repetitions`` times: L = r·ceil(d / n)."""
        one_layer = cls(
            n_qubits=n_qubits,
            n_features=n_features,
            n_layers=1,
            final_entangler=final_entangler,
            features_per_gate=features_per_gate,
        )
        layers_per_pass = math.ceil(one_layer.n_features / (one_layer.features_per_gate * one_layer.n_qubits))
        return replace(one_layer, n_layers=required_count("n_repetitions", n_repetitions) * layers_per_pass)

    @property
    def dimension(self) -> int:
        """Number of amplitudes, 2**n."""
        return 1 << self.n_qubits

    @property
    def parameter_shape(self) -> tuple[int, int, int]:
        """Shape (L, n, 3) of the weights and of the biases."""
        return self.n_layers, self.n_qubits, 3

    @property
    def n_embedding_parameters(self) -> int:
        """Weights and biases together, 6nL."""
        return 2 * math.prod(self.parameter_shape)

    def n_parameters(self, n_classes: int) -> int:
        """Weights, biases and one centroid per class: 6nL + M·d, the count in the paper's tables."""
        return self.n_embedding_parameters + n_classes * self.n_features

    @property
    def feature_index(self) -> NDArray[np.int64]:
        """Which feature angle k of gate (l, q) encodes, shape (L, n, 3), read-only."""
        return _feature_index(self.n_layers, self.n_qubits, self.n_features, self.features_per_gate)

    def angles(self, X: ArrayLike, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """θ = w·x + b for every sample and gate, shape (N, L, n, 3) in the order φ, θ, ω."""
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise InvalidInputError(f"expected rows of {self.n_features} features, got an array of shape {rows.shape}.")
        angles: FloatArray = weights * rows[:, self.feature_index] + bias
        return angles

    def draw(self, *, max_layers: int = 3) -> str:
        """The circuit as text, layers beyond ``max_layers`` abridged."""
        return circuit_text(self, max_layers=max_layers)

    def __str__(self) -> str:
        return self.draw()


@lru_cache(maxsize=64)
def _feature_index(n_layers: int, n_qubits: int, n_features: int, features_per_gate: int) -> NDArray[np.int64]:
    gates = np.arange(n_layers * n_qubits).reshape(n_layers, n_qubits, 1)
    within_gate = np.arange(3) if features_per_gate == 3 else np.zeros(3, dtype=np.int64)
    index: NDArray[np.int64] = (gates * features_per_gate + within_gate) % n_features
    index.setflags(write=False)
    return index
