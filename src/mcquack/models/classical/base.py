"""What the classical baselines share: from what a user passes to scaled rows, and from scores to labels."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.constraints import RANDOM_STATE, Constraints, Optional, Whole
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import with_winner_first
from mcquack.models.archive import Archived
from mcquack.models.base import changed_at_once
from mcquack.models.features import SCALE, Scale
from mcquack.models.preparation import checked_samples, learned_scaling

Labels = NDArray[np.int64]
_BLOCK = 1024  # samples that are predicted at a time, so that no kernel of all of them is ever held
_FAR = 1e100  # squares of anything farther could be infinite


@dataclass(eq=False, repr=False, kw_only=True)
class ClassicalClassifier(ClassifierMixin, Archived):
    """A classifier that learns from scaled rows and class numbers, and gives each row a score for every class."""

    _constraints: ClassVar[Constraints] = {
        "n_components": Optional(Whole(1)),
        "scale": SCALE,
        "random_state": RANDOM_STATE,
    }

    n_components: int | None = None
    scale: Scale = True
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learns from samples (N, d) and their labels, of any type."""
        return self._fit(X, y)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self._check_settings()
        with changed_at_once(self) as fitted:  # a fit that fails changes nothing
            rows, targets, weights = checked_samples(fitted, X, y, sample_weight, reset=True)
            classes, labels = np.unique(targets, return_inverse=True)
            if len(classes) < 2:
                raise InvalidInputError(
                    f"training needs at least two classes, got one class or none: {classes.tolist()}."
                )
            fitted.features_, fitted.scaler_ = learned_scaling(
                rows, labels, weights, n_components=self.n_components, scale=self.scale
            )
            fitted.classes_ = classes
            fitted._learn(fitted._scaled(rows), labels, weights)
        return self

    @abstractmethod
    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        """Sets what is learned from scaled rows, the number of each one's class, and positive weights."""

    @abstractmethod
    def _scores(self, X: FloatArray) -> FloatArray:
        """Scores (N, M) of scaled rows; for two classes one number (N,), positive for the second."""

    @property
    @abstractmethod
    def n_parameters_(self) -> int:
        """How many numbers were learned, as the paper counts them."""

    def _scaled(self, rows: FloatArray) -> FloatArray:
        rows = rows if self.features_ is None else self.features_(rows)
        with np.errstate(over="ignore"):
            scaled: FloatArray = rows if self.scaler_ is None else self.scaler_.transform(rows)
        return np.clip(scaled, -_FAR, _FAR)

    def _in_blocks(self, X: ArrayLike, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        check_is_fitted(self, "classes_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return np.concatenate([function(self._scaled(rows[part])) for part in gen_batches(len(rows), _BLOCK)])

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Scores (N, M), the largest for the predicted class; for two classes one number (N,) instead."""
        return self._in_blocks(X, self._scores)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with the largest score; the first of several."""
        scores = self.decision_function(X)
        predicted: NDArray[Any] = self.classes_[winners(scores)]
        return predicted


def winners(scores: FloatArray) -> NDArray[np.intp]:
    """The numbers of the classes that scores (N, M), or for two classes one number (N,), say; the first of several."""
    found: NDArray[np.intp] = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
    return found


def softmax(scores: FloatArray) -> FloatArray:
    """exp(s_m) / Σ exp(s_k) along each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return shares


def softmax_shares(scores: FloatArray) -> FloatArray:
    """Return the softmax of scores (N, M), or of 0 and the score of two classes (N,); the predicted class leads."""
    both = scores if scores.ndim == 2 else np.stack([np.zeros_like(scores), scores], axis=1)
    return with_winner_first(winners(scores), softmax(both))
