from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from mcquack.bench.ranking import WinMatrix, compare, score_table, scores_by_size, standings, win_matrix
from mcquack.bench.task import METRICS
from mcquack.errors import InvalidInputError
from mcquack.report import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins
from mcquack.report.drawing import TITLE
from mcquack.report.ranking import METRIC_TITLES, loss_shares, metric_phrase, overall_test
from mcquack.report.style import class_colour, figure_of, new_axes, shade
from tests.bench.ranking.cells import score_matrices, table_of
from tests.report.fakes import FAMILIES, MODELS, SIZES, benchmark, corners, is_drawn, known, texts, xs, ys


def test_every_metric_has_a_title():
    assert METRIC_TITLES.keys() == set(METRICS)


@pytest.mark.parametrize(
    ("metric", "phrase"),
    [("auc", "AUC"), ("f1", "F1"), ("recall", "recall"), ("balanced_accuracy", "balanced accuracy")],
)
def test_abbreviations_keep_their_capitals_within_a_sentence(metric, phrase):
    assert metric_phrase(metric) == phrase


TABLE = score_table(benchmark())
LINES = standings(TABLE)


def test_the_best_stands_on_top_and_what_is_published_is_marked():
    (ax,) = plot_ranking(LINES).axes
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    names = ["Alpha", "Beta †", "Gamma", "Delta"]
    assert sorted(names, key=heights.__getitem__) == names
    assert ax.yaxis_inverted()
    assert {"number of datasets", "† published: Somebody 2024"} <= texts(figure_of(ax))


def test_without_published_scores_nothing_is_said_of_them():
    written = texts(plot_ranking(standings(score_table(benchmark(published=())))))
    assert "number of datasets" in written
    assert not any("†" in text for text in written)


def test_averages_and_intervals_are_written_beside_the_bars():
    written = texts(plot_ranking(LINES))
    for line in LINES:
        interval = known(line.interval)
        assert f"{line.average_rank:.2f}" in written
        assert f"{interval.low:.2f} – {interval.high:.2f}" in written
    assert "95 % interval" in written
    assert "99.5 % interval" in texts(plot_ranking(standings(score_table(benchmark()), level=0.995)))


def test_an_interval_that_is_not_known_is_a_dash_and_where_none_is_there_is_no_column():
    first, *others = LINES
    assert "–" in texts(plot_ranking([replace(first, interval=None), *others]))
    written = texts(plot_ranking([replace(line, interval=None) for line in LINES]))
    assert "average" in written
    assert not any("–" in text or "interval" in text for text in written)


def test_the_first_rank_is_blue_and_the_last_red():
    first, last = to_rgb(shade(0)), to_rgb(shade(1))
    assert first[2] > first[0]
    assert last[0] > last[2]


@pytest.mark.parametrize("n_models", [1, 2, 12])
def test_the_legend_names_first_and_last_rank_and_no_more_than_ten(n_models):
    lines = standings(score_table(benchmark([f"Model {index}" for index in range(n_models)])))
    figure = plot_ranking(lines)
    above = [text.get_text() for text in figure.axes[0].texts if text.get_position()[1] == TITLE + 6]
    shown = [text for text in above if text.removeprefix("rank ").isdecimal()]
    assert shown[0] == "rank 1"
    assert n_models == 1 or shown[-1] == str(n_models)
    assert len(shown) == min(n_models, 10)
    assert is_drawn(figure)


def test_any_name_can_be_drawn_in_axes_of_ones_own():
    lines = standings(score_table(benchmark(["$5 to $9", "a_b^c", "M" * 80])))
    ax = new_axes(12, 4)
    figure = plot_ranking(lines, title="for $1", ax=ax)
    assert figure is ax.figure
    assert ax.get_title(loc="left") == "for $1"
    assert is_drawn(figure)
    assert is_drawn(plot_ranking(lines))


def test_nothing_to_rank_is_refused():
    with pytest.raises(InvalidInputError, match="at least one"):
        plot_ranking(())


COMPARISON = compare(TABLE)


def lines_of(figure, *, width):
    return [line for ax in figure.axes for line in ax.lines if line.get_linewidth() == pytest.approx(width)]


def test_each_model_is_named_with_its_rank_the_better_half_at_the_left():
    figure = plot_critical_difference(COMPARISON)
    sides = {text.get_text().strip(): text.get_horizontalalignment() for text in figure.axes[0].texts}
    for index, (contender, rank) in enumerate(zip(COMPARISON.contenders, COMPARISON.average_ranks, strict=True)):
        if index < 2:
            assert sides[f"{contender.label}  {rank:.2f}"] == "right"
        else:
            assert sides[f"{rank:.2f}  {contender.label}"] == "left"


def ranks_at(comparison, line):
    """The ranks at which a line in points begins and ends, by the ruler that begins at rank 1."""
    scale = max(comparison.average_ranks) - min(comparison.average_ranks)
    figure = plot_critical_difference(comparison)
    starts = sorted(xs(each)[0] for each in lines_of(figure, width=0.9))
    unit = (starts[-1] - starts[0]) / scale
    return [min(comparison.average_ranks) + (x - starts[0]) / unit for x in xs(line)]


def test_lines_start_at_the_ranks():
    lines = lines_of(plot_critical_difference(COMPARISON), width=0.9)
    starts = sorted(ranks_at(COMPARISON, line)[0] for line in lines)
    assert_allclose(starts, COMPARISON.average_ranks)


def test_bars_span_the_groups():
    bars = lines_of(plot_critical_difference(COMPARISON), width=3.6)
    ranks = dict(zip(COMPARISON.contenders, COMPARISON.average_ranks, strict=True))
    assert len(bars) == len(COMPARISON.groups) > 0
    for bar, group in zip(bars, COMPARISON.groups, strict=True):
        first, last = ranks_at(COMPARISON, bar)
        assert_allclose([first, last], [ranks[group[0]], ranks[group[-1]]], atol=0.05)
        assert first < ranks[group[0]] <= ranks[group[-1]] < last


def test_the_ruler_is_as_long_as_the_critical_difference():
    ruler, *_ = lines_of(plot_critical_difference(COMPARISON), width=1.4)
    assert_allclose(np.diff(ranks_at(COMPARISON, ruler)), COMPARISON.critical_difference)


def test_the_note_tells_what_was_compared_and_how_surely():
    told = "F = ∞, p < 0.001"  # all datasets agree on one order
    assert overall_test(COMPARISON).replace("\u00a0", " ") == told
    published = "† published: Somebody 2024"
    tested = f"all alike: {told} (Iman and Davenport); bars: Nemenyi at α = 0.05"
    assert {"6 datasets", tested, published} <= texts(plot_critical_difference(COMPARISON))
    gapped = [cell for cell in benchmark(published=()) if (cell.model, cell.dataset) != ("delta", "curves_2")]
    written = texts(plot_critical_difference(compare(score_table(gapped))))
    assert "5 datasets, 1 left out where a model has no score" in written
    assert not any("†" in text for text in written)
    rare = [cell for cell in benchmark() if cell.model != "beta" or cell.dataset == "curves_2"]
    written = texts(plot_critical_difference(compare(score_table(rare), least_share=0.5)))
    assert {"6 datasets", "not compared, with scores on too few datasets: Beta †", published} <= written


@pytest.mark.parametrize("n_models", [2, 3, 12])
def test_any_number_of_models_and_any_name_can_be_drawn(n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 60]
    comparison = compare(score_table(benchmark(names)))
    assert is_drawn(plot_critical_difference(comparison))
    ax = new_axes(20, 6)
    assert plot_critical_difference(comparison, ax=ax, title="for $1") is ax.figure
    assert ax.get_title(loc="left") == "for $1"


def test_many_models_that_take_no_part_find_room_below():
    names = [f"Model number {index}" for index in range(20)]
    cells = [cell for cell in benchmark(names) if cell.model[-2:] in (" 0", " 1") or cell.dataset == "curves_2"]
    comparison = compare(score_table(cells), least_share=0.5)
    assert len(comparison.absent) == 18
    assert is_drawn(plot_critical_difference(comparison))


def test_models_that_are_all_alike_share_one_bar():
    alike = [*benchmark(["Alpha"]), *benchmark(["Beta"])]  # the same random numbers for both
    bars = lines_of(plot_critical_difference(compare(score_table(alike))), width=3.6)
    assert len(bars) == 1


MATRIX = win_matrix(TABLE)


def records_of(ax):
    return [text for text in ax.texts if text.get_text().count("–") == 2]


def test_every_pair_has_its_record_in_its_field():
    (ax,) = plot_wins(MATRIX).axes
    found = records_of(ax)
    pairs = [(row, column) for row in range(4) for column in range(4) if row != column]
    assert [text.get_text() for text in found] == ["–".join(map(str, MATRIX.record(*pair))) for pair in pairs]
    columns, rows = (sorted({text.get_position()[axis] for text in found}) for axis in (0, 1))
    places = [text.get_position() for text in found]
    assert [(rows.index(y), columns.index(x)) for x, y in places] == pairs


def test_rows_and_columns_have_the_same_names_and_the_note_explains_the_dagger():
    (ax,) = plot_wins(MATRIX).axes
    for name in ("Alpha", "Beta †", "Gamma", "Delta"):
        row, column = [text for text in ax.texts if text.get_text() == name]
        assert (row.get_rotation(), column.get_rotation()) == (0, 35)
    assert {"datasets, the row against the column", "† published: Somebody 2024"} <= texts(figure_of(ax))


@given(means=score_matrices())
def test_what_one_loses_the_other_wins(means):
    shares = loss_shares(win_matrix(table_of(means)))
    assert_allclose(shares + shares.T, np.where(np.isnan(shares), np.nan, 1))
    assert np.isnan(np.diag(shares)).all()


def test_models_without_a_shared_dataset_have_no_record():
    matrix = win_matrix(table_of([[0.5, np.nan], [np.nan, 0.5]]))
    assert not records_of(plot_wins(matrix).axes[0])


@pytest.mark.parametrize("n_models", [2, 12])
def test_a_matrix_of_any_number_of_models_and_any_name_can_be_drawn(n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 60]
    matrix = win_matrix(score_table(benchmark(names)))
    assert is_drawn(plot_wins(matrix))
    ax = new_axes(20, 20)
    assert plot_wins(matrix, ax=ax) is ax.figure


def test_one_model_makes_no_pair():
    with pytest.raises(InvalidInputError, match="at least 2"):
        plot_wins(WinMatrix(contenders=MATRIX.contenders[:1], wins=((0,),), ties=((0,),)))


CELLS = benchmark()
TEST, TRAIN = (scores_by_size(CELLS, part=part) for part in ("test", "train"))


def test_each_family_has_a_panel_with_a_curve_for_each_contender():
    figure = plot_scores_by_size(TEST)
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(FAMILIES)
    for ax, family in zip(figure.axes, FAMILIES, strict=True):
        curves = {curve.contender.label: curve for curve in TEST if curve.family == family}
        assert len(ax.lines) == len(curves)
        for line in ax.lines:
            curve = curves[str(line.get_label())]
            assert_allclose(xs(line), SIZES)
            assert_allclose(ys(line), [point.mean for point in curve.points])


def test_bands_are_the_intervals():
    ax = plot_scores_by_size(TEST).axes[0]
    curves = sorted(TEST[::2], key=lambda curve: not curve.contender.is_published)
    for area, curve in zip(ax.collections, curves, strict=True):
        points = corners(area.get_paths()[0])
        bands = [known(point.band) for point in curve.points]
        assert_allclose(points[:, 1].min(), min(band.low for band in bands))
        assert_allclose(points[:, 1].max(), max(band.high for band in bands))


def test_a_contender_looks_the_same_in_all_panels_and_parts_and_unlike_the_others():
    figure = plot_scores_by_size(TEST + TRAIN)
    looks = [{line.get_label(): line.get_color() for line in ax.lines} for ax in figure.axes]
    assert looks[0] == looks[1]
    assert len(set(looks[0].values())) == len(looks[0]) == len(MODELS)
    styles = {(str(line.get_gid()).rpartition("-")[2], line.get_linestyle()) for ax in figure.axes for line in ax.lines}
    assert styles == {("test", "-"), ("train", "--")}


def test_what_was_run_here_is_drawn_above_what_is_published():
    ax = plot_scores_by_size(TEST).axes[0]
    assert [line.get_label() for line in ax.lines] == ["Beta †", "Alpha", "Gamma", "Delta"]


def test_the_legend_names_all_and_explains_lines_and_daggers():
    (legend,) = plot_scores_by_size(TEST + TRAIN).legends
    assert [text.get_text() for text in legend.get_texts()] == ["Alpha", "Beta †", "Gamma", "Delta"]
    assert " ".join(legend.get_title().get_text().split()) == (
        "solid: test part; dashed: training part; shaded: 95 % interval over seeds; † published: Somebody 2024"
    )


def test_curves_without_bands_are_drawn_and_not_said_to_have_any():
    single = [cell for cell in scores_by_size(CELLS) if cell.contender.title == "Alpha"]
    bare = [
        type(curve)(
            **{**vars(curve), "points": tuple(type(p)(size=p.size, mean=p.mean, band=None) for p in curve.points)}
        )
        for curve in single
    ]
    figure = plot_scores_by_size(bare)
    assert figure.legends[0].get_title().get_text() == "solid: test part"
    assert is_drawn(figure)


@pytest.mark.parametrize(("n_families", "n_models"), [(1, 1), (1, 12), (3, 2), (7, 12)])
def test_any_number_of_families_and_models_can_be_drawn(n_families, n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 40]
    families = [f"family_{index}" for index in range(n_families)]
    figure = plot_scores_by_size(scores_by_size(benchmark(names, families=families)))
    assert len(figure.axes) == n_families
    assert {ax.get_ylabel() for ax in figure.axes} <= {"accuracy", ""}
    assert figure.axes[0].get_ylabel() == "accuracy"
    assert is_drawn(figure)


def test_colours_follow_the_order_that_is_given_and_ids_name_it():
    order = tuple(reversed([line.contender for line in LINES]))
    figure = plot_scores_by_size(TEST, contenders=order, legend=False)
    assert not figure.legends
    for number, ax in enumerate(figure.axes):
        for line in ax.lines:
            place = [contender.label for contender in order].index(str(line.get_label()))
            assert line.get_color() == class_colour(place)
            assert line.get_gid() == f"panel-{number}-curve-{place}-test"
    assert {area.get_gid() for area in figure.axes[0].collections} == {f"panel-0-band-{n}-test" for n in range(4)}


def test_no_curves_are_refused():
    with pytest.raises(InvalidInputError, match="two_curves_2"):
        plot_scores_by_size(())
