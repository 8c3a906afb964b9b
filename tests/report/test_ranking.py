from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from matplotlib.colors import to_hex, to_rgb
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.bench.ranking import WinMatrix, compare, score_table, scores_by_size, standings, win_matrix
from mcquack.bench.task import METRICS
from mcquack.errors import InvalidInputError
from mcquack.report import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins
from mcquack.report.ranking import METRIC_TITLES, loss_shares, metric_phrase, overall_test
from mcquack.report.style import class_colour, new_axes, shade
from tests.bench.ranking.cells import score_matrices, table_of
from tests.report.fakes import FAMILIES, MODELS, SIZES, benchmark, is_drawn, texts


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


def names_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def segments_of(figure):
    """Colour, left end, width and row of every segment."""
    (segments,) = figure.axes[0].collections
    boxes = [path.get_extents() for path in segments.get_paths()]
    colours = [to_hex(colour) for colour in segments.get_facecolor()]
    return [
        (colour, box.x0, box.width, round((box.y0 + box.y1) / 2)) for colour, box in zip(colours, boxes, strict=True)
    ]


def test_segments_are_the_counts_of_the_ranks_from_left_to_right():
    found = segments_of(plot_ranking(LINES))
    counts = np.array([line.rank_counts for line in LINES])
    starts = np.cumsum(counts, axis=1) - counts
    rows, ranks = np.nonzero(counts)
    assert_allclose([width for _, _, width, _ in found], counts[rows, ranks])
    assert_allclose([left for _, left, _, _ in found], starts[rows, ranks], atol=1e-12)
    assert_array_equal([row for _, _, _, row in found], rows)
    assert [colour for colour, *_ in found] == [shade(rank / 3) for rank in ranks.tolist()]


def test_numbers_are_written_where_there_is_room():
    figure = plot_ranking(LINES)
    (ax,) = figure.axes
    numbers = [text for text in ax.texts if text.get_text().isdecimal()]
    assert len(numbers) == np.count_nonzero([line.rank_counts for line in LINES])
    for text in numbers:
        x, row = text.get_position()
        (width,) = [width for _, left, width, at in segments_of(figure) if at == row and left < x < left + width]
        assert text.get_text() == str(round(width))


def test_the_best_stands_on_top_and_what_is_published_is_marked():
    (ax,) = plot_ranking(LINES).axes
    assert names_of(ax) == ["Alpha", "Beta †", "Gamma", "Delta"]
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "number of datasets\n† published: Somebody 2024"


def test_without_published_scores_nothing_is_said_of_them():
    (ax,) = plot_ranking(standings(score_table(benchmark(published=())))).axes
    assert ax.get_xlabel() == "number of datasets"
    assert not any("†" in name for name in names_of(ax))


def test_averages_and_intervals_are_written_beside_the_bars():
    written = texts(plot_ranking(LINES))
    for line in LINES:
        assert f"{line.average_rank:.2f}" in written
        assert f"{line.interval.low:.2f} – {line.interval.high:.2f}" in written
    assert "95 % interval" in written
    assert "99.5 % interval" in texts(plot_ranking(standings(score_table(benchmark()), level=0.995)))


def test_an_interval_that_is_not_known_is_a_dash_and_where_none_is_there_is_no_column():
    first, *others = LINES
    assert "–" in texts(plot_ranking([replace(first, interval=None), *others]))
    written = texts(plot_ranking([replace(line, interval=None) for line in LINES]))
    assert "average" in written
    assert not any("–" in text or "interval" in text for text in written)


def test_the_first_rank_is_blue_and_the_last_red():
    legend = plot_ranking(LINES).axes[0].get_legend()
    first, *_, last = (to_rgb(handle.get_facecolor()) for handle in legend.legend_handles)
    assert_allclose([first, last], [to_rgb(shade(0)), to_rgb(shade(1))])
    assert first[2] > first[0]
    assert last[0] > last[2]


@pytest.mark.parametrize("n_models", [1, 2, 12])
def test_the_legend_names_first_and_last_rank_and_no_more_than_ten(n_models):
    lines = standings(score_table(benchmark([f"Model {index}" for index in range(n_models)])))
    figure = plot_ranking(lines)
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown[0] == "rank 1"
    assert n_models == 1 or shown[-1] == str(n_models)
    assert len(shown) == min(n_models, 10)
    assert is_drawn(figure)


def test_any_name_can_be_drawn_in_axes_of_ones_own():
    lines = standings(score_table(benchmark(["$5 to $9", "a_b^c", "M" * 80])))
    ax = new_axes(12, 4)
    figure = plot_ranking(lines, title="for $1", ax=ax)
    assert figure is ax.figure
    assert ax.get_title(loc="left").strip() == r"for \$1"
    assert is_drawn(figure)
    assert is_drawn(plot_ranking(lines))


def test_nothing_to_rank_is_refused():
    with pytest.raises(InvalidInputError, match="nothing to rank"):
        plot_ranking(())


COMPARISON = compare(TABLE)


def lines_of(figure, *, width):
    return [line for ax in figure.axes for line in ax.lines if line.get_linewidth() == pytest.approx(width)]


def test_each_model_is_named_with_its_rank_the_better_half_at_the_left():
    figure = plot_critical_difference(COMPARISON)
    sides = {text.get_text().strip(): text.get_ha() for text in figure.axes[0].texts}
    for index, (contender, rank) in enumerate(zip(COMPARISON.contenders, COMPARISON.average_ranks, strict=True)):
        if index < 2:
            assert sides[f"{contender.label}  {rank:.2f}"] == "right"
        else:
            assert sides[f"{rank:.2f}  {contender.label}"] == "left"


def test_lines_start_at_the_ranks():
    starts = sorted(line.get_xdata()[0] for line in lines_of(plot_critical_difference(COMPARISON), width=0.9))
    assert_allclose(starts, COMPARISON.average_ranks)


def test_bars_span_the_groups():
    bars = lines_of(plot_critical_difference(COMPARISON), width=3.6)
    ranks = dict(zip(COMPARISON.contenders, COMPARISON.average_ranks, strict=True))
    assert len(bars) == len(COMPARISON.groups) > 0
    for bar, group in zip(bars, COMPARISON.groups, strict=True):
        assert_allclose(bar.get_xdata(), [ranks[group[0]], ranks[group[-1]]], atol=0.05)
        assert bar.get_xdata()[0] < ranks[group[0]] <= ranks[group[-1]] < bar.get_xdata()[1]


def test_the_ruler_is_as_long_as_the_critical_difference():
    (ruler,) = lines_of(plot_critical_difference(COMPARISON), width=1.4)
    assert_allclose(np.diff(ruler.get_xdata()), COMPARISON.critical_difference)


def test_the_note_tells_what_was_compared_and_how_surely():
    (note,) = [text for text in texts(plot_critical_difference(COMPARISON)) if "Nemenyi" in text]
    told = "F = ∞, p < 0.001"  # all datasets agree on one order
    assert note.startswith(f"6 datasets\nall alike: {told} (Iman and Davenport); bars: Nemenyi at α = 0.05")
    assert overall_test(COMPARISON).replace("\u00a0", " ") == told
    assert note.endswith("† published: Somebody 2024")
    gapped = [cell for cell in benchmark(published=()) if (cell.model, cell.dataset) != ("delta", "curves_2")]
    (note,) = [text for text in texts(plot_critical_difference(compare(score_table(gapped)))) if "Nemenyi" in text]
    assert note.startswith("5 datasets, 1 left out where a model has no score\n")
    assert "†" not in note
    rare = [cell for cell in benchmark() if cell.model != "beta" or cell.dataset == "curves_2"]
    found = compare(score_table(rare), least_share=0.5)
    (note,) = [text for text in texts(plot_critical_difference(found)) if "Nemenyi" in text]
    assert note.splitlines()[:2] == ["6 datasets", "not compared, with scores on too few datasets: Beta †"]
    assert note.endswith("† published: Somebody 2024")


@pytest.mark.parametrize("n_models", [2, 3, 12])
def test_any_number_of_models_and_any_name_can_be_drawn(n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 60]
    comparison = compare(score_table(benchmark(names)))
    assert is_drawn(plot_critical_difference(comparison))
    ax = new_axes(20, 6)
    assert plot_critical_difference(comparison, ax=ax, title="for $1") is ax.figure
    assert ax.get_title(loc="left") == r"for \$1"


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
def test_a_matrix_of_any_number_of_models_and_any_name_can_be_drawn(n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 60]
    matrix = win_matrix(score_table(benchmark(names)))
    assert is_drawn(plot_wins(matrix))
    ax = new_axes(20, 20)
    assert plot_wins(matrix, ax=ax) is ax.figure


def test_one_model_makes_no_pair():
    with pytest.raises(InvalidInputError, match="1 models make no pair"):
        plot_wins(WinMatrix(contenders=MATRIX.contenders[:1], wins=((0,),), ties=((0,),)))


CELLS = benchmark()
TEST, TRAIN = (scores_by_size(CELLS, part=part) for part in ("test", "train"))


def test_each_family_has_a_panel_with_a_curve_for_each_contender():
    figure = plot_scores_by_size(TEST)
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(FAMILIES)
    for ax, family in zip(figure.axes, FAMILIES, strict=True):
        curves = [curve for curve in TEST if curve.family == family]
        for line, curve in zip(ax.lines, curves, strict=True):
            assert_allclose(line.get_xdata(), SIZES)
            assert_allclose(line.get_ydata(), [point.mean for point in curve.points])


def test_bands_are_the_intervals():
    ax = plot_scores_by_size(TEST).axes[0]
    for area, curve in zip(ax.collections, TEST[::2], strict=True):
        points = area.get_paths()[0].vertices
        bands = [point.band for point in curve.points]
        assert_allclose(points[:, 1].min(), min(band.low for band in bands))
        assert_allclose(points[:, 1].max(), max(band.high for band in bands))


def test_a_contender_looks_the_same_in_all_panels_and_parts_and_unlike_the_others():
    figure = plot_scores_by_size(TEST + TRAIN)
    looks = [{line.get_label(): line.get_color() for line in ax.lines} for ax in figure.axes]
    assert looks[0] == looks[1]
    assert len(set(looks[0].values())) == len(looks[0]) == len(MODELS)
    styles = {line.get_linestyle() for ax in figure.axes for line in ax.lines[: len(MODELS)]}
    assert styles == {"-"}
    assert {line.get_linestyle() for ax in figure.axes for line in ax.lines[len(MODELS) :]} == {"--"}


def test_what_was_run_here_is_drawn_above_what_is_published():
    ax = plot_scores_by_size(TEST).axes[0]
    order = {line.get_label(): line.get_zorder() for line in ax.lines}
    assert order["Beta †"] < order["Alpha"]


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
            place = [contender.label for contender in order].index(line.get_label())
            assert line.get_color() == class_colour(place)
            assert line.get_gid() == f"panel-{number}-curve-{place}-test"
    assert {area.get_gid() for area in figure.axes[0].collections} == {f"panel-0-band-{n}-test" for n in range(4)}


def test_no_curves_are_refused():
    with pytest.raises(InvalidInputError, match="no scores are of a dataset with a size"):
        plot_scores_by_size(())
