import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import ttest_1samp

from mcquack.bench.ranking import scores_by_size
from mcquack.bench.ranking.ranks import t_interval
from mcquack.errors import InvalidInputError
from tests.bench.ranking.cells import cell

SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=6)


@given(values=SCORES, level=st.sampled_from([0.8, 0.95]))
def test_the_band_is_students_interval_within_what_scores_can_be(values, level):
    values = np.round(values, 3).tolist()
    band = t_interval(values, level=level)
    assert 0 <= band.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= band.high <= 1
    if np.ptp(values) > 0:
        oracle = ttest_1samp(values, 0).confidence_interval(level)
        assert_allclose([band.low, band.high], np.clip([oracle.low, oracle.high], 0, 1), atol=1e-9)


def test_curves_are_of_a_family_and_a_contender_smallest_size_first():
    cells = [
        cell("x_10", "a", 0.8, 0.9, family="x", size=10),
        cell("x_2", "a", 0.6, 0.6, family="x", size=2),
        cell("x_2", "a", 0.5, 0.7, family="x", size=2, source="paper"),
        cell("y_2", "a", 0.4, 0.5, family="y", size=2),
    ]
    curves = scores_by_size(cells)
    assert [(curve.family, curve.contender.label) for curve in curves] == [("x", "A"), ("x", "A †"), ("y", "A")]
    assert [point.size for point in curves[0].points] == [2, 10]
    assert [point.mean for point in curves[0].points] == pytest.approx([0.6, 0.85])
    assert curves[0].points[0].band.low == curves[0].points[0].band.high == 0.6


def test_what_has_no_size_or_no_such_score_is_in_no_curve():
    cells = [cell("iris3", "a", 0.9, 0.8), cell("x_2", "a", 0.9, 0.8, size=2, metric="auc")]
    assert scores_by_size(cells) == ()
    (curve,) = scores_by_size(cells, metric="auc")
    assert (curve.metric, curve.part) == ("auc", "test")


def test_without_several_seeds_there_is_no_band():
    one = cell("x_2", "a", 0.9, size=2)
    reported = cell("x_2", "b", size=2, values={}, reported={("test", "accuracy"): (0.9, 0.1)}, source="paper")
    assert [curve.points[0].band for curve in scores_by_size([one, reported])] == [None, None]


def test_the_level_is_a_probability():
    with pytest.raises(InvalidInputError, match="level"):
        scores_by_size([], level=95)
