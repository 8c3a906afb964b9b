import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from mcquack.bench.ranking import Contender, score_table
from mcquack.errors import InvalidInputError
from tests.bench.ranking.cells import cell, cells_of, score_matrices


@given(means=score_matrices())
def test_a_table_holds_the_mean_of_every_cell_and_nothing_else(means):
    table = score_table(cells_of(means))
    for row, dataset in enumerate(table.datasets):
        for column, contender in enumerate(table.contenders):
            given_mean = means[int(dataset[1:]), ord(contender.model) - ord("a")]
            assert_array_equal(table.means[row, column], given_mean)
    assert table.is_there.sum() == np.sum(~np.isnan(means))
    assert table.is_there.any(axis=0).all()
    assert table.is_there.any(axis=1).all()


def test_the_mean_is_over_the_seeds_of_the_asked_part_and_metric():
    cells = [
        cell("d", "a", 0.5, 0.7, 0.9),
        cell("d", "b", 0.1, part="train"),
        cell("d", "c", 0.2, metric="auc"),
    ]
    table = score_table(cells)
    assert [contender.model for contender in table.contenders] == ["a"]
    assert table.means == pytest.approx(0.7)
    assert [contender.model for contender in score_table(cells, metric="auc").contenders] == ["c"]
    assert [contender.model for contender in score_table(cells, part="train").contenders] == ["b"]


def test_reported_means_count_like_those_of_seeds():
    reported = cell("d", "b", values={}, reported={("test", "accuracy"): (0.6, 0.1)}, source="paper")
    assert_array_equal(score_table([cell("d", "a", 0.5), reported]).means, [[0.5, 0.6]])


def test_the_same_model_here_and_published_are_two_contenders():
    table = score_table([cell("d", "a", 0.5), cell("d", "a", 0.6, source="paper"), cell("d", "a", 0.7, source="other")])
    assert [contender.label for contender in table.contenders] == ["A", "A †", "A †"]
    assert [contender.is_published for contender in table.contenders] == [False, True, True]
    assert table.sources == ("paper", "other")


def test_a_cell_that_is_given_twice_is_refused():
    with pytest.raises(InvalidInputError, match=r"a \(paper\) on d has scores twice"):
        score_table([cell("d", "a", 0.5, source="paper")] * 2)


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused(score):
    with pytest.raises(InvalidInputError, match="a on d has the score"):
        score_table([cell("d", "a", score)])


def test_no_cells_make_an_empty_table():
    table = score_table([])
    assert table.means.shape == (0, 0)
    assert table.complete(least_share=0.5).datasets == table.of_family("family").datasets == ()


def test_a_table_of_a_family_has_its_datasets_and_whoever_has_scores_there():
    cells = [cell("d1", "a", 0.1, family="x"), cell("d2", "a", 0.2, family="y"), cell("d2", "b", 0.3, family="y")]
    table = score_table(cells)
    only = table.of_family("x")
    assert (only.datasets, only.families, len(only.contenders)) == (("d1",), ("x",), 1)
    assert len(table.of_family("y").contenders) == 2
    assert table.of_family("z").datasets == ()


def test_among_leaves_out_the_others_and_the_datasets_that_only_they_have():
    table = score_table(cells_of([[0.1, 0.2], [np.nan, 0.3]]))
    first = table.among([Contender(model="a", title="A")])
    assert first.datasets == ("d0",)
    assert_array_equal(first.means, [[0.1]])


@given(means=score_matrices())
def test_a_complete_table_has_no_gap(means):
    table = score_table(cells_of(means))
    complete = table.complete()
    assert complete.is_there.all()
    assert set(complete.datasets) == {
        dataset for dataset, there in zip(table.datasets, table.is_there, strict=True) if there.all()
    }


def test_rare_contenders_cost_no_datasets_if_they_are_left_out():
    table = score_table(cells_of([[0.1, 0.2, 0.3], [0.1, 0.2, np.nan], [0.1, 0.2, np.nan]]))
    assert table.complete().means.shape == (1, 3)
    assert table.complete(least_share=1 / 3).means.shape == (1, 3)
    assert table.complete(least_share=0.5).means.shape == (3, 2)


def test_a_table_cannot_be_changed():
    table = score_table([cell("d", "a", 0.5)])
    with pytest.raises(ValueError, match="read-only"):
        table.means[0, 0] = 1
