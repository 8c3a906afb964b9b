"""Classifiers with a classical kernel: centroids, landmarks, and support vectors."""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.svm import SVC, LinearSVC

from mcquack.arrays import FloatArray
from mcquack.constraints import POSITIVE, Constraints, Custom, Number, Optional, Whole
from mcquack.kernels.fidelity import with_winner_first
from mcquack.models.archive import Archived, Shape
from mcquack.models.classical.base import ClassicalClassifier, Labels, softmax, winners
from mcquack.models.model_file import ModelFile, require_field, require_tensor, require_that
from mcquack.training.state import class_means

_WIDTH = Number(1e-50, 1e50, closed="both")  # any other width would not leave γ a finite positive number
_GAMMA = Number(0, 1e100, closed="right")


@dataclass(eq=False, repr=False)
class CentroidKernelClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassicalClassifier):
    """Radial basis function between samples and the mean of each class; the largest value decides.

    Parameters
    ----------
    width : of the kernel exp(-‖x - c‖² / (2 width²)); the paper calls it ``scale``. It changes no prediction.
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : for the sake of a common interface; nothing here is random.

    Attributes
    ----------
    centroids_ : (M, d), in scaled features. n_parameters_ : their count, M·d.
    classes_, n_features_in_, feature_names_in_, scaler_ : as in :class:`~mcquack.models.mcquack.McQuackClassifier`.
    """

    _constraints: ClassVar[Constraints] = {"width": _WIDTH}

    width: float = 10.0

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns the (weighted) mean of each class."""
        return self._fit(X, y, sample_weight)

    def transform(self, X: ArrayLike) -> FloatArray:
        """K (N, M): the kernel of every sample with every centroid, each in [0, 1]."""
        kernel: FloatArray = np.exp(self._in_blocks(X, self._log_kernel))
        return kernel

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Kernel values divided by their sum: an ordering with the shape of probabilities, not calibrated ones."""
        return with_winner_first(winners(self.decision_function(X)), softmax(self._in_blocks(X, self._log_kernel)))

    @property
    def n_parameters_(self) -> int:
        return self.centroids_.size

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        self.centroids_: FloatArray = class_means(X, labels, len(self.classes_), weights)

    def _log_kernel(self, X: FloatArray) -> FloatArray:
        # Logarithms keep their order where far samples have kernel values that are too small for a float.
        return -gamma_of_width(self.width) * squared_distances(X, self.centroids_)

    def _scores(self, X: FloatArray) -> FloatArray:
        scores = self._log_kernel(X)
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    @property
    def _n_features_out(self) -> int:
        return len(self.classes_)

    def _shapes(self) -> dict[str, Shape]:
        return {"centroids": (len(self.classes_), self._n_inputs)}


@dataclass(eq=False, repr=False)
class NystroemSVM(ClassicalClassifier):
    """Linear support vector machine, one class against the rest, on the Nyström features of a radial basis function.

    Parameters
    ----------
    width : of the kernel exp(-‖x - z‖² / (2 width²)); the paper calls it ``scale``.
    n_landmarks : how many training samples the kernel is taken with; None takes three for each class.
    C : how much a sample on the wrong side of its margin costs.
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : decides which samples become landmarks.

    Attributes
    ----------
    landmarks_ : (P, d), in scaled features.
    coef_, intercept_ : (M, P) on the kernel with the landmarks and (M,); a single row for two classes.
    n_parameters_ : how many coefficients and intercepts there are.
    classes_, n_features_in_, feature_names_in_, scaler_ : as in :class:`~mcquack.models.mcquack.McQuackClassifier`.
    """

    _constraints: ClassVar[Constraints] = {"width": _WIDTH, "n_landmarks": Optional(Whole(1)), "C": POSITIVE}

    width: float = 1.0
    n_landmarks: int | None = None
    _: KW_ONLY
    C: float = 1.0

    @property
    def n_parameters_(self) -> int:
        """Coefficients and intercepts of the linear machine; the landmarks are samples, not learned."""
        return self.coef_.size + self.intercept_.size

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        wanted = 3 * len(self.classes_) if self.n_landmarks is None else self.n_landmarks
        features = Nystroem(
            gamma=gamma_of_width(self.width), n_components=min(wanted, len(X)), random_state=self.random_state
        )
        machine = LinearSVC(C=self.C, dual="auto", max_iter=10_000, random_state=self.random_state)
        machine.fit(features.fit_transform(X), labels)
        self.landmarks_: FloatArray = features.components_
        # Features are the kernel times a matrix; as the machine is linear too, one matrix does for both.
        self.coef_: FloatArray = machine.coef_ @ features.normalization_
        self.intercept_: FloatArray = machine.intercept_

    def _scores(self, X: FloatArray) -> FloatArray:
        scores: FloatArray = rbf_kernel(X, self.landmarks_, gamma_of_width(self.width)) @ self.coef_.T + self.intercept_
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def _shapes(self) -> dict[str, Shape]:
        n_machines = 1 if len(self.classes_) == 2 else len(self.classes_)
        return {"landmarks": (None, self._n_inputs), "coef": (n_machines, None), "intercept": (n_machines,)}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        fit = 0 < len(self.landmarks_) == self.coef_.shape[1]
        require_that(fit, "it has no landmarks, or not one for each coefficient.")


class PairwiseMachine(Archived):
    """A support vector machine for every pair of classes, as arrays that hold what scikit-learn's SVC has learned."""

    support_vectors_: FloatArray
    n_support_: NDArray[np.int64]
    dual_coef_: FloatArray
    intercept_: FloatArray

    def _set_machine(self, machine: SVC, rows: FloatArray) -> None:
        """Set what a machine has learned from these rows, or from the kernel between them."""
        self.support_vectors_ = rows[machine.support_]
        self.n_support_ = machine.n_support_.astype(np.int64)
        self.dual_coef_, self.intercept_ = machine.dual_coef_, machine.intercept_

    def _margins_of(self, kernel: FloatArray) -> FloatArray:
        """Return the margins of all pairs of classes, from the kernel of samples with the support vectors."""
        return pair_margins(kernel, self.n_support_, dual_coef=self.dual_coef_, intercept=self.intercept_)

    def _shapes(self) -> dict[str, Shape]:
        return {**super()._shapes(), "support_vectors": (None, self._n_inputs)}

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        machine = {"n_support": self.n_support_, "dual_coef": self.dual_coef_, "intercept": self.intercept_}
        return {**super()._saved_tensors(), **machine}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        M, S = len(self.classes_), len(self.support_vectors_)
        self.n_support_ = require_tensor(file, "n_support", shape=(M,), dtype=np.int64)
        self.dual_coef_ = require_tensor(file, "dual_coef", shape=(M - 1, S), dtype=np.float64)
        self.intercept_ = require_tensor(file, "intercept", shape=(M * (M - 1) // 2,), dtype=np.float64)
        counts = self.n_support_.tolist()
        fit = S >= 1 and min(counts) >= 0 and sum(counts) == S
        require_that(fit, "its numbers of support vectors do not add up.")


@dataclass(eq=False, repr=False)
class SupportVectorClassifier(ClassicalClassifier, PairwiseMachine):
    """Support vector machine with the kernel exp(-γ ‖x - v‖²); every pair of classes votes.

    Parameters
    ----------
    C : how much a sample on the wrong side of its margin costs.
    gamma : γ, or "scale" for 1 / (d · variance of all features).
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : for the sake of a common interface; nothing here is random.

    Attributes
    ----------
    support_vectors_ : (S, d) in scaled features, class after class. n_support_ : how many each class has.
    dual_coef_ : (M - 1, S), as in scikit-learn. n_parameters_ : their count. intercept_ : one for each pair of classes.
    gamma_ : γ as a number.
    classes_, n_features_in_, feature_names_in_, scaler_ : as in :class:`~mcquack.models.mcquack.McQuackClassifier`.
    """

    _constraints: ClassVar[Constraints] = {
        "C": POSITIVE,
        "gamma": Custom(
            '"scale" or a positive number (up to 1e100)',
            lambda value: value == "scale" if isinstance(value, str) else _GAMMA.accepts(value),
        ),
    }

    C: float = 1.0
    gamma: float | Literal["scale"] = "scale"

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with most votes of the pairs; the first of several."""
        votes = self._in_blocks(X, lambda rows: _votes(self._margins(rows) >= 0, len(self.classes_)))
        best = votes.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[best]
        return predicted

    @property
    def n_parameters_(self) -> int:
        return self.dual_coef_.size

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        self.gamma_: float = _scale_gamma(X) if isinstance(self.gamma, str) else float(self.gamma)
        self._set_machine(SVC(C=self.C, gamma=self.gamma_).fit(X, labels), X)

    def _margins(self, X: FloatArray) -> FloatArray:
        return self._margins_of(rbf_kernel(X, self.support_vectors_, self.gamma_))

    def _scores(self, X: FloatArray) -> FloatArray:
        return pair_scores(self._margins(X), len(self.classes_))

    def _saved_fields(self) -> dict[str, Any]:
        return {"gamma": self.gamma_}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        self.gamma_ = require_field(file.header, "gamma", float)
        require_that(_GAMMA.accepts(self.gamma_), "the gamma of its kernel is not a positive number (up to 1e100).")


def _scale_gamma(X: FloatArray) -> float:
    """1 / (d · variance), or one for samples that are all alike."""
    spread = float(X.shape[1] * X.var())
    return 1 / spread if spread > 1e-100 else 1.0


# Kernels of a radial basis function


def squared_distances(X: FloatArray, points: FloatArray) -> FloatArray:
    """‖x_i - p_j‖², shape (N, P)."""
    # Distances know no origin; one amid the points saves the digits that a large offset would cost.
    origin = points.mean(axis=0)
    left, right = X - origin, points - origin
    squares: FloatArray = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
    return np.maximum(squares, 0)


def rbf_kernel(X: FloatArray, points: FloatArray, gamma: float) -> FloatArray:
    """K[i, j] = exp(-γ ‖x_i - p_j‖²)."""
    kernel: FloatArray = np.exp(-gamma * squared_distances(X, points))
    return kernel


def gamma_of_width(width: float) -> float:
    """γ = 1 / (2 width²)."""
    return 1 / (2 * float(width) ** 2)


# From a kernel with the support vectors, class after class, to margins of pairs and scores of classes


def pair_margins(
    kernel: FloatArray, n_support: NDArray[np.int64], *, dual_coef: FloatArray, intercept: FloatArray
) -> FloatArray:
    """For each pair of classes i < j a column (N, M(M - 1)/2), positive where j wins, from a kernel (N, S)."""
    ends = np.cumsum(n_support)[:-1]
    kernels, coefficients = (np.split(array, ends, axis=1) for array in (kernel, dual_coef))
    # The vectors of a class have one coefficient against each other class, itself left out of the numbering.
    sides = [K @ rows.T for K, rows in zip(kernels, coefficients, strict=True)]
    pairs = [sides[i][:, j - 1] + sides[j][:, i] for i, j in combinations(range(len(sides)), 2)]
    margins: FloatArray = np.stack(pairs, axis=1) + intercept
    return margins if len(sides) == 2 else -margins  # scikit-learn's sign depends on it


def pair_scores(margins: FloatArray, n_classes: int) -> FloatArray:
    """Votes, and within ±1/3 of them the summed margins; ties of pairs go to either side as in scikit-learn."""
    if n_classes == 2:
        return margins[:, 0]
    confidence = _summed(margins, n_classes)
    scores: FloatArray = _votes(margins > 0, n_classes) + confidence / (3 * (np.abs(confidence) + 1))
    return scores


def _votes(later_wins: NDArray[np.bool_], n_classes: int) -> FloatArray:
    return (_summed(np.where(later_wins, 1.0, -1.0), n_classes) + n_classes - 1) / 2


def _summed(margins: FloatArray, n_classes: int) -> FloatArray:
    """For each class (N, M) the margins of its pairs, positive where it wins."""
    sums = np.zeros((len(margins), n_classes))
    for (i, j), margin in zip(combinations(range(n_classes), 2), margins.T, strict=True):
        sums[:, i] -= margin
        sums[:, j] += margin
    return sums
