"""Derivatives from values alone, as a device must take them: shifts of single angles, and of all parameters at once.

The angle θ of a rotation enters a fidelity, and k^b too, as a + b·cos θ + c·sin θ, so half the difference of the values
at ±π/2 is the exact derivative. A controlled rotation adds cos θ/2 and sin θ/2, and takes four values in place of two.
On the circuit with free angles, in which each has a bias for itself, a shift of one angle is a shift of one bias.
"""

import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require, require_positive, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import GATES, ShiftRule
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import (
    Cost,
    E,
    Encoded,
    Engine,
    Gradient,
    Wrt,
    checked_cotangent,
    checked_parameters,
    checked_wrt,
    gradient_by_angles,
)

Side = Literal["samples", "centroids"]
ANGLES_AT_ONCE = 1 << 22  # 32 MiB for circuits that are measured in one call
_AMPLITUDE_STEP = 0.1  # of the vector by one step of SPSA, so that its kernel is still close to linear


class FromValues(Engine[E]):
    """An engine that asks another one for nothing but fidelities, and makes its pullback of these."""

    engine: Engine[E]

    def __init__(self, engine: Engine[E]) -> None:
        self.engine = engine
        self.budget = engine.budget
        super().__init__(engine.feature_map, dtype=engine.dtype)

    @property
    def runner(self) -> Engine[E]:
        """The engine that is asked for fidelities."""
        return self.engine

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> E:
        return self.runner.encode(X, weights, bias)

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        return self.runner.fidelities(samples, centroids)

    def cost(self, wrt: Wrt = "embedding") -> Cost:
        return replace(self.runner.cost(), kernels_per_pullback=self.n_kernels(wrt))

    @abstractmethod
    def n_kernels(self, wrt: Wrt) -> int:
        """Return how many kernels a pullback takes: each is a circuit for every sample and every centroid."""


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


def _gathered(parts: Iterable[E], circuit: Circuit) -> Iterator[list[E]]:
    most = max(1, ANGLES_AT_ONCE // max(1, circuit.n_angles))
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


class LiveAngle(NamedTuple):
    """An angle, by its number in the circuit, and the values that its derivative takes."""

    number: int
    terms: ShiftRule


class Shift(NamedTuple):
    """One angle, and the data points in whose circuits it is shifted."""

    angle: LiveAngle
    rows: IntArray


def live_angles(circuit: Circuit, wrt: Wrt | None = None) -> list[LiveAngle]:
    """All angles that depend on parameters, or on features, or for ``None`` on either, and that somebody can see.

    Diagonal gates that come before all others on their qubits turn the phase of |0…0⟩ alone, as the φ of the first
    rotations do, and in the centroid's circuit they turn nothing but phases right before a measurement.
    """
    table = circuit.angle_table
    trained, fed = (table.weight >= 0) | (table.bias >= 0), table.input >= 0
    asked = trained | fed if wrt is None else trained if wrt == "embedding" else fed
    turned = set() if circuit.start == "zeros" else set(range(circuit.n_qubits))
    found: list[LiveAngle] = []
    number = 0
    for gate in circuit.gates:
        known = GATES[gate.name]
        unseen = turned.isdisjoint(gate.qubits)
        for place, rule in enumerate(known.shift_rules):
            if asked[number] and not (unseen and place in known.leading_angles):
                if rule is None:
                    raise InvalidInputError(
                        f"the angle {place} of the gate {gate.name} has no shift rule; use another gradient rule."
                    )
                found.append(LiveAngle(number, rule))
            number += 1
        if not known.is_diagonal:
            turned.update(gate.qubits)
    return found


def angle_slopes(
    engine: Engine[E], moved: E, others: E, cotangent: FloatArray, shifts: Sequence[Shift], *, side: Side
) -> FloatArray:
    """Derivatives of Σ cotangent∘K by the angles (N, A) of the ``moved`` side; 0 where none is asked for.

    The engine runs a circuit whose biases are one for each angle.
    """
    found = np.zeros((len(moved), engine.feature_map.n_angles))
    parts = (
        _shifted(engine, moved, shift, turn)
        for shift in shifts
        for size, _ in shift.angle.terms
        for turn in (size, -size)
    )
    kernels = kernels_of(engine, parts, others, side=side)
    by_moved = cotangent if side == "samples" else cotangent.T
    for shift in shifts:
        slope = sum(factor * (next(kernels) - next(kernels)) for _, factor in shift.angle.terms)
        by_rows = slope if side == "samples" else slope.T  # type: ignore[union-attr]
        found[shift.rows, shift.angle.number] = np.sum(by_moved[shift.rows] * by_rows, axis=1)
    return found


def _shifted(engine: Engine[E], encoded: E, shift: Shift, turn: float) -> E:
    bias = encoded.bias.copy()
    bias.reshape(-1)[shift.angle.number] += turn
    return engine.encode(encoded.features[shift.rows], encoded.weights, bias)


def _live_by_side(circuit: Circuit) -> dict[Wrt, list[LiveAngle]]:
    return {"embedding": live_angles(circuit, "embedding"), "centroids": live_angles(circuit, "centroids")}


class ParameterShiftEngine(FromValues[E]):
    """An engine whose pullback is exact, if values are: shifts of each angle of every sample and centroid.

    It encodes rows of the circuit with free angles, which the engine behind it runs.
    """

    seed = 0

    @cached_property
    def runner(self) -> Engine[E]:
        """The engine on the circuit in which each angle has a bias for itself."""
        is_free = self.feature_map.with_free_angles() is self.feature_map
        return self.engine if is_free else self.engine.with_free_angles()

    @cached_property
    def _live(self) -> dict[Wrt, list[LiveAngle]]:
        return _live_by_side(self.feature_map)

    def check(self, feature_map: Circuit) -> None:
        _live_by_side(feature_map)  # refuses a gate without a shift rule

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> E:
        if self.runner.feature_map is self.feature_map:
            return self.runner.encode(X, weights, bias)
        w, b = checked_parameters(self.feature_map, weights, bias)
        return self.runner.encode(X, w, self.feature_map.angle_table.constants(b))

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        self._check_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        draw = drawn_for(self.seed, f"stochastic shift by {wrt}", samples, centroids)
        of_samples = of_centroids = self._slopes(centroids, samples, weighting, draw, wrt=wrt, side="centroids")
        if wrt == "embedding":
            of_samples = self._slopes(samples, centroids, weighting, draw, wrt=wrt, side="samples")
        return gradient_by_angles(
            self.feature_map, samples, centroids, of_samples=of_samples, of_centroids=of_centroids, wrt=wrt
        )

    def n_kernels(self, wrt: Wrt) -> int:
        self._check_wrt(wrt)
        return (4 if wrt == "embedding" else 2) * sum(len(angle.terms) for angle in self._live[wrt])

    def _check_wrt(self, wrt: Wrt) -> None:
        if checked_wrt(wrt) == "centroids" and self.feature_map.start == "amplitudes":
            raise InvalidInputError(
                "features that are amplitudes are no angles and cannot be shifted, so that these derivatives by "
                'centroids cannot be measured; use gradient="spsa", or epochs_co=0.'
            )

    def _slopes(
        self, moved: E, others: E, weighting: FloatArray, draw: np.random.Generator, *, wrt: Wrt, side: Side
    ) -> FloatArray:
        everywhere = np.arange(len(moved))
        shifts = [Shift(angle, everywhere) for angle in self._live[wrt]]
        return angle_slopes(self.runner, moved, others, weighting, shifts, side=side)


def total_shots(
    feature_map: Circuit,
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
        require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
        self.seed = int(seed)
        self._n_angles = None if n_angles is None else required_count("n_angles", n_angles)
        super().__init__(engine)

    def check(self, feature_map: Circuit) -> None:
        most = max(1, *map(len, _live_by_side(feature_map).values()))
        if self._n_angles is not None and self._n_angles > most:
            raise InvalidInputError(
                f"n_angles must be at most {most}, all angles of the circuit that matter, got {self._n_angles}."
            )

    @property
    def n_angles(self) -> int:
        """How many angles of each sample and centroid are shifted."""
        return max(1, *map(len, self._live.values())) if self._n_angles is None else self._n_angles

    def n_kernels(self, wrt: Wrt) -> int:
        """Return how many kernels a pullback takes at most: controlled rotations take twice as many, if drawn."""
        self._check_wrt(wrt)
        most = max((len(angle.terms) for angle in self._live[wrt]), default=0)
        return (4 if wrt == "embedding" else 2) * most * min(self.n_angles, len(self._live[wrt]))

    def _slopes(
        self, moved: E, others: E, weighting: FloatArray, draw: np.random.Generator, *, wrt: Wrt, side: Side
    ) -> FloatArray:
        angles = self._live[wrt]
        n_each = min(self.n_angles, len(angles))
        shifts = _dealt(angles, n_each, len(moved), draw)
        # Each angle of a data point is drawn with the chance 1 / factor.
        factor = len(angles) / max(1, n_each)
        return factor * angle_slopes(self.runner, moved, others, weighting, shifts, side=side)


def _dealt(angles: Sequence[LiveAngle], n_each: int, n_rows: int, draw: np.random.Generator) -> list[Shift]:
    """So many different ones for each row, as evenly as can be over all of them."""
    if not n_each:
        return []
    deck = draw.permutation(len(angles))
    hands = deck[np.arange(n_rows * n_each) % len(deck)]
    order = np.argsort(hands, kind="stable")
    owners: NDArray[np.intp] = order // n_each
    dealt, starts = np.unique(hands[order], return_index=True)
    return [Shift(angles[angle], rows) for angle, rows in zip(dealt, np.split(owners, starts[1:]), strict=True)]


# Simultaneous perturbation (SPSA): all parameters move at once, and two kernels estimate every derivative.


class SpsaEngine(FromValues[E]):
    """An engine whose pullback is Δ (f(θ + sΔ) - f(θ - sΔ)) / 2s for random signs Δ, a mean over ``n_directions``.

    Its mean over draws is the gradient of f = Σ cotangent∘K for small steps s; larger ones smooth f, and see more of it
    through the noise of shots. The step is that of weights and biases; the features of centroids move as far as moves
    their angles so much, or, as amplitudes, by a tenth of their vector at most. By default it is 1/√A for the A angles
    of the circuit: with that the smoothing takes a fixed share of the gradient of a fidelity, however many angles there
    are. The draw depends on the seed and on what is asked, so that the same call has the same one.
    """

    def __init__(self, engine: Engine[E], *, n_directions: int = 1, step: float | None = None, seed: int = 0) -> None:
        require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
        if step is not None:
            require_positive("step", step)
        self.n_directions = required_count("n_directions", n_directions)
        self._step = None if step is None else float(step)
        self.seed = int(seed)
        super().__init__(engine)

    @cached_property
    def step(self) -> float:
        """How far weights and biases are moved."""
        return 1 / math.sqrt(max(1, len(live_angles(self.feature_map)))) if self._step is None else self._step

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        draw = drawn_for(self.seed, f"spsa by {wrt}", samples, centroids)
        if wrt == "centroids":
            return Gradient(centroids=self._by_centroids(samples, centroids, weighting, draw))
        found = np.zeros(self.feature_map.n_embedding_parameters)
        for signs in _signs(draw, (self.n_directions if len(found) else 0, len(found))):
            up, down = (
                self._moved_kernel(samples, centroids, move) for move in (self.step * signs, -self.step * signs)
            )
            found += signs * np.sum(weighting * (up - down))
        weights, bias = self._parts(found / (2 * self.step * self.n_directions))
        return Gradient(weights=weights, bias=bias)

    def _parts(self, both: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and biases, of all parameters in one row."""
        circuit = self.feature_map
        weights, bias = both[: circuit.n_weights], both[circuit.n_weights :]
        return weights.reshape(circuit.weights_shape), bias.reshape(circuit.bias_shape)

    def n_kernels(self, wrt: Wrt) -> int:
        still = checked_wrt(wrt) == "embedding" and not self.feature_map.n_embedding_parameters
        return 0 if still else 2 * self.n_directions

    def _moved_kernel(self, samples: E, centroids: E, move: FloatArray) -> FloatArray:
        by_weights, by_bias = self._parts(move)
        weights, bias = samples.weights + by_weights, samples.bias + by_bias
        rows, columns = (self.encode(points.features, weights, bias) for points in (samples, centroids))
        return self.fidelities(rows, columns)

    def _by_centroids(self, samples: E, centroids: E, weighting: FloatArray, draw: np.random.Generator) -> FloatArray:
        """A column of the kernel knows one centroid only, so that each has a slope of its own from the same shots."""
        table = self.feature_map.angle_table
        slopes = table.slopes_in_inputs(centroids.weights)[table.input >= 0]
        size = float(np.sqrt(np.mean(np.square(slopes, dtype=np.float64)))) if len(slopes) else 0.0
        step = self._amplitude_steps(centroids.features, self.step / (size or 1.0))
        directions = _signs(draw, (self.n_directions, *centroids.features.shape))
        moved = (
            self.encode(centroids.features + move, centroids.weights, centroids.bias)
            for signs in directions
            for move in (step * signs, -step * signs)
        )
        kernels = kernels_of(self.engine, moved, samples, side="centroids")
        found = np.zeros(centroids.features.shape)
        for signs in directions:
            up, down = next(kernels), next(kernels)
            found += signs * np.sum(weighting * (up - down), axis=0)[:, None]
        return found / (2 * step * self.n_directions)

    def _amplitude_steps(self, features: FloatArray, step: float) -> FloatArray:
        """The step of each centroid (M, 1); where features are amplitudes, at most a tenth of the vector is moved."""
        circuit = self.feature_map
        steps = np.full((len(features), 1), step)
        if circuit.start == "zeros":
            return steps
        rest = (circuit.dimension - circuit.n_features) * circuit.padding**2
        norms = np.sqrt(np.sum(np.square(features, dtype=np.float64), axis=1, keepdims=True) + rest)
        return np.where(norms > 0, np.minimum(steps, _AMPLITUDE_STEP * norms / math.sqrt(circuit.n_features)), steps)


def _signs(draw: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return 2.0 * draw.integers(2, size=shape) - 1.0
