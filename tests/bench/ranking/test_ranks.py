import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.bench.ranking import average_ranks, normalised_ranks, rank_counts, ranks, score_table
from mcquack.errors import InvalidInputError
from tests.bench.ranking.cells import score_matrices, table_of


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
