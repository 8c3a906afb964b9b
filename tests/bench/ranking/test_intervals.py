import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.bench.ranking import average_ranks, bootstrap_intervals, normalised_ranks, score_table
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from tests.bench.ranking.cells import score_matrices, table_of


@given(means=score_matrices(), level=st.sampled_from([0.5, 0.9, 0.95]))
def test_an_interval_lies_within_the_ranks_that_occur(means, level):
    table = table_of(means)
    shares = normalised_ranks(table)
    for interval, lowest, highest in zip(
        bootstrap_intervals(table, level=level, n_resamples=100),
        np.nanmin(shares, axis=0),
        np.nanmax(shares, axis=0),
        strict=True,
    ):
        if interval is None:
            continue
        assert lowest - 1e-12 <= interval.low <= interval.high <= highest + 1e-12
        assert interval.level == level


def test_weights_of_a_resample_give_the_mean_over_the_drawn_datasets():
    """The same draws as lists of datasets, one mean at a time."""
    rng = np.random.default_rng(0)
    means = rng.uniform(size=(9, 3)).round(1)
    means[rng.uniform(size=means.shape) < 0.3] = np.nan
    means[0] = 0.5
    table = table_of(means)
    shares = normalised_ranks(table)
    draws = stream(7, "bootstrap of average ranks").multinomial(9, np.full(9, 1 / 9), size=200)
    resampled = [np.nanmean(shares[np.repeat(np.arange(9), draw)], axis=0) for draw in draws]
    lows, highs = np.quantile(resampled, [0.05, 0.95], axis=0)
    found = bootstrap_intervals(table, level=0.9, n_resamples=200, seed=7)
    assert_allclose([interval.low for interval in found], lows)
    assert_allclose([interval.high for interval in found], highs)


def test_intervals_are_those_of_the_central_limit_theorem_where_datasets_are_many():
    means = np.random.default_rng(0).uniform(size=(400, 4))
    table = table_of(means)
    errors = normalised_ranks(table).std(axis=0) / np.sqrt(400)
    for interval, average, error in zip(
        bootstrap_intervals(table, n_resamples=4000), average_ranks(table), errors, strict=True
    ):
        assert_allclose([interval.low, interval.high], average + 1.96 * error * np.array([-1, 1]), atol=0.1 * error)


def test_a_higher_level_is_wider_and_the_same_seed_gives_the_same():
    table = table_of(np.random.default_rng(0).uniform(size=(20, 3)))
    narrow, wide = (bootstrap_intervals(table, level=level)[0] for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert bootstrap_intervals(table) == bootstrap_intervals(table, seed=0) != bootstrap_intervals(table, seed=1)


@pytest.mark.parametrize("n_datasets", [1, 4, 5, 6])
def test_a_handful_of_datasets_makes_no_interval(n_datasets):
    found = bootstrap_intervals(table_of([[0.9, 0.8]] * n_datasets))
    assert [interval is None for interval in found] == [n_datasets < 5] * 2
    assert bootstrap_intervals(score_table([])) == ()


def test_a_model_with_few_scores_has_no_interval_beside_others_that_have():
    few, many = bootstrap_intervals(table_of([[0.8, 0.9]] * 4 + [[np.nan, 0.8]] * 4))
    assert few is None
    assert many.low < many.high


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0.0}, {"n_resamples": 99}, {"n_resamples": 2000.0}])
def test_what_makes_no_interval_is_refused(wrong):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        bootstrap_intervals(table_of([[0.5]]), **wrong)
