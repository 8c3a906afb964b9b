"""What all classifiers on the trainable feature map share: from what a user passes to what training sees."""

import copy
import math
import warnings
from abc import abstractmethod
from collections.abc import Generator
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.datasets.dataset import held_out
from mcquack.errors import InvalidInputError
from mcquack.models.archived import Archived
from mcquack.models.engines import RunsOn
from mcquack.models.preparation import (
    ClassWeight,
    Plan,
    Samples,
    check_reach,
    checked_sample_weight,
    class_factors,
    class_numbers,
    fitted_scaler,
    merged_repeats,
    scaled,
)
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training.state import TrainingData

HistoryRow = dict[str, float | int | None]
ValidationData = tuple[ArrayLike, ArrayLike]
LAYERS_AT_LEAST = 20


class CircuitClassifier(ClassifierMixin, Archived):
    """A classifier on samples that pass through a trainable feature map."""

    n_qubits: int
    n_repetitions: int | None
    batch_size: int
    scale: bool
    feature_range: tuple[float, float]
    class_weight: ClassWeight
    final_entangler: bool
    dtype: Literal["float32", "float64"]
    n_threads: int | None
    random_state: int | np.random.RandomState | None
    feature_map_: FeatureMap
    history_: list[HistoryRow]
    n_iter_: int
    _seed: int

    _learning_rates: str  # the settings by which a training that diverges is slowed down
    _features_per_gate: Literal[1, 3] = 1
    _fingerprint: str = ""  # of the samples that the training state belongs to
    _seen: NDArray[np.bool_] | np.bool_ = np.True_  # which classes have had samples; a loaded model has seen all

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> Self:
        """Trains until ``epochs`` or ``patience`` is used up; an interrupt keeps the best model so far."""
        epochs = self.fit_iter(X, y, sample_weight, validation_data=validation_data)
        row = None
        try:
            for row in epochs:  # noqa: B007
                pass
        except KeyboardInterrupt:
            if row is None:
                raise
            message = f"training was interrupted after {self.n_iter_} epochs; the best of them is kept."
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    @abstractmethod
    def fit_iter(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> Generator[HistoryRow, None, None]:
        """Trains, yielding each epoch's row of the history; after any of them the estimator can be used."""

    def _tell_divergence(self, epoch: int, *, anything_kept: bool) -> None:
        message = f"training diverged in epoch {epoch}; lower {self._learning_rates}"
        if not anything_kept:
            raise InvalidInputError(f"{message}.")
        warnings.warn(f"{message}. The best model so far is kept.", ConvergenceWarning, stacklevel=3)

    def _check_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise InvalidInputError(f"training needs at least two classes, got one class: {classes.tolist()}.")

    def _checked_samples(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, anew: bool) -> Samples:
        """Validated samples; those of weight zero are left out."""
        # Validation notes the features on what it is given: on a copy, so that a fit that fails changes nothing.
        noted = copy.copy(self) if anew else self
        rows, targets = validate_data(noted, X, y, dtype=np.float64, reset=anew)
        check_classification_targets(targets)
        weights = checked_sample_weight(sample_weight, len(rows))
        used = weights > 0
        names = getattr(noted, "feature_names_in_", None)
        kept = slice(None) if used.all() else used  # no copy of all the data for nothing
        return Samples(rows[kept], targets[kept], weights[kept], names)

    def _plan(
        self,
        samples: Samples,
        *,
        going_on: bool,
        classes: ArrayLike | None = None,
        validation_data: ValidationData | None = None,
        hold_out: float | None = None,
    ) -> Plan:
        """What is settled before the first step; nothing of the estimator changes yet."""
        if going_on:
            known, seed = self.classes_, self._seed
        else:
            known = np.unique(samples.y if classes is None else np.asarray(classes))
            self._check_classes(known)
            seed = int(check_random_state(self.random_state).randint(2**31))
        X, labels = samples.X, class_numbers(samples.y, known)
        factors = class_factors(self.class_weight, known, labels, samples.weights)
        weights = samples.weights * factors[labels]
        kept_back = None
        if validation_data is not None:
            kept_back = self._checked_validation(validation_data, known, factors, like=samples)
        elif hold_out:
            chosen = held_out(labels, fraction=hold_out, seed=seed)
            kept_back = (X[chosen], labels[chosen], weights[chosen]) if chosen.any() else None
            X, labels, weights = X[~chosen], labels[~chosen], weights[~chosen]
        feature_map = self._new_feature_map(X.shape[1])
        if going_on and feature_map != self.feature_map_:
            raise InvalidInputError(
                "the settings now ask for another circuit than that of the trained parameters; "
                "put n_qubits, n_repetitions and final_entangler back, or fit anew without warm_start."
            )
        scaler = self.scaler_ if going_on else self._new_scaler(X)
        if scaler is None:
            check_reach(X, self.dtype)
        data = TrainingData(scaled(X, scaler, self.dtype), labels, weights, len(known))
        present = np.bincount(labels, minlength=len(known)) > 0
        return Plan(
            n_features=X.shape[1],
            feature_names=samples.feature_names,
            classes=known,
            seen=present | self._seen if going_on else present,
            seed=seed,
            scaler=scaler,
            feature_map=feature_map,
            training=merged_repeats(data, self.batch_size),
            validation=kept_back
            and TrainingData(scaled(kept_back[0], scaler, self.dtype), kept_back[1], kept_back[2], len(known)),
        )

    def _checked_validation(
        self, validation_data: ValidationData, classes: NDArray[Any], factors: FloatArray, *, like: Samples
    ) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
        """The user's own validation part, weighted as the training part is."""
        if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
            raise InvalidInputError("validation_data must be a pair (X, y).")
        noted = copy.copy(self)
        noted.n_features_in_ = like.X.shape[1]
        if like.feature_names is not None:
            noted.feature_names_in_ = like.feature_names
        X, y, weights, _ = noted._checked_samples(*validation_data, None, anew=False)
        labels = class_numbers(y, classes)
        return X, labels, weights * factors[labels]

    def _new_scaler(self, X: FloatArray) -> MinMaxScaler | None:
        return fitted_scaler(X, self.feature_range) if self.scale else None

    def _new_feature_map(self, n_features: int) -> FeatureMap:
        once = FeatureMap.with_repetitions(
            n_qubits=self.n_qubits,
            n_features=n_features,
            n_repetitions=1 if self.n_repetitions is None else self.n_repetitions,
            final_entangler=self.final_entangler,
            features_per_gate=self._features_per_gate,
        )
        # On a ring the cost grows steeply with the layers, and on a device the noise.
        if self.n_repetitions is not None or self._runs_on != "statevector":
            return once
        return replace(once, n_layers=once.n_layers * math.ceil(LAYERS_AT_LEAST / once.n_layers))

    @property
    def _runs_on(self) -> RunsOn:
        """The engine, where there is a choice."""
        return "statevector"

    def _statevector_engine(self, feature_map: FeatureMap) -> StatevectorEngine:
        return StatevectorEngine(feature_map, dtype=self.dtype, n_threads=self.n_threads)

    def _keep_plan(self, plan: Plan) -> None:
        """What the plan settled becomes part of the fitted estimator."""
        self.n_features_in_ = plan.n_features
        if plan.feature_names is not None:
            self.feature_names_in_ = plan.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.classes_ = plan.classes
        self.scaler_ = plan.scaler
        self.feature_map_ = plan.feature_map
        self._seed = plan.seed
        self._fingerprint = plan.fingerprint
        self._seen = plan.seen

    def _scaled_rows(self, X: ArrayLike) -> FloatArray:
        return scaled(validate_data(self, X, dtype=np.float64, reset=False), self.scaler_, self.dtype)
