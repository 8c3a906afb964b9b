import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import f, friedmanchisquare, ttest_1samp

from mcquack.bench.ranking import (
    Contender,
    average_ranks,
    bootstrap_intervals,
    compare,
    normalised_ranks,
    rank_counts,
    ranks,
    score_table,
    scores_by_size,
    standings,
    win_matrix,
)
from mcquack.bench.ranking.ranks import t_interval
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from tests.bench.ranking.cells import cell, score_matrices, table_of
from tests.known import known


@given(means=score_matrices())
def test_a_rank_is_one_more_than_the_number_of_better_scores(means):
    table = table_of(means)
    better = (table.means[:, None, :] > table.means[:, :, None]).sum(axis=2)
    equal = (table.means[:, None, :] == table.means[:, :, None]).sum(axis=2)
    assert_array_equal(ranks(table), np.where(table.is_there, 1 + better, np.nan))
    assert_array_equal(ranks(table, ties="average"), np.where(table.is_there, 1 + better + (equal - 1) / 2, np.nan))


@given(means=score_matrices(), ties=st.sampled_from(["min", "average"]))
def test_normalised_ranks_are_shares_of_the_models_with_a_score_there(means, ties):
    table = table_of(means)
    n_there = table.is_there.sum(axis=1, keepdims=True)
    shares = normalised_ranks(table, ties=ties)
    assert_allclose(shares * n_there, ranks(table, ties=ties))
    assert np.nanmin(shares) > 0
    assert np.nanmax(shares) <= 1
    units = normalised_ranks(table, ties=ties, scale="unit")
    assert_allclose(units * np.maximum(n_there - 1, 1), ranks(table, ties=ties) - 1)
    assert np.nanmin(units) >= 0
    assert np.nanmax(units) <= 1


@given(means=score_matrices(), seed=st.integers(0, 99))
def test_the_noise_of_floating_point_changes_no_rank(means, seed):
    noise = np.random.default_rng(seed).uniform(-1e-10, 1e-10, means.shape)
    assert_array_equal(ranks(table_of(means + noise)), ranks(table_of(means)))


@given(means=score_matrices())
def test_only_the_order_of_scores_matters(means):
    assert_array_equal(ranks(table_of(means**3 / 2 + means / 4)), ranks(table_of(means)))


def test_ties_have_the_smallest_of_their_ranks_or_share_them():
    table = table_of([[0.9, 0.7, 0.7, 0.7, 0.1]])
    assert_array_equal(ranks(table), [[1, 2, 2, 2, 5]])
    assert_array_equal(ranks(table, ties="average"), [[1, 3, 3, 3, 5]])


def test_an_average_is_over_the_datasets_on_which_a_model_has_a_score():
    table = table_of([[0.9, 0.8, 0.7, 0.6], [0.5, 0.6, np.nan, np.nan], [0.5, np.nan, np.nan, np.nan]])
    assert_allclose(average_ranks(table), [(1 / 4 + 2 / 2 + 1 / 1) / 3, (2 / 4 + 1 / 2) / 2, 3 / 4, 4 / 4])
    assert_allclose(average_ranks(table, scale="unit"), [(0 + 1 + 0) / 3, (1 / 3 + 0) / 2, 2 / 3, 1])


@given(means=score_matrices())
def test_counts_of_ranks_add_up_to_the_datasets_of_each_model(means):
    table = table_of(means)
    counts = rank_counts(table)
    assert counts.shape == (len(table.contenders),) * 2
    assert tuple(counts.sum(axis=1)) == table.n_datasets
    # Somebody is first everywhere, and with ties several are.
    assert counts[:, 0].sum() >= len(table.datasets)


def test_an_empty_table_has_no_ranks():
    table = score_table([])
    assert ranks(table).shape == normalised_ranks(table).shape == rank_counts(table).shape == (0, 0)


@pytest.mark.parametrize("wrong", [{"ties": "max"}, {"scale": "percent"}])
def test_what_is_not_an_option_is_refused(wrong):
    with pytest.raises(InvalidInputError, match="must be"):
        normalised_ranks(table_of([[0.5]]), **wrong)


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
    assert_allclose([known(interval).low for interval in found], lows)
    assert_allclose([known(interval).high for interval in found], highs)


def test_intervals_are_those_of_the_central_limit_theorem_where_datasets_are_many():
    means = np.random.default_rng(0).uniform(size=(400, 4))
    table = table_of(means)
    errors = normalised_ranks(table).std(axis=0) / np.sqrt(400)
    for interval, average, error in zip(
        bootstrap_intervals(table, n_resamples=4000), average_ranks(table), errors, strict=True
    ):
        assert_allclose(
            [known(interval).low, known(interval).high], average + 1.96 * error * np.array([-1, 1]), atol=0.1 * error
        )


def test_a_higher_level_is_wider_and_the_same_seed_gives_the_same():
    table = table_of(np.random.default_rng(0).uniform(size=(20, 3)))
    narrow, wide = (known(bootstrap_intervals(table, level=level)[0]) for level in (0.8, 0.99))
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
    assert known(many).low < known(many).high


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0.0}, {"n_resamples": 99}, {"n_resamples": 2000.0}])
def test_what_makes_no_interval_is_refused(wrong):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        bootstrap_intervals(table_of([[0.5]]), **wrong)


@given(means=score_matrices())
def test_each_contender_has_one_line_and_the_best_average_is_first(means):
    table = table_of(means)
    lines = standings(table, n_resamples=100)
    assert sorted(line.contender.model for line in lines) == sorted(each.model for each in table.contenders)
    assert np.all(np.diff([line.average_rank for line in lines]) >= -1e-12)
    assert all(sum(line.rank_counts) == line.n_datasets for line in lines)


def test_a_line_tells_what_the_functions_tell():
    table = table_of([[0.9, 0.8, 0.9], [0.4, 0.6, np.nan], [0.7, 0.7, 0.8], *[[0.7, 0.6, np.nan]] * 3])
    found = {line.contender: line for line in standings(table, ties="average", scale="unit", seed=3)}
    averages = average_ranks(table, ties="average", scale="unit")
    intervals = bootstrap_intervals(table, ties="average", scale="unit", seed=3)
    for index, contender in enumerate(table.contenders):
        assert found[contender].average_rank == averages[index]
        assert found[contender].interval == intervals[index]
    assert [interval is None for interval in intervals] == [False, False, True]
    third = found[table.contenders[2]]
    assert [third.n_datasets, third.mean_score, third.n_first] == pytest.approx([2, 0.85, 2])
    assert third.rank_counts == (2, 0, 0)


def test_of_equal_ranks_the_better_mean_score_comes_first():
    table = table_of([[0.9, 0.1], [0.4, 0.5]])
    assert [line.contender.model for line in standings(table)] == ["a", "b"]
    assert [line.contender.model for line in standings(table_of([[0.1, 0.9], [0.5, 0.4]]))] == ["b", "a"]


def test_each_family_has_its_own_leaderboard():
    cells = [
        cell("x1", "a", 0.9, family="x"),
        cell("x1", "b", 0.8, family="x"),
        cell("y1", "a", 0.1, family="y"),
        cell("y1", "b", 0.8, family="y"),
        cell("y1", "c", 0.7, family="y"),
    ]
    table = score_table(cells)
    boards = {family: standings(table.of_family(family)) for family in ("x", "y")}
    assert {family: [line.contender.model for line in lines] for family, lines in boards.items()} == {
        "x": ["a", "b"],
        "y": ["b", "c", "a"],
    }
    assert [line.average_rank for line in boards["y"]] == pytest.approx([1 / 3, 2 / 3, 1])


def test_nothing_stands_nowhere():
    assert standings(score_table([])) == ()


@given(means=score_matrices())
def test_every_shared_dataset_is_won_tied_or_lost(means):
    table = table_of(means)
    matrix = win_matrix(table)
    for row in range(len(table.contenders)):
        for column in range(len(table.contenders)):
            wins, ties, losses = matrix.record(row, column)
            assert matrix.record(column, row) == (losses, ties, wins)
            shared = table.is_there[:, row] & table.is_there[:, column]
            assert wins + ties + losses == (0 if row == column else shared.sum())
            assert wins == np.sum(table.means[:, row] > table.means[:, column])


def test_noise_of_floating_point_wins_nothing():
    matrix = win_matrix(table_of([[0.1 + 0.2, 0.3], [0.5, 0.4]]))
    assert matrix.record(0, 1) == (1, 1, 0)
    assert matrix.record(1, 0) == (0, 1, 1)


def test_the_order_may_be_that_of_a_leaderboard():
    table = table_of([[0.1, 0.2, 0.3]])
    a, b, c = table.contenders
    turned = win_matrix(table, order=[c, a])
    assert turned.contenders == (c, a)
    assert turned.wins == ((0, 1), (0, 0))
    assert win_matrix(table).contenders == (a, b, c)


def test_an_order_of_others_is_refused():
    with pytest.raises(InvalidInputError, match="Stranger"):
        win_matrix(table_of([[0.5]]), order=[Contender(model="stranger", title="Stranger")])


def test_an_empty_table_has_no_pairs():
    assert win_matrix(score_table([])).wins == ()


SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=6)


@given(values=SCORES, level=st.sampled_from([0.8, 0.95]))
def test_the_band_is_students_interval_within_what_scores_can_be(values, level):
    values = np.round(values, 3).tolist()
    band = known(t_interval(values, level=level))
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
    band = known(curves[0].points[0].band)
    assert band.low == band.high == 0.6


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


# Demšar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, table 6: AUC of C4.5 with and without
# two parameters tuned. The last two scores of the row before the last are printed as equal and ranked as not.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
]


def test_the_textbook_example():
    found = compare(table_of(DEMSAR))
    assert [each.model for each in found.contenders] == ["d", "b", "c", "a"]
    assert_allclose(found.average_ranks, [1.964, 2.000, 2.893, 3.143], atol=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert compare(table_of(DEMSAR), alpha=0.1).critical_difference == pytest.approx(1.12, abs=0.005)
    # The book does not correct for its three pairs and one quadruple of ties.
    correction = 1 - (3 * (2**3 - 2) + (4**3 - 4)) / (14 * (4**3 - 4))
    statistic = found.friedman.statistic * correction
    assert statistic == pytest.approx(9.28, abs=0.005)
    assert 13 * statistic / (14 * 3 - statistic) == pytest.approx(3.69, abs=0.005)


@pytest.mark.parametrize(
    ("n_models", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (7, 2.949), (10, 3.164)]
)
def test_critical_values_are_those_of_the_book(n_models, quantile):
    """Its table 5 (a), at 0.05."""
    means = np.random.default_rng(0).uniform(size=(12, n_models))
    error = math.sqrt(n_models * (n_models + 1) / (6 * 12))
    assert compare(table_of(means)).critical_difference / error == pytest.approx(quantile, abs=0.0015)


@given(means=score_matrices(missing=False, min_models=3))
def test_the_statistic_is_that_of_scipy(means):
    assume(len(means) >= 2)
    assume(np.ptp(means, axis=1).any())  # scipy divides zero by zero if all are equal
    found = compare(table_of(means)).friedman
    oracle = friedmanchisquare(*means.T)
    assert found.statistic == pytest.approx(oracle.statistic)
    assert found.p_value == pytest.approx(oracle.pvalue)


@given(means=score_matrices(missing=False, min_models=2))
def test_iman_and_davenports_statistic_is_the_analysis_of_variance_of_the_ranks(means):
    assume(len(means) >= 2)
    table = table_of(means)
    n_datasets, n_models = means.shape
    centred = ranks(table, ties="average") - (n_models + 1) / 2
    between = n_datasets * np.sum(centred.mean(axis=0) ** 2)
    within = np.sum(centred**2) - between  # all datasets have the same mean rank
    assume(within > 1e-9)
    found = compare(table).friedman
    assert found.f_statistic == pytest.approx(between * (n_datasets - 1) / within)
    assert found.f_p_value == pytest.approx(f.sf(found.f_statistic, n_models - 1, (n_models - 1) * (n_datasets - 1)))


@given(means=score_matrices(missing=False, min_models=2))
def test_bars_join_exactly_the_pairs_that_are_not_told_apart(means):
    assume(len(means) >= 2)
    found = compare(table_of(means))
    joined = {frozenset((one, other)) for group in found.groups for one in group for other in group}
    for i, one in enumerate(found.contenders):
        for j, other in enumerate(found.contenders[:i]):
            difference = abs(found.average_ranks[i] - found.average_ranks[j])
            assert (frozenset((one, other)) in joined) == (difference <= found.critical_difference)
    assert all(len(group) > 1 for group in found.groups)
    assert not any(set(group) < set(other) for group in found.groups for other in found.groups)


@given(means=score_matrices(missing=False, min_models=2))
def test_p_values_are_symmetric_and_cross_alpha_at_the_critical_difference(means):
    assume(len(means) >= 2)
    found = compare(table_of(means))
    p_values = np.array(found.p_values)
    assert_allclose(p_values, p_values.T)
    assert_allclose(np.diag(p_values), 1, atol=1e-6)
    differences = np.abs(np.subtract.outer(found.average_ranks, found.average_ranks))
    assert np.all(p_values[differences > found.critical_difference * (1 + 1e-6)] < found.alpha)
    assert np.all(p_values[differences < found.critical_difference * (1 - 1e-6)] > found.alpha)


def test_equal_scores_are_no_evidence():
    found = compare(table_of(np.full((5, 3), 0.5)))
    assert found.friedman.statistic == found.friedman.f_statistic == 0
    assert found.friedman.p_value == found.friedman.f_p_value == 1
    assert len(found.groups) == 1
    assert len(found.groups[0]) == 3


def test_datasets_of_one_mind_are_the_strongest_evidence():
    found = compare(table_of([[0.9, 0.8, 0.7]] * 10)).friedman
    assert found.statistic == pytest.approx(20)
    assert found.f_statistic == math.inf
    assert found.f_p_value == 0


def test_only_datasets_with_scores_of_all_count():
    gap = [[0.1, 0.2, np.nan]]
    found = compare(table_of([*DEMSAR, [0.1, np.nan, 0.2, 0.3]]))
    assert (found.n_datasets, found.n_left_out) == (14, 1)
    assert found.friedman == compare(table_of(DEMSAR)).friedman
    rare = table_of([[0.9, 0.8, 0.7]] * 2 + gap * 8)
    assert compare(rare).n_datasets == 2
    frequent = compare(rare, least_share=0.5)
    assert (frequent.n_datasets, len(frequent.contenders)) == (10, 2)
    assert [contender.model for contender in frequent.absent] == ["c"]
    assert compare(rare).absent == ()


@pytest.mark.parametrize("means", [[[0.5, 0.6]], [[0.5], [0.6]], [[0.5, np.nan], [np.nan, 0.6]]], ids=str)
def test_too_little_to_compare_is_refused(means):
    with pytest.raises(InvalidInputError, match=r"at least 2 models .* same 2 datasets, but the \d here share \d;"):
        compare(table_of(means))


@pytest.mark.parametrize("alpha", [0, 1, -0.05])
def test_alpha_is_a_probability(alpha):
    with pytest.raises(InvalidInputError, match="alpha"):
        compare(table_of(DEMSAR), alpha=alpha)
