"""What the models of the QML benchmark suite share: drawn batches until the loss stands still, and their files."""

from __future__ import annotations

import copy
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import is_whole_number
from mcquack.constraints import (
    CLASS_WEIGHT,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
    Constraints,
    Custom,
    Number,
    OneOf,
    Optional,
    Whole,
)
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import shares, with_winner_first
from mcquack.models.archive import STATE, Resumable
from mcquack.models.base import HistoryRow, TrainedClassifier, Trainer, drawn_seed
from mcquack.models.features import Features, reduced_features
from mcquack.models.model_file import ModelFile, require_field, require_tensor, require_that
from mcquack.models.preparation import (
    ClassWeight,
    Prepared,
    check_extent,
    distinct_rows,
    fingerprint,
    part_of,
)
from mcquack.training.drawn import STEPS_AT_ONCE, Advance, DrawnTraining, MeasuredCircuit, start_state
from mcquack.training.draws import Draws, KeyStream
from mcquack.training.endings import Convergence, Ending, Progress, TrainedEpoch
from mcquack.training.state import Parameters, TrainingData, TrainingState
from mcquack.training.step import CONVERGED, DIVERGED, GOING

Scaler: TypeAlias = Literal["standard", "angles", "none"]
Precision: TypeAlias = Literal["float64", "float32"]
Shapes: TypeAlias = dict[str, tuple[int, ...]]  # of parameters, by name
_MAY_CHANGE = {"max_steps", "learning_rate", "convergence_interval", "random_state", "verbose"}  # when training resumes


@dataclass(eq=False, repr=False, kw_only=True)
class DrawnClassifier(TrainedClassifier, Resumable):
    """A classifier that is trained by batches, drawn with replacement, until its loss stands still.

    Where the samples have weights, or repeat themselves, a row is drawn as often as its weight says: a sample of weight
    two is a sample given twice.
    """

    _constraints: ClassVar[Constraints] = {
        "learning_rate": POSITIVE,
        # Samples are drawn with replacement: a batch of any size takes memory.
        "batch_size": Whole(1, most=1_000_000),
        "max_steps": Whole(1),
        "convergence_interval": Optional(Whole(1)),
        "n_components": Whole(1, most=20),  # one for each qubit that can be simulated
        "n_layers": Whole(1, most=10_000),
        "scaling": Custom(
            "a number other than 0, of a size below 1e6",
            lambda value: Number(-1e6, 1e6, closed="neither").accepts(value) and value != 0,
        ),
        "class_weight": CLASS_WEIGHT,
        "dtype": OneOf(*get_args(Precision)),
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }

    learning_rate: float = 0.001
    batch_size: int = 32
    max_steps: int = 10_000
    convergence_interval: int | None = 200
    n_components: int = 12
    scaling: float = 1.0
    random_state: int | np.random.RandomState | None = 42
    verbose: int = 0

    _columns: ClassVar[Set[str]] = {"epoch", "loss", "seconds"}
    _learning_rates: ClassVar[str] = "learning_rate"
    _seed_bound: ClassVar[int] = 2**32
    _scaler: ClassVar[Scaler] = "none"
    _key_bound: ClassVar[int] = 10**6

    # What a model says of itself

    @abstractmethod
    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        """Return the names and shapes of one circuit's parameters, in the order in which they are stored."""

    @abstractmethod
    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        """Return the first parameters of one circuit, drawn from the next keys."""

    @abstractmethod
    def _training(self, prepared: Prepared, number: int) -> Advance:
        """Return what trains the circuit of this number for some steps."""

    @abstractmethod
    def _scores(self, rows: FloatArray) -> FloatArray:
        """Return scores (N, M) of scaled rows, the largest for the class that is predicted."""

    def _n_circuits(self, n_inputs: int, n_classes: int) -> int:
        """Return the number of circuits: one, or one for each class against all others."""
        return 1

    def _n_separated(self, n_inputs: int, n_classes: int) -> int:
        """Return the number of classes that one circuit separates: all, or its own from all others."""
        return n_classes if self._n_circuits(n_inputs, n_classes) == 1 else 2

    def _labels_for(self, prepared: Prepared, number: int) -> IntArray:
        """Return the labels of one circuit: those of the samples, or 1 for its own class and 0 for all others."""
        labels = prepared.training.labels
        n_circuits = self._n_circuits(prepared.n_inputs, len(prepared.classes))
        return labels if n_circuits == 1 else (labels == number).astype(np.int64)

    def _starts(self, rows: FloatArray) -> FloatArray:
        """Return scaled rows as the start of the circuit takes them."""
        return rows

    def _keys_per_step(self, prepared: Prepared) -> int:
        """Return the number of keys that the batch of a step is drawn from."""
        return 1

    def _draws(self, prepared: Prepared) -> Callable[[IntArray], IntArray]:
        return Draws(len(prepared.training.X), self.batch_size, drawn_weights(prepared.training))

    # Training

    def fit_iter(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, resume: bool = False
    ) -> Generator[HistoryRow, None, None]:
        """Train, and yield a row of the history for every hundred steps; after any of them the model can be used.

        Parameters
        ----------
        X, y, sample_weight : Samples (N, d), labels of any type, and how much each sample counts.
        resume : Go on after the last row of a model that was saved with ``resumable=True``: given the same data, the
            outcome is the same as without the break.
        """
        return self._training_rows(X, y, sample_weight, resume=resume)

    @property
    def _ending(self) -> Ending:
        return Convergence(self.convergence_interval, self.max_steps)

    def _first_seed(self) -> int:
        given = self.random_state
        return int(given) if is_whole_number(given) else drawn_seed(given)  # type: ignore[arg-type]

    def _usable(self, data: TrainingData) -> TrainingData:
        with np.errstate(over="ignore"):
            total = float(data.row_weights.sum())
        if not 0 < total < np.inf:
            raise InvalidInputError(
                f"the weights of all samples add up to {total}; class_weight and sample_weight must leave some "
                "of them a weight, and a sum that a number can hold."
            )
        return distinct_rows(part_of(data, data.row_weights > 0))

    def _learned_features(self, data: TrainingData) -> Features:
        check_extent(data.X)
        return reduced_features(data.X, data.row_weights, n_components=self.n_components, scale=self._scaler)

    def _as_inputs(self, prepared: Prepared, *, going_on: bool) -> Prepared:
        data = prepared.training
        rows = self._starts(cast(Features, prepared.features)(data.X) * self.scaling)
        return replace(prepared, training=replace(data, X=rows), fingerprint=fingerprint(data))

    def _check_unchanged(self) -> None:
        before, now = self._settings_of_fit, self.get_params(deep=False)
        for name in sorted(now.keys() - _MAY_CHANGE):
            if now[name] != before[name]:
                raise InvalidInputError(
                    f"{name} was {before[name]!r} when this training began, and is {now[name]!r} now; put it back to "
                    f"resume. Only {', '.join(sorted(_MAY_CHANGE))} may change."
                )

    def _drawn(self, prepared: Prepared) -> tuple[list[KeyStream], list[Parameters]]:
        """Return the keys of each circuit, and the first parameters that were drawn from them."""
        n_inputs, n_classes, seed = prepared.n_inputs, len(prepared.classes), prepared.seed
        n_circuits = self._n_circuits(n_inputs, n_classes)
        streams = [
            KeyStream(seed if n_circuits == 1 else [seed, number], self._key_bound) for number in range(n_circuits)
        ]
        shapes = self._parameter_shapes(n_inputs, n_classes)
        flat = [self._flat(self._initial_parameters(keys, shapes)) for keys in streams]
        return streams, [Parameters(each, np.zeros(0, each.dtype)) for each in flat]

    def _first_parameters(self, prepared: Prepared) -> list[Parameters]:
        return self._drawn(prepared)[1]

    def _trainer(self, prepared: Prepared, progress: Progress, *, shown_on: Self) -> Trainer:
        streams, _ = self._drawn(prepared)
        draws, n_keys = self._draws(prepared), self._keys_per_step(prepared)
        for keys, state in zip(streams, progress.states, strict=True):
            keys.take(n_keys * state.n_steps)
        trainings = [self._training(prepared, number) for number in range(len(streams))]
        rate, interval = float(self.learning_rate), self.convergence_interval or 0

        def trained(progress: Progress, going: Sequence[bool]) -> TrainedEpoch:
            started, states, losses = time.perf_counter(), list(progress.states), []
            for number in [number for number, goes in enumerate(going) if goes]:
                before = states[number]
                n_steps = min(STEPS_AT_ONCE, self.max_steps - before.n_steps)
                orders = draws(streams[number].take(n_keys * n_steps))
                with shown_on._training_class(prepared.classes[number], number, len(states)):
                    states[number] = trainings[number](before, orders, rate, interval)
                losses += states[number].losses[before.n_steps :].tolist()
                if states[number].outcome == DIVERGED:
                    losses = [np.nan]
                    break
            loss = fmean(losses)
            row: HistoryRow = {
                "epoch": progress.epoch + 1,
                "loss": loss if np.isfinite(loss) else None,
                "seconds": time.perf_counter() - started,
            }
            return TrainedEpoch(states, row, [loss] * len(states))

        return trained

    @contextmanager
    def _training_class(self, label: Any, number: int, n_circuits: int) -> Iterator[None]:
        """Name the class whose circuit is trained meanwhile, if each class has one: a row is about all of them."""
        if n_circuits == 1:
            yield
            return
        self._class_at = label, number, n_circuits
        try:
            yield
        finally:
            del self._class_at

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        super()._set_fitted(asked, prepared, progress)
        self.parameters_ = np.stack([each.weights for each in progress.kept])
        self._set_states(list(progress.states))
        self._settings_of_fit: dict[str, Any] = asked.get_params(deep=False)

    def _set_states(self, states: list[TrainingState]) -> None:
        self.training_state_ = states
        self.losses_ = states[0].losses if len(states) == 1 else [state.losses for state in states]
        self._set_counts([state.n_steps for state in states], [state.outcome for state in states])

    def _set_counts(self, n_steps: Sequence[int], outcomes: Sequence[int]) -> None:
        self.n_steps_ = np.array(n_steps, np.int64)
        self.n_iter_ = int(self.n_steps_.max())
        self._outcomes = list(outcomes)
        self.converged_ = all(outcome == CONVERGED for outcome in outcomes)

    def _resumed(self) -> Progress:
        n_epochs = len(self.history_)
        return Progress.start(self.training_state_, history=self.history_, epoch=n_epochs, n_epochs=n_epochs)

    def _flat(self, arrays: Mapping[str, FloatArray]) -> NDArray[Any]:
        return np.concatenate([np.ravel(array) for array in arrays.values()]).astype(self._dtype)

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(getattr(self, "dtype", "float64"))

    # Use

    @property
    def _as_fitted(self) -> Self:
        """The model with the settings that it was fitted with, whatever they have been set to since."""
        check_is_fitted(self, "parameters_")
        fitted = copy.copy(self)
        fitted.set_params(**self._settings_of_fit)
        return fitted

    def scaled(self, X: ArrayLike) -> FloatArray:
        """Return samples as the circuit takes them: checked, reduced and scaled."""
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self.preparation_(rows) * float(self._settings_of_fit["scaling"])

    @property
    def preparation_(self) -> Features:
        """How features are reduced and scaled, as a function of rows: the same as ``features_``."""
        return cast(Features, self.features_)

    def _scored(self, X: ArrayLike) -> FloatArray:
        return self._as_fitted._scores(self.scaled(X))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return scores (N, M), the largest for the predicted class; for two classes their difference (N,)."""
        scores = self._scored(X)
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return scores divided by their sum (N, M); if a score is negative, the lowest of its row counts as 0."""
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
        shapes = self._as_fitted._parameter_shapes(self._n_inputs, len(self.classes_))
        ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
        parts = np.split(self.parameters_, ends, axis=1)
        several = (len(self.parameters_),) if len(self.parameters_) > 1 else ()
        named = zip(shapes.items(), parts, strict=True)
        return {name: part.reshape(*several, *shape) for (name, shape), part in named}

    # Files

    def _saved_settings(self) -> dict[str, Any]:
        return self._settings_of_fit

    def _saved_fields(self) -> dict[str, Any]:
        return {**super()._saved_fields(), "n_steps": self.n_steps_.tolist(), "outcomes": self._outcomes}

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        tensors = {"parameters": self.parameters_}
        if hasattr(self, "training_state_"):
            states = self.training_state_
            tensors |= {STATE + name: np.stack([getattr(each, name) for each in states]) for name in ("mean", "square")}
            tensors[STATE + "losses"] = np.concatenate([each.losses for each in states])
        return tensors

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        self._settings_of_fit = self.get_params(deep=False)
        n_inputs, n_classes = min(self.n_components, self.n_features_in_), len(self.classes_)
        reduced = self.features_ is not None and self.features_.divides and self._n_inputs == n_inputs
        require_that(reduced, "its features are not scaled as its settings say.")
        n_circuits = self._n_circuits(n_inputs, n_classes)
        shape = n_circuits, sum(map(math.prod, self._parameter_shapes(n_inputs, n_classes).values()))
        self.parameters_ = require_tensor(file, "parameters", shape=shape, dtype=self._dtype)
        n_steps, outcomes = (require_field(file.header, name, list) for name in ("n_steps", "outcomes"))
        counts = all(type(each) is int and each >= 0 for each in n_steps) and len(n_steps) == n_circuits
        known = all(each in (GOING, CONVERGED) for each in outcomes) and len(outcomes) == n_circuits
        require_that(counts and known, "its numbers of steps are not counts.")
        self._set_counts(n_steps, outcomes)
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
        arrays = zip(self.parameters_, mean, square, of_each, self._outcomes, strict=True)
        self._set_states([_restored_state(*each) for each in arrays])


def _restored_state(
    parameters: FloatArray, mean: FloatArray, square: FloatArray, losses: NDArray[Any], outcome: int
) -> TrainingState:
    state = start_state(parameters)
    n_steps = np.where(np.arange(len(state.steps)) == 0, len(losses), 0)
    return replace(state, mean=mean, square=square, steps=n_steps, losses=losses, outcome=outcome)


def drawn_weights(data: TrainingData) -> FloatArray | None:
    """Return how often rows are drawn; None if all are as likely."""
    return None if (data.row_weights == 1).all() else data.row_weights


@dataclass(eq=False, repr=False, kw_only=True)
class MeasuredClassifier(DrawnClassifier):
    """A classifier whose circuit is measured by expectation values."""

    class_weight: ClassWeight = None
    dtype: Precision = "float64"

    @abstractmethod
    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        """Return the circuit with its start and its head, to be run on so many rows."""

    def _training(self, prepared: Prepared, number: int) -> DrawnTraining:
        rows, labels = prepared.training.X, self._labels_for(prepared, number)
        model = self._model(prepared.n_inputs, len(prepared.classes), len(rows))
        return DrawnTraining(model, rows, labels, batch_size=self.batch_size, dtype=self._dtype)

    def _measured(self, rows: FloatArray) -> FloatArray:
        """Return the expectation values (K, N, Q) of scaled rows behind each circuit."""
        model = self._model(self._n_inputs, len(self.classes_), len(rows))
        starts = self._starts(rows)
        return np.stack([model.measured(starts, parameters) for parameters in self.parameters_])


@dataclass(eq=False, repr=False, kw_only=True)
class OneCircuitForEachClass(MeasuredClassifier):
    """A classifier that separates two classes by the sign of f; more than two have one circuit each."""

    def _n_circuits(self, n_inputs: int, n_classes: int) -> int:
        return 1 if n_classes == 2 else n_classes

    def _outputs(self, measured: FloatArray) -> FloatArray:
        """Return f of every circuit and sample (K, N) from expectation values (K, N, 1)."""
        return measured[..., 0]

    def _scores(self, rows: FloatArray) -> FloatArray:
        f = self._outputs(self._measured(rows)).T
        both = np.hstack([-f, f]) if len(self.classes_) == 2 else f
        return np.asarray((1 + both) / 2)
