"""The seam between the method and whatever runs its circuits: a simulator here, a device there."""

from typing import Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError

Wrt = Literal["embedding", "centroids"]


class Encoded(Protocol):
    """Data points behind a feature map with fixed parameters: states, or what an engine keeps in their place."""

    @property
    def features(self) -> FloatArray: ...
    @property
    def weights(self) -> FloatArray: ...
    @property
    def bias(self) -> FloatArray: ...
    def __len__(self) -> int: ...


class Gradient(NamedTuple):
    """Derivatives of a scalar; those not asked for are None."""

    weights: FloatArray | None = None
    bias: FloatArray | None = None
    centroids: FloatArray | None = None


E = TypeVar("E", bound=Encoded)


def checked_cotangent(cotangent: ArrayLike, samples: Encoded, centroids: Encoded) -> FloatArray:
    """The derivative by the kernel as an array, refused where it has not the kernel's shape."""
    array = np.asarray(cotangent)
    if array.shape != (len(samples), len(centroids)):
        raise InvalidInputError(
            f"cotangent must have the kernel's shape {(len(samples), len(centroids))}, got {array.shape}."
        )
    return array


class Engine(Protocol[E]):
    """Runs a feature map. All engines keep the laws in ``tests/contracts``."""

    @property
    def feature_map(self) -> FeatureMap: ...

    def encode(self, X: FloatArray, weights: FloatArray, bias: FloatArray) -> E:
        """Prepares U(x; w, b)|0…0⟩ for every row; a caller may keep it while the parameters rest."""
        ...

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        """K[i, m] = |⟨c_m|x_i⟩|², shape (N, M)."""
        ...

    def pullback(self, samples: E, centroids: E, cotangent: FloatArray, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘K: by the embedding's weights and biases, or by the centroids' features."""
        ...
