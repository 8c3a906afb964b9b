"""The base of every classifier that is trained: one preparation of samples, one ``fit``, one way to resume, one file.

A model says what differs: how samples become the inputs of its circuit, where its parameters start, what trains them
for an epoch, when that ends, and how they score a sample.
"""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number
from mcquack.constraints import CLASS_WEIGHT, RANDOM_STATE, VERBOSE, Constraints
from mcquack.errors import InvalidInputError
from mcquack.models.archive import Trained
from mcquack.models.features import Features
from mcquack.models.preparation import Prepared, checked_samples, class_factors, class_numbers, part_of
from mcquack.randomness import held_out
from mcquack.simulators.compiled.entry import noted_compiling
from mcquack.training.endings import Ending, Progress, Row, TrainedEpoch
from mcquack.training.state import Parameters, TrainingData, TrainingState

HistoryRow = Row
ValidationData = tuple[ArrayLike, ArrayLike]
# Train an epoch of those that go on: (progress, going) -> trained; None if there are no shots left for one.
Trainer: TypeAlias = Callable[[Progress, Sequence[bool]], TrainedEpoch | None]


class TrainedClassifier(ClassifierMixin, Trained):
    """A classifier that is trained epoch by epoch, and can be used after any of them."""

    _constraints: ClassVar[Constraints] = {
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }

    random_state: int | np.random.RandomState | None
    verbose: int
    training_state_: Any
    _going: Sequence[bool] = ()  # which circuits were still training after the last row

    _learning_rates: ClassVar[str]  # the settings to lower if training diverges
    _fingerprint: str = ""  # of the samples that the training state belongs to
    _seen: NDArray[np.bool_] | np.bool_ = np.True_  # which classes have had samples; a loaded model has seen all

    # What a model says of itself

    @property
    @abstractmethod
    def _ending(self) -> Ending:
        """When training ends, and whether the best or the last parameters are kept."""

    @abstractmethod
    def _learned_features(self, data: TrainingData) -> Features | None:
        """Return what becomes of features, learned from training samples; None if they stay as they are."""

    @abstractmethod
    def _as_inputs(self, prepared: Prepared, *, going_on: bool) -> Prepared:
        """Return the samples as the trainer takes them, in place of features as users pass them."""

    @abstractmethod
    def _first_parameters(self, prepared: Prepared) -> Sequence[Parameters]:
        """Return where training starts: the parameters of each circuit that is trained apart."""

    @abstractmethod
    def _trainer(self, prepared: Prepared, progress: Progress, *, shown_on: Self) -> Trainer:
        """Return what trains an epoch; ``shown_on`` is the estimator whose attributes a progress bar reads."""

    def _scored(self, X: ArrayLike) -> FloatArray:
        """Return a score of every sample for every class (N, M), the largest for the class that is predicted."""
        raise NotImplementedError

    @abstractmethod
    def scaled(self, X: ArrayLike) -> FloatArray:
        """Return samples as the circuit takes them."""

    def _usable(self, data: TrainingData) -> TrainingData:
        """Return the samples to learn from, once they have their weights."""
        return data

    def _first_seed(self) -> int:
        return drawn_seed(self.random_state)

    def _check_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise InvalidInputError(f"training needs at least two classes, got one class: {classes.tolist()}.")

    def _check_unchanged(self) -> None:
        """Raise if settings have changed so that the trained parameters no longer fit them."""

    def _resumed(self) -> Progress:
        """Return how far the training of a resumable model is."""
        raise NotImplementedError

    # Training

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train as :meth:`fit_iter` does, to the end.

        An interrupt (Ctrl-C) keeps the model so far, and is raised again. With ``verbose=1`` stderr shows how far
        training is.
        """
        return self._run_through(self.fit_iter(X, y, sample_weight))

    def fit_iter(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Generator[HistoryRow, None, None]:
        """Train, and yield each row of the history; after any of them the model can be used.

        Parameters
        ----------
        X, y, sample_weight : Samples (N, d), labels of any type, and how much each sample counts.
        """
        return self._training_rows(X, y, sample_weight)

    def _training_rows(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        resume: bool = False,
        validation_data: ValidationData | None = None,
    ) -> Generator[HistoryRow, None, None]:
        """Return the rows of a training that begins anew, from the kept parameters, or where it was interrupted."""
        self._check_ready(resume=resume)
        going_on = resume or (getattr(self, "warm_start", False) and hasattr(self, "classes_"))
        if going_on:
            self._check_unchanged()
        asked = copy.copy(self)  # training goes on with the settings of this moment, whatever they are set to meanwhile
        held = getattr(self, "validation_fraction", None)
        prepared = asked._prepared(
            X, y, sample_weight, going_on=going_on, validation_data=validation_data, hold_out=held
        )
        if resume and prepared.fingerprint != self._fingerprint:
            raise InvalidInputError(
                "these are not the samples that the saved training ran on; resume with the same data."
            )
        progress = self._resumed() if resume else asked._first_progress(prepared, going_on=going_on)
        return self._rows(asked, prepared, progress, anew=not going_on)

    def _check_ready(self, *, resume: bool) -> None:
        self._check_settings()
        if resume and not hasattr(self, "training_state_"):
            raise InvalidInputError("there is no training to resume; load a model that was saved with resumable=True.")

    def _first_progress(self, prepared: Prepared, *, going_on: bool) -> Progress:
        return Progress.start([TrainingState.start(each) for each in self._first_parameters(prepared)])

    def _rows(
        self, asked: Self, prepared: Prepared, progress: Progress, *, anew: bool = False
    ) -> Generator[HistoryRow, None, None]:
        """Train with the settings of ``asked``; keep the model in this estimator after each row, and yield the row."""
        ending = asked._ending
        going = ending.going(progress)
        if anew and not any(going):
            self._keep(asked, prepared, progress, going)  # untrained
        train = asked._trainer(prepared, progress, shown_on=self)
        while any(going):
            trained = train(progress.resting(going), going)
            if trained is None:
                return
            if trained.row["loss"] is None:
                asked._warn_diverged(ending.length(progress), anything_kept=progress.n_epochs > 0)
                return
            progress = progress.after(trained, ending.better(progress, trained))
            going = ending.going(progress)
            self._keep(asked, prepared, progress, going)
            yield trained.row
        ending.warn(progress)

    def _keep(self, asked: Self, prepared: Prepared, progress: Progress, going: Sequence[bool]) -> None:
        with changed_at_once(self) as kept:
            kept._set_fitted(asked, prepared, progress)
            kept._going = going

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        """Set what was learned with the settings of ``asked``; models add attributes of their own."""
        self.n_features_in_ = prepared.n_features
        if prepared.feature_names is not None:
            self.feature_names_in_ = prepared.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.classes_ = prepared.classes
        self.features_ = prepared.features
        self.history_ = progress.history
        self.n_iter_ = asked._ending.length(progress)
        self._seed, self._fingerprint, self._seen = prepared.seed, prepared.fingerprint, prepared.seen

    @property
    def _classes_going(self) -> list[Any]:
        """The classes whose circuits still train, if each class has one."""
        return list(self.classes_[np.array(self._going)]) if len(self._going) == len(self.classes_) else []

    @property
    def _unit(self) -> str:
        """What training is counted in."""
        return "step" if hasattr(self, "max_steps") else "epoch"

    def _warn_diverged(self, n_done: int, *, anything_kept: bool) -> None:
        message = f"training diverged after {n_done} {self._unit}s; lower {self._learning_rates}"
        if not anything_kept:
            raise InvalidInputError(f"{message}.")
        warnings.warn(f"{message}. The model is the one before.", ConvergenceWarning, stacklevel=3)

    def _run_through(self, rows: Iterable[HistoryRow]) -> Self:
        """Train to the end; an interrupt after the first row says what is kept.

        It is still an interrupt: whoever fits many models, as a cross validation does, is stopped as well.
        """
        row = None
        with noted_compiling(bool(self.verbose)):
            if self.verbose:
                from mcquack.progress import shown  # not above: it imports rich

                rows = shown(rows, of=self)
            try:
                for row in rows:  # noqa: B007
                    pass
            except KeyboardInterrupt:
                if row is None:
                    raise
                done = f"after {self.n_iter_} {self._unit}s; {self._ending.kept}"
                raise KeyboardInterrupt(f"training was interrupted {done}.") from None
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest score; the first of several."""
        best = self._scored(X).argmax(axis=1)  # raises if the model is not fitted
        predicted: NDArray[Any] = self.classes_[best]
        return predicted

    # From what a user passes to what training sees

    def _prepared(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        going_on: bool = False,
        classes: ArrayLike | None = None,
        validation_data: ValidationData | None = None,
        hold_out: float | None = None,
    ) -> Prepared:
        """Return what is settled before the first step; nothing of the estimator changes yet."""
        checked = self if going_on else copy.copy(self)  # gets the features' names: a fit that fails changes nothing
        rows, y, weights = checked_samples(checked, X, y, sample_weight, reset=not going_on)
        if going_on:
            known, seed = self.classes_, self._seed
        else:
            known = np.unique(y if classes is None else np.asarray(classes))
            self._check_classes(known)
            seed = self._first_seed()
        labels = class_numbers(y, known)
        factors = class_factors(getattr(self, "class_weight", None), known, labels, weights)
        training = self._usable(TrainingData(rows, labels, weights * factors[labels], len(known)))
        validation = None
        if validation_data is not None:
            if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
                raise InvalidInputError("validation_data must be a pair (X, y).")
            held_rows, held_y, held_weights = checked_samples(checked, *validation_data, None, reset=False)
            held_labels = class_numbers(held_y, known)
            validation = TrainingData(held_rows, held_labels, held_weights * factors[held_labels], len(known))
        elif hold_out and (chosen := held_out(training.labels, fraction=hold_out, seed=seed)).any():
            training, validation = part_of(training, ~chosen), part_of(training, chosen)
        present = np.bincount(training.labels, minlength=len(known)) > 0
        prepared = Prepared(
            n_features=rows.shape[1],
            feature_names=getattr(checked, "feature_names_in_", None),
            classes=known,
            seen=present | self._seen if going_on else present,
            seed=seed,
            features=self.features_ if going_on else self._learned_features(training),
            training=training,
            validation=validation,
        )
        return self._as_inputs(prepared, going_on=going_on)


M = TypeVar("M")


@contextmanager
def changed_at_once(model: M) -> Iterator[M]:
    """Yield a copy of the model, and set all its attributes on the model at the end: an interrupt finds all or none.

    >>> from mcquack import McQuackClassifier
    >>> model = McQuackClassifier(epochs=1)
    >>> with changed_at_once(model) as double:
    ...     double.epochs = 2
    ...     model.epochs
    1
    >>> model.epochs
    2
    """
    double = object.__new__(type(model))
    double.__dict__.update(model.__dict__)
    yield double
    model.__dict__ = double.__dict__


def drawn_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed of all random numbers of a training: the first draw from ``random_state``."""
    if is_whole_number(random_state):
        return _seed_from(int(random_state))  # type: ignore[arg-type]
    return int(check_random_state(random_state).randint(2**31))


@lru_cache(maxsize=256)
def _seed_from(random_state: int) -> int:
    """Return the first draw of the generator with this seed; it is kept, as making the generator takes longest."""
    return int(check_random_state(random_state).randint(2**31))
