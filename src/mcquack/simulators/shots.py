"""Engines that measure kernels: through a number of shots, tolerating bit flips, by a simulator or by a device."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import is_whole_number, require, require_possible, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, Sampler
from mcquack.errors import DeviceError, InvalidInputError, ShotBudgetError
from mcquack.randomness import stream
from mcquack.simulators.choice import EngineChoice, engine_of
from mcquack.simulators.engine import (
    AngleRows,
    Cost,
    E,
    Engine,
    Gradient,
    GradientRule,
    Measured,
    MeasuringEngine,
    Wrt,
    angle_rows,
    checked_cotangent,
)
from mcquack.simulators.hamming import checked_tolerance, counts_ones, mean_hamming, required_ones, tolerant_kernel
from mcquack.simulators.samplers import sampled_fidelities, sampled_hamming, sampled_ones
from mcquack.simulators.statevector import StateEngine

_ROWS_AT_ONCE = 64


class TolerantEngine(Engine[E]):
    """An engine whose fidelities are k^b, exact, and whose pullback is their derivative; b = 0 is the engine itself.

    Unlike fidelities, k^b with 0 < b < n changes when samples and centroids change places.

    Parameters
    ----------
    engine : Engine
        One with exact distributions of numbers of ones, on its circuit.
    tolerance : int
        b: outcomes with at most so many ones count as zeros.
    """

    engine: Engine[E]

    def __init__(self, engine: Engine[E], *, tolerance: int) -> None:
        self.engine = engine
        self.tolerance = checked_tolerance(tolerance, engine.feature_map.n_qubits)
        super().__init__(engine.feature_map, dtype=engine.dtype)

    def check(self, feature_map: Circuit) -> None:
        checked_tolerance(self.tolerance, feature_map.n_qubits)

    def cost(self, wrt: Wrt = "embedding") -> Cost:
        return self.engine.cost(wrt)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> E:
        return self.engine.encode(X, weights, bias)

    def fidelities(self, samples: E, centroids: E) -> FloatArray:
        if self.tolerance == 0:
            return self.engine.fidelities(samples, centroids)
        return tolerant_kernel(required_ones(self.engine).hamming_distributions(samples, centroids), self.tolerance)

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        slopes = checked_cotangent(cotangent, samples, centroids)
        if self.tolerance == 0:
            return self.engine.pullback(samples, centroids, slopes, wrt=wrt)
        by_ones = np.zeros((*slopes.shape, self.feature_map.n_qubits + 1))
        by_ones[..., : self.tolerance + 1] = slopes[..., None]
        return required_ones(self.engine).pull_hamming(samples, centroids, by_ones, wrt=wrt)


class Shots(MeasuringEngine[Any]):
    """Trains exactly, and is used as a device would be: every entry of the kernel is a share of shots.

    Shots are drawn from the seed and from what is asked for. The same samples, centroids and parameters, with as many
    shots, give the same counts, whichever method of a model asks and in which process. Any other call, be it for some
    of the same rows, draws independent ones, and so does another ``random_state`` of a model.

    Parameters
    ----------
    shots : int, optional
        Measurements for each entry of the kernel when a model is used; None takes exact values.
    tolerance : int, optional
        b; outcomes with at most b ones count as zeros when a model is used: the paper's k^b. None counts zeros alone,
        which is the fidelity, as 0 does. Equal shares of shots are told apart by their mean number of ones.
    training_tolerance : int, optional
        The b of the kernel that training aligns. Its exact derivatives are those of the ring engine; other engines
        need a ``gradient`` from values.
    engine : "auto", "statevector", "ring" or Engine
        What computes the exact distributions.
    gradient : "exact", "parameter_shift", "stochastic_shift" or "spsa"
        Where training gets its derivatives from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier
    >>> from mcquack.simulators import Shots
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(3, epochs=2, random_state=0).fit(X, y)
    >>> exact = model.transform(X)
    >>> sampled = model.set_params(engine=Shots(1000)).transform(X)
    >>> bool(abs(sampled - exact).max() < 0.1)
    True
    """

    name = "shots"
    engine: EngineChoice

    def __init__(
        self,
        shots: int | None = None,
        *,
        tolerance: int | None = None,
        training_tolerance: int | None = None,
        engine: EngineChoice = "auto",
        gradient: GradientRule = "exact",
    ) -> None:
        possible = shots is None or (is_whole_number(shots) and shots >= 1)
        require(possible, "shots", "None, for exact values, or a whole number of at least 1", shots)
        require_possible("shots", shots or 1)
        _check_gradient(gradient)
        for name, value in (("tolerance", tolerance), ("training_tolerance", training_tolerance)):
            possible = value is None or (is_whole_number(value) and value >= 0)
            require(possible, name, "None or a whole number of at least 0", value)
        self.shots = None if shots is None else int(shots)
        self.tolerance = tolerance
        self.training_tolerance = training_tolerance
        self.engine = engine
        self.gradient = gradient
        self.seed = 0
        inner = engine_of(engine, 1)  # refuses what is no engine; which one "auto" is, the circuit decides
        require(not isinstance(inner, Shots), "engine", "an exact one, not another Shots", engine)
        super().__init__(dtype=inner.dtype)

    @property
    def few_layers(self) -> bool:  # type: ignore[override]
        return isinstance(self.engine, Engine) and self.engine.few_layers

    def check(self, feature_map: Circuit) -> None:
        inner = engine_of(self.engine, feature_map)
        inner.check(feature_map)
        for name in ("tolerance", "training_tolerance"):
            value, most = getattr(self, name), feature_map.n_qubits
            possible = value is None or value <= most
            require(possible, name, f"None or a whole number from 0 to n_qubits = {most}", value)
        if self.training_tolerance is not None and self.gradient == "exact" and isinstance(inner, StateEngine):
            ring = 'engine="ring", or ' if isinstance(feature_map, FeatureMap) else ""
            raise InvalidInputError(
                f"the {inner.name} engine has no exact derivatives of a kernel with a training_tolerance; take {ring}"
                'gradient="parameter_shift" or "spsa", or leave training_tolerance None.'
            )

    @cached_property
    def exact(self) -> Engine[Any]:
        """The engine inside, on the circuit."""
        return engine_of(self.engine, self.feature_map).on(self.feature_map, seed=self.seed)

    def training_engine(self, *, spent: int) -> Engine[Any]:
        """Return the engine inside, seen through the tolerance of training if there is one; shots are for use alone."""
        if self.training_tolerance is None:
            return self.exact
        return TolerantEngine(self.exact, tolerance=self.training_tolerance)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> Any:
        return self.exact.encode(X, weights, bias)

    def fidelities(self, samples: Any, centroids: Any) -> FloatArray:
        return self._read(
            lambda: self.exact.fidelities(samples, centroids),
            lambda rows: required_ones(self.exact).hamming_distributions(samples, centroids)[rows],
            (samples.features, centroids.features, samples.weights, samples.bias),
        ).kernel

    def pullback(self, samples: Any, centroids: Any, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        return self.for_training().pullback(samples, centroids, cotangent, wrt=wrt)

    def read(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> Measured:
        """Return the kernel, exact or drawn at once for all rows, and what decides between equal entries."""
        exact = self.exact

        def distributions(rows: Any) -> FloatArray:
            some, others = X[rows], exact.encode(centroids, weights, bias)
            parts = (some[start : start + _ROWS_AT_ONCE] for start in range(0, max(len(some), 1), _ROWS_AT_ONCE))
            found = required_ones(exact).hamming_distributions
            return np.concatenate([found(exact.encode(part, weights, bias), others) for part in parts])

        return self._read(
            lambda: exact.kernel(X, centroids, weights=weights, bias=bias), distributions, (X, centroids, weights, bias)
        )

    def _read(
        self, kernel: Callable[[], FloatArray], distributions: Callable[[Any], FloatArray], asked: tuple[ArrayLike, ...]
    ) -> Measured:
        """What shots and tolerance make of exact fidelities, or of exact distributions of numbers of ones."""
        seed = self.seed if self.shots is None else self._seed_of(asked)
        if self.tolerance:
            exact = distributions(slice(None))
            found = exact if self.shots is None else sampled_hamming(exact, shots=self.shots, seed=seed)
            return Measured(tolerant_kernel(found, self.tolerance), -mean_hamming(found))
        fidelities, shots = kernel(), self.shots
        if shots is None:
            return Measured(fidelities)
        shares = sampled_fidelities(fidelities, shots=shots, seed=seed)
        if not counts_ones(self.exact):
            return Measured(shares)

        def ties(rows: Any) -> FloatArray:
            # Only where zeros alone do not decide: for statevectors, distributions cost as much as many kernels.
            zeros = np.rint(shares[rows] * shots)
            return -mean_hamming(sampled_ones(distributions(rows), zeros, rows=rows, shots=shots, seed=seed))

        return Measured(shares, ties)

    def _seed_of(self, asked: tuple[ArrayLike, ...]) -> int:
        """From what is asked for alone: no state to keep, and the same answer to every method and thread."""
        digest = hashlib.sha256()
        for values in asked:
            array = np.ascontiguousarray(values, self.dtype)
            digest.update(repr(array.shape).encode())
            digest.update(array.data)
        return int(stream(self.seed, "shots", digest.hexdigest(), str(self.shots)).integers(2**63))


class SampledEngine(MeasuringEngine[AngleRows]):
    """An engine whose fidelities are shares of shots with at most ``tolerance`` ones: the k^b that a device measures.

    It has no derivatives of its own; training takes them from values, as ``gradient`` says.

    Parameters
    ----------
    sampler : Sampler
        Whatever counts: a device, a snapshot of one, or a simulator.
    feature_map : Circuit, optional
        The circuit; a classifier that is given the engine brings its own.
    shots : int
        Measurements for each entry of the kernel, in training too.
    tolerance : int, optional
        b; outcomes with at most b ones count as zeros when a model is used. None counts zeros alone.
    training_tolerance : int, optional
        The b of the kernel that training aligns.
    gradient : "spsa", "stochastic_shift" or "parameter_shift"
        "spsa" takes two kernels in which all parameters are moved at random; "parameter_shift" is exact up to shots, at
        the cost of two kernels or more for each angle; "stochastic_shift" is the same for angles drawn by lot.
    budget : int, optional
        How many shots training may take; it ends, as if out of patience, before the epoch that would exceed them.
    dtype : "float32" or "float64"
        Type of the parameters that training keeps.

    Examples
    --------
    >>> from mcquack import FeatureMap
    >>> from mcquack.simulators import SimulatedSampler
    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> engine = SampledEngine(SimulatedSampler(seed=0), circuit, shots=100)
    >>> parameters = [[[0.1, 0.2, 0.3]] * 2]
    >>> encoded = engine.encode([[0.5, 1.0]], parameters, parameters)
    >>> engine.fidelities(encoded, encoded).tolist()
    [[1.0]]
    """

    name = "sampled"
    few_layers = True
    angles_at_once: ClassVar[int] = 1 << 23  # 64 MiB for the circuits of one call, however many samples there are

    def __init__(
        self,
        sampler: Sampler,
        feature_map: Circuit | None = None,
        *,
        shots: int,
        tolerance: int | None = None,
        training_tolerance: int | None = None,
        gradient: GradientRule = "spsa",
        budget: int | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        require(callable(getattr(sampler, "hamming_counts", None)), "sampler", "one with hamming_counts", sampler)
        counted = is_whole_number(shots) and shots >= 1
        require(counted, "shots", "a whole number of at least 1, since a sampler counts", shots)
        require_possible("shots", shots)
        _check_gradient(gradient)
        if gradient == "exact":
            raise InvalidInputError(
                'a sampler counts and has no exact derivatives; use gradient="spsa", "stochastic_shift" or '
                '"parameter_shift".'
            )
        self.sampler = sampler
        self.shots = int(shots)
        self.tolerance, self.training_tolerance = tolerance, training_tolerance
        self.gradient = gradient
        self.budget = None if budget is None else required_count("budget", budget)
        self._spent = 0
        self._metered = False
        super().__init__(feature_map, dtype=dtype)

    def check(self, feature_map: Circuit) -> None:
        feature_map.for_overlaps()
        for value in (self.tolerance, self.training_tolerance):
            if value is not None:
                checked_tolerance(value, feature_map.n_qubits)

    def training_engine(self, *, spent: int) -> SampledEngine:
        """Return the same sampler with the tolerance of training, whose shots count against the budget."""
        require(is_whole_number(spent) and spent >= 0, "spent", "a whole number of at least 0", spent)
        found = copy.copy(self)
        found.tolerance = self.training_tolerance
        found._spent, found._metered = int(spent), True
        return found

    def cost(self, wrt: Wrt = "embedding") -> Cost:
        return Cost(shots_per_entry=self.shots, spent=self._spent, encoded_as="angles")

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> AngleRows:
        return angle_rows(self.feature_map, X, weights, bias)

    def stacked(self, parts: Sequence[AngleRows]) -> AngleRows:
        """Rows of different parameters as if encoded together, for one call; their parameters are the first ones'."""
        return AngleRows(
            np.concatenate([part.features for part in parts]),
            parts[0].weights,
            parts[0].bias,
            np.concatenate([part.angles for part in parts]),
        )

    def calls(self, samples: AngleRows, centroids: AngleRows) -> list[OverlapCircuits]:
        """The circuits of a kernel, divided into the calls in which the sampler is asked for them."""
        if not len(samples) or not len(centroids):
            return []
        # A device is prepared for the circuit itself; with free angles it would be another one, with the same angles.
        circuit = self._fixed_circuit or self.feature_map
        size = max(1, self.angles_at_once // (max(circuit.n_angles, 1) * len(centroids)))
        circuits = OverlapCircuits(samples=samples.angles, centroids=centroids.angles, circuit=circuit)
        return [circuits[first : first + size] for first in range(0, len(samples), size)]

    def hamming_counts(self, samples: AngleRows, centroids: AngleRows) -> IntArray:
        """How many shots of each circuit found k ones, shape (N, M, n + 1)."""
        found = [np.empty((0, len(centroids), self.feature_map.n_qubits + 1), dtype=np.int64)]
        for some in self.calls(samples, centroids):
            needed = some.shape[0] * some.shape[1] * self.shots
            if self._metered and self.budget is not None and self._spent + needed > self.budget:
                raise ShotBudgetError(
                    f"{some.shape[0]} × {some.shape[1]} circuits with {self.shots} shots are {needed:,} shots, and of "
                    f"the budget of {self.budget:,} only {max(0, self.budget - self._spent):,} are left; nothing was "
                    "sent. Raise the budget, or ask for fewer circuits or shots."
                )
            found.append(self._checked(self.sampler.hamming_counts(some, shots=self.shots), some))
            self._spent += needed
        return np.concatenate(found) if len(centroids) else np.empty((len(samples), *found[0].shape[1:]), np.int64)

    def fidelities(self, samples: AngleRows, centroids: AngleRows) -> FloatArray:
        if len(samples) == 0:
            return np.empty((0, len(centroids)))
        return tolerant_kernel(self.hamming_counts(samples, centroids), self.tolerance or 0)

    def read(self, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray) -> Measured:
        rows, others = (self.encode(some, weights, bias) for some in (X, centroids))
        counts = self.hamming_counts(rows, others)
        return Measured(tolerant_kernel(counts, self.tolerance or 0), -mean_hamming(counts))

    def pullback(self, samples: AngleRows, centroids: AngleRows, cotangent: ArrayLike, *, wrt: Wrt) -> NoReturn:
        checked_cotangent(cotangent, samples, centroids)
        raise InvalidInputError(
            f"a sampler gives counts and no derivatives by the {wrt}; wrap this engine into a SpsaEngine, a "
            'StochasticShiftEngine or a ParameterShiftEngine, as gradient="spsa" and the like do in training.'
        )

    def _checked(self, counts: ArrayLike, circuits: OverlapCircuits) -> IntArray:
        """Anybody may write a sampler; what it counts must at least be counts of what was asked."""
        array, expected = np.asarray(counts), (*circuits.shape, circuits.n_qubits + 1)
        name = type(self.sampler).__name__
        if array.shape != expected or array.dtype.kind not in "iu":
            raise DeviceError(
                f"{name} must give whole numbers of the shape {expected}, got {array.dtype} of the shape "
                f"{array.shape}; correct its hamming_counts."
            )
        if (array < 0).any() or (array.sum(axis=-1) != self.shots).any():
            raise DeviceError(
                f"{name} must count {self.shots} shots for each circuit, but some of its counts sum to another number."
            )
        return array.astype(np.int64, copy=False)


def _check_gradient(gradient: Any) -> None:
    names = get_args(GradientRule)
    require(isinstance(gradient, str) and gradient in names, "gradient", " or ".join(map(repr, names)), gradient)
