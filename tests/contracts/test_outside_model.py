"""A model from outside of the package trains on the compiled trainer, without a change in the package."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from mcquack.training import loop
from tests.contracts import outside_regressor
from tests.contracts.outside_regressor import CentroidRegressor


def test_it_is_short() -> None:
    assert len(Path(outside_regressor.__file__).read_text().splitlines()) < 120


@pytest.mark.parametrize("n_targets", [1, 2])
def test_it_learns_what_is_not_linear(n_targets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "ReferenceEpochs", None)  # what cannot be compiled would call it
    draws = np.random.default_rng(0)
    X = draws.uniform(-1, 1, size=(200, 2))
    y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], X[:, 0] ** 2])[:, :n_targets]
    y = y[:, 0] if n_targets == 1 else y
    model = CentroidRegressor().fit(X[:150], y[:150])
    assert model.predict(X[150:]).shape == y[150:].shape
    assert model.score(X[150:], y[150:]) > 0.9 > LinearRegression().fit(X[:150], y[:150]).score(X[150:], y[150:])


def test_it_is_as_good_as_a_line_on_real_data() -> None:
    X, X_test, y, y_test = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    line = LinearRegression().fit(X, y).score(X_test, y_test)
    assert CentroidRegressor(epochs=30, learning_rate=0.01).fit(X, y).score(X_test, y_test) > line - 0.1
