"""McQuack with settings that it chooses itself: on samples not seen, giving up the worst on the way."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, load_wine, make_circles
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcquack import McQuackClassifier, McQuackClassifierCV
from mcquack.errors import InvalidInputError
from mcquack.models import catalog

IRIS = load_iris(return_X_y=True)
X, Y = make_circles(150, noise=0.05, factor=0.4, random_state=0)  # whose class means tell nothing
# Two settings that learn, and two that do not.
SPACE = [
    {"n_qubits": 2, "epochs": 16, "n_repetitions": [4, 8], "lr_ka": rate, "lr_co": rate, "batch_size": 30}
    for rate in (1e-9, 0.1)
]


def search(space: Any = None, **settings: Any) -> McQuackClassifierCV:
    return McQuackClassifierCV(SPACE if space is None else space, **{"random_state": 0, **settings})


def test_scores_are_those_of_scikit_learn_on_the_same_folds() -> None:
    model = search(cv=3, n_rungs=1).fit(X, Y)
    for params, score in zip(model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True):
        single = model.best_estimator_.__class__(**params, random_state=model.best_estimator_.random_state)
        expected = cross_val_score(single, X, Y, cv=StratifiedKFold(3), scoring="balanced_accuracy")
        assert score == pytest.approx(expected.mean())
    assert model.best_score_ == max(model.cv_results_["mean_test_score"])
    assert model.n_splits_ == 3


def test_what_is_chosen_is_trained_on_all_samples() -> None:
    model = search(cv=3).fit(X, Y)
    seed = model.best_estimator_.random_state
    expected = McQuackClassifier(**model.best_params_, random_state=seed).fit(X, Y)
    assert_array_equal(model.transform(X), expected.transform(X))
    assert_array_equal(model.predict(X), expected.predict(X))
    assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_a_model_that_cannot_learn_is_given_up() -> None:
    model = search(cv=3, n_rungs=3).fit(X, Y)
    assert model.best_params_["lr_ka"] == 0.1
    done = model.cv_results_["complete"]
    assert sum(done) == 1
    assert done[model.best_index_]
    assert sorted(model.cv_results_["n_epochs"]) == [4, 4, 8, 16]


def test_all_go_to_the_end_where_there_is_one_rung() -> None:
    model = search(cv=2, n_rungs=1).fit(X, Y)
    assert all(model.cv_results_["complete"])


def test_threads_change_nothing() -> None:
    one, two = search(cv=3).fit(X, Y), search(cv=3, n_jobs=2).fit(X, Y)
    assert one.cv_results_ == two.cv_results_
    assert_array_equal(one.transform(X), two.transform(X))


def test_a_validation_part_of_the_users_decides() -> None:
    order = np.random.RandomState(0).permutation(len(X))
    inner, outer = order[:100], order[100:]
    model = search(n_rungs=1).fit(X[inner], Y[inner], validation_data=(X[outer], Y[outer]))
    seed = model.best_estimator_.random_state
    expected = [
        McQuackClassifier(**params, random_state=seed).fit(X[inner], Y[inner]) for params in model.cv_results_["params"]
    ]
    scores = [balanced_accuracy_score(Y[outer], each.predict(X[outer])) for each in expected]
    assert model.cv_results_["mean_test_score"] == pytest.approx(scores)
    assert_array_equal(model.transform(X), expected[int(np.argmax(scores))].transform(X))


def test_a_validation_part_is_held_out_by_default() -> None:
    model = search().fit(X, Y)
    assert model.n_splits_ == 1
    assert search(cv=ShuffleSplit(2, random_state=0)).fit(X, Y).n_splits_ == 2


def test_any_scorer_of_scikit_learn_chooses() -> None:
    model = search(cv=2, scoring="roc_auc", n_rungs=1).fit(X, Y)
    assert 0.5 < model.best_score_ <= 1
    worst = search(cv=2, n_rungs=1, scoring=lambda each, X, y: -accuracy_score(y, each.predict(X))).fit(X, Y)
    assert worst.best_params_["lr_ka"] == 1e-9


def test_several_spaces_are_all_tried_and_equal_settings_once() -> None:
    spaces = [{"n_qubits": 2, "epochs": 2, "n_components": [3, 4, 9]}, {"n_qubits": [2, 3], "epochs": 2}]
    params = search(spaces, cv=2).fit(*IRIS).cv_results_["params"]
    assert [each.get("n_components", "as they are") for each in params] == [3, None, "as they are", "as they are"]


def test_starts_are_averaged_in_the_end() -> None:
    model = search(cv=2, n_starts=2).fit(X, Y)
    assert len(model.best_estimator_.starts_) == 2


def test_the_search_can_be_watched() -> None:
    rows = list(search(cv=2).fit_iter(X, Y))
    assert [row["rung"] for row in rows] == [1, 2, 3]
    assert [row["n_settings"] for row in rows] == [4, 2, 1]


def test_the_tuned_space_is_small_and_made_of_settings_of_mcquack() -> None:
    space = catalog.entry("mcquack").search_space("tuned")
    assert 1 < len(space) <= 24
    for settings in space:
        McQuackClassifier(**settings)._check_settings()


def test_it_is_one_line_on_a_table() -> None:
    X, y = load_wine(return_X_y=True)
    space = {**catalog.entry("mcquack").search_space("tuned").fixed, "scale": [True, "quantile"], "epochs": 12}
    model = make_pipeline(StandardScaler(), search({**space, "n_repetitions": 2}, n_jobs=2)).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("space", {}),
        ("space", 3),
        ("validation_fraction", 0),
        ("keep_fraction", 1),
        ("n_rungs", 0),
        ("n_jobs", 0),
        ("n_starts", 0),
    ],
)
def test_impossible_settings_are_refused(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match=name):
        McQuackClassifierCV(**{"space": SPACE, name: wrong}).fit(X, Y)


@parametrize_with_checks([McQuackClassifierCV({"n_qubits": [2, 3], "n_repetitions": 3, "epochs": 25}, n_rungs=1)])
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)
