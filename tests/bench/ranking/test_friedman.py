import math

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.testing import assert_allclose
from scipy.stats import f, friedmanchisquare

from mcquack.bench.ranking import compare, ranks
from mcquack.errors import InvalidInputError
from tests.bench.ranking.cells import score_matrices, table_of

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
