import numpy as np
import pytest
from hypothesis import given

from mcquack.bench.ranking import (
    average_ranks,
    bootstrap_intervals,
    score_table,
    standings,
    standings_by_family,
)
from tests.bench.ranking.cells import cell, score_matrices, table_of


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
    assert (third.n_datasets, third.mean_score, third.n_first) == (2, pytest.approx(0.85), 2)
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
    boards = standings_by_family(score_table(cells))
    assert {family: [line.contender.model for line in lines] for family, lines in boards.items()} == {
        "x": ["a", "b"],
        "y": ["b", "c", "a"],
    }
    assert [line.average_rank for line in boards["y"]] == pytest.approx([1 / 3, 2 / 3, 1])


def test_nothing_stands_nowhere():
    assert standings(score_table([])) == ()
    assert standings_by_family(score_table([])) == {}
