"""The seam between the method and whatever runs its circuits: a simulator here, a device there.

An engine is one class. It encodes data points, compares them, and pulls derivatives back; all else that others must
know of it, it says itself: how many qubits it takes, where derivatives come from, whether the compiled epoch knows it,
and what a kernel costs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

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


class Engine(ABC, Generic[E]):
    """Runs the circuits of a feature map. All engines keep the laws in ``tests/contracts``.

    An engine is made for a circuit, ``RingEngine(feature_map)``, or for none yet, ``RingEngine(n_threads=2)``. The
    latter is what a classifier takes as ``engine=``: it calls :meth:`on` as soon as it knows its circuit.

    To add an engine, write one subclass with :meth:`encode`, :meth:`fidelities` and :meth:`pullback`; whatever differs
    from the defaults below is said by overriding it. Nothing else has to change.

    Parameters
    ----------
    feature_map : Circuit, optional
        The circuit to run.
    dtype : "float32" or "float64"
        Type of the parameters and of the scaled features that training keeps.

    Attributes
    ----------
    most_qubits : int or None
        How wide circuits may be; None is as wide as one likes.
    few_layers : bool
        Whether cost or noise grows so fast with the layers that a classifier should not add any by itself.
    gradient : str
        Where training gets its derivatives from: "exact" is this engine's own :meth:`pullback`; "parameter_shift",
        "stochastic_shift" and "spsa" take them from fidelities.
    tiny_fidelities : bool
        Whether fidelities may be smaller than any float. Training then takes :meth:`log_fidelities` and
        :meth:`pull_logs`, for which their size does not matter.
    compiled_epoch : bool
        Whether the compiled epoch of ``mcquack.training`` runs on this engine's states.
    takes_all_rows : bool
        Whether any number of rows may be encoded at once; else the kernel is computed in pieces that fit into memory.
    shots_per_entry : int
        What one entry of the kernel costs on a device; simulators cost none.

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
    compiled_epoch: ClassVar[bool] = False
    takes_all_rows: bool = False
    gradient: GradientRule = "exact"
    shots_per_entry: int = 0
    budget: int | None = None

    def __init__(self, feature_map: Circuit | None = None, *, dtype: DTypeLike = "float32") -> None:
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise InvalidInputError(f"dtype must be float32 or float64, got {np.dtype(dtype)}.")
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._feature_map = feature_map
        if feature_map is not None:
            self.check(feature_map)

    @property
    def feature_map(self) -> Circuit:
        if self._feature_map is None:
            raise InvalidInputError(f"this {type(self).__name__} has no circuit yet; take engine.on(feature_map).")
        return self._feature_map

    def settings(self) -> dict[str, Any]:
        """The keyword arguments that make this engine again, as JSON has them; a model file keeps them."""
        return {"dtype": self.dtype.name}

    def on(self, feature_map: Circuit, *, seed: int = 0) -> Self:
        """This engine for a circuit; engines that draw random numbers take them from the seed."""
        return type(self)(feature_map, **self.settings())

    def freed(self) -> Self:
        """This engine on the freed circuit, in which each angle has a bias for itself; what it has spent goes along."""
        return self.on(self.feature_map.with_free_angles())

    def settled(self, circuit: Circuit | int) -> Self:
        """This engine, with whatever it leaves to the circuit settled; a number stands for the paper's, so wide."""
        return self

    def check(self, feature_map: Circuit) -> None:
        """Raises InvalidInputError, with what to do, on a circuit that this engine does not take."""
        if self.most_qubits is not None and feature_map.n_qubits > self.most_qubits:
            raise InvalidInputError(
                f"the {self.name} engine takes 1 to {self.most_qubits:,} qubits, got {feature_map.n_qubits}; use fewer."
            )

    @abstractmethod
    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> E:
        """Prepares U(x; w, b)|0…0⟩ for every row; a caller may keep it while the parameters rest."""

    @abstractmethod
    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        """K[i, m] = |⟨c_m|x_i⟩|², shape (N, M)."""

    @abstractmethod
    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘K: by the embedding's weights and biases, or by the centroids' features."""

    def log_fidelities(self, samples: E, centroids: E) -> FloatArray:
        """log K[i, m], shape (N, M); minus infinity where K vanishes."""
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.fidelities(samples, centroids), np.float64))

    def pull_logs(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘log K, without the entries where K vanishes."""
        kernel = np.asarray(self.fidelities(samples, centroids), np.float64)
        slopes = checked_cotangent(cotangent, samples, centroids)
        by_kernel = np.divide(slopes, kernel, out=np.zeros_like(kernel), where=kernel > 0)
        return self.pullback(samples, centroids, by_kernel, wrt=wrt)

    @property
    def counts_ones(self) -> bool:
        """Whether there are :meth:`hamming_distributions` of this engine's circuit."""
        return type(self).hamming_distributions is not Engine.hamming_distributions

    def hamming_distributions(self, samples: E, centroids: E) -> FloatArray:
        """P[i, m, k] = probability of k ones in U†(c_m) U(x_i)|0…0⟩, shape (N, M, n + 1), exact."""
        raise InvalidInputError(f"{type(self).__name__} has no distributions of numbers of ones; take a RingEngine.")

    def pull_hamming(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘P by the embedding or by the centroids' features."""
        raise InvalidInputError(
            f"{type(self).__name__} has no derivatives of distributions of numbers of ones; take a RingEngine for at "
            "most two layers, or ParameterShiftEngine(TolerantEngine(…)) for few qubits and more layers."
        )

    def expectations(self, encoded: E, observables: Sequence[int | Sequence[int]]) -> FloatArray:
        """⟨Z…Z⟩ of every sample (N, O): each observable is a qubit, or several whose Z are multiplied."""
        raise InvalidInputError(f"{type(self).__name__} has no expectation values; take a GateEngine or a JaxEngine.")

    def for_training(self, *, spent: int = 0) -> Engine[Any]:
        """The engine whose kernel training aligns; of its ``budget`` so many shots are spent already."""
        return self

    def kernels_per_pullback(self, wrt: Wrt) -> int:
        """How many kernels the derivatives take; exact ones take none."""
        return 0

    @property
    def spent(self) -> int:
        """How many shots were counted so far; simulators spend none."""
        return 0

    @property
    def rows_at_once(self) -> int | None:
        """Enough rows to keep all threads busy, few enough that their states stay around 64 MiB; None is all."""
        if self.takes_all_rows:
            return None
        return max(16, 2**23 >> self.feature_map.n_qubits) if self.feature_map.n_qubits < 24 else 16

    def kernel(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """K[i, m] = |⟨0|U†(c_m) U(x_i)|0⟩|² (paper, eq. 8): N + M circuits in place of N × M."""
        return self._in_pieces(self.fidelities, X, centroids, weights, bias)

    def log_kernel(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """log K[i, m], in the same pieces."""
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

    def measured(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> Measured:
        """The kernel as a classifier uses it; engines that count say what decides between equal shares of shots."""
        return Measured(self.kernel(X, centroids, weights=weights, bias=bias))

    def _likeness(self) -> Any:
        """What two engines have in common that are equal: all that decides their answers."""
        return self._feature_map, self.settings()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._likeness() == other._likeness()

    def __hash__(self) -> int:
        return hash((type(self), self._feature_map))

    def __repr__(self) -> str:
        return self._written()

    def _written(self, *first: str) -> str:
        settings = [f"{name}={value!r}" for name, value in self.settings().items()]
        circuit = [] if self._feature_map is None else [f"<{self._feature_map.n_qubits} qubits>"]
        return f"{type(self).__name__}({', '.join([*first, *circuit, *settings])})"


class ThreadedEngine(Engine[E]):
    """An engine that shares its work among threads; results do not depend on how many there are."""

    def __init__(
        self, feature_map: Circuit | None = None, *, dtype: DTypeLike = "float32", n_threads: int | None = None
    ) -> None:
        possible = n_threads is None or (is_whole_number(n_threads) and n_threads >= 1)
        require(possible, "n_threads", "None or a whole number of at least 1", n_threads)
        require_possible("n_threads", n_threads or 1)
        self._asked_threads = n_threads
        super().__init__(feature_map, dtype=dtype)
        self.n_threads = available_threads(n_threads)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "n_threads": self._asked_threads}


_LOG_LEAST_FIDELITY = np.log(1e-300)


def lifted(log_fidelities: FloatArray) -> FloatArray:
    """exp of logarithms, but no row vanishes for being small: one whose largest is below 1e-300 is lifted to that.

    Order and ratios within a row stay what they are, and no fidelity is more than 1e-300 off.
    """
    top = log_fidelities.max(axis=1, keepdims=True, initial=-np.inf)
    missing = np.where(np.isfinite(top), np.maximum(_LOG_LEAST_FIDELITY - top, 0.0), 0.0)
    found: FloatArray = np.exp(log_fidelities + missing)
    return found


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
