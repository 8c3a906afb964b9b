"""Classifiers of scikit-learn beside McQuack in the races, which can take the same kinds of features as McQuack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.models.features import Scale
from mcquack.models.preparation import learned_scaling


@dataclass(eq=False, repr=False)
class OnFeatures(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of scikit-learn on principal components, quantiles or scaled features, as McQuack takes them.

    Parameters
    ----------
    n_components, scale : as in :class:`McQuackClassifier`.
    random_state : as in the classifier. Subclasses have its other settings.
    """

    kind: ClassVar[type[Any]]  # of scikit-learn
    fixed: ClassVar[Mapping[str, Any]] = {}  # its settings that are no parameters here

    n_components: int | None = field(default=None, kw_only=True)
    scale: Scale = field(default=True, kw_only=True)
    random_state: int | None = field(default=None, kw_only=True)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learns features and then the classifier from samples (N, d) and their labels."""
        rows, targets = validate_data(self, X, y, dtype=np.float64)
        self.classes_, labels = np.unique(targets, return_inverse=True)
        self.features_, self.scaler_ = learned_scaling(
            rows, labels, np.ones(len(rows)), n_components=self.n_components, scale=self.scale
        )
        settings = self.get_params(deep=False)
        own = {name: settings[name] for name in settings.keys() - {"n_components", "scale"}}
        self.classifier_ = self.kind(**own, **self.fixed).fit(self._scaled(rows), targets)
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

    kind = RandomForestClassifier

    n_estimators: int = 300
    min_samples_leaf: int = 1
    max_features: float | Literal["sqrt"] = "sqrt"


@dataclass(eq=False, repr=False)
class Boosting(OnFeatures):
    """Gradient boosting. Settings are those of HistGradientBoostingClassifier, and two of McQuack."""

    kind = HistGradientBoostingClassifier
    fixed = MappingProxyType({"early_stopping": False})

    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int = 31


@dataclass(eq=False, repr=False)
class Logistic(OnFeatures):
    """Logistic regression. Settings are those of LogisticRegression, and two of McQuack."""

    kind = LogisticRegression

    C: float = 1.0
    max_iter: int = 1000
