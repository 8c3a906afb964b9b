import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from mcquack.bench.ranking import WinMatrix, score_table, win_matrix
from mcquack.errors import InvalidInputError
from mcquack.report.ranking import loss_shares, plot_wins
from mcquack.report.style import new_axes
from tests.bench.ranking.cells import score_matrices, table_of
from tests.report.ranking.fakes import benchmark, is_drawn

MATRIX = win_matrix(score_table(benchmark()))


def test_every_pair_has_its_record_in_its_field():
    (ax,) = plot_wins(MATRIX).axes
    found = {tuple(map(round, reversed(text.get_position()))): text.get_text() for text in ax.texts}
    assert found == {
        (row, column): "–".join(map(str, MATRIX.record(row, column)))
        for row in range(4)
        for column in range(4)
        if row != column
    }


def test_rows_and_columns_have_the_same_names_and_the_note_explains_the_dagger():
    (ax,) = plot_wins(MATRIX).axes
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [text.get_text() for text in ax.get_xticklabels()] == ["Alpha", "Beta †", "Gamma", "Delta"]
    assert ax.get_xlabel() == "datasets, the row against the column\n† published: Somebody 2024"


@given(means=score_matrices())
def test_what_one_loses_the_other_wins(means):
    shares = loss_shares(win_matrix(table_of(means)))
    assert_allclose(shares + shares.T, np.where(np.isnan(shares), np.nan, 1))
    assert np.isnan(np.diag(shares)).all()


def test_models_without_a_shared_dataset_have_no_record():
    matrix = win_matrix(table_of([[0.5, np.nan], [np.nan, 0.5]]))
    assert not plot_wins(matrix).axes[0].texts


@pytest.mark.parametrize("n_models", [2, 12])
def test_any_number_of_models_and_any_name_can_be_drawn(n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 60]
    matrix = win_matrix(score_table(benchmark(names)))
    assert is_drawn(plot_wins(matrix))
    ax = new_axes(20, 20)
    assert plot_wins(matrix, ax=ax) is ax.figure


def test_one_model_makes_no_pair():
    with pytest.raises(InvalidInputError, match="1 models make no pair"):
        plot_wins(WinMatrix(contenders=MATRIX.contenders[:1], wins=((0,),), ties=((0,),)))
