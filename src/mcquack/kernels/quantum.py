"""Kernels of a circuit as objects, which scikit-learn takes wherever it takes a kernel: fidelities, and projected ones.

A square kernel of N samples takes N states and one product of them with themselves, in tiles, and one of N with M
samples takes N + M states: circuits are never run pair by pair.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, require_positive
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import reach
from mcquack.simulators.choice import EngineChoice, engine_of
from mcquack.simulators.compiled.memory import require_bytes
from mcquack.simulators.engine import Engine, checked_parameters

Scaling: TypeAlias = tuple[ArrayLike, ArrayLike]
ComplexArray: TypeAlias = NDArray[np.complexfloating[Any, Any]]
Tile: TypeAlias = tuple[slice, slice, FloatArray]

TILE = 512  # rows and columns that are multiplied at once: large enough for BLAS, and 4 MiB of overlaps
STATE_BYTES = 1 << 30  # of states that are kept; where a kernel has more of them, some are prepared again
_STRIPS = 8  # calls for a square kernel that a device counts; symmetry then saves 7 in 16 of its entries


class CircuitKernel(Kernel):
    """A kernel on what a circuit with given parameters makes of samples, with the protocol of scikit-learn's kernels.

    Subclasses say what an entry is by :meth:`kernel`. The parameters of the circuit are no hyperparameters to a
    Gaussian process: it finds those of the kernels that this one is added to or multiplied with.
    """

    def __init__(
        self,
        feature_map: Circuit,
        weights: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        *,
        engine: EngineChoice = "auto",
        features: Callable[[FloatArray], FloatArray] | None = None,
        scaling: Scaling | None = None,
        seed: int = 0,
    ) -> None:
        require(features is None or callable(features), "features", "None or a function of rows", features)
        require(isinstance(feature_map, Circuit), "feature_map", "a Circuit, such as a FeatureMap", feature_map)
        require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
        self.feature_map = feature_map
        given = _weight_starts(feature_map) if weights is None else _numbers(weights, "weights")
        biases = feature_map.bias_starts.reshape(feature_map.bias_shape) if bias is None else _numbers(bias, "bias")
        checked_parameters(feature_map, given, biases)
        self.weights, self.bias = _kept(given), _kept(biases)
        self.scaling = None if scaling is None else _checked_scaling(scaling, feature_map.n_features)
        self.seed = int(seed)
        self.features = features
        self.engine = engine
        self._engine()  # refuses what does not run this circuit

    def _engine(self, number: int = 0) -> Engine[Any]:
        """What runs the circuits; engines that draw random numbers draw others for every number."""
        found = engine_of(self.engine, self.feature_map)
        if isinstance(self.engine, str):  # Gaussian processes divide by the smallest eigenvalues of a kernel
            found = type(found)(dtype="float64")
        return found.on(self.feature_map, seed=self.seed + number)

    @abstractmethod
    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """K[i, j] = k(x_i, y_j), shape (N, M); without Y that of X with itself, symmetric with ones on its diagonal."""

    def scaled(self, X: ArrayLike) -> FloatArray:
        """Samples as the circuit takes them: checked, scaled, and where no angle could tell them apart, cut off."""
        rows = self._checked_rows(X)
        if self.scaling is not None:
            factor, offset = self.scaling
            with np.errstate(over="ignore"):
                rows = rows * factor + offset
        end = reach(self._engine().dtype, self.feature_map)
        return np.clip(rows, -end, end)

    def _checked_rows(self, X: ArrayLike) -> FloatArray:
        if issparse(X):
            raise InvalidInputError("a circuit takes a dense array of samples, got a sparse one; use X.toarray().")
        rows = _numbers(X, "samples")
        if self.features is not None:
            if rows.ndim != 2:
                raise InvalidInputError(f"samples must be an array (N, d), got one of the shape {rows.shape}.")
            rows = self.features(rows)
        return self.feature_map.checked_rows(rows)

    def _states(self, engine: Any, rows: FloatArray) -> ComplexArray:
        """Amplitudes (N, 2**n), prepared a few at a time."""
        found = np.empty((len(rows), self.feature_map.dimension), np.result_type(engine.dtype, np.complex64))
        for part in parts(len(rows), tile_size(engine)):
            found[part] = engine.statevectors(engine.encode(rows[part], self.weights, self.bias))
        return found

    # scikit-learn's protocol

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """The kernel, and with ``eval_gradient`` its derivatives by all hyperparameters, (N, N, their number)."""
        if not eval_gradient:
            return self.kernel(X, Y)
        if Y is not None:
            raise InvalidInputError("derivatives by hyperparameters are those of a square kernel; leave Y out.")
        return self._kernel_and_slopes(X)

    def _kernel_and_slopes(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        K = self.kernel(X)
        return K, np.empty((*K.shape, 0))

    def diag(self, X: ArrayLike) -> FloatArray:
        """k(x_i, x_i), which is 1 for every sample."""
        return np.ones(len(self._checked_rows(X)))

    def is_stationary(self) -> bool:
        """False: an entry depends on more than the difference of two samples."""
        return False

    def set_params(self, **params: Any) -> Self:
        """Changes what the kernel was made with, each value checked as when it is made."""
        known = self.get_params()
        unknown = sorted(params.keys() - known.keys())
        if unknown:
            name = type(self).__name__
            raise InvalidInputError(f"{name} has no parameter {unknown[0]!r}; it has {', '.join(known)}.")
        if params:
            self.__init__(**{**known, **params})  # type: ignore[misc]
        return self

    def __sklearn_clone__(self) -> Self:
        return copy.copy(self)  # its arrays do not change

    def _equality_key(self) -> tuple[Any, ...]:
        return self.feature_map, self.engine, self.seed, self.features

    def _arrays(self) -> list[FloatArray]:
        return [self.weights, self.bias, *(self.scaling or ())]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or self._equality_key() != other._equality_key():
            return False
        left, right = self._arrays(), other._arrays()
        return len(left) == len(right) and all(map(np.array_equal, left, right))

    def __hash__(self) -> int:
        return hash((type(self), self.feature_map))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.feature_map!r}, engine={self.engine!r})"


class QuantumKernel(CircuitKernel):
    """k(x, y) = |⟨0|U†(y) U(x)|0⟩|², the fidelity of two samples behind a circuit whose parameters are given.

    It is a kernel to ``SVC(kernel=…)``, ``KernelPCA``, ``SpectralClustering(affinity=…)``, ``Nystroem``,
    ``GaussianProcessClassifier`` and ``GaussianProcessRegressor``; with the latter two it can be added to others and
    multiplied with them. ``model.kernel_`` is that of a trained model.

    Parameters
    ----------
    feature_map : Circuit. The circuit.
    weights, bias : arrays of the shapes ``feature_map.weights_shape`` and ``feature_map.bias_shape``. By default each
        parameter is where the circuit says that it starts, but a weight that starts at 0, and would leave its feature
        out, is 1, unless features are amplitudes anyway.
    engine : "auto", a name or Engine. What runs the circuits. Names stand for engines in double precision. Of engines
        with states the kernel is their product; the ring computes every pair; ``Shots(…)`` and devices count every
        pair, whose kernel is symmetric with ones on the diagonal too but may have negative eigenvalues.
    features : function, optional. What becomes of rows (N, d) before they are scaled, such as ``model.features_``.
    scaling : pair of arrays (d,), optional. A factor and an offset for each feature: the circuit takes
        ``x * factor + offset``.
    seed : Of engines that draw random numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from mcquack import FeatureMap
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = QuantumKernel(FeatureMap(n_qubits=4, n_features=4, n_layers=1))
    >>> kernel(X).shape, kernel(X[:2], X).shape
    ((150, 150), (2, 150))
    >>> SVC(kernel=kernel).fit(X, y).score(X, y) > 0.9
    True
    """

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """The fidelities (N, M) of all pairs, each in [0, 1]; without Y those of X with itself.

        The square kernel is exactly symmetric and has ones on its diagonal. Beside the kernel itself, states take up
        to 1 GiB.
        """
        square = Y is None or Y is X
        rows = self.scaled(X)
        columns = rows if square else self.scaled(Y)  # type: ignore[arg-type]
        engine = self._engine()
        K = new_kernel(len(rows), len(columns), engine.dtype)
        tiles = self._multiplied if hasattr(engine, "statevectors") else self._measured
        for own, others, tile in tiles(engine, rows, columns, square=square):
            if square and own == others:
                above = np.triu(tile, 1)
                tile = above + above.T + np.eye(len(tile), dtype=tile.dtype)
            elif square:
                K[others, own] = tile.T
            K[own, others] = tile
        return K

    def _multiplied(
        self, engine: Engine[Any], rows: FloatArray, columns: FloatArray, *, square: bool
    ) -> Iterator[Tile]:
        """All tiles, or those on and above the diagonal, from states of which each is prepared once if all fit."""
        size = tile_size(engine)
        bytes_of_tile = size * self.feature_map.dimension * 2 * engine.dtype.itemsize
        for kept in parts(len(columns), size * max(1, STATE_BYTES // bytes_of_tile)):
            states = self._states(engine, columns[kept])
            for own in parts(kept.stop if square else len(rows), size):
                at_hand = square and own.start >= kept.start
                left = states[_moved(own, -kept.start)] if at_hand else self._states(engine, rows[own])
                left = left.conj()
                for within in parts(len(states), size):
                    others = _moved(within, kept.start)
                    if not square or own.start <= others.start:
                        overlaps = left @ states[within].T
                        yield own, others, np.minimum(np.square(overlaps.real) + np.square(overlaps.imag), 1)

    def _measured(self, engine: Engine[Any], rows: FloatArray, columns: FloatArray, *, square: bool) -> Iterator[Tile]:
        """All tiles, or those on and above the diagonal, pair by pair as the engine does it."""
        size = wide = tile_size(engine)
        if engine.rows_at_once is None:  # a call is a job, or several
            wide = max(len(columns), 1)
            size = _strip_rows(engine, len(rows)) if square else max(len(rows), 1)
        numbers = count()
        for own in parts(len(rows), size):
            first = own.start if square else 0
            for asked in parts(len(columns) - first, wide):
                others = columns[_moved(asked, first)]
                engine = self._engine(next(numbers))
                found = engine.measured(rows[own], others, weights=self.weights, bias=self.bias).kernel
                for within in parts(len(others), size):
                    yield own, _moved(within, first + asked.start), found[:, within]


class ProjectedKernel(CircuitKernel):
    """k(x, y) = exp(-γ Σ_q ‖ρ_q(x) - ρ_q(y)‖²) with the reduced states ρ_q of single qubits (Huang et al., 2021).

    Fidelities of many qubits vanish between most samples; what is left of a state when one looks at a qubit alone
    does so more slowly. The norm is that of Frobenius, so that the sum is half the squared distance of the Bloch
    vectors.

    Parameters
    ----------
    feature_map, weights, bias, scaling, seed : As in :class:`QuantumKernel`.
    gamma : float or "scale". γ; "scale" is 1/n, which takes the mean over qubits in place of the sum and does not
        depend on samples. :meth:`scaled_to` has the one that suits some samples.
    gamma_bounds : pair of float or "fixed". Where a Gaussian process looks for γ, if γ is a number.
    engine : One that has states: "auto" for up to 20 qubits, "statevector", "gates" or such an Engine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from mcquack import FeatureMap
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = ProjectedKernel(FeatureMap(n_qubits=4, n_features=4, n_layers=1)).scaled_to(X)
    >>> SVC(kernel=kernel).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        feature_map: Circuit,
        weights: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        *,
        gamma: float | Literal["scale"] = "scale",
        gamma_bounds: tuple[float, float] | Literal["fixed"] = (1e-5, 1e5),
        engine: EngineChoice = "auto",
        scaling: Scaling | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(feature_map, weights, bias, engine=engine, scaling=scaling, seed=seed)
        if not hasattr(self._engine(), "statevectors"):
            raise InvalidInputError(
                f"the projected kernel reads states, which the {self._engine().name} engine does not have; take "
                'engine="statevector" or "gates" and up to 20 qubits.'
            )
        named = isinstance(gamma, str) and gamma == "scale"
        if not named:
            require(is_number(gamma), "gamma", '"scale" or a positive number', gamma)
            require_positive("gamma", gamma)
        fixed = isinstance(gamma_bounds, str) and gamma_bounds == "fixed"
        pair = isinstance(gamma_bounds, tuple | list) and len(gamma_bounds) == 2 and all(map(is_number, gamma_bounds))
        possible = fixed or (pair and 0 < gamma_bounds[0] <= gamma_bounds[1] < np.inf)  # type: ignore[operator]
        require(possible, "gamma_bounds", 'an increasing pair of positive numbers, or "fixed"', gamma_bounds)
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        """γ as a Gaussian process sees it."""
        fixed = isinstance(self.gamma, str)
        return Hyperparameter("gamma", "numeric", "fixed" if fixed else self.gamma_bounds)

    @property
    def gamma_(self) -> float:
        """γ as a number."""
        return 1 / self.feature_map.n_qubits if isinstance(self.gamma, str) else float(self.gamma)

    def scaled_to(self, X: ArrayLike) -> ProjectedKernel:
        """The same kernel with γ = 1 / (mean of Σ_q ‖ρ_q(x) - ρ_q(y)‖² over all pairs of these samples)."""
        # The mean of squared distances of all pairs is twice the variance, and the sum is half of the distances'.
        mean = float(self._coordinates(X).var(axis=0).sum())
        found: ProjectedKernel = self.__sklearn_clone__()
        return found.set_params(gamma=1 / mean if mean > 1e-12 else 1.0)

    def bloch_vectors(self, X: ArrayLike) -> FloatArray:
        """⟨X⟩, ⟨Y⟩ and ⟨Z⟩ of every qubit of every sample, (N, n, 3)."""
        rows, engine = self.scaled(X), self._engine()
        found = np.empty((len(rows), self.feature_map.n_qubits, 3))
        for part in parts(len(rows), tile_size(engine)):
            found[part] = _bloch_vectors(self._states(engine, rows[part]))
        return found

    def _coordinates(self, X: ArrayLike) -> FloatArray:
        vectors = self.bloch_vectors(X)
        return vectors.reshape(len(vectors), 3 * self.feature_map.n_qubits)

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """The entries (N, M), each in [0, 1]; without Y those of X with itself, symmetric with ones on the diagonal."""
        K = self._distances(X, Y)
        K *= -self.gamma_
        return np.asarray(np.exp(K, out=K))

    def _distances(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Σ_q ‖ρ_q(x) - ρ_q(y)‖² of all pairs."""
        left = self._coordinates(X)
        right = left if Y is None or Y is X else self._coordinates(Y)
        found = cdist(left, right, "sqeuclidean", out=new_kernel(len(left), len(right), np.dtype(np.float64)))
        found /= 2
        return np.asarray(found)

    def _kernel_and_slopes(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        if self.hyperparameter_gamma.fixed:
            return super()._kernel_and_slopes(X)
        exponents = -self.gamma_ * self._distances(X)
        K = np.exp(exponents)
        return K, (exponents * K)[:, :, None]  # by log γ

    def _equality_key(self) -> tuple[Any, ...]:
        return *super()._equality_key(), self.gamma, self.gamma_bounds

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.feature_map!r}, gamma={self.gamma_:.3g}, engine={self.engine!r})"


def parts(n: int, size: int) -> Iterator[slice]:
    """Slices of so many of n, and of the rest."""
    return (slice(first, min(first + size, n)) for first in range(0, n, size))


def tile_size(engine: Engine[Any]) -> int:
    """How many rows are prepared, or multiplied, at once."""
    return min(TILE, engine.rows_at_once or TILE)


def _strip_rows(engine: Engine[Any], n: int) -> int:
    """How many rows of a square kernel of n samples are measured together."""
    return max(-(-n // _STRIPS), 1) if engine.rows_at_once is None else tile_size(engine)


def square_shots(engine: Engine[Any], n: int) -> int:
    """What the square kernel of n samples costs on a device: strips from its diagonal on; simulators cost none."""
    size = _strip_rows(engine, n)
    return sum(min(size, n - first) * (n - first) for first in range(0, n, size)) * engine.shots_per_entry


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)


def new_kernel(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> FloatArray:
    """Room for a kernel; MemoryLimitError if there is not enough."""
    require_room(n_rows, n_columns, dtype)
    return np.empty((n_rows, n_columns), dtype)


def require_room(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> None:
    """Refuses a kernel that does not fit into memory."""
    require_bytes(n_rows * n_columns * dtype.itemsize, f"a kernel of {n_rows:,} × {n_columns:,} entries")


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Values as an array of finite floats; InvalidInputError, which says what came, for anything else."""
    expected = "an array of finite real numbers"
    try:
        array = np.asarray(values)
        real = array if array.dtype.kind in "biufO" else None
        found = None if real is None else real.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} must be {expected}: {error}.") from error
    if found is None:
        raise InvalidInputError(f"{name} must be {expected}, got one of type {array.dtype}.")
    if not np.isfinite(found).all():
        raise InvalidInputError(f"{name} must be {expected}, got NaN or infinity; correct or drop them.")
    return found


def _kept(values: ArrayLike) -> FloatArray:
    """A copy that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _weight_starts(feature_map: Circuit) -> FloatArray:
    starts = feature_map.weight_starts.reshape(feature_map.weights_shape)
    # Features that are amplitudes are in the kernel without any weight.
    return np.where(starts == 0, 1.0, starts) if feature_map.start == "zeros" else starts


def _checked_scaling(scaling: Any, n_features: int) -> tuple[FloatArray, FloatArray]:
    pair = isinstance(scaling, tuple | list) and len(scaling) == 2
    require(pair, "scaling", "a pair of arrays, the factor and the offset of each feature", scaling)
    factor, offset = (_kept(_numbers(part, "scaling")) for part in scaling)
    if factor.shape != (n_features,) or offset.shape != (n_features,):
        raise InvalidInputError(
            f"scaling must have a factor and an offset for each of {n_features} features, got the shapes "
            f"{factor.shape} and {offset.shape}."
        )
    return factor, offset


def _bloch_vectors(states: ComplexArray) -> FloatArray:
    """(N, n, 3) of states (N, 2**n): ⟨X⟩ + i⟨Y⟩ = 2 Σ ā_0 a_1, ⟨Z⟩ = Σ |a_0|² - |a_1|²."""
    n_qubits = states.shape[1].bit_length() - 1
    found = np.empty((len(states), n_qubits, 3))
    for qubit in range(n_qubits):
        halves = states.reshape(len(states), 1 << qubit, 2, 1 << n_qubits - 1 - qubit)
        zero, one = halves[:, :, 0], halves[:, :, 1]
        across = 2 * np.einsum("iab,iab->i", zero.conj(), one)
        found[:, qubit, 0], found[:, qubit, 1] = across.real, across.imag
        found[:, qubit, 2] = _norms(zero) - _norms(one)
    return found


def _norms(amplitudes: ComplexArray) -> FloatArray:
    squares = np.square(amplitudes.real) + np.square(amplitudes.imag)
    return np.asarray(squares.sum(axis=(1, 2)))
