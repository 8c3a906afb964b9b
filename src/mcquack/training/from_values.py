"""What all engines share that take derivatives from values alone, as a device must."""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Generic, Literal

import numpy as np
from numpy.typing import ArrayLike

from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream
from mcquack.simulators.engine import E, Encoded, Engine, FloatArray, Gradient, Wrt

Side = Literal["samples", "centroids"]
_ANGLES_AT_ONCE = 1 << 22  # 32 MiB for circuits that are measured in one call


class FromValues(ABC, Generic[E]):
    """An engine that asks another one for nothing but fidelities, and makes its pullback of these."""

    def __init__(self, engine: Engine[E]) -> None:
        self.engine = engine

    @property
    def feature_map(self) -> FeatureMap:
        """The circuit of the engine behind this one."""
        return self.engine.feature_map

    @property
    def splits_rows(self) -> bool:
        """Whether the engine behind this one takes any number of rows at once."""
        return bool(getattr(self.engine, "splits_rows", False))

    def encode(self, X: FloatArray, weights: FloatArray, bias: FloatArray) -> E:
        """What the engine behind this one encodes."""
        return self.engine.encode(X, weights, bias)

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        """What the engine behind this one measures."""
        return self.engine.fidelities(samples, centroids)

    @abstractmethod
    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘K, or an estimate of them."""

    @abstractmethod
    def kernels_per_pullback(self, wrt: Wrt) -> int:
        """How many kernels a pullback takes: each is a circuit for every sample and every centroid."""


def kernels_of(engine: Engine[E], parts: Iterable[E], others: E, *, side: Side) -> Iterator[FloatArray]:
    """The kernel of each part with ``others``, in order; the parts are samples or centroids.

    They are measured in as few calls as memory allows where the engine takes rows of different parameters together.
    """
    join: Any = getattr(engine, "stacked", None)
    for some in _gathered(parts, engine.feature_map) if join else ([part] for part in parts):
        rows = join(some) if join else some[0]
        kernel = engine.fidelities(rows, others) if side == "samples" else engine.fidelities(others, rows)
        ends = np.cumsum([len(part) for part in some])[:-1]
        yield from np.split(kernel, ends, axis=0 if side == "samples" else 1)


def drawn_for(seed: int, purpose: str, samples: Encoded, centroids: Encoded) -> np.random.Generator:
    """Random numbers for one call, from the seed and from what it is asked about.

    No counter has to be kept: training that is resumed draws as it would have, and asks a device for the same circuits.
    """
    digest = hashlib.sha256()
    for encoded in (samples, centroids):
        for array in (encoded.features, encoded.weights, encoded.bias):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
    return stream(seed, purpose, digest.hexdigest())


def _gathered(parts: Iterable[E], feature_map: FeatureMap) -> Iterator[list[E]]:
    most = max(1, _ANGLES_AT_ONCE // math.prod(feature_map.parameter_shape))
    some: list[E] = []
    n_rows = 0
    for part in parts:
        if some and n_rows + len(part) > most:
            yield some
            some, n_rows = [], 0
        some.append(part)
        n_rows += len(part)
    if some:
        yield some
