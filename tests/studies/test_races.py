"""Classifiers of scikit-learn on the features of McQuack are those classifiers on these features."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

from mcquack.models.features import learned_features
from mcquack.studies.races import Boosting, Forest, Logistic

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["first", "second", "third"])
PAIRS = [
    (Forest(20, random_state=0), RandomForestClassifier(20, random_state=0)),
    (
        Boosting(0.2, 10, 5, random_state=0),
        HistGradientBoostingClassifier(
            learning_rate=0.2, max_iter=10, max_leaf_nodes=5, early_stopping=False, random_state=0
        ),
    ),
    (Logistic(10.0), LogisticRegression(C=10.0, max_iter=1000)),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("settings", [{}, {"n_components": 3}, {"scale": "quantile"}, {"scale": "standard"}], ids=str)
def test_it_is_the_classifier_on_these_features(ours: Any, theirs: Any, settings: dict[str, Any]) -> None:
    model = clone(ours).set_params(**settings).fit(X[::2], NAMES[Y[::2]])
    features = learned_features(X[::2], Y[::2], np.ones(len(X[::2])), **settings)
    rows, others = (X[::2], X[1::2]) if features is None else (features(X[::2]), features(X[1::2]))
    if settings.get("scale", True) is True:
        scaler = MinMaxScaler().fit(rows)
        rows, others = scaler.transform(rows), scaler.transform(others)
    expected = clone(theirs).fit(rows, NAMES[Y[::2]])
    assert_array_equal(model.predict(X[1::2]), expected.predict(others))
    # A solver's products of matrices need not be the same to the last bit in other memory.
    assert_allclose(model.predict_proba(X[1::2]), expected.predict_proba(others), rtol=0, atol=1e-6)
    assert_array_equal(model.classes_, NAMES)
