"""Experiments that come along: their datasets and models, for a benchmark to name as "module:name"."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class ScoredClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn's bases are untyped
    """A classifier that has a score for each class, larger for likelier ones."""

    classes_: NDArray[Any]

    @abstractmethod
    def _scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Of every sample and class, (N, M)."""

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Scores (N, M), the largest for the predicted class; for two classes their difference (N,)."""
        scores = self._scores(X)
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes_[self._scores(X).argmax(axis=1)]
        return predicted
