import pytest
from numpy.testing import assert_allclose

from mcquack.bench.ranking import scores_by_size
from mcquack.errors import InvalidInputError
from mcquack.report.ranking import plot_scores_by_size
from tests.report.ranking.fakes import FAMILIES, MODELS, SIZES, benchmark, is_drawn

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


def test_no_curves_are_refused():
    with pytest.raises(InvalidInputError, match="no scores are of a dataset with a size"):
        plot_scores_by_size(())
