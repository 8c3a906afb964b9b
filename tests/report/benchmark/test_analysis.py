from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.ranking import CellScores, compare, score_table, standings, win_matrix
from mcquack.report.benchmark.analysis import ALL, LEAST_SHARE, analyse, score_grid
from mcquack.report.ranking import overall_test, plot_critical_difference
from mcquack.report.style import chance


def test_statistics_are_those_of_the_ranking(contents, analysis):
    table = score_table(contents.scores, metric="accuracy")
    view = analysis.views["accuracy"][ALL]
    assert view.standings == standings(table)
    assert view.comparison == compare(table, least_share=LEAST_SHARE)
    assert view.wins == win_matrix(table, order=[line.contender for line in view.standings])


def test_average_ranks_are_on_the_scale_that_was_asked_for(contents, analysis):
    table = score_table(contents.scores, metric="accuracy")
    view = analyse(contents, rank_scale="unit").views["accuracy"][ALL]
    assert view.standings == standings(table, scale="unit") != analysis.views["accuracy"][ALL].standings
    assert view.comparison == analysis.views["accuracy"][ALL].comparison  # tests have ranks from 1 to K


def test_every_family_has_a_view_of_its_own_datasets(contents, analysis):
    by_family = analysis.views["auc"]
    assert list(by_family) == [ALL, *contents.families]
    assert set(by_family["two_curves"].table.families) == {"two_curves"}


def test_a_single_family_needs_no_second_view(contents):
    cells = [cell for cell in contents.scores if cell.family == "two_curves"]
    assert list(analyse(replace(contents, scores=tuple(cells))).views["accuracy"]) == [ALL]


def test_what_the_tests_leave_out_is_told(analysis):
    view = analysis.views["accuracy"][ALL]
    assert view.comparison is not None
    n_absent = len(view.table.contenders) - len(view.comparison.contenders)
    assert n_absent == 1
    assert "1 model with scores on less than 70 %" in view.reading


def test_the_page_quotes_the_test_that_the_figure_quotes(analysis):
    view = analysis.main
    test = view.comparison.friedman
    told = overall_test(view.comparison)
    assert told == f"F\u00a0=\u00a0{test.f_statistic:.1f}, {chance(test.f_p_value)}"
    assert f"Iman and Davenport’s form of Friedman’s test gives {told}." in view.reading
    texts = [text.get_text() for text in plot_critical_difference(view.comparison).axes[0].texts]
    assert any(f"all alike: {told} (Iman".replace("\u00a0", " ") in text for text in texts)


def test_parameters_and_times_are_medians_over_the_datasets_of_a_view(contents, analysis):
    for family in (ALL, "two_curves"):
        view = analysis.views["accuracy"][family]
        for contender, seconds in view.fit_seconds.items():
            cells = [cell for cell in contents.cells if cell.contender == contender]
            times = [
                outcome.seconds["fit"]
                for cell in cells
                for outcome in cell.finals
                if not outcome.failed and cell.dataset.startswith(family)
            ]
            assert seconds == pytest.approx(median(times))
        assert all(not contender.is_published for contender in (*view.fit_seconds, *view.n_parameters))


def test_too_little_for_a_test_is_a_sentence(contents):
    cells = [cell for cell in contents.scores if cell.dataset == contents.datasets[0].name]
    view = analyse(replace(contents, scores=tuple(cells))).views["accuracy"][ALL]
    assert view.comparison is None
    assert "too few" in view.reading


@pytest.mark.parametrize("metric", ["accuracy", "auc"])
def test_published_models_have_a_place_only_where_they_told_the_metric(analysis, metric):
    published = [line for line in analysis.views[metric][ALL].standings if line.contender.is_published]
    assert len(published) == (2 if metric == "accuracy" else 0)


SCORES = st.lists(st.sampled_from([None, 0.1, 0.5, 0.9, 0.90000000000001]), min_size=1, max_size=6)


def cells(scores):
    return [
        CellScores(
            dataset="d", family="f", model=f"m{index}", title=f"M{index}", values={("test", "accuracy"): (score,) * 2}
        )
        for index, score in enumerate(scores)
        if score is not None
    ]


@given(scores=SCORES)
def test_the_best_and_the_next_best_scores_are_marked(scores):
    grid = score_grid(cells(scores), part="test", metric="accuracy")
    levels = sorted({round(score.mean, 8) for score in grid.values()}, reverse=True)
    for score in grid.values():
        place = levels.index(round(score.mean, 8))
        expected = "" if len(grid) < 2 else {0: "best", 1: "second"}.get(place, "")
        assert score.mark == expected


def test_mean_and_spread_are_those_of_the_seeds(contents, analysis):
    grid = analysis.grids["test", "accuracy"]
    known = {(cell.dataset, cell.contender): cell for cell in contents.scores}
    assert grid.keys() == known.keys()
    for key, score in grid.items():
        assert score.mean == known[key].mean("test", "accuracy")
        assert score.spread == known[key].spread("test", "accuracy")
