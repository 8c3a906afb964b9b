import pytest

from mcquack.bench.ranking import compare, score_table, standings, win_matrix
from mcquack.report.benchmark.views import ALL, LEAST_SHARE, views


def test_statistics_are_those_of_the_ranking(contents, statistics):
    table = score_table(contents.scores, metric="accuracy")
    view = statistics.views["accuracy"][ALL]
    assert view.standings == standings(table)
    assert view.comparison == compare(table, least_share=LEAST_SHARE)
    assert view.wins == win_matrix(table, order=[line.contender for line in view.standings])


def test_every_family_has_a_view_of_its_own_datasets(contents, statistics):
    by_family = statistics.views["auc"]
    assert list(by_family) == [ALL, *contents.families]
    assert set(by_family["two_curves"].table.families) == {"two_curves"}


def test_a_single_family_needs_no_second_view(contents):
    cells = [cell for cell in contents.scores if cell.family == "two_curves"]
    assert list(views(cells, ["accuracy"])["accuracy"]) == [ALL]


def test_what_the_tests_leave_out_is_told(statistics):
    view = statistics.views["accuracy"][ALL]
    assert view.comparison is not None
    n_absent = len(view.table.contenders) - len(view.comparison.contenders)
    assert n_absent == 1
    assert "1 model with scores on less than 70 %" in view.reading


def test_too_little_for_a_test_is_a_sentence(contents):
    cells = [cell for cell in contents.scores if cell.dataset == contents.datasets[0].name]
    view = views(cells, ["accuracy"])["accuracy"][ALL]
    assert view.comparison is None
    assert "too few" in view.reading


@pytest.mark.parametrize("metric", ["accuracy", "auc"])
def test_published_models_have_a_place_only_where_they_told_the_metric(statistics, metric):
    published = [line for line in statistics.views[metric][ALL].standings if line.contender.is_published]
    assert len(published) == (2 if metric == "accuracy" else 0)
