"""The support vector classifier, with a classifier for every pair of classes."""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import SVC

from mcquack.arrays import FloatArray
from mcquack.constraints import POSITIVE, Constraints, Custom, Number
from mcquack.models.archive import Shape
from mcquack.models.classical.base import ClassicalClassifier, Labels, rbf_kernel
from mcquack.models.features import Scale
from mcquack.models.model_file import ModelFile, require_field, require_tensor, require_that

_GAMMA = Number(0, 1e100, closed="right")


@dataclass(eq=False, repr=False)
class SupportVectorClassifier(ClassicalClassifier):
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
    _: KW_ONLY
    n_components: int | None = None
    scale: Scale = True
    random_state: int | np.random.RandomState | None = None

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
        machine = SVC(C=self.C, gamma=self.gamma_).fit(X, labels)
        self.support_vectors_: FloatArray = machine.support_vectors_
        self.n_support_: NDArray[np.int64] = machine.n_support_.astype(np.int64)
        self.dual_coef_: FloatArray = machine.dual_coef_
        self.intercept_: FloatArray = machine.intercept_

    def _margins(self, X: FloatArray) -> FloatArray:
        kernel = rbf_kernel(X, self.support_vectors_, self.gamma_)
        return pair_margins(kernel, self.n_support_, dual_coef=self.dual_coef_, intercept=self.intercept_)

    def _scores(self, X: FloatArray) -> FloatArray:
        return pair_scores(self._margins(X), len(self.classes_))

    def _shapes(self) -> dict[str, Shape]:
        M, d = len(self.classes_), self._n_inputs
        return {"support_vectors": (None, d), "dual_coef": (M - 1, None), "intercept": (M * (M - 1) // 2,)}

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        return {**super()._saved_tensors(), "n_support": self.n_support_}

    def _saved_fields(self) -> dict[str, Any]:
        return {"gamma": self.gamma_}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        self.gamma_ = require_field(file.header, "gamma", float)
        n_vectors = len(self.support_vectors_)
        self.n_support_ = restored_numbers(file, n_classes=len(self.classes_), n_vectors=n_vectors)
        require_that(self.dual_coef_.shape[1] == n_vectors, "its numbers of support vectors do not add up.")
        require_that(_GAMMA.accepts(self.gamma_), "the gamma of its kernel is not a positive number (up to 1e100).")


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


def restored_numbers(file: ModelFile, *, n_classes: int, n_vectors: int) -> NDArray[np.int64]:
    """How many support vectors each class has, if all of them together are those of the file."""
    found = require_tensor(file, "n_support", shape=(n_classes,), dtype=np.int64)
    counts = found.tolist()
    fit = n_vectors >= 1 and min(counts) >= 0 and sum(counts) == n_vectors
    require_that(fit, "its numbers of support vectors do not add up.")
    return found


def _scale_gamma(X: FloatArray) -> float:
    """1 / (d · variance), or one for samples that are all alike."""
    spread = float(X.shape[1] * X.var())
    return 1 / spread if spread > 1e-100 else 1.0
