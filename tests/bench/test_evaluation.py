import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)
from threadpoolctl import threadpool_info

from mcquack import datasets
from mcquack.bench.evaluation import area_under_curves, confusion, label_scores, outcome
from mcquack.bench.samples import samples
from mcquack.bench.task import METRICS, TEST, Outcome, Split, TableSource, Task, current_environment
from mcquack.errors import CompiledCodeWarning, InvalidInputError
from mcquack.models import McQuackClassifier, catalog
from tests.known import known

FOLD = Split(kind="fold", fold=0, n_folds=5)
FEW_EPOCHS = {
    "mcquack": {"epochs": 5},
    "quack": {"epochs": 5},
    "vc": {"epochs": 3},
    "shared_vc": {"epochs": 3},
    "kernel_alignment": {"epochs": 5},
}


class OnlyPredicts(ClassifierMixin, BaseEstimator):  # scikit-learn's bases are untyped
    """As little as a classifier can be: the class of the first training sample, always."""

    def __init__(self, complain=False):
        self.complain = complain

    def fit(self, X, y):
        if self.complain:
            warnings.warn("it may rain", UserWarning, stacklevel=1)
            warnings.warn("it may rain", UserWarning, stacklevel=1)
        self.classes_, self._first = np.unique(y), y[0]
        self.n_threads_seen_ = [library["num_threads"] for library in threadpool_info()]
        return self

    def predict(self, X):
        return np.full(len(X), self._first)


class Fails(OnlyPredicts):
    def fit(self, X, y):
        raise ArithmeticError("too many angels")


class DoesMore(McQuackClassifier):
    """Its epochs are not all that a fit is, so that to run through them would be another fit."""

    def fit(self, X, y):  # type: ignore[override]
        super().fit(X, y)
        self.details_ = {"more": "than epochs"}
        return self


class ManyThreads(OnlyPredicts):
    def predict(self, X):
        if set(self.n_threads_seen_) != {1}:
            raise RuntimeError(f"fitted with {self.n_threads_seen_} threads")
        return super().predict(X)


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    """Tests are no package, so their classes are found under a name of their own."""
    import sys
    import types

    module = types.ModuleType("mcquack_test_models")
    for made in (OnlyPredicts, Fails, DoesMore, ManyThreads):
        setattr(module, made.__name__, made)
    monkeypatch.setitem(sys.modules, "mcquack_test_models", module)


@pytest.mark.parametrize("model", catalog.names())
def test_every_model_of_the_catalogue_is_scored_by_all_metrics(model):
    task = Task.of("two_curves_4", model, FEW_EPOCHS.get(model, {}))
    found = outcome(task)
    assert not found.failed, found.error
    for part in ("train", "test"):
        assert set(found.scores[part]) == set(METRICS)
        assert all(0 <= score <= 1 for score in found.scores[part].values())
    assert set(found.seconds) == {"load", "fit", "score"}
    assert known(found.n_parameters) > 0
    assert np.sum(found.details["confusion"]) == 60


def test_the_same_task_gives_the_same_scores_and_those_of_the_model_itself():
    task = Task.of("two_curves_4", "mcquack", {"epochs": 5}, seed=3)
    first, second = outcome(task), outcome(task)
    assert first.scores == second.scores
    assert first.details == second.details
    data = datasets.load("two_curves_4")
    model = catalog.entry("mcquack").new(epochs=5, random_state=3).fit(*data.train)
    test = known(data.test)
    assert_allclose(known(first.score("test", "accuracy")), accuracy_score(test.y, model.predict(test.X)))


def test_the_seed_is_the_random_state():
    tasks = [Task.of("two_curves_4", "mcquack", {"epochs": 2}, seed=seed) for seed in (0, 1)]
    assert outcome(tasks[0]).details["history"] != outcome(tasks[1]).details["history"]


def test_a_search_has_no_test_scores_and_keeps_no_pictures():
    found = outcome(Task.of("two_curves_4", "mcquack", {"epochs": 2}, split=FOLD))
    assert set(found.scores) == {"train", "validation"}
    assert found.details == {}


def test_an_outcome_of_a_search_with_a_test_score_cannot_even_be_made():
    found = outcome(Task.of("two_curves_4", "svc", {}, split=TEST))
    with pytest.raises(InvalidInputError, match="chosen by it"):
        Outcome(task=Task.of("two_curves_4", "svc", {}, split=FOLD), environment=found.environment, scores=found.scores)


def test_the_validation_part_stops_the_training():
    settings = {"epochs": 40, "patience": 1, "lr_ka": 0.5, "lr_co": 0.5}
    found = outcome(Task.of("pm2_generated", "mcquack", settings))
    assert "validation_alignment" in found.details["history"]
    assert len(found.details["history"]["epoch"]) < 40


def test_a_failure_is_an_outcome_with_its_traceback():
    found = outcome(Task.of("two_curves_4", "mcquack_test_models:Fails", {}))
    assert found.failed
    assert found.reason == "ArithmeticError: too many angels"
    assert "in fit" in known(found.error)
    assert found.scores == {}
    assert set(found.seconds) == {"load", "fit"}


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (Task.of("no_such_data", "svc", {}), "UnknownDatasetError"),
        (Task.of("two_curves_4", "no_such_model", {}), "no model is named"),
        (Task.of("two_curves_4", "mcquack_test_models:Absent", {}), "module:Class"),
        (Task.of("two_curves_4", "svc", {"c": 1}), "no setting 'c'"),
        (Task.of("two_curves_4", "svc", {"C": -1.0}), "C"),
        (Task.of("iris3", "quack", {"epochs": 1}), "Only binary"),
    ],
)
def test_what_cannot_be_done_fails_with_its_reason(task, reason):
    found = outcome(task)
    assert found.failed
    assert reason in found.reason


def test_the_reason_of_a_failure_is_the_line_that_names_it():
    task = Task.of("two_curves_4", "svc", {})

    def reason(error):
        return Outcome(task=task, environment=current_environment(), error=error).reason

    frames = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n    ^^^\n'
    chained = f"{frames}KeyError: 1\n\nThe above exception was the direct cause of the following exception:\n\n{frames}"
    assert reason(f"{frames}ValueError: no") == "ValueError: no"
    assert reason(f"{frames}ValueError: no:\n  one\nand two\n") == "ValueError: no:"
    assert reason(f"{chained}OSError: gone\n") == "OSError: gone"
    assert reason("lost") == "lost"
    assert Outcome(task=task, environment=current_environment()).reason == ""


def test_any_classifier_will_do_even_one_that_only_predicts():
    found = outcome(Task.of("two_curves_4", "mcquack_test_models:OnlyPredicts", {}))
    assert not found.failed, found.error
    assert "auc" not in found.scores["test"]
    assert found.n_parameters is None
    other = outcome(Task.of("two_curves_4", "sklearn.ensemble:RandomForestClassifier", {"n_estimators": 5}, seed=1))
    assert set(other.scores["test"]) == set(METRICS)


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_class_that_the_training_part_lacks_is_never_a_hit(tmp_path):
    path = tmp_path / "rare.csv"
    rows = [f"{i},{i % 5},{'az'[i % 2]}" for i in range(24)]
    path.write_text("\n".join(["p,q,kind", *rows, "3.5,2,m"]) + "\n")  # m is in one fold alone, between a and z
    table = TableSource.of(path, target="kind", test=0.2)
    task = Task.of("rare", "sklearn.neighbors:KNeighborsClassifier", {"n_neighbors": 1}, table=table)
    held_out = [outcome(replace(task, split=replace(FOLD, fold=fold, n_folds=2))) for fold in range(2)]
    assert not any(found.failed for found in held_out), held_out[0].error
    scored = [samples(found.task).scored["validation"].y for found in held_out]
    lacking = [fold for fold, y in enumerate(scored) if "m" in y]
    for fold in lacking:
        n_samples = len(scored[fold])
        assert known(held_out[fold].score("validation", "accuracy")) <= (n_samples - 1) / n_samples


def test_scores_that_are_no_number_are_none_as_a_store_would_have_it():
    found = outcome(Task.of("two_curves_4", "svc", {}))
    made = replace(found, scores={"test": {"auc": float("nan"), "accuracy": 0.5}})
    assert made.scores == {"test": {"accuracy": 0.5}}


def test_scores_for_pairs_of_classes_are_not_taken_for_those_of_classes():
    settings = {"decision_function_shape": "ovo", "break_ties": False}
    pairs = outcome(Task.of("pm4_generated", "sklearn.svm:SVC", settings))
    single = outcome(Task.of("pm4_generated", "sklearn.svm:SVC", {"decision_function_shape": "ovr"}))
    assert "auc" not in pairs.scores["test"]
    assert "auc" in single.scores["test"]


def test_warnings_are_kept_once_and_stop_nothing():
    found = outcome(Task.of("two_curves_4", "mcquack_test_models:OnlyPredicts", {"complain": True}))
    assert found.details["warnings"] == ["UserWarning: it may rain"]


def test_a_warning_of_the_machine_is_passed_on_and_in_no_row(monkeypatch):
    def complain(self, X, y):
        warnings.warn("no room for code", CompiledCodeWarning, stacklevel=1)
        return fit(self, X, y)

    task = Task.of("two_curves_4", "mcquack_test_models:OnlyPredicts", {})
    expected = outcome(task)
    fit = OnlyPredicts.fit
    monkeypatch.setattr(OnlyPredicts, "fit", complain)
    with pytest.warns(CompiledCodeWarning, match="no room"):
        found = outcome(task)
    assert found.details == expected.details
    assert "warnings" not in found.details


def test_libraries_have_one_thread():
    found = outcome(Task.of("two_curves_4", "mcquack_test_models:ManyThreads", {}))
    assert not found.failed, found.error


def test_long_trainings_and_large_kernels_are_thinned():
    found = outcome(Task.of("two_curves_4", "mcquack", {"epochs": 300, "patience": None, "n_qubits": 2}))
    history, kernel = found.details["history"], found.details["kernel"]
    assert history["epoch"][0] == 1
    assert history["epoch"][-1] == 300
    assert len(history["loss"]) == len(history["epoch"]) <= 200
    assert len(kernel["values"]) == len(kernel["classes"]) <= 60
    assert kernel["classes"] == sorted(kernel["classes"])


@pytest.mark.parametrize("dataset", ["two_curves_4", "iris3"])
@pytest.mark.parametrize("model", ["mcquack", "vc", "svc", "kernel_alignment"])
def test_a_budget_that_suffices_changes_nothing(model, dataset):
    task = Task.of(dataset, model, FEW_EPOCHS.get(model, {}))
    free, within = outcome(task), outcome(task, budget=1e6)
    assert not free.failed
    assert (within.scores, within.details, within.error) == (free.scores, free.details, None)


@pytest.mark.parametrize("model", ["mcquack", "quack", "vc", "shared_vc"])
def test_a_fit_that_takes_longer_than_its_budget_has_failed_and_says_so(model):
    found = outcome(Task.of("two_curves_4", model, {}), budget=0)
    assert found.failed
    assert found.scores == {}
    assert "TimeBudgetError: the fit took longer than 0 s, its budget" in found.reason
    assert set(found.seconds) == {"load", "fit"}


@pytest.mark.parametrize("model", ["svc", "kernel_alignment", "mcquack_test_models:DoesMore"])
def test_what_is_not_fitted_by_its_epochs_alone_takes_its_time(model):
    found = outcome(Task.of("two_curves_4", model, {} if model == "svc" else {"epochs": 2}), budget=0)
    assert not found.failed
    assert found.details.get("study") == ({"more": "than epochs"} if "DoesMore" in model else None)


def test_an_interrupt_is_no_failure(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(OnlyPredicts, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        outcome(Task.of("two_curves_4", "mcquack_test_models:OnlyPredicts", {}))


LABELS = st.integers(2, 5).flatmap(
    lambda m: st.tuples(
        st.just(m), st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, m - 1)), min_size=1, max_size=40)
    )
)


@given(case=LABELS)
def test_label_scores_are_those_of_scikit_learn(case):
    n_classes, pairs = case
    truth, predicted = np.array(pairs).T
    found = label_scores(confusion(truth, predicted, n_classes=n_classes))
    precision, recall, f1, _ = precision_recall_fscore_support(truth, predicted, average="macro", zero_division=0.0)
    assert_allclose([found["precision"], found["recall"], found["f1"]], [precision, recall, f1], atol=1e-12)
    assert_allclose(found["accuracy"], accuracy_score(truth, predicted), atol=1e-12)
    balanced = recall_score(truth, predicted, labels=np.unique(truth), average="macro", zero_division=0.0)
    assert_allclose(found["balanced_accuracy"], balanced, atol=1e-12)


def test_balanced_accuracy_is_that_of_scikit_learn():
    truth, predicted = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 2])
    found = label_scores(confusion(truth, predicted, n_classes=3))
    assert_allclose(found["balanced_accuracy"], balanced_accuracy_score(truth, predicted))


@given(
    n_classes=st.integers(2, 5),
    seed=st.integers(0, 10**6),
    digits=st.integers(0, 3),  # few digits make ties
)
def test_areas_are_the_mean_of_one_class_against_the_others(n_classes, seed, digits):
    random = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=30)])
    scores = random.normal(size=(len(truth), n_classes)).round(digits)
    areas = [roc_auc_score(truth == label, scores[:, label]) for label in range(n_classes)]
    assert_allclose(known(area_under_curves(truth, scores)), np.mean(areas), atol=1e-12)


def test_a_class_without_samples_has_no_area():
    scores = np.array([[0.9, 0.1, 0.5], [0.2, 0.8, 0.5], [0.7, 0.3, 0.5]])
    assert area_under_curves(np.array([0, 1, 0]), scores) == 1.0
    assert area_under_curves(np.array([0, 0, 0]), scores) is None


def test_confusion_counts_true_classes_in_rows():
    counts = confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), n_classes=2)
    assert counts.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_perfect_predictions_score_one_everywhere(n_classes):
    truth = np.arange(n_classes).repeat(3)
    assert set(label_scores(confusion(truth, truth, n_classes=n_classes)).values()) == {1.0}


# What areas under the curve are taken of


@pytest.mark.parametrize("model", ["mcquack", "nn", "vc"])
@pytest.mark.parametrize(
    ("auc_scores", "method"), [("normalised", "predict_proba"), ("raw", "decision_function")], ids=["normalised", "raw"]
)
def test_areas_of_several_classes_are_of_the_scores_that_the_task_asks_for(model, auc_scores, method):
    settings = {"epochs": 3}
    found = outcome(Task.of("iris3", model, settings, auc_scores=auc_scores))
    data = datasets.load("iris3")
    fitted = catalog.entry(model).new(random_state=0, **settings).fit(*data.train)
    scores = getattr(fitted, method)(known(data.test).X)
    areas = [roc_auc_score(known(data.test).y == label, scores[:, label]) for label in range(3)]
    assert_allclose(known(found.score("test", "auc")), np.mean(areas), atol=1e-9)


@pytest.mark.parametrize(("dataset", "model"), [("two_curves_4", "mcquack"), ("iris3", "svc")])
def test_areas_of_two_classes_and_of_margins_are_the_same_either_way(dataset, model):
    settings = {"epochs": 3} if model == "mcquack" else {}
    raw, normalised = (outcome(Task.of(dataset, model, settings, auc_scores=kind)) for kind in ("raw", "normalised"))
    assert raw.scores == normalised.scores


def test_a_classifier_of_another_library_is_judged_by_features_not_by_their_units(tmp_path):
    random = np.random.default_rng(0)
    kinds = np.arange(120) % 2
    rows = np.column_stack([random.normal(size=120) * 1e4, kinds + random.normal(scale=0.1, size=120)])
    path = tmp_path / "units.csv"
    lines = [f"{a},{b},{'ab'[kind]}" for (a, b), kind in zip(rows.tolist(), kinds.tolist(), strict=True)]
    path.write_text("\n".join(["loud,telling,kind", *lines]) + "\n")
    table = TableSource.of(path, target="kind")
    raw, scaled = (
        outcome(Task.of("units", "sklearn.neighbors:KNeighborsClassifier", {}, table=table, scaled=each))
        for each in (False, True)
    )
    low, high = (known(each.score("test", "accuracy")) for each in (raw, scaled))
    assert low < 0.8 < 0.95 < high
