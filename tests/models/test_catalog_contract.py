"""What every model of the catalogue promises, whoever wrote it; scikit-learn's own checks are run beside each model."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mcquack
from mcquack.models import catalog

SMALL = {"n_qubits": 2, "n_repetitions": 2, "random_state": 0}
# Models that count steps begin slowly by default, as those who made them chose.
STEPPING = {"max_steps": 2000, "learning_rate": 0.05}
LEAST = {"circuit_centric": 0.6, "tree_tensor": 0.6}  # amplitudes know nothing of how large a sample is
QUICK = {**SMALL, "epochs": 3, "max_iter": 3, "max_steps": 3}
BINARY = ("quack",)
FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
METHODS = ("predict", "predict_proba", "decision_function", "transform", "statevectors")
TEXTS = np.array(["setosa", "versicolor", "virginica"])

pytestmark = pytest.mark.parametrize("name", catalog.names())


def quick(name, settings=QUICK):
    """A model that is fitted in a moment, with the same outcome every time."""
    entry = catalog.entry(name)
    return entry.new(**{key: value for key, value in settings.items() if key in entry.defaults()})


def data(name, labels=TEXTS):
    X, y = load_iris(return_X_y=True)
    few = slice(0, 100 if name in BINARY else 150, 5)
    return X[few], labels[y[few]]


def fitted(model, X, y):
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # a few epochs are not enough
        return model.fit(X, y)


def assert_same_answers(left, right, X):
    methods = [method for method in METHODS if hasattr(left, method)]
    assert "predict" in methods
    for method in methods:
        assert_array_equal(getattr(left, method)(X), getattr(right, method)(X), strict=True, err_msg=method)


def test_a_clone_has_the_settings_and_nothing_learned(name):
    X, y = data(name)
    model = fitted(quick(name), X, y)
    twin = clone(model)
    assert twin.get_params() == model.get_params() == quick(name).get_params()
    with pytest.raises(NotFittedError):
        twin.predict(X)


def test_what_is_not_fitted_neither_predicts_nor_is_saved(name, tmp_path):
    model, (X, _) = quick(name), data(name)
    for method in filter(lambda method: hasattr(model, method), METHODS):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model.mcq")
    assert list(tmp_path.iterdir()) == []
    assert not hasattr(model, "n_parameters_")


def test_probabilities_have_the_order_of_predictions_also_where_they_tie(name):
    X, y = data(name)
    model = fitted(quick(name), X, y)
    if not hasattr(model, "predict_proba"):
        pytest.skip("it has no probabilities")
    # So far off shares round to 0 and 1, and between the samples they may be equal.
    asked = np.concatenate([X, 1e9 * (X - X.mean(axis=0)), np.repeat(X.mean(axis=0)[None], 2, axis=0), 0 * X[:2]])
    shares = model.predict_proba(asked)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(asked))


def test_the_same_seed_gives_the_same_model(name):
    X, y = data(name)
    model = fitted(quick(name), X, y)
    first = pickle.loads(pickle.dumps(model))
    assert_same_answers(fitted(model, X, y), first, X)
    assert_same_answers(fitted(clone(model), X, y), first, X)


@pytest.mark.parametrize(
    "labels", [TEXTS, np.array([-1, 1, 7]), np.array([2, 1, 0])], ids=["text", "signs", "reversed"]
)
def test_predictions_are_labels_as_they_were_given(name, labels):
    X, y = data(name, labels)
    model = fitted(quick(name), X, y)
    assert_array_equal(model.classes_, np.unique(y), strict=True)
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    assert set(predicted) <= set(model.classes_)
    assert 0 <= model.score(X, y) <= 1


def test_it_learns(name):
    X, y = data(name)
    stepping = STEPPING if "max_steps" in catalog.entry(name).defaults() else {}
    assert fitted(quick(name, {**SMALL, **stepping}), X, y).score(X, y) > LEAST.get(name, 0.8)


def test_parameters_are_counted(name):
    model = fitted(quick(name), *data(name))
    assert isinstance(model.n_parameters_, int)
    assert model.n_parameters_ > 0


def test_a_loaded_model_answers_as_the_saved_one(name, tmp_path):
    X, y = data(name)
    frame = pd.DataFrame(X, columns=FEATURES)
    model = fitted(quick(name), frame, y)
    path = tmp_path / "model.mcq"
    model.save(path, extra={"note": "kept"})
    for loaded in (mcquack.models.load(path), type(model).load(path)):
        assert type(loaded) is type(model)
        assert loaded.get_params() == model.get_params()
        assert loaded.n_parameters_ == model.n_parameters_
        assert loaded.feature_names_in_.tolist() == FEATURES
        assert loaded.extra_ == {"note": "kept"}
        assert getattr(loaded, "history_", None) == getattr(model, "history_", None)
        assert_array_equal(getattr(loaded, "best_epochs_", 0), getattr(model, "best_epochs_", 0))
        assert_same_answers(loaded, model, frame)


def test_columns_keep_their_names_and_must_come_as_in_training(name):
    X, y = data(name)
    frame = pd.DataFrame(X, columns=FEATURES)
    model = fitted(quick(name), frame, y)
    assert model.feature_names_in_.tolist() == FEATURES
    assert model.n_features_in_ == len(FEATURES)
    assert_array_equal(model.predict(frame), fitted(quick(name), X, y).predict(X))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[FEATURES[::-1]])
    assert not hasattr(fitted(model, X, y), "feature_names_in_")
