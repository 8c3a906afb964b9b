"""Both classifiers are citizens of scikit-learn: its own checks, its tools, its ways to copy and to name."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcquack import McQuackClassifier, QuackClassifier
from tests.models.sameness import assert_same_model, assert_same_training

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
TWO_CLASSES = IRIS_Y < 2
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
KINDS = pytest.mark.parametrize("kind", [McQuackClassifier, QuackClassifier])


def small(kind: type[McQuackClassifier] = McQuackClassifier, **settings: Any) -> McQuackClassifier:
    """An estimator that trains in milliseconds."""
    return kind(**{"n_qubits": 2, "n_repetitions": 2, "epochs": 5, "random_state": 0, **settings})


def data_for(kind: type[McQuackClassifier]) -> tuple[np.ndarray, np.ndarray]:
    return (IRIS_X[TWO_CLASSES], IRIS_Y[TWO_CLASSES]) if kind is QuackClassifier else (IRIS_X, IRIS_Y)


@parametrize_with_checks([kind(epochs=20, lr_ka=0.05, lr_co=0.05) for kind in (McQuackClassifier, QuackClassifier)])
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.campaign
@parametrize_with_checks([McQuackClassifier(), QuackClassifier()])
def test_scikit_learns_own_checks_with_the_defaults(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# Copies


@KINDS
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_predict_the_same_and_train_on_alone(
    kind: type[McQuackClassifier], copied: Callable[[Any], Any]
) -> None:
    X, y = data_for(kind)
    model = small(kind).fit(X, y)
    twin = copied(model)
    assert_same_training(twin, model)
    for method in ("predict", "predict_proba", "decision_function", "transform", "statevectors"):
        assert_array_equal(getattr(twin, method)(X), getattr(model, method)(X), strict=True)
    before = copy.deepcopy(model)
    twin.partial_fit(X, y)
    assert_same_training(model, before)


def test_copies_go_on_as_the_original_would() -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    twin = pickle.loads(pickle.dumps(model))
    assert_same_training(twin.partial_fit(IRIS_X, IRIS_Y), model.partial_fit(IRIS_X, IRIS_Y))


def test_an_unfitted_estimator_can_be_pickled() -> None:
    model = small()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()


def test_joblib_writes_and_reads_it() -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    assert_same_training(joblib.load(stream), model)


@KINDS
def test_fit_leaves_its_settings_and_its_data_alone(kind: type[McQuackClassifier]) -> None:
    X, y = data_for(kind)
    X_before, y_before = X.copy(), y.copy()
    weights = {0: 1.0, 1: 2.0}
    model = small(kind, class_weight=weights)
    settings = copy.deepcopy(model.get_params())
    model.fit(X, y).predict(X)
    assert model.get_params() == settings
    assert model.class_weight is weights
    assert_array_equal(X, X_before)
    assert_array_equal(y, y_before)


# Tools


def test_a_pipeline_scores_like_its_steps() -> None:
    steps = make_pipeline(StandardScaler(), small()).fit(IRIS_X, IRIS_Y)
    standard = StandardScaler().fit_transform(IRIS_X)
    alone = small().fit(standard, IRIS_Y)
    assert_same_model(steps[-1], alone)
    assert_array_equal(steps.predict(IRIS_X), alone.predict(standard))


def test_a_kernel_feeds_the_next_step() -> None:
    steps = make_pipeline(small(n_repetitions=3, epochs=40, lr_ka=0.05, lr_co=0.05), LogisticRegression(C=100))
    assert steps.fit(IRIS_X, IRIS_Y).score(IRIS_X, IRIS_Y) > 0.9


def test_a_pipeline_passes_weights_on() -> None:
    weights = np.arange(len(IRIS_Y)) % 3
    steps = make_pipeline(StandardScaler(), small())
    steps.fit(IRIS_X, IRIS_Y, mcquackclassifier__sample_weight=weights)
    alone = small().fit(StandardScaler().fit_transform(IRIS_X), IRIS_Y, weights)
    assert_same_model(steps[-1], alone)


def test_a_grid_search_in_two_processes_finds_what_one_finds() -> None:
    grid = {"n_qubits": [1, 2], "lr_ka": [1e-3, 1e-1]}
    searches = [
        GridSearchCV(small(), grid, cv=2, n_jobs=n_jobs, error_score="raise").fit(IRIS_X, IRIS_Y) for n_jobs in (1, 2)
    ]
    one, two = (search.cv_results_["mean_test_score"] for search in searches)
    assert_array_equal(one, two)
    assert len(set(one)) > 1  # the settings reach the estimator
    assert_same_model(searches[0].best_estimator_, searches[1].best_estimator_)


@KINDS
def test_cross_validation_is_repeatable(kind: type[McQuackClassifier]) -> None:
    X, y = data_for(kind)
    scores = [cross_val_score(small(kind), X, y, cv=3, error_score="raise") for _ in range(2)]
    assert_array_equal(*scores)
    shares = cross_val_predict(small(kind), X, y, cv=3, method="predict_proba")
    assert shares.shape == (len(X), len(np.unique(y)))


# Names of features


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(IRIS_X, columns=NAMES, index=[f"flower {row}" for row in range(len(IRIS_X))])


@pytest.fixture(scope="module")
def fitted(frame: pd.DataFrame) -> McQuackClassifier:
    return small().fit(frame, IRIS_Y)


def test_names_are_kept_and_values_decide(frame: pd.DataFrame, fitted: McQuackClassifier) -> None:
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.n_features_in_ == 4
    assert_same_training(fitted, small().fit(IRIS_X, IRIS_Y))
    assert not hasattr(small().fit(IRIS_X, IRIS_Y), "feature_names_in_")
    assert_same_training(fitted, small().fit(pl.from_pandas(frame), IRIS_Y))


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "transform", "statevectors"])
def test_columns_must_come_as_in_training(
    frame: pd.DataFrame, fitted: McQuackClassifier, library: Callable[[pd.DataFrame], Any], method: str
) -> None:
    ask = getattr(fitted, method)
    ask(library(frame))
    with pytest.raises(ValueError, match="same order"):
        ask(library(frame[NAMES[::-1]]))
    with pytest.raises(ValueError, match="petal width"):
        ask(library(frame[NAMES[:3]]))
    with pytest.raises(ValueError, match="colour"):
        ask(library(frame.assign(colour=1.0)))
    with pytest.raises(ValueError, match="length"):
        ask(library(frame.rename(columns={"petal length": "length"})))


def test_validation_columns_must_come_as_in_training(frame: pd.DataFrame) -> None:
    small().fit(frame, IRIS_Y, validation_data=(frame, IRIS_Y))
    with pytest.raises(ValueError, match="same order"):
        small().fit(frame, IRIS_Y, validation_data=(frame[NAMES[::-1]], IRIS_Y))


def test_columns_of_a_stream_must_stay(frame: pd.DataFrame) -> None:
    model = small().partial_fit(frame[:75], IRIS_Y[:75], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="same order"):
        model.partial_fit(frame[NAMES[::-1]][75:], IRIS_Y[75:])
    assert model.partial_fit(frame[75:], IRIS_Y[75:]).n_iter_ == 2


def test_rows_without_names_are_questioned(fitted: McQuackClassifier) -> None:
    with pytest.warns(UserWarning, match="valid feature names"):
        fitted.predict(IRIS_X)


def test_columns_of_the_kernel_have_names(frame: pd.DataFrame, fitted: McQuackClassifier) -> None:
    assert fitted.get_feature_names_out().tolist() == [f"mcquack_{m}" for m in range(3)]
    X, y = data_for(QuackClassifier)
    assert small(QuackClassifier).fit(X, y).get_feature_names_out().tolist() == ["quack_0", "quack_1"]
    with pytest.raises(NotFittedError):
        small().get_feature_names_out()


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_kernels_come_as_tables_on_demand(frame: pd.DataFrame, library: str, kind: Any) -> None:
    model = small().set_output(transform=library).fit(frame, IRIS_Y)
    table: Any = model.transform(frame)
    assert isinstance(table, kind)
    assert list(table.columns) == model.get_feature_names_out().tolist()
    assert_array_equal(table.to_numpy(), small().fit(frame, IRIS_Y).transform(frame))
    assert isinstance(model.predict(frame), np.ndarray)
    if isinstance(table, pd.DataFrame):
        assert table.index.equals(frame.index)


def test_tables_pass_through_pipelines(frame: pd.DataFrame) -> None:
    columns = ColumnTransformer([("petals", small(), NAMES[2:]), ("sepals", small(), NAMES[:2])])
    table = columns.set_output(transform="pandas").fit(frame, IRIS_Y).transform(frame)
    assert list(table.columns) == [f"{part}__mcquack_{m}" for part in ("petals", "sepals") for m in range(3)]


# Data that cannot be learned from


@KINDS
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(kind: type[McQuackClassifier], value: float) -> None:
    X, y = data_for(kind)
    broken = X.copy()
    broken[3, 1] = value
    model = small(kind).fit(X, y)
    for use in (
        lambda: small(kind).fit(broken, y),
        lambda: model.predict(broken),
        lambda: model.partial_fit(broken, y),
    ):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            use()


def test_wine_in_any_container_is_the_same_wine() -> None:
    X, y = load_wine(return_X_y=True)
    model = small().fit(X, y)
    for container in (X.tolist(), np.asfortranarray(X), X.astype(object)):
        assert_same_training(small().fit(container, y.tolist()), model)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    assert_same_training(small().fit(wide[:, ::2], y), model)
