import numpy as np
import pytest
from hypothesis import given

from mcquack.bench.ranking import Contender, score_table, win_matrix
from mcquack.errors import InvalidInputError
from tests.bench.ranking.cells import score_matrices, table_of


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
    assert matrix.totals(0) == (1, 1, 0)
    assert matrix.totals(1) == (0, 1, 1)


def test_the_order_may_be_that_of_a_leaderboard():
    table = table_of([[0.1, 0.2, 0.3]])
    a, b, c = table.contenders
    turned = win_matrix(table, order=[c, a])
    assert turned.contenders == (c, a)
    assert turned.wins == ((0, 1), (0, 0))
    assert win_matrix(table).contenders == (a, b, c)


def test_an_order_of_others_is_refused():
    with pytest.raises(InvalidInputError, match="Stranger has no score in the table"):
        win_matrix(table_of([[0.5]]), order=[Contender(model="stranger", title="Stranger")])


def test_an_empty_table_has_no_pairs():
    assert win_matrix(score_table([])).wins == ()
