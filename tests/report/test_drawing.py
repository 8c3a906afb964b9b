"""A chart is the same in a page and in matplotlib, and nothing of it lies outside."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from mcquack.bench.ranking import Contender, WinMatrix, compare, score_table, scores_by_size, standings, win_matrix
from mcquack.report import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins
from mcquack.report.ranking import difference_drawing, ranking_drawing, sizes_svg, wins_drawing
from mcquack.report.style import shade
from tests.report.fakes import benchmark

TABLE = score_table(benchmark())
LINES = standings(TABLE)
CURVES = scores_by_size(benchmark())
FAMILY = [curve for curve in CURVES if curve.family == CURVES[0].family]
MODELS = tuple(dict.fromkeys(curve.contender for curve in FAMILY))

TITLE = "A title"
DRAWN = {
    "ranking": (
        plot_ranking(LINES, title=TITLE),
        ranking_drawing(LINES, title=TITLE).svg(label="x"),
    ),
    "critical difference": (
        plot_critical_difference(compare(TABLE), title=TITLE),
        difference_drawing(compare(TABLE), title=TITLE).svg(label="x"),
    ),
    "wins": (
        plot_wins(win_matrix(TABLE), title=TITLE),
        wins_drawing(win_matrix(TABLE), title=TITLE).svg(label="x"),
    ),
    "sizes": (
        plot_scores_by_size(FAMILY, legend=False),
        sizes_svg(FAMILY, contenders=MODELS, metric=FAMILY[0].metric, name="s", label="x"),
    ),
}
every_picture = pytest.mark.parametrize("kind", DRAWN)


def elements(picture, name):
    return [each for each in ET.fromstring(str(picture)).iter() if each.tag == name]


def words(found):
    return {word for text in found if text for word in text.replace("\\$", "$").split() if not is_number(word)}


def is_number(word):
    return re.fullmatch(r"[\d.,–]+", word) is not None


@every_picture
def test_a_picture_has_all_words_of_the_figure(kind):
    figure, picture = DRAWN[kind]
    drawn = {text.get_text() for text in figure.findobj(Text) if text.get_visible()}
    assert words(drawn) <= words(each.text for each in elements(picture, "text"))


@every_picture
def test_everything_lies_within_the_box(kind):
    _, picture = DRAWN[kind]
    left, top, width, height = map(float, picture.partition('viewBox="')[2].partition('"')[0].split())
    ends = [(float(each.get("x")), float(each.get("y"))) for each in elements(picture, "text")]
    for path in elements(picture, "path"):
        numbers = list(map(float, re.findall(r"-?[\d.]+", path.get("d"))))
        ends += zip(numbers[::2], numbers[1::2], strict=True)
    for x, y in ends:
        assert left <= x <= left + width
        assert top <= y <= top + height


@every_picture
def test_everything_lies_within_the_figure(kind):
    figure, _ = DRAWN[kind]
    FigureCanvasAgg(figure).draw()
    for text in (text for ax in figure.axes for text in ax.texts):
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1


def test_a_critical_difference_longer_than_the_scale_ends_with_it():
    models = ("Alpha", "Beta")
    few = compare(score_table(benchmark(models, families=("curves",), published=())), least_share=0.7)
    picture = difference_drawing(replace(few, critical_difference=7.25), title=TITLE).svg(label="x")
    width = float(picture.partition('viewBox="')[2].split()[2])
    assert "critical difference 7.25, more than the scale" in picture
    assert width < 700
    ends = [float(x) for each in elements(picture, "path") for x in re.findall(r"[ML](-?[\d.]+) ", each.get("d"))]
    assert max(ends) <= width


def test_long_names_widen_a_picture():
    def width(name):
        pair = tuple(Contender(model=each, title=each) for each in (name, "b"))
        matrix = WinMatrix(contenders=pair, wins=((0, 5), (2, 0)), ties=((0, 1), (1, 0)))
        picture = wins_drawing(matrix, title="").svg(label="x")
        assert "5–1–2" in picture
        return float(picture.partition('viewBox="')[2].split()[2])

    assert width("a" * 60) > width("a") + 150


def test_a_bar_is_as_long_as_its_count_and_has_the_colour_of_its_rank():
    _, picture = DRAWN["ranking"]
    n_ranks = len(LINES[0].rank_counts)
    n_legend = min(n_ranks, 10)
    bars = [each for each in elements(picture, "path") if each.get("d").endswith("z")][n_legend:]
    counts = [(rank, count) for line in LINES for rank, count in enumerate(line.rank_counts) if count]
    assert len(bars) == len(counts)
    scales = set()
    for bar, (rank, count) in zip(bars, counts, strict=True):
        xs = list(map(float, re.findall(r"-?[\d.]+", bar.get("d"))))[::2]
        scales.add(round((max(xs) - min(xs)) / count, 0))
        assert shade(rank / (n_ranks - 1)) in bar.get("style")
    assert len(scales) == 1


def test_curves_and_bands_can_be_found_by_model_and_part():
    _, picture = DRAWN["sizes"]
    groups = {each.get("id") for each in elements(picture, "g")}
    assert groups == {f"s-{kind}-{index}-test" for kind in ("curve", "band") for index in range(len(MODELS))}


def test_names_are_text_whatever_they_hold():
    pair = tuple(Contender(model=name, title=name) for name in ("<b>&", "$x$"))
    matrix = WinMatrix(contenders=pair, wins=((0, 1), (1, 0)), ties=((0, 0), (0, 0)))
    picture = wins_drawing(matrix, title="<i>").svg(label='"<')
    assert {"<b>&", "$x$", "<i>"} <= {each.text for each in elements(picture, "text")}
