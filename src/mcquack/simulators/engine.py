"""The interface between the method and whatever runs its circuits: a simulator here, a device there.

An engine is one class of at most six methods. It encodes data points, compares them and pulls derivatives back; it may
refuse circuits, give expectation values and say what a kernel costs. Everything else is made of these.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, final, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require, require_possible
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.team import available_threads

Wrt = Literal["embedding", "centroids"]
GradientRule = Literal["exact", "parameter_shift", "stochastic_shift", "spsa"]


@runtime_checkable
class Encoded(Protocol):
    """Data points behind a feature map with fixed parameters: states, or what an engine keeps in their place."""

    @property
    def features(self) -> FloatArray: ...
    @property
    def weights(self) -> FloatArray: ...
    @property
    def bias(self) -> FloatArray: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """What the engines here keep of all data points; each adds what it computes with."""

    features: FloatArray
    weights: FloatArray
    bias: FloatArray

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True, eq=False)
class AngleRows(EncodedRows):
    """Data points as the angles of their circuits: nothing is run before two of them meet."""

    angles: FloatArray  # (N, *angles_shape of the circuit)


class Gradient(NamedTuple):
    """Derivatives of a scalar; those not asked for are None."""

    weights: FloatArray | None = None
    bias: FloatArray | None = None
    centroids: FloatArray | None = None


class Measured(NamedTuple):
    """A kernel as an engine reads it, and what decides between equal entries of a row: the larger number wins.

    The latter is an array of the kernel's shape, or a function that gives some rows of it, by their numbers: few rows
    tie, and what tells their entries apart may cost more than the kernel.
    """

    kernel: FloatArray
    ties: FloatArray | Callable[[NDArray[np.intp]], FloatArray] | None = None

    def ties_of(self, rows: NDArray[np.intp]) -> FloatArray | None:
        """What decides between equal entries of these rows; None where nothing does."""
        if self.ties is None or callable(self.ties):
            return None if self.ties is None else self.ties(rows)
        return self.ties[rows]


E = TypeVar("E", bound=Encoded)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What an engine takes for a kernel and for its derivatives; the default is that of an exact simulator.

    Attributes
    ----------
    shots_per_entry : int
        Shots for each entry of the kernel.
    kernels_per_pullback : int
        Kernels that the derivatives take; 0 if the engine computes them itself.
    spent : int
        Shots that were counted so far.
    encoded_as : "states" or "angles"
        What is kept of an encoded row. It decides how many rows are encoded at once.
    """

    shots_per_entry: int = 0
    kernels_per_pullback: int = 0
    spent: int = 0
    encoded_as: Literal["states", "angles"] = "states"


class Engine(ABC, Generic[E]):
    """Base of everything that runs the circuits of a feature map, here or on a device.

    An engine is made for a circuit, ``RingEngine(feature_map)``, or for none yet, ``RingEngine(n_threads=2)``. The
    latter is what a classifier takes as ``engine=``: it calls :meth:`on` as soon as it knows its circuit.

    To write an engine, subclass this and implement :meth:`encode`, :meth:`fidelities` and :meth:`pullback`. Override
    :meth:`check`, :meth:`expectations` and :meth:`cost` if their defaults do not fit. Override nothing else: all other
    methods are made of these six. Compute what depends on the circuit in a ``functools.cached_property``, and keep the
    arguments of your constructor as attributes of the same names. The laws of all engines are in ``tests/contracts``.

    An engine may do more. :class:`~mcquack.simulators.hamming.CountsOnes` adds distributions of numbers of ones, and
    :class:`MeasuringEngine` the ways of a device, which is used otherwise than trained. A method ``fused_kernel(X,
    centroids, weights, bias)``, if there is one, replaces ``encode`` and ``fidelities`` in :meth:`kernel`.

    Parameters
    ----------
    feature_map : Circuit, optional
        The circuit to run.
    dtype : "float32" or "float64"
        Type of the parameters and of the scaled features that training keeps.

    Attributes
    ----------
    name : str
        The name in messages and in model files.
    most_qubits : int or None
        The largest number of qubits; None is any number.
    few_layers : bool
        Whether cost or noise grows so fast with the layers that a classifier should not add any by itself.
    tiny_fidelities : bool
        Whether fidelities may be smaller than any float. Then :meth:`fidelities` and :meth:`pullback` also take
        ``log=True``, for the logarithms of fidelities and for their derivatives, and training uses these.
    gradient : str
        Where training gets its derivatives from: "exact" is this engine's own :meth:`pullback`; "parameter_shift",
        "stochastic_shift" and "spsa" take them from fidelities.
    budget : int or None
        How many shots training may take.
    engine : Engine, str or None
        The engine that this one runs on, if it is one around another.

    Examples
    --------
    >>> from mcquack import FeatureMap
    >>> from mcquack.simulators import RingEngine
    >>> circuit = FeatureMap(n_qubits=3, n_features=2, n_layers=1)
    >>> engine = RingEngine(n_threads=1).on(circuit)
    >>> engine.feature_map == circuit
    True
    """

    name: ClassVar[str] = ""
    most_qubits: ClassVar[int | None] = None
    few_layers: ClassVar[bool] = False
    tiny_fidelities: ClassVar[bool] = False
    gradient: GradientRule = "exact"
    budget: int | None = None
    engine: Engine[Any] | str | None = None

    def __init__(self, feature_map: Circuit | None = None, *, dtype: DTypeLike = "float32") -> None:
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise InvalidInputError(f"dtype must be float32 or float64, got {np.dtype(dtype)}.")
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._feature_map = feature_map
        self._fixed_circuit: Circuit | None = None
        if feature_map is not None:
            self.check(feature_map)

    # What an engine implements, or overrides if the default does not fit

    @abstractmethod
    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> E:
        """Return U(x; w, b)|0…0⟩ for every row; a caller may keep it while the parameters rest."""

    @abstractmethod
    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        """Return K[i, m] = |⟨c_m|x_i⟩|², shape (N, M)."""

    @abstractmethod
    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Return derivatives of Σ cotangent∘K by the embedding's weights and biases, or by the centroids' features."""

    def check(self, feature_map: Circuit) -> None:
        """Raise InvalidInputError, with what to do, if this engine does not run the circuit."""
        if self.most_qubits is not None and feature_map.n_qubits > self.most_qubits:
            raise InvalidInputError(
                f"the {self.name} engine takes 1 to {self.most_qubits:,} qubits, got {feature_map.n_qubits}; use fewer."
            )

    def expectations(self, encoded: E, observables: Sequence[int | Sequence[int]]) -> FloatArray:
        """Return ⟨Z…Z⟩ of every sample (N, O); an observable is a qubit, or several whose Z are multiplied."""
        raise InvalidInputError(f"{type(self).__name__} has no expectation values; take a GateEngine or a JaxEngine.")

    def cost(self, wrt: Wrt = "embedding") -> Cost:
        """Return what a kernel takes, and its derivatives by the embedding or by the centroids."""
        return Cost()

    # What follows from that

    @property
    @final
    def feature_map(self) -> Circuit:
        """The circuit that this engine runs."""
        if self._feature_map is None:
            raise InvalidInputError(f"this {type(self).__name__} has no circuit yet; take engine.on(feature_map).")
        return self._feature_map

    @final
    def on(self, feature_map: Circuit, *, seed: int = 0) -> Self:
        """Return this engine for a circuit; an engine with a ``seed`` draws its random numbers from the one given."""
        self.check(feature_map)
        found = copy.copy(self)
        for name in [name for name in vars(found) if isinstance(getattr(type(self), name, None), cached_property)]:
            delattr(found, name)
        found._feature_map, found._fixed_circuit = feature_map, None
        if "seed" in vars(found):
            vars(found)["seed"] = seed
        if isinstance(self.engine, Engine):
            found.engine = self.engine.on(feature_map, seed=seed)
        return found

    @final
    def with_free_angles(self) -> Self:
        """Return this engine on the circuit in which each angle has a bias for itself; what it has spent goes along."""
        found = self.on(self.feature_map.with_free_angles(), seed=vars(self).get("seed", 0))
        found._fixed_circuit = self._fixed_circuit or self.feature_map
        return found

    @final
    def settings(self) -> dict[str, Any]:
        """Return the arguments that make this engine again, as JSON has them; a model file keeps them.

        An inner engine stands by its name and its own settings. What JSON does not hold, such as a sampler with its
        connection, is left out.
        """
        plain = {name: _plain(value) for name, value in self._arguments().items()}
        return {name: value for name, value in plain.items() if value is not _NOT_PLAIN}

    @final
    def kernel(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """Return K[i, m] = |⟨0|U†(c_m) U(x_i)|0⟩|² (paper, eq. 8): N + M circuits in place of N × M."""
        fused = getattr(self, "fused_kernel", None)
        if fused is not None:
            return fused(X, centroids, weights, bias)
        return self._in_pieces(self.fidelities, X, centroids, weights, bias)

    @final
    def log_kernel(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """Return log K[i, m], minus infinity where K vanishes."""
        return self._in_pieces(self.log_fidelities, X, centroids, weights, bias)

    def _in_pieces(
        self,
        compare: Callable[[E, E], FloatArray],
        X: FloatArray,
        centroids: FloatArray,
        weights: FloatArray,
        bias: FloatArray,
    ) -> FloatArray:
        encoded = self.encode(centroids, weights, bias)
        size = self.rows_at_once or max(len(X), 1)
        chunks = (X[start : start + size] for start in range(0, len(X), size))
        parts = [compare(self.encode(chunk, weights, bias), encoded) for chunk in chunks]
        return np.concatenate(parts) if parts else np.empty((0, len(centroids)))

    @final
    def log_fidelities(self, samples: E, centroids: E) -> FloatArray:
        """Return log K[i, m], shape (N, M); minus infinity where K vanishes."""
        if self.tiny_fidelities:
            return self.fidelities(samples, centroids, log=True)  # type: ignore[call-arg]
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.fidelities(samples, centroids), np.float64))

    @final
    def pull_logs(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Return derivatives of Σ cotangent∘log K, without the entries where K vanishes."""
        if self.tiny_fidelities:
            return self.pullback(samples, centroids, cotangent, wrt=wrt, log=True)  # type: ignore[call-arg]
        kernel = np.asarray(self.fidelities(samples, centroids), np.float64)
        slopes = checked_cotangent(cotangent, samples, centroids)
        by_kernel = np.divide(slopes, kernel, out=np.zeros_like(kernel), where=kernel > 0)
        return self.pullback(samples, centroids, by_kernel, wrt=wrt)

    @final
    def measured(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> Measured:
        """Return the kernel as a classifier uses it, and what decides between equal entries."""
        if isinstance(self, MeasuringEngine):
            return self.read(X, centroids, weights=weights, bias=bias)
        return Measured(self.kernel(X, centroids, weights=weights, bias=bias))

    @final
    def for_training(self, *, spent: int = 0) -> Engine[Any]:
        """Return the engine whose kernel training aligns; of its ``budget`` so many shots are spent already."""
        return self.training_engine(spent=spent) if isinstance(self, MeasuringEngine) else self

    @property
    @final
    def shots_per_entry(self) -> int:
        """Shots for each entry of the kernel; simulators need none."""
        return self.cost().shots_per_entry

    @property
    @final
    def spent(self) -> int:
        """How many shots were counted so far; simulators spend none."""
        return self.cost().spent

    @property
    @final
    def rows_at_once(self) -> int | None:
        """How many rows to encode together: as many as take 64 MiB; None is all of them, as each call is a job."""
        cost = self.cost()
        if cost.shots_per_entry:
            return None
        if cost.encoded_as == "angles":
            return max(16, 3 * 2**20 // max(self.feature_map.n_angles, 1))
        return max(16, 2**23 >> self.feature_map.n_qubits)

    def _arguments(self) -> dict[str, Any]:
        """The arguments of the constructor, but for the circuit; one that was resolved is kept with an underscore."""
        names = [name for name in _argument_names(type(self)) if name != "feature_map"]
        kept = {name: f"_{name}" if f"_{name}" in vars(self) else name for name in names}
        return {name: getattr(self, own) for name, own in kept.items() if hasattr(self, own)}

    def _equality_key(self) -> Any:
        """All that decides the answers of this engine."""
        return self._feature_map, vars(self).get("seed"), self._arguments()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._equality_key() == other._equality_key()

    def __hash__(self) -> int:
        return hash((type(self), self._feature_map))

    def __repr__(self) -> str:
        settings = self.settings()
        objects = [repr(value) for name, value in self._arguments().items() if name not in settings]
        circuit = [] if self._feature_map is None else [f"<{self._feature_map.n_qubits} qubits>"]
        written = [*objects, *circuit, *(f"{name}={value!r}" for name, value in settings.items())]
        return f"{type(self).__name__}({', '.join(written)})"


class MeasuringEngine(Engine[E]):
    """Base of engines that a model is trained on otherwise than it is used: through shots, or tolerating bit flips."""

    @abstractmethod
    def read(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> Measured:
        """Return the kernel as it is measured in use, and what decides between equal entries."""

    @abstractmethod
    def training_engine(self, *, spent: int) -> Engine[Any]:
        """Return the engine whose kernel training aligns; so many shots of the budget are spent already."""


class PullsExpectations(Engine[E]):
    """Base of engines that also have the derivatives of expectation values."""

    def pull_expectations(
        self, encoded: E, cotangent: ArrayLike, observables: Sequence[int | Sequence[int]]
    ) -> Gradient:
        """Return derivatives of Σ cotangent∘⟨Z…Z⟩ by the embedding's weights and biases."""
        slopes = self._checked_slopes(encoded, cotangent, observables)
        _, weights, bias = self._pulled_expectations(encoded, slopes, observables, of_features=False)
        return Gradient(weights=weights, bias=bias)

    def expectation_slopes(
        self, encoded: E, cotangent: ArrayLike, observables: Sequence[int | Sequence[int]]
    ) -> FloatArray:
        """Return derivatives of Σ cotangent∘⟨Z…Z⟩ by the features of every sample, amplitudes among them: (N, d)."""
        slopes = self._checked_slopes(encoded, cotangent, observables)
        return self._pulled_expectations(encoded, slopes, observables, of_features=True)[0]

    def _checked_slopes(self, encoded: E, cotangent: ArrayLike, observables: Sequence[object]) -> FloatArray:
        slopes, shape = np.asarray(cotangent, self.dtype), (len(encoded), len(observables))
        if slopes.shape != shape:
            raise InvalidInputError(f"cotangent must have the expectation values' shape {shape}, got {slopes.shape}.")
        return slopes

    @abstractmethod
    def _pulled_expectations(
        self, encoded: E, slopes: FloatArray, observables: Sequence[int | Sequence[int]], *, of_features: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return derivatives by the features (or anything, unless asked for), the weights and the biases."""

    def z_masks(self, observables: Sequence[int | Sequence[int]]) -> NDArray[np.uint32]:
        """Return the bits of a basis state (O,) whose parity is the sign of each product of Z."""
        n = self.feature_map.n_qubits
        masks = np.zeros(len(observables), np.uint32)
        for place, observable in enumerate(observables):
            for qubit in np.atleast_1d(np.asarray(observable)).tolist():
                if not (is_whole_number(qubit) and 0 <= qubit < n):
                    raise InvalidInputError(f"the circuit has the qubits 0 to {n - 1}, got {qubit!r}; measure those.")
                masks[place] ^= 1 << (n - 1 - qubit)
        return masks


class ThreadedEngine(Engine[E]):
    """Base of engines that share their work among threads; results do not depend on how many there are."""

    def __init__(
        self, feature_map: Circuit | None = None, *, dtype: DTypeLike = "float32", n_threads: int | None = None
    ) -> None:
        possible = n_threads is None or (is_whole_number(n_threads) and n_threads >= 1)
        require(possible, "n_threads", "None or a whole number of at least 1", n_threads)
        require_possible("n_threads", n_threads or 1)
        self._n_threads = n_threads
        super().__init__(feature_map, dtype=dtype)

    @cached_property
    def n_threads(self) -> int:
        """How many threads to use: as many as were asked for, or as Numba may use when the engine is first used."""
        return available_threads(self._n_threads)


@cache
def _argument_names(kind: type[Engine[Any]]) -> tuple[str, ...]:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(name for name, one in inspect.signature(kind).parameters.items() if one.kind in named)


_NOT_PLAIN = object()


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, Engine):
        return {"name": value.name, **value.settings()}
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else _NOT_PLAIN


_LOG_LEAST_FIDELITY = np.log(1e-300)


def lifted(log_fidelities: FloatArray) -> FloatArray:
    """exp of logarithms, but no row vanishes for being small: one whose largest is below 1e-300 is lifted to that.

    Order and ratios within a row stay what they are, and no fidelity is more than 1e-300 off.
    """
    top = log_fidelities.max(axis=1, keepdims=True, initial=-np.inf)
    missing = np.where(np.isfinite(top), np.maximum(_LOG_LEAST_FIDELITY - top, 0.0), 0.0)
    return np.exp(log_fidelities + missing)


def paper_map(engine: Engine[Any], circuit: Circuit) -> FeatureMap:
    """The circuit, if it is the feature map of the paper; InvalidInputError for an engine that takes no other."""
    if not isinstance(circuit, FeatureMap):
        raise InvalidInputError(
            f'the {engine.name} engine takes the feature map of the paper alone; use engine="gates" for any other '
            "circuit."
        )
    return circuit


def checked_cotangent(cotangent: ArrayLike, samples: Encoded, centroids: Encoded) -> FloatArray:
    """The derivative by the kernel as an array, refused where it has not the kernel's shape."""
    array = np.asarray(cotangent)
    if array.shape != (len(samples), len(centroids)):
        raise InvalidInputError(
            f"cotangent must have the kernel's shape {(len(samples), len(centroids))}, got {array.shape}."
        )
    return array


def angle_rows(feature_map: Circuit, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> AngleRows:
    """The angles of every row, in double precision."""
    features, w, b = np.asarray(X), *checked_parameters(feature_map, weights, bias)
    angles = feature_map.angles(features.astype(np.float64), w.astype(np.float64), b.astype(np.float64))
    return AngleRows(features, w, b, angles)


def checked_parameters(feature_map: Circuit, weights: ArrayLike, bias: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Weights and biases as arrays, refused unless they have the shapes that the circuit says."""
    found = np.asarray(weights), np.asarray(bias)
    shapes = feature_map.weights_shape, feature_map.bias_shape
    for name, array, shape in zip(("weights", "bias"), found, shapes, strict=True):
        if array.shape != shape:
            raise InvalidInputError(f"{name} must have the shape {shape} of the feature map, got {array.shape}.")
    return found


def checked_wrt(wrt: Wrt) -> Wrt:
    """Refuses all but the two sides that are trained."""
    if wrt not in ("embedding", "centroids"):
        raise InvalidInputError(f'wrt must be "embedding" or "centroids", not {wrt!r}: samples are data.')
    return wrt


def gradient_by_angles(
    feature_map: Circuit,
    samples: Encoded,
    centroids: Encoded,
    *,
    of_samples: FloatArray,
    of_centroids: FloatArray,
    wrt: Wrt,
) -> Gradient:
    """The gradient from the derivatives by the angles of all samples (N, …) and of all centroids (M, …)."""
    table = feature_map.angle_table
    if wrt == "centroids":
        by_angles = of_centroids.reshape(len(centroids), feature_map.n_angles)
        return Gradient(centroids=table.by_features(centroids.features, centroids.weights, by_angles))
    sizes = feature_map.n_weights, feature_map.n_bias
    of_both = (
        table.by_parameters(points.features, slopes.reshape(len(points), feature_map.n_angles), *sizes)
        for points, slopes in ((samples, of_samples), (centroids, of_centroids))
    )
    weights, bias = (left + right for left, right in zip(*of_both, strict=True))
    return Gradient(weights=weights.reshape(feature_map.weights_shape), bias=bias.reshape(feature_map.bias_shape))
