"""Classifiers of scikit-learn beside McQuack in the races, which can take the same kinds of features as McQuack."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.models.features import Scale
from mcquack.models.preparation import learned_scaling


class OnFeatures(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of scikit-learn on principal components, quantiles or scaled features, as McQuack takes them."""

    n_components: int | None
    scale: Scale

    @abstractmethod
    def _classifier(self) -> Any:
        """The classifier of scikit-learn, with its settings."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learns features and then the classifier from samples (N, d) and their labels."""
        rows, targets = validate_data(self, X, y, dtype=np.float64)
        self.classes_, labels = np.unique(targets, return_inverse=True)
        self.features_, self.scaler_ = learned_scaling(
            rows, labels, np.ones(len(rows)), n_components=self.n_components, scale=self.scale
        )
        self.classifier_ = self._classifier().fit(self._scaled(rows), targets)
        return self

    def _scaled(self, rows: FloatArray) -> FloatArray:
        made = rows if self.features_ is None else self.features_(rows)
        scaled: FloatArray = made if self.scaler_ is None else self.scaler_.transform(made)
        return scaled

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each sample."""
        predicted: NDArray[Any] = self._fitted.predict(self._rows(X))
        return predicted

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """The probabilities (N, M) of the classes."""
        found: FloatArray = self._fitted.predict_proba(self._rows(X))
        return found

    def _rows(self, X: ArrayLike) -> FloatArray:
        return self._scaled(validate_data(self, X, dtype=np.float64, reset=False))

    @property
    def _fitted(self) -> Any:
        check_is_fitted(self, "classifier_")
        return self.classifier_


@dataclass(eq=False, repr=False)
class Forest(OnFeatures):
    """Random forest. Settings are those of RandomForestClassifier, and ``n_components`` and ``scale`` of McQuack."""

    n_estimators: int = 300
    min_samples_leaf: int = 1
    max_features: float | Literal["sqrt"] = "sqrt"
    _: KW_ONLY
    n_components: int | None = None
    scale: Scale = True
    random_state: int | None = None

    def _classifier(self) -> Any:
        return RandomForestClassifier(
            n_estimators=self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=self.random_state,
        )


@dataclass(eq=False, repr=False)
class Boosting(OnFeatures):
    """Gradient boosting. Settings are those of HistGradientBoostingClassifier, and two of McQuack."""

    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int = 31
    _: KW_ONLY
    n_components: int | None = None
    scale: Scale = True
    random_state: int | None = None

    def _classifier(self) -> Any:
        return HistGradientBoostingClassifier(
            learning_rate=self.learning_rate,
            max_iter=self.max_iter,
            max_leaf_nodes=self.max_leaf_nodes,
            early_stopping=False,
            random_state=self.random_state,
        )


@dataclass(eq=False, repr=False)
class Logistic(OnFeatures):
    """Logistic regression. Settings are those of LogisticRegression, and two of McQuack."""

    C: float = 1.0
    max_iter: int = 1000
    _: KW_ONLY
    n_components: int | None = None
    scale: Scale = True
    random_state: int | None = None

    def _classifier(self) -> Any:
        return LogisticRegression(C=self.C, max_iter=self.max_iter, random_state=self.random_state)
