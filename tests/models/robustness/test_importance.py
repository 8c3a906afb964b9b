"""Importances are derivatives of decisions by the features that users pass, whatever a model makes of these first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

from mcquack import McQuackClassifier
from mcquack.errors import InvalidInputError
from mcquack.models import SupportVectorClassifier, feature_importances
from mcquack.models.robustness import margins
from mcquack.simulators.statevector import StatevectorEngine

X, Y = load_iris(return_X_y=True)
EXACT = StatevectorEngine(dtype="float64")


def trained(**settings: Any) -> McQuackClassifier:
    return McQuackClassifier(**{"n_qubits": 2, "epochs": 5, "engine": EXACT, "random_state": 0, **settings}).fit(X, Y)


def measured(model: Any, rows: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Mean absolute central differences of the margins of the predicted classes."""
    labels = model.predict(rows)
    apart = np.eye(rows.shape[1]) * step
    slopes = [(margins(model, rows + way, labels) - margins(model, rows - way, labels)) / (2 * step) for way in apart]
    return np.abs(slopes).mean(axis=1)


MODELS: dict[str, Callable[[], Any]] = {
    "plain": trained,
    "as they come": lambda: trained(scale=False),
    "components": lambda: trained(n_components=2),
    "transformer": lambda: trained(transformer=StandardScaler(), scale="common"),
    "both": lambda: trained(transformer=StandardScaler(), n_components=3, scale=(-1.0, 1.0)),
    "quantile": lambda: trained(scale="quantile"),
    "two centroids": lambda: trained(n_centroids_per_class=2),
    "several starts": lambda: trained(n_starts=3),
    "several starts on components": lambda: trained(n_starts=2, transformer=StandardScaler(), n_components=3),
    "starts with samples of their own": lambda: trained(n_starts=2, validation_fraction=0.3),
    "classical": lambda: SupportVectorClassifier(n_components=3).fit(X, Y),
}


@pytest.mark.parametrize("name", MODELS)
def test_they_are_mean_derivatives_by_the_original_features(name: str) -> None:
    model = MODELS[name]()
    # Between the training samples, as those are where quantiles have corners.
    rows = X[::10] + np.random.default_rng(0).normal(0, 0.013, X[::10].shape)
    assert_allclose(feature_importances(model, rows, per="unit"), measured(model, rows), rtol=1e-4, atol=1e-6)


def test_units_do_not_matter_where_features_are_moved_by_their_spread() -> None:
    units = np.array([1e-3, 1.0, 60.0, 2.54])
    model = McQuackClassifier(2, epochs=5, engine=EXACT, random_state=0)
    plain = feature_importances(model.fit(X, Y), X)
    assert_allclose(feature_importances(model.fit(X * units, Y), X * units), plain, rtol=1e-6)


def test_what_decides_is_found_by_derivatives_and_by_permutation() -> None:
    rows = np.random.default_rng(1).uniform(size=(120, 4))
    model = McQuackClassifier(2, epochs=40, random_state=0).fit(rows, rows[:, 2] > 0.5)
    by_score = permutation_importance(model, rows, rows[:, 2] > 0.5, n_repeats=3, random_state=0).importances_mean
    assert feature_importances(model, rows).argmax() == by_score.argmax() == 2


def test_names_of_features_are_compared() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = McQuackClassifier(2, epochs=1, random_state=0).fit(frame, Y)
    assert feature_importances(model, frame).shape == (4,)
    with pytest.raises(ValueError, match="feature names"):
        feature_importances(model, frame.rename(columns={"a": "z"}))


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="RBFSampler"):
        feature_importances(trained(transformer=RBFSampler(n_components=3, random_state=0)), X)
    with pytest.raises(InvalidInputError, match=r"starts .*features"):
        feature_importances(trained(n_starts=2, epochs=1, n_components=2, validation_fraction=0.3), X)
    with pytest.raises(InvalidInputError, match="per must be"):
        feature_importances(trained(epochs=1), X, per="mile")  # type: ignore[arg-type]
