"""What the models of the QML benchmark suite share: preparation, drawn batches until the loss settles, and files."""

from __future__ import annotations

import copy
import hashlib
import math
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state as random_state_of
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import is_number, is_whole_number, require, require_positive, required_count
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import shares, with_winner_first
from mcquack.models.archive import STATE, Resumable, Shape, restored_history
from mcquack.models.base import HistoryRow, changed_at_once, keep_columns, run_through
from mcquack.models.features import principal_components
from mcquack.models.model_file import ModelFile, require_field, require_tensor, require_that
from mcquack.models.preparation import (
    ClassWeight,
    check_class_weight,
    check_extent,
    check_random_state,
    check_verbose,
    checked_sample_weight,
    class_factors,
    class_numbers,
    repeats,
)
from mcquack.models.progress import shown
from mcquack.simulators.compiled.notice import noted_compiling
from mcquack.training.drawn import STEPS_AT_ONCE, Advance, CircuitTraining, MeasuredCircuit, start_state
from mcquack.training.draws import Draws, KeyStream
from mcquack.training.optimizer import Moments
from mcquack.training.state import TrainingState
from mcquack.training.step import CONVERGED, DIVERGED, GOING

Scaler: TypeAlias = Literal["standard", "angles", "none"]
Precision: TypeAlias = Literal["float64", "float32"]
Padding: TypeAlias = Literal["always", "fill"]
_FAR = 1e12  # what lies farther off is taken to here: neither an angle nor a square could hold it
_COLUMNS = {"epoch", "loss", "seconds"}
# Of the settings, to resume.
_MAY_CHANGE = {"max_steps", "learning_rate", "convergence_interval", "random_state", "verbose"}


@dataclass(frozen=True, eq=False)
class Preparation:
    """How features become what the circuit takes, as learned from the training samples.

    Where there are more features than ``n_components`` they are replaced by so many principal components. The
    columns are then scaled to mean 0 and variance 1 ("standard"), to [-π/2, π/2] ("angles"), or not at all.
    """

    components: FloatArray  # (k, d); none (0, d) where the features stay
    center: FloatArray  # (d,) of the components
    shift: FloatArray  # (k or d,)
    divisor: FloatArray

    @classmethod
    def learned(cls, rows: FloatArray, weights: FloatArray, *, n_components: int, scaler: Scaler) -> Preparation:
        n_features = rows.shape[1]
        check_extent(rows)
        center: FloatArray = np.zeros(n_features)
        components: FloatArray = np.zeros((0, n_features))
        if n_features > n_components:
            center = np.average(rows, axis=0, weights=weights)
            components = principal_components(rows - center, weights, n_components)
            rows = (rows - center) @ components.T
        shift, divisor = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        if scaler == "standard":
            shift = np.average(rows, axis=0, weights=weights)
            divisor = np.sqrt(np.average((rows - shift) ** 2, axis=0, weights=weights))
        elif scaler == "angles":
            low, high = rows.min(axis=0), rows.max(axis=0)
            shift, divisor = (low + high) / 2, (high - low) / math.pi
            shift = np.where(high > low, shift, low + math.pi / 2)  # what never changes is at the lower end
        rounding = 10 * np.finfo(np.float64).eps * np.abs(rows).max(axis=0)
        return cls(components, center, shift, np.where(divisor > rounding, divisor, 1.0))

    def __call__(self, rows: FloatArray) -> FloatArray:
        if len(self.components):
            rows = (rows - self.center) @ self.components.T
        with np.errstate(over="ignore"):
            prepared: FloatArray = np.clip((rows - self.shift) / self.divisor, -_FAR, _FAR)
        return prepared

    @property
    def n_outputs(self) -> int:
        return len(self.shift)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingSamples:
    """What training sees: rows as circuits start with them, their classes, and weights where they are not all the same.

    They are made once, whatever the number of circuits that train on them.
    """

    n_features: int
    feature_names: NDArray[Any] | None
    classes: NDArray[Any]
    seed: int
    preparation: Preparation
    rows: FloatArray
    labels: IntArray
    weights: FloatArray | None
    fingerprint: str


@dataclass(eq=False, repr=False, kw_only=True)
class DrawnClassifier(ClassifierMixin, Resumable):
    """A classifier that is trained by batches, drawn with replacement, until its loss stands still.

    Where the samples have weights, or repeat themselves, a row is drawn as often as its weight says: a sample of weight
    two is a sample given twice.
    """

    learning_rate: float = 0.001
    batch_size: int = 32
    max_steps: int = 10_000
    convergence_interval: int | None = 200
    n_components: int = 12
    scaling: float = 1.0
    random_state: int | np.random.RandomState | None = 42
    verbose: int = 0

    scaler_ = None  # preparation_ is what scales here

    _scaler: ClassVar[Scaler] = "none"
    _most_components: ClassVar[int] = 20  # one for each qubit that can be simulated
    _most_drawn: ClassVar[int] = 1_000_000
    _most_layers: ClassVar[int] = 10_000
    _key_bound: ClassVar[int] = 10**6

    # What a model says of itself

    @abstractmethod
    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters of one of its circuits, in the order in which they lie."""

    @abstractmethod
    def _initial_parameters(self, keys: KeyStream, n_inputs: int, n_classes: int) -> dict[str, FloatArray]:
        """Where the parameters start."""

    @abstractmethod
    def _training(self, samples: TrainingSamples, number: int) -> Advance:
        """What takes the parameters of one of its circuits a few steps further."""

    @abstractmethod
    def _scores(self, rows: FloatArray) -> FloatArray:
        """Scores (N, M) of prepared rows, the largest for the class that is predicted."""

    def _n_circuits(self, n_inputs: int, n_classes: int) -> int:
        """How many circuits are trained apart: one, or one for each class against all others."""
        return 1

    def _n_told_apart(self, n_inputs: int, n_classes: int) -> int:
        """How many classes one circuit tells apart: all, or its own from all others."""
        return n_classes if self._n_circuits(n_inputs, n_classes) == 1 else 2

    def _labels_for(self, samples: TrainingSamples, number: int) -> IntArray:
        """The classes that a circuit tells apart: those of the samples, or 1 for its own and 0 for all others."""
        n_circuits = self._n_circuits(samples.preparation.n_outputs, len(samples.classes))
        return samples.labels if n_circuits == 1 else (samples.labels == number).astype(np.int64)

    def _starts(self, rows: FloatArray) -> FloatArray:
        """Prepared rows as the start of the circuit takes them."""
        return rows

    def _keys_per_step(self, samples: TrainingSamples) -> int:
        """How many keys the batch of a step is drawn from."""
        return 1

    def _draws(self, samples: TrainingSamples) -> Callable[[IntArray], IntArray]:
        return Draws(len(samples.rows), self.batch_size, samples.weights)

    # Training

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Trains until the loss stands still or ``max_steps`` are used up.

        An interrupt keeps the model so far, and is raised again; with ``verbose=1`` stderr shows how far training is.
        """
        rows: Iterable[HistoryRow] = self.fit_iter(X, y, sample_weight)
        with noted_compiling(bool(self.verbose)):
            if self.verbose:
                rows = shown(rows, of=self)
            run_through(rows, lambda: f"after {self.n_iter_} steps; the model is what it was then")
        return self

    def fit_iter(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, resume: bool = False
    ) -> Generator[HistoryRow, None, None]:
        """Trains, yielding a row of the history for every hundred steps; after any of them the model can be used.

        Parameters
        ----------
        X, y, sample_weight : Samples (N, d), labels of any type, and how much each sample counts.
        resume : Go on after the last row of a model that was saved with ``resumable=True``: given the same data, the
            outcome is the same as without the break.
        """
        self._check_settings()
        if resume and not hasattr(self, "training_state_"):
            raise InvalidInputError("there is no training to resume; load a model that was saved with resumable=True.")
        samples = self._samples(X, y, sample_weight, going_on=resume)
        if resume:
            self._check_resumable(samples)
        # Whatever happens to the estimator meanwhile, training goes on with the settings of this moment.
        return self._rows(copy.copy(self), samples, resume=resume)

    def _check_resumable(self, samples: TrainingSamples) -> None:
        if samples.fingerprint != self._fingerprint:
            raise InvalidInputError(
                "these are not the samples that the saved training ran on; resume with the same data."
            )
        before, now = self._settings_of_fit, self.get_params(deep=False)
        for name in sorted(now.keys() - _MAY_CHANGE):
            if now[name] != before[name]:
                raise InvalidInputError(
                    f"{name} was {before[name]!r} when this training began, and is {now[name]!r} now; put it back to "
                    f"resume. Only {', '.join(sorted(_MAY_CHANGE))} may change."
                )

    def _samples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, going_on: bool
    ) -> TrainingSamples:
        noted = self if going_on else copy.copy(self)  # a fit that fails changes nothing
        rows, targets = validate_data(noted, X, y, dtype=np.float64, reset=not going_on)
        check_classification_targets(targets)
        weights = checked_sample_weight(sample_weight, len(rows))
        used = weights > 0
        classes = np.unique(targets[used])
        if len(classes) < 2:
            raise InvalidInputError(f"training needs at least two classes, got one class: {classes.tolist()}.")
        labels = class_numbers(targets[used], classes)
        factors = class_factors(getattr(self, "class_weight", None), classes, labels, weights[used])
        weights = weights[used] * factors[labels]
        with np.errstate(over="ignore"):
            total = float(weights.sum())
        if not 0 < total < np.inf:
            raise InvalidInputError(
                f"the weights of all samples add up to {total}; class_weight and sample_weight must leave some "
                "of them a weight, and a sum that a number can hold."
            )
        rows, labels, of_rows = repeats(rows[used][weights > 0], labels[weights > 0], weights[weights > 0])
        seed = self._seed if going_on else self._first_seed()
        each = np.ones(len(rows)) if of_rows is None else of_rows
        preparation = Preparation.learned(rows, each, n_components=self.n_components, scaler=self._scaler)
        digest = hashlib.sha256()
        for array in (rows, labels, each):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
        return TrainingSamples(
            n_features=rows.shape[1],
            feature_names=getattr(noted, "feature_names_in_", None),
            classes=classes,
            seed=seed,
            preparation=preparation,
            rows=self._starts(preparation(rows) * self.scaling),
            labels=labels,
            weights=of_rows,
            fingerprint=digest.hexdigest(),
        )

    def _first_seed(self) -> int:
        given = self.random_state
        return int(given) if is_whole_number(given) else int(random_state_of(given).randint(2**31))  # type: ignore[arg-type]

    def _rows(self, asked: Self, samples: TrainingSamples, *, resume: bool) -> Generator[HistoryRow, None, None]:
        """Trains as ``asked``, all circuits in turn, and keeps the outcome of every row in this estimator."""
        n_inputs, n_classes = samples.preparation.n_outputs, len(samples.classes)
        n_circuits = asked._n_circuits(n_inputs, n_classes)
        streams = [
            KeyStream(samples.seed if n_circuits == 1 else [samples.seed, number], asked._key_bound)
            for number in range(n_circuits)
        ]
        starts = [asked._flat(asked._initial_parameters(keys, n_inputs, n_classes)) for keys in streams]
        states = list(self.training_state_) if resume else [start_state(each) for each in starts]
        history = list(self.history_) if resume else []
        draws, n_keys = asked._draws(samples), asked._keys_per_step(samples)
        for keys, state in zip(streams, states, strict=True):
            keys.take(n_keys * state.n_steps)
        trainings = [asked._training(samples, number) for number in range(n_circuits)]
        interval = asked.convergence_interval or 0
        while going := [n for n, state in enumerate(states) if _goes_on(state, asked.max_steps)]:
            started = time.perf_counter()
            losses: list[float] = []
            for number in going:
                state = states[number]
                orders = draws(streams[number].take(n_keys * min(STEPS_AT_ONCE, asked.max_steps - state.n_steps)))
                with self._told_class(samples.classes[number], number, n_circuits):
                    after = trainings[number](state, orders, float(asked.learning_rate), interval)
                if after.outcome == DIVERGED:
                    _tell_divergence(after.n_steps + 1, anything_kept=bool(history))
                    return
                states[number] = after
                losses += after.losses[state.n_steps :].tolist()
            seconds = time.perf_counter() - started
            row: HistoryRow = {"epoch": len(history) + 1, "loss": fmean(losses), "seconds": seconds}
            history.append(row)
            self._keep(asked, samples, list(states), list(history))
            yield row
        if interval and not all(state.outcome == CONVERGED for state in states):
            message = f"the loss had not settled after {asked.max_steps} steps; raise max_steps or learning_rate."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    @contextmanager
    def _told_class(self, label: Any, number: int, n_circuits: int) -> Iterator[None]:
        """Meanwhile the model tells whose circuit is trained, if each class has one: a row tells of all of them."""
        if n_circuits == 1:
            yield
            return
        self._class_at = label, number, n_circuits
        try:
            yield
        finally:
            del self._class_at

    def _keep(
        self, asked: Self, samples: TrainingSamples, states: list[TrainingState], history: list[HistoryRow]
    ) -> None:
        with changed_at_once(self) as kept:
            keep_columns(kept, samples.n_features, samples.feature_names)
            kept.classes_ = samples.classes
            kept.preparation_ = samples.preparation
            kept.parameters_ = np.stack([state.parameters.weights for state in states])
            kept.training_state_ = states
            kept.losses_ = states[0].losses if len(states) == 1 else [state.losses for state in states]
            kept.history_ = history
            kept._set_progress([state.n_steps for state in states], [state.outcome for state in states])
            kept._settings_of_fit = asked.get_params(deep=False)
            kept._seed, kept._fingerprint = samples.seed, samples.fingerprint

    def _set_progress(self, n_steps: Sequence[int], outcomes: Sequence[int]) -> None:
        self.n_steps_ = np.array(n_steps, np.int64)
        self.n_iter_ = int(self.n_steps_.max())
        self._outcomes = list(outcomes)
        self.converged_ = all(outcome == CONVERGED for outcome in outcomes)

    def _flat(self, arrays: Mapping[str, FloatArray]) -> NDArray[Any]:
        return np.concatenate([np.ravel(array) for array in arrays.values()]).astype(self._dtype)

    @property
    def _classes_going(self) -> list[Any]:
        """The classes whose circuits have not settled; none if one circuit tells all of them apart."""
        pairs = zip(self.classes_, self._outcomes, strict=True) if len(self._outcomes) > 1 else ()
        return [label for label, outcome in pairs if outcome == GOING]

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(getattr(self, "dtype", "float64"))

    # Settings

    def _check_settings(self) -> None:
        require_positive("learning_rate", self.learning_rate)
        most = self._most_drawn  # samples are drawn with replacement: any number of them has its place in memory
        possible = required_count("batch_size", self.batch_size) <= most
        require(possible, "batch_size", f"at most {most:,}", self.batch_size)
        required_count("max_steps", self.max_steps)
        if self.convergence_interval is not None:
            required_count("convergence_interval", self.convergence_interval)
        usable = is_whole_number(self.n_components) and 1 <= self.n_components <= self._most_components
        require(usable, "n_components", f"a whole number from 1 to {self._most_components}", self.n_components)
        finite = is_number(self.scaling) and 0 < abs(self.scaling) < 1e6
        require(finite, "scaling", "a number other than 0, of a size below 1e6", self.scaling)
        precision: Any = getattr(self, "dtype", "float64")
        known = isinstance(precision, str) and precision in ("float64", "float32")
        require(known, "dtype", '"float64" or "float32"', precision)
        if hasattr(self, "class_weight"):
            check_class_weight(self.class_weight)
        if hasattr(self, "n_layers"):
            possible = required_count("n_layers", self.n_layers) <= self._most_layers
            require(possible, "n_layers", f"at most {self._most_layers:,}", self.n_layers)
        check_random_state(self.random_state)
        check_verbose(self.verbose)

    # Use

    @property
    def _as_fitted(self) -> Self:
        """The model with the settings that it was fitted with, whatever they have been set to since."""
        check_is_fitted(self, "parameters_")
        fitted = copy.copy(self)
        fitted.set_params(**self._settings_of_fit)
        return fitted

    def _prepared(self, X: ArrayLike) -> FloatArray:
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self.preparation_(rows) * self.scaling

    def _scored(self, X: ArrayLike) -> FloatArray:
        fitted = self._as_fitted
        return fitted._scores(fitted._prepared(X))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Scores (N, M), the largest for the predicted class; for two classes the second less the first (N,)."""
        scores = self._scored(X)
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with the largest score; the first of several."""
        best = self._scored(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[best]
        return predicted

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Scores divided by their sum (N, M); where one is negative, as a bias allows, the least of them counts 0."""
        scores = self._scored(X).astype(np.float64)
        raised = scores - np.minimum(scores.min(axis=1, keepdims=True), 0)
        return with_winner_first(scores.argmax(axis=1), shares(raised))

    @property
    def n_parameters_(self) -> int:
        """How many numbers are trained."""
        check_is_fitted(self, "parameters_")
        return int(self.parameters_.size)

    @property
    def params_(self) -> dict[str, FloatArray]:
        """The trained parameters by name; where a circuit is trained for each class, one after the other."""
        shapes = self._as_fitted._parameter_shapes(self.preparation_.n_outputs, len(self.classes_))
        ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
        parts = np.split(self.parameters_, ends, axis=1)
        several = (len(self.parameters_),) if len(self.parameters_) > 1 else ()
        named = zip(shapes.items(), parts, strict=True)
        return {name: part.reshape(*several, *shape) for (name, shape), part in named}

    # Files

    def _saved_settings(self) -> dict[str, Any]:
        return self._settings_of_fit

    def _saved_fields(self) -> dict[str, Any]:
        return {
            "history": list(self.history_),
            "n_steps": self.n_steps_.tolist(),
            "outcomes": self._outcomes,
            "seed": self._seed,
            "fingerprint": self._fingerprint,
            "resumable": hasattr(self, "training_state_"),
        }

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        tensors = {"parameters": self.parameters_, **vars(self.preparation_)}
        if hasattr(self, "training_state_"):
            states = self.training_state_
            moments = [each.moments["weights"] for each in states]
            tensors |= {STATE + name: np.stack([getattr(each, name) for each in moments]) for name in Moments._fields}
            tensors[STATE + "losses"] = np.concatenate([each.losses for each in states])
        return tensors

    def _restore(self, file: ModelFile) -> None:
        self._settings_of_fit: dict[str, Any] = self.get_params(deep=False)
        n_features, n_classes = self.n_features_in_, len(self.classes_)
        n_inputs = min(self.n_components, n_features)
        shapes: dict[str, Shape] = {
            "components": (n_inputs if n_inputs < n_features else 0, n_features),
            "center": (n_features,),
            "shift": (n_inputs,),
            "divisor": (n_inputs,),
        }
        found = (require_tensor(file, name, shape=shape, dtype=np.float64) for name, shape in shapes.items())
        self.preparation_ = Preparation(*found)
        require_that((self.preparation_.divisor > 0).all(), "its scaling divides by what is not positive.")
        n_circuits = self._n_circuits(n_inputs, n_classes)
        shape = n_circuits, sum(map(math.prod, self._parameter_shapes(n_inputs, n_classes).values()))
        self.parameters_ = require_tensor(file, "parameters", shape=shape, dtype=self._dtype)
        self.history_ = restored_history(file.header, columns=_COLUMNS)
        n_steps, outcomes = (require_field(file.header, name, list) for name in ("n_steps", "outcomes"))
        counts = all(type(each) is int and each >= 0 for each in n_steps) and len(n_steps) == n_circuits
        known = all(each in (GOING, CONVERGED) for each in outcomes) and len(outcomes) == n_circuits
        require_that(counts and known, "its numbers of steps are not counts.")
        self._set_progress(n_steps, outcomes)
        self._seed = require_field(file.header, "seed", int)
        require_that(0 <= self._seed < 2**32, "its seed is none that training can have had.")
        self._fingerprint = require_field(file.header, "fingerprint", str)
        if require_field(file.header, "resumable", bool):
            self._restore_states(file)

    def _restore_states(self, file: ModelFile) -> None:
        shape = self.parameters_.shape
        mean, square = (
            require_tensor(file, STATE + name, shape=shape, dtype=self._dtype) for name in ("mean", "square")
        )
        require_that((square >= 0).all(), "its state of training has negative values where there can be none.")
        losses = require_tensor(file, STATE + "losses", shape=(int(self.n_steps_.sum()),), dtype=np.float64)
        of_each = np.split(losses, np.cumsum(self.n_steps_)[:-1])
        arrays = zip(self.parameters_, map(Moments, mean, square), of_each, self._outcomes, strict=True)
        self.training_state_ = [_restored_state(*each) for each in arrays]
        self.losses_ = of_each[0] if len(of_each) == 1 else of_each


def _restored_state(parameters: FloatArray, moments: Moments, losses: FloatArray, outcome: int) -> TrainingState:
    state = start_state(parameters)
    n_steps = np.where(np.arange(len(state.steps)) == 0, len(losses), 0)
    known = {**state.moments, "weights": moments}
    return replace(state, moments=known, steps=n_steps, losses=losses, outcome=outcome)


def _goes_on(state: TrainingState, max_steps: int) -> bool:
    return state.outcome == GOING and state.n_steps < max_steps


def _tell_divergence(step: int, *, anything_kept: bool) -> None:
    message = f"training diverged in step {step}; lower learning_rate"
    if not anything_kept:
        raise InvalidInputError(f"{message}.")
    warnings.warn(f"{message}. The model is what it was a few steps before.", ConvergenceWarning, stacklevel=3)


@dataclass(eq=False, repr=False, kw_only=True)
class MeasuredClassifier(DrawnClassifier):
    """A classifier whose circuit is measured by expectation values."""

    class_weight: ClassWeight = None
    dtype: Precision = "float64"

    @abstractmethod
    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        """The circuit, its start and its head, to be run on so many rows."""

    def _ideals(self, n_classes: int) -> FloatArray:
        """What the head wants of each class (M, A), of two -1 and 1."""
        return np.array([[-1.0], [1.0]])

    def _training(self, samples: TrainingSamples, number: int) -> CircuitTraining:
        n_inputs, n_classes = samples.preparation.n_outputs, len(samples.classes)
        return CircuitTraining(
            self._model(n_inputs, n_classes, len(samples.rows)),
            samples.rows,
            self._labels_for(samples, number),
            self._ideals(self._n_told_apart(n_inputs, n_classes)),
            batch_size=self.batch_size,
            dtype=self._dtype,
        )

    def _measured(self, rows: FloatArray) -> FloatArray:
        """Expectation values of prepared rows behind each circuit, (K, N, Q)."""
        model = self._model(self.preparation_.n_outputs, len(self.classes_), len(rows))
        starts = self._starts(rows)
        return np.stack([model.measured(starts, parameters) for parameters in self.parameters_])


@dataclass(eq=False, repr=False, kw_only=True)
class OneCircuitForEachClass(MeasuredClassifier):
    """A classifier that tells two classes by the sign of f; of more than two, each is told from all others."""

    def _n_circuits(self, n_inputs: int, n_classes: int) -> int:
        return 1 if n_classes == 2 else n_classes

    def _outputs(self, measured: FloatArray) -> FloatArray:
        """f of every circuit and sample (K, N), of expectation values (K, N, 1)."""
        return measured[..., 0]

    def _scores(self, rows: FloatArray) -> FloatArray:
        f = self._outputs(self._measured(rows)).T
        both = np.hstack([-f, f]) if len(self.classes_) == 2 else f
        return np.asarray((1 + both) / 2)


def normalised(rows: FloatArray, *, size: int) -> FloatArray:
    """Rows as amplitudes: filled up with 1 / size and divided by their norm; where nothing is left, |0…0⟩."""
    padded = np.full((len(rows), size), 1 / size)
    padded[:, : rows.shape[1]] = rows
    norms = np.sqrt((padded**2).sum(axis=1, keepdims=True))
    empty = norms[:, 0] < np.finfo(np.float64).tiny
    padded[empty, 0], norms[empty] = 1.0, 1.0
    return np.asarray(padded / norms)


def amplitude_bits(n_inputs: int, padding: Padding) -> int:
    """How many qubits hold so many amplitudes, and one more that no input has if there is always to be one."""
    return max(1, (n_inputs - (padding == "fill")).bit_length())


def check_padding(padding: Any) -> None:
    """Refuses what does not say when amplitudes are filled up."""
    require(padding in ("always", "fill"), "padding", '"always" or "fill"', padding)
