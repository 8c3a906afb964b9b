"""The study's instrument as a scikit-learn classifier, so that a benchmark runs, resumes and stores it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.models.preparation import fitted_scaler, merged_repeats, scaled
from mcquack.randomness import held_out
from mcquack.studies import ScoredClassifier
from mcquack.studies.trainability.design import ProbeSettings
from mcquack.studies.trainability.observation import Observation
from mcquack.studies.trainability.subjects import (
    TRAINING_TYPE,
    KernelSubject,
    Problem,
    Row,
    Subject,
    VariationalSubject,
    state_facts,
)
from mcquack.training.state import TrainingData


@dataclass(eq=False, repr=False, kw_only=True)
class TrainabilityProbe(ScoredClassifier, ProbeSettings):
    """A model that is watched: its gradients before the first step, its states, and its training epoch by epoch.

    Training is that of the model itself, with the same seed step for step, but never stops early. Gradients are
    measured in double precision at the parameters that the model starts from.

    Parameters
    ----------
    model : "mcquack", "quack", or the ensembles of variational classifiers "vc" and "shared_vc".
    n_qubits : width of the circuit.
    n_layers : its layers, whatever the number of features: those that no gate would encode are left out. None
        takes ``n_repetitions * ceil(d / n_qubits)``.
    n_repetitions : how often every feature is encoded, where ``n_layers`` is None.
    n_features : only the first so many features of the data; None takes all.
    init_small, init_strategy : as in :class:`McQuackClassifier`.
    regularised : whether weights and biases are penalised, by ``reg_param`` times their squared norms.
    epochs : of training; 0 only measures gradients and states.
    lr, decay_rate, batch_size : those of the paper; ``lr`` is that of all groups of parameters.
    n_train : samples to take, drawn from all by the seed with the shares of the classes; None takes all.
    n_entries : how many single entries of the kernel (or expectation values) are differentiated.
    feature_range : to which features are scaled, by the samples that were taken.
    final_entangler, engine : as in :class:`McQuackClassifier`.
    landscape : points in a row of two square slices of the loss around the trained parameters, an odd number; 0 for
        none, and for kernels only.
    series : a name for what the run belongs to; kept with what is observed, and of no effect.

    Attributes
    ----------
    observation_ : all that was seen. details_ : the same as plain values, for the row of a benchmark.
    classes_, n_features_in_, n_parameters_, scaler_ : as in scikit-learn and in :class:`McQuackClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(20, 3))
    >>> probe = TrainabilityProbe(n_qubits=2, epochs=2, n_threads=1, random_state=0).fit(X, X[:, 0] > 0.5)
    >>> sorted(probe.observation_.gradients), len(probe.observation_.trace["loss"])
    (['bias', 'centroids', 'weights'], 2)
    """

    n_threads: int | None = None
    random_state: int | np.random.RandomState | None = None

    def __post_init__(self) -> None:
        """Checks nothing: estimators do so when they are fitted."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Measures the gradients and states of the start, then trains for ``epochs``."""
        settings = ProbeSettings(**{field.name: getattr(self, field.name) for field in fields(ProbeSettings)})
        problem = self._problem(X, y, settings)
        self._subject: Subject = VariationalSubject(problem) if settings.is_variational else KernelSubject(problem)
        self._feature_map = problem.feature_map
        self._scored: tuple[NDArray[Any], FloatArray] | None = None
        self.observation_: Observation = observed(self._subject, problem)
        self.details_ = self.observation_.to_json()
        return self

    def _problem(self, X: ArrayLike, y: ArrayLike, settings: ProbeSettings) -> Problem:
        rows, targets = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(targets)
        self.classes_, labels = np.unique(targets, return_inverse=True)
        if len(self.classes_) < 2 or (settings.model == "quack" and len(self.classes_) > 2):
            wanted = "two classes" if settings.model == "quack" else "at least two classes"
            raise InvalidInputError(f"{settings.model} needs {wanted}, got {self.classes_.tolist()}.")
        seed = int(check_random_state(self.random_state).randint(2**31))
        if settings.n_train is not None and settings.n_train < len(rows):
            kept = ~held_out(labels, "trainability", fraction=1 - settings.n_train / len(rows), seed=seed)
            rows, labels = rows[kept], labels[kept]
        feature_map = settings.feature_map(rows.shape[1])
        rows = rows[:, : feature_map.n_features]
        self.scaler_ = fitted_scaler(rows, settings.feature_range)
        data = TrainingData(
            scaled(rows, self.scaler_, TRAINING_TYPE, feature_map),
            labels.astype(np.int64),
            np.ones(len(rows)),
            len(self.classes_),
        )
        return Problem(
            settings=settings,
            feature_map=feature_map,
            data=merged_repeats(data, settings.batch_size),
            seed=seed,
            n_threads=self.n_threads,
        )

    def _scores(self, X: ArrayLike) -> FloatArray:
        """Scores (N, M), larger for likelier classes; the last are kept, for the next question is about them."""
        check_is_fitted(self, "observation_")
        given = validate_data(self, X, dtype=np.float64, reset=False)
        if self._scored is None or not np.array_equal(self._scored[0], given):
            rows = scaled(given[:, : self._feature_map.n_features], self.scaler_, TRAINING_TYPE, self._feature_map)
            self._scored = (given, self._subject.class_scores(rows))
        return self._scored[1]

    @property
    def n_parameters_(self) -> int:
        check_is_fitted(self, "observation_")
        return self._subject.n_parameters


def observed(subject: Subject, problem: Problem) -> Observation:
    """All that there is to see of a subject, which is trained afterwards."""
    first_batch_loss, gradients = subject.loss_gradients()
    entries = subject.entry_gradients()
    kernel = {**state_facts(*subject.embedding(), seed=problem.seed), **subject.device_facts()}
    rows = list(_watched(subject, problem.settings.epochs))
    losses = [row["loss"] for row in rows if row["loss"] is not None]
    final = {"final_loss": float(losses[-1]), "best_loss": float(min(losses))} if losses else {}
    names = [name for name in rows[0] if name not in ("epoch", "seconds")] if rows else []
    trace = {name: tuple(row[name] for row in rows) for name in names}
    return Observation(
        model=problem.settings.model,
        seed=problem.seed,
        settings=_observed_settings(problem),
        gradients=gradients,
        fidelity_gradients=entries,
        step_losses=_step_losses(rows, problem),
        trace={name: values for name, values in trace.items() if any(value is not None for value in values)},
        kernel=kernel,
        scores={"first_batch_loss": first_batch_loss, **final},
        landscapes=subject.landscapes(),
    )


def _observed_settings(problem: Problem) -> dict[str, Any]:
    given = asdict(problem.settings).items()
    return {
        **{name: value for name, value in given if name not in ("model", "n_entries", "landscape")},
        "n_layers": problem.feature_map.n_layers,
        "n_features": problem.feature_map.n_features,
        "n_train": len(problem.data.X),
        "engine": problem.settings.runs_on.name,
    }


def _watched(subject: Subject, n_epochs: int) -> Iterator[Row]:
    for number, row in enumerate(subject.epochs() if n_epochs else (), start=1):
        yield row
        if number == n_epochs or row["loss"] is None:
            return


def _step_losses(rows: Sequence[Row], problem: Problem) -> tuple[float, ...]:
    """The losses of KAO step by step, which only epochs of a single step tell: others tell their means."""
    if math.ceil(len(problem.data.X) / problem.settings.batch_size) > 1:
        return ()
    return tuple(float(loss) for row in rows if (loss := row.get("loss_kao", row.get("step_loss"))) is not None)
