import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)

from mcquack.bench.evaluation import area_under_curves, confusion, label_scores

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
    assert_allclose(area_under_curves(truth, scores), np.mean(areas), atol=1e-12)


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
