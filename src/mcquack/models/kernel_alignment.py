"""A support vector machine on a quantum kernel that was trained by alignment first."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from mcquack.arrays import FloatArray
from mcquack.constraints import POSITIVE, Constraints, constraints_of
from mcquack.errors import InvalidInputError, ShotBudgetError
from mcquack.kernels.losses import LossChoice
from mcquack.kernels.quantum import QuantumKernel, require_room, square_shots
from mcquack.models.circuit_classifier import CircuitModel, trained_kernel
from mcquack.models.classical.base import softmax_shares, winners
from mcquack.models.classical.kernel_machines import PairwiseMachine, pair_scores
from mcquack.models.mcquack import McQuackClassifier
from mcquack.models.model_file import ModelFile, require_field, require_that
from mcquack.models.preparation import (
    checked_samples,
    class_factors,
    class_numbers,
    merged_repeats,
    scaled,
)
from mcquack.training.settings import Steps, check_passes
from mcquack.training.state import EpochReport, TrainingData

_LEARNED = (
    "classes_", "n_features_in_", "features_", "scaler_", "feature_map_", "feature_range_", "weights_", "bias_",
    "history_", "n_iter_", "_seed",
)  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class KernelAlignmentClassifier(ClassifierMixin, PairwiseMachine, CircuitModel):
    """Support vector machine on the fidelity kernel of a circuit that is trained first, as McQuack trains it.

    Training the circuit aligns the kernel between samples and trainable centroids, and is linear in samples. Then the
    centroids are dropped, and a machine for every pair of classes learns from the square kernel between all samples,
    which takes N states, one product of N × N entries, and as much memory. Where McQuack describes a class by a point,
    this model has the support vectors on its border. Prediction takes the kernel with these alone, in blocks.

    Parameters
    ----------
    n_qubits, n_repetitions : As in :class:`~mcquack.models.mcquack.McQuackClassifier`, as all but C.
    C : How much a sample on the wrong side of its margin costs; weights of samples and classes multiply it.
    class_weight : None, "balanced" or dict. As in scikit-learn, for the circuit and for the machine.
    engine : As in McQuack; the machine's kernel is that of :class:`~mcquack.kernels.quantum.QuantumKernel`, in double
        precision where the engine is given by its name.

    Attributes
    ----------
    kernel_ : The trained kernel, on features as they are passed to ``fit``.
    support_vectors_ : (S, d) in scaled features, class after class. n_support_ : how many each class has.
    dual_coef_ : (M - 1, S), as in scikit-learn. intercept_ : one for each pair of classes.
    n_parameters_ : Count of weights, biases and dual coefficients.
    shots_ : How many shots ``fit`` took from a device. Its budget holds for training and the square kernel together.
    feature_map_ : The circuit.
    weights_, bias_, classes_, n_features_in_, feature_names_in_, scaler_, history_, n_iter_ : As in McQuack.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelAlignmentClassifier(n_qubits=3, epochs=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.kernel_(X).shape
    (150, 150)
    """

    _constraints: ClassVar[Constraints] = {**constraints_of(McQuackClassifier), "C": POSITIVE}
    _columns = EpochReport.__dataclass_fields__.keys()
    _entries_at_once: ClassVar[int] = 1 << 22  # of the kernel with the support vectors: 32 MiB
    _least_rows: ClassVar[int] = 1024  # with fewer, the states of the support vectors would cost more than the products

    C: float = 1.0
    epochs_ka: int = 1
    epochs_co: int = 1
    lr_ka: float = 3e-2
    lr_co: float = 3e-2
    reg_param_co: float = 1e-3
    n_centroids_per_class: int = 1
    loss: LossChoice = "alignment"
    steps: Steps = "alternating"

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Trains the circuit, then the machine; within one batch a sample of weight two is a sample given twice.

        An interrupt leaves the model as it was: without its machine a circuit predicts nothing.
        """
        self._check_settings()
        trained = self._affordable_alignment(X, y, sample_weight).fit(X, y, sample_weight)
        data = _machine_data(trained, X, y, sample_weight)
        kernel = trained_kernel(trained, on_scaled=True).kernel(data.X)
        machine = SVC(C=self.C, kernel="precomputed").fit(kernel, data.labels, data.row_weights)
        for name in _LEARNED:
            setattr(self, name, getattr(trained, name))
        if hasattr(trained, "feature_names_in_"):
            self.feature_names_in_ = trained.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._set_machine(machine, data.X)
        self.shots_ = trained.shots_ + square_shots(trained._fitted_engine, len(data.X))
        return self

    def _alignment(self) -> McQuackClassifier:
        """What trains the circuit."""
        settings = self.get_params(deep=False)
        return McQuackClassifier(**{name: settings[name] for name in settings if name != "C"})

    def _affordable_alignment(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> McQuackClassifier:
        """The same with what the square kernel of these samples leaves of a budget of shots.

        Refuses, before anything is sent, to train a circuit whose square kernel then has no shots or no memory.
        """
        alignment = self._alignment()
        rows, targets, weights = checked_samples(copy.copy(alignment), X, y, sample_weight, reset=True)
        classes, labels = np.unique(targets, return_inverse=True)
        n = len(merged_repeats(TrainingData(rows, labels, weights, len(classes)), len(rows)).X)
        _, engine = alignment._circuit_and_engine(rows.shape[1])
        require_room(n, n, np.dtype(np.float64) if isinstance(self.engine, str) else engine.dtype)
        if engine.budget is None:
            return alignment
        needed = square_shots(engine, n)
        epoch = alignment.epoch_shots(X, y, sample_weight) if self.epochs else 0
        if needed + epoch > engine.budget:
            raise ShotBudgetError(
                f"the kernel of {n:,} samples with one another takes {needed:,} shots, and an epoch before it "
                f"{epoch:,}; the budget is {engine.budget:,}, and nothing was sent. Raise the budget, or take fewer "
                "samples, fewer shots, or McQuackClassifier, which needs no such kernel."
            )
        thrifty = copy.copy(engine)
        thrifty.budget = max(1, engine.budget - needed)
        alignment.engine = thrifty
        return alignment

    def _check_settings(self) -> None:
        super()._check_settings()
        check_passes(self)

    @property
    def kernel_(self) -> QuantumKernel:
        check_is_fitted(self, "support_vectors_")
        return trained_kernel(self)

    @property
    def n_parameters_(self) -> int:
        check_is_fitted(self, "support_vectors_")
        return int(self.weights_.size + self.bias_.size + self.dual_coef_.size)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Votes of pairs with their summed margins between them (N, M); for two classes the margin (N,)."""
        check_is_fitted(self, "support_vectors_")
        rows = self.scaled(X)
        size = max(self._least_rows, self._entries_at_once // len(self.support_vectors_))
        return np.concatenate([self._scores(rows[part], part.start) for part in gen_batches(len(rows), size)])

    def _scores(self, rows: FloatArray, number: int) -> FloatArray:
        kernel = trained_kernel(self, on_scaled=True, number=number).kernel(rows, self.support_vectors_)
        return pair_scores(self._margins_of(kernel), len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with most votes, of several that with the largest sum of margins."""
        scores = self.decision_function(X)
        predicted: NDArray[Any] = self.classes_[winners(scores)]
        return predicted

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Softmax of the scores: an ordering with the shape of probabilities, not calibrated ones."""
        return softmax_shares(self.decision_function(X))

    # Files

    def _saved_fields(self) -> dict[str, Any]:
        return {**super()._saved_fields(), "shots": self.shots_}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        self.shots_ = require_field(file.header, "shots", int) if "shots" in file.header else 0  # not in 0.2.0
        require_that(self.shots_ >= 0, "its number of shots is not a count.")


def _machine_data(
    trained: McQuackClassifier, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> TrainingData:
    """What the machine learns from: scaled rows, each once in a fixed order, with the weight of its repeats."""
    rows, targets, weights = checked_samples(trained, X, y, sample_weight, reset=False)
    labels = class_numbers(targets, trained.classes_)
    weights = weights * class_factors(trained.class_weight, trained.classes_, labels, weights)[labels]
    used = weights > 0
    empty = trained.classes_[np.bincount(labels[used], minlength=len(trained.classes_)) == 0]
    if len(empty):
        raise InvalidInputError(
            f"class_weight leaves nothing of {empty.tolist()}, and a machine needs samples of every class; give each a "
            "weight above 0."
        )
    rows = rows[used] if trained.features_ is None else trained.features_(rows[used])
    rows = scaled(rows, trained.scaler_, trained.weights_.dtype, trained.feature_map_)
    data = TrainingData(rows, labels[used], weights[used], len(trained.classes_))
    return merged_repeats(data, len(rows))
