"""Ensembles of variational classifiers, the paper's quantum baseline, as scikit-learn classifiers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mcquack.arrays import FloatArray
from mcquack.checks import require
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import POSITIVE, Constraints, constraints_of
from mcquack.kernels.fidelity import shares, with_winner_first
from mcquack.models.archive import Shape
from mcquack.models.base import Trainer
from mcquack.models.circuit_classifier import CircuitClassifier
from mcquack.models.model_file import ModelFile, require_field, require_that
from mcquack.models.preparation import Prepared
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.simulators.statevector import StateEngine
from mcquack.training.endings import Progress, TrainedEpoch
from mcquack.training.ensembles import (
    ClassLogits,
    EnsembleState,
    VariationalReport,
    VariationalSettings,
    VariationalTraining,
)
from mcquack.training.settings import PASSES
from mcquack.training.state import Parameters

_LOOP_SETTINGS = ("decay_rate", "reg_param_weights", "reg_param_bias", "batch_size", "optimizer")


class VariationalClassifier(CircuitClassifier):
    """The base of both ensembles: one circuit for each class, whose ⟨Z₀⟩ is the score of that class.

    Classifier m is trained to separate class m from all others: ⟨Z₀⟩ and ⟨Z₁⟩ are the logits of a cross entropy.
    """

    validation_fraction: float | None
    best_epochs_: NDArray[np.int64]
    _constraints: ClassVar[Constraints] = {name: constraints_of(VariationalSettings)[name] for name in _LOOP_SETTINGS}
    _columns = VariationalReport.__dataclass_fields__.keys()
    _trains_together: bool  # whether the classifiers share weights

    def _as_inputs(self, prepared: Prepared, *, going_on: bool) -> Prepared:
        prepared = super()._as_inputs(prepared, going_on=going_on)
        return replace(prepared, settings=self._settings(prepared.seed))

    def _trainer(self, prepared: Prepared, progress: Progress, *, shown_on: Any) -> Trainer:
        train = VariationalTraining(
            self._statevectors(prepared.engine),
            prepared.training,
            settings=prepared.settings,
            validation=prepared.validation,
        )
        n_classes = len(prepared.classes)

        def trained(progress: Progress, going: Sequence[bool]) -> TrainedEpoch:
            active = np.ones(n_classes, np.bool_) & np.array(going)
            state, report, losses = train(EnsembleState(progress.epoch, list(progress.states), active))
            # The mean loss decides for classifiers that share weights.
            return TrainedEpoch(
                state.trainings, report.as_row(), [report.loss] if self._trains_together else losses.tolist()
            )

        return trained

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        super()._set_fitted(asked, prepared, progress)
        n_classes = len(prepared.classes)
        best = progress.kept[0]
        if not self._trains_together:
            weights, bias = (np.stack([getattr(each, name) for each in progress.kept]) for name in ("weights", "bias"))
            best = Parameters(weights, bias)
        self.weights_, self.bias_ = best.weights, best.bias
        self.best_epochs_ = np.broadcast_to(progress.best_epochs, n_classes).copy()

    def _settings(self, seed: int) -> VariationalSettings:
        given = {name: getattr(self, name) for name in _LOOP_SETTINGS}
        return VariationalSettings(**given, **self._paces(), shared=self._trains_together, seed=seed)

    @abstractmethod
    def _paces(self) -> dict[str, Any]:
        """Return the learning rates and passes of the training loop."""

    def _check_settings(self) -> None:
        super()._check_settings()
        if isinstance(self.feature_map, str | Circuit):  # what a function makes is known later
            _check_width(self.feature_map.n_qubits if isinstance(self.feature_map, Circuit) else int(self.n_qubits))

    def _first_parameters(self, prepared: Prepared) -> list[Parameters]:
        data, n_classes = prepared.training, len(prepared.classes)
        orders = prepared.settings.orders(len(data.X), 0)
        first_batch = orders[0][: self.batch_size]
        seeds = [stream(prepared.seed, "classifier", str(number)).integers(2**31) for number in range(n_classes)]
        drawn = [self._initial_embedding(prepared, first_batch, seed=int(seed)) for seed in seeds]
        if not self._trains_together:
            return [Parameters(weights, bias) for weights, bias in drawn]
        return [Parameters(drawn[0][0][None], np.stack([bias for _, bias in drawn]))]

    # Use

    @staticmethod
    def _statevectors(engine: Engine[Any]) -> StateEngine:
        require(isinstance(engine, StateEngine), "engine", "one of statevectors, which have ⟨Z⟩", engine)
        _check_width(engine.feature_map.n_qubits)
        return cast(StateEngine, engine)

    def _scored(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self, "weights_")
        parameters = Parameters(self.weights_, self.bias_)
        engine = self._statevectors(self._fitted_engine)
        logits = ClassLogits(engine, self.scaled(X), n_classes=len(self.classes_))
        return np.asarray(logits(parameters)[..., 0])

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return ⟨Z₀⟩ of every classifier (N, M); for two classes p₁ - p₀ (N,)."""
        check_is_fitted(self, "weights_")
        if len(self.classes_) > 2:
            return self._scored(X)
        of_both = self.predict_proba(X)
        return of_both[:, 1] - of_both[:, 0]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return (1 + ⟨Z₀⟩) / 2 divided by its sum; these are not calibrated probabilities."""
        scores = self._scored(X)
        return with_winner_first(scores.argmax(axis=1), shares((1 + scores.astype(np.float64)) / 2))

    @property
    def n_parameters_(self) -> int:
        check_is_fitted(self, "weights_")
        return int(self.weights_.size + self.bias_.size)

    # Files

    def _saved_fields(self) -> dict[str, Any]:
        return {**super()._saved_fields(), "best_epochs": self.best_epochs_.tolist()}

    def _shapes(self) -> dict[str, Shape]:
        circuit, n_classes = self.feature_map_, len(self.classes_)
        n_weights = 1 if self._trains_together else n_classes
        return {"weights": (n_weights, *circuit.weights_shape), "bias": (n_classes, *circuit.bias_shape)}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        best = require_field(file.header, "best_epochs", list)
        known = all(type(epoch) is int and 1 <= epoch <= self.n_iter_ for epoch in best)
        fit = known and len(best) == len(self.classes_)
        require_that(fit, "its best epochs are not one of its epochs for each class.")
        self.best_epochs_ = np.array(best, dtype=np.int64)


def _check_width(n_qubits: int) -> None:
    require(n_qubits >= 2, "n_qubits", "at least 2, one for each of the two logits", n_qubits)


@dataclass(eq=False, repr=False, kw_only=True)
class VariationalEnsembleClassifier(VariationalClassifier):
    """M independently trained variational classifiers on McQuack's feature map, the paper's VC.

    Parameters
    ----------
    n_qubits : width of the circuits, 2 to 20.
    n_repetitions : how often every feature is encoded; None takes as many as make at least 20 layers.
    epochs : epochs at most, for each classifier.
    lr : learning rate, multiplied by ``decay_rate`` after each epoch.
    reg_param_weights, reg_param_bias : penalties λ‖w‖² and λ‖b‖².
    batch_size : samples in a mini-batch.
    patience : epochs without a better loss of its own (on the validation part if there is one) after which a classifier
        is done; None never ends early. The best parameters of each classifier are kept.
    init_strategy, init_small, optimizer, scale, class_weight, validation_fraction, feature_map, random_state, verbose :
        as in :class:`McQuackClassifier`.
    engine : "auto", "statevector", "gates", or such an engine with a type and threads of its own. "auto" takes the
        second for the paper's circuits and the third for any other.

    Attributes
    ----------
    weights_, bias_ : (M, L, n, 3), or for other circuits than the paper's (M, P) with P weights or biases.
    best_epochs_ : (M,). classes_, feature_map_, scaler_, history_, n_iter_ : as in :class:`McQuackClassifier`.
    n_parameters_ : M · 6nL for the paper's circuits.
    """

    _constraints: ClassVar[Constraints] = {"lr": POSITIVE}
    _learning_rates = "lr"
    _trains_together = False

    lr: float = 3e-2

    def _paces(self) -> dict[str, Any]:
        return {"lr_weights": self.lr, "lr_bias": self.lr}


@dataclass(eq=False, repr=False, kw_only=True)
class SharedVariationalClassifier(VariationalClassifier):
    """Variational classifiers that share their weights and have biases of their own, optimised in turn.

    It stands between the ensemble and McQuack, as the paper suggests: V(x; θ_m, w) with the angles w·x + θ_m.

    Parameters
    ----------
    epochs : epochs at most; each has ``epochs_shared`` passes over the shared weights, then ``epochs_class`` passes
        over the biases of each class.
    lr_shared, lr_class : learning rates of the two, multiplied by ``decay_rate`` after each epoch.
    patience : epochs without a better mean loss after which training ends.
    All others are those of :class:`VariationalEnsembleClassifier`.

    Attributes
    ----------
    weights_ : (1, L, n, 3). bias_ : (M, L, n, 3). n_parameters_ : 3nL · (1 + M). These are for the paper's circuits;
    all others are those of :class:`VariationalEnsembleClassifier`.
    """

    _constraints: ClassVar[Constraints] = {
        "epochs_shared": PASSES,
        "epochs_class": PASSES,
        "lr_shared": POSITIVE,
        "lr_class": POSITIVE,
    }
    _learning_rates = "lr_shared and lr_class"
    _trains_together = True

    epochs_shared: int = 1
    epochs_class: int = 1
    lr_shared: float = 3e-2
    lr_class: float = 3e-2

    def _paces(self) -> dict[str, Any]:
        rates = {"lr_weights": self.lr_shared, "lr_bias": self.lr_class}
        return {**rates, "passes_weights": self.epochs_shared, "passes_bias": self.epochs_class}
