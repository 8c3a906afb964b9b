"""Derivatives from values alone, as a device must take them: shifts of single angles.

An angle of one gate enters a fidelity, and k^b too, as a + b·cos + c·sin, so half the difference of the values at ±π/2
is the exact derivative. A shift of one angle is a shift of one bias.
"""

import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import (
    E,
    Encoded,
    Engine,
    Gradient,
    Wrt,
    checked_cotangent,
    checked_wrt,
    gradient_by_angles,
)

Side = Literal["samples", "centroids"]
_ANGLES_AT_ONCE = 1 << 22  # 32 MiB for circuits that are measured in one call


class FromValues(Engine[E]):
    """An engine that asks another one for nothing but fidelities, and makes its pullback of these."""

    def __init__(self, engine: Engine[E]) -> None:
        super().__init__(engine.feature_map, dtype=engine.dtype)
        self.engine = engine
        self.takes_all_rows = engine.takes_all_rows
        self.shots_per_entry = engine.shots_per_entry
        self.budget = engine.budget

    def settings(self) -> dict[str, Any]:
        return {"engine": self.engine.name}

    def _likeness(self) -> Any:
        return id(self)  # what random numbers are drawn from is not among the settings

    def on(self, feature_map: FeatureMap, *, seed: int = 0) -> Self:
        return type(self)(self.engine.on(feature_map, seed=seed))

    @property
    def rows_at_once(self) -> int | None:
        return self.engine.rows_at_once

    @property
    def spent(self) -> int:
        return self.engine.spent

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> E:
        return self.engine.encode(X, weights, bias)

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        return self.engine.fidelities(samples, centroids)

    @abstractmethod
    def kernels_per_pullback(self, wrt: Wrt) -> int:
        """How many kernels a pullback takes: each is a circuit for every sample and every centroid."""


def kernels_of(engine: Engine[E], parts: Iterable[E], others: E, *, side: Side) -> Iterator[FloatArray]:
    """The kernel of each part with ``others``, in order, measured in as few calls as the engine and memory allow."""
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


IntArray = NDArray[np.intp]


class Shift(NamedTuple):
    """One angle (layer, qubit, position in the gate), and the data points in whose circuits it is shifted."""

    angle: tuple[int, int, int]
    rows: IntArray


def live_angles(feature_map: FeatureMap) -> list[tuple[int, int, int]]:
    """All but the φ of the first layer: these turn |0…0⟩ about z, which nobody can see."""
    return [angle for angle in np.ndindex(feature_map.parameter_shape) if angle[0] or angle[2]]


def angle_slopes(
    engine: Engine[E], moved: E, others: E, cotangent: FloatArray, shifts: Sequence[Shift], *, side: Side
) -> FloatArray:
    """Derivatives of Σ cotangent∘K by the angles of the ``moved`` side, (N, L, n, 3); 0 where none is asked for."""
    found = np.zeros((len(moved), *engine.feature_map.parameter_shape))
    parts = (_shifted(engine, moved, shift, turn) for shift in shifts for turn in (math.pi / 2, -math.pi / 2))
    kernels = kernels_of(engine, parts, others, side=side)
    by_moved = cotangent if side == "samples" else cotangent.T
    for shift in shifts:
        up, down = next(kernels), next(kernels)
        half = (up - down) / 2 if side == "samples" else (up - down).T / 2
        found[(shift.rows, *shift.angle)] = np.sum(by_moved[shift.rows] * half, axis=1)
    return found


def _shifted(engine: Engine[E], encoded: E, shift: Shift, turn: float) -> E:
    bias = encoded.bias.copy()
    bias[shift.angle] += turn
    return engine.encode(encoded.features[shift.rows], encoded.weights, bias)


class ParameterShiftEngine(FromValues[E]):
    """An engine whose pullback is exact, if values are: two shifts of each angle of every sample and centroid."""

    seed = 0

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        draw = drawn_for(self.seed, f"stochastic shift by {wrt}", samples, centroids)
        of_samples = of_centroids = self._slopes(centroids, samples, weighting, draw, side="centroids")
        if wrt == "embedding":
            of_samples = self._slopes(samples, centroids, weighting, draw, side="samples")
        return gradient_by_angles(
            self.feature_map, samples, centroids, of_samples=of_samples, of_centroids=of_centroids, wrt=wrt
        )

    def kernels_per_pullback(self, wrt: Wrt) -> int:
        return (4 if wrt == "embedding" else 2) * len(live_angles(self.feature_map))

    def _slopes(
        self, moved: E, others: E, weighting: FloatArray, draw: np.random.Generator, *, side: Side
    ) -> FloatArray:
        everywhere = np.arange(len(moved))
        shifts = [Shift(angle, everywhere) for angle in live_angles(self.feature_map)]
        return angle_slopes(self.engine, moved, others, weighting, shifts, side=side)


def total_shots(
    feature_map: FeatureMap,
    *,
    n_classes: int,
    n_train: int,
    n_shots: int,
    n_epochs: int = 1,
    epochs_ka: int = 1,
    epochs_co: int = 1,
) -> int:
    """Shots that training on a device takes: 2 n_epochs n_train M n_shots (2 n_KAO D + 3 n_CO d) (paper, eq. 10)."""
    per_kernel_entry = 2 * epochs_ka * feature_map.n_embedding_parameters + 3 * epochs_co * feature_map.n_features
    return 2 * n_epochs * n_train * n_classes * n_shots * per_kernel_entry


class StochasticShiftEngine(ParameterShiftEngine[E]):
    """An engine whose pullback shifts ``n_angles`` angles of each sample and centroid, drawn anew for every call.

    The mean over draws is the full parameter shift, which ``n_angles=None`` is in every draw. Each data point has
    angles of its own, dealt out like cards: a batch sees many more of them than all points with the same few would, and
    the shots are the same. The draw depends on the seed and on what is asked, so that the same call has the same one.
    """

    def __init__(self, engine: Engine[E], *, n_angles: int | None = 1, seed: int = 0) -> None:
        super().__init__(engine)
        require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
        self.seed = int(seed)
        self._angles = live_angles(engine.feature_map)
        self.n_angles = len(self._angles) if n_angles is None else required_count("n_angles", n_angles)
        if self.n_angles > len(self._angles):
            raise InvalidInputError(
                f"n_angles must be at most {len(self._angles)}, all angles of the circuit that matter, got {n_angles}."
            )

    def kernels_per_pullback(self, wrt: Wrt) -> int:
        return (4 if wrt == "embedding" else 2) * self.n_angles

    def _slopes(
        self, moved: E, others: E, weighting: FloatArray, draw: np.random.Generator, *, side: Side
    ) -> FloatArray:
        shifts = self._dealt(len(moved), draw)
        # Each angle of a data point is drawn with the chance 1 / factor.
        factor = len(self._angles) / self.n_angles
        return factor * angle_slopes(self.engine, moved, others, weighting, shifts, side=side)

    def _dealt(self, n_rows: int, draw: np.random.Generator) -> list[Shift]:
        """``n_angles`` different ones for each row, as evenly as can be over all of them."""
        deck = draw.permutation(len(self._angles))
        hands = deck[np.arange(n_rows * self.n_angles) % len(deck)]
        order = np.argsort(hands, kind="stable")
        owners: NDArray[np.intp] = order // self.n_angles
        dealt, starts = np.unique(hands[order], return_index=True)
        return [
            Shift(self._angles[angle], rows) for angle, rows in zip(dealt, np.split(owners, starts[1:]), strict=True)
        ]
