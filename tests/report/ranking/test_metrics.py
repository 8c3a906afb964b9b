import pytest

from mcquack.bench.outcome import METRICS
from mcquack.report.ranking import METRIC_TITLES, metric_phrase


def test_every_metric_has_a_title():
    assert METRIC_TITLES.keys() == set(METRICS)


@pytest.mark.parametrize(
    ("metric", "phrase"),
    [("auc", "AUC"), ("f1", "F1"), ("recall", "recall"), ("balanced_accuracy", "balanced accuracy")],
)
def test_abbreviations_keep_their_capitals_within_a_sentence(metric, phrase):
    assert metric_phrase(metric) == phrase
