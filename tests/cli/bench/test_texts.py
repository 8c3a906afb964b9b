import pytest

from mcquack.cli.bench_progress import CellProgress, counted, duration, score_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0, "0 s"),
        (99.4, "99 s"),
        (99.6, "2 min"),
        (5400.0, "90 min"),
        (6000.0, "1 h 40 min"),
        (86_400.0, "24 h 00 min"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_one_is_not_many():
    assert [counted(count, "task") for count in (0, 1, 1200)] == ["0 tasks", "1 task", "1,200 tasks"]


def test_scores_on_the_test_part_come_before_those_of_the_search():
    cell = CellProgress(n_most=3, metric="balanced_accuracy")
    assert score_text(cell) == "no scores"
    cell = CellProgress(n_most=3, metric="balanced_accuracy", validation=0.9)
    assert score_text(cell) == "validation balanced accuracy 0.900"
    cell = CellProgress(n_most=3, metric="balanced_accuracy", validation=0.9, test=(0.5,))
    assert score_text(cell) == "test balanced accuracy 0.500"
    cell = CellProgress(n_most=3, metric="balanced_accuracy", validation=0.9, test=(0.5, 0.7))
    assert score_text(cell) == "test balanced accuracy 0.600 ± 0.100"
