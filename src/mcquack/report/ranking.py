"""Charts of a ranking: how often each model has which rank, which differences are significant, pairs, and sizes.

What they draw comes from ``mcquack.bench.ranking``. A dagger marks what is published, here as in tables, and the small
print of each figure names the source.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from textwrap import fill

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mcquack.bench.ranking import Comparison, Contender, SizeCurve, Standing, WinMatrix
from mcquack.bench.task import Metric
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.drawing import LINE, TITLE, Area, Drawing, Line, Point, Scale
from mcquack.report.style import FAINT, FONT_SIZE, GRID, INK, MUTED, SMALL

METRIC_TITLES: Mapping[Metric, str] = {
    "auc": "AUC",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
}


def metric_phrase(metric: Metric) -> str:
    """The name of a metric as it stands within a sentence."""
    title = METRIC_TITLES[metric]
    return title if title.isupper() else title.lower()


def overall_test(comparison: Comparison) -> str:
    """Iman and Davenport's test of all models together, as a statistic and a p value."""
    f_statistic, p_value = comparison.friedman.f_statistic, comparison.friedman.f_p_value
    value = f"{f_statistic:.1f}" if math.isfinite(f_statistic) else "∞"
    return f"F\u00a0=\u00a0{value}, {style.chance(p_value)}"


def _plain(text: str) -> str:
    """Text for matplotlib, to which a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def _width_of(contenders: Iterable[Contender]) -> float:
    """The width in points of the longest of their names."""
    return max((_points(text) for each in contenders if (text := each.label.strip())), default=0.0)


@lru_cache(maxsize=1024)  # the same names stand in all figures of a report
def _points(text: str) -> float:
    return float(TextPath((0, 0), _plain(text), size=FONT_SIZE).get_extents().width)


def _note(*lines: str, n_letters: int = 84) -> str:
    """Small print, in lines of at most this many letters."""
    # A dagger stays with its name.
    broken = [fill(line.replace(" †", "\u00a0†"), n_letters).replace("\u00a0", " ") for line in lines if line]
    return "\n".join(broken)


def _sources_note(contenders: Iterable[Contender]) -> str:
    """What the dagger means, or nothing if no contender has one."""
    sources = dict.fromkeys(each.source for each in contenders if each.is_published)
    return f"† published: {'; '.join(sources)}" if sources else ""


def _ticks(low: float, high: float, *, most: int, whole: bool) -> list[tuple[float, str]]:
    """Round numbers from ``low`` to ``high``, as many digits behind the point as the one that needs most."""
    locator = MaxNLocator(integer=whole, nbins=most, min_n_ticks=1, steps=[1, 2, 2.5, 5, 10])
    found = [float(tick) for tick in locator.tick_values(low, high) if low - 1e-9 <= tick <= high + 1e-9]
    n_digits = max((len(f"{tick:.6f}".rstrip("0").partition(".")[2]) for tick in found), default=0)
    return [(tick, f"{tick:.{n_digits}f}") for tick in found]


_GAP = 6.0  # points between a name and what it names

# How often each model has which rank: the figure of the paper, after that of the QML benchmark suite

_LEAST_LABELLED_SHARE = 0.03  # of the longest bar: a narrower segment has no room for its number
_MOST_LEGEND_RANKS = 10  # squares in the legend; between them the colours tell
_BAR_WIDTH, _BAR_STEP, _BAR_HEIGHT = 290.0, 21.6, 16.0


def plot_ranking(
    standings: Sequence[Standing], *, title: str = "Average normalised rank", ax: Axes | None = None
) -> Figure:
    """Draw on how many datasets each model is first (blue) to last (red), with its average rank and its interval.

    Parameters
    ----------
    standings : the lines of a leaderboard, as ``mcquack.bench.ranking.standings`` returns them.
    title : what stands above the figure.
    ax : axes to draw into, instead of a new figure; they are then in points.

    Examples
    --------
    >>> from mcquack.bench.ranking import CellScores, score_table, standings
    >>> def cell(model, dataset, score):
    ...     values = {("test", "accuracy"): (score,)}
    ...     return CellScores(dataset=dataset, family="own", model=model, title=model, values=values)
    >>> cells = [cell("kernel", "moons", 0.9), cell("network", "moons", 0.8), cell("kernel", "rings", 0.7)]
    >>> figure = plot_ranking(standings(score_table(cells)))
    >>> {"kernel", "network"} <= {text.get_text() for text in figure.axes[0].texts}
    True
    """
    return ranking_drawing(standings, title=title).plot(ax)


def ranking_drawing(standings: Sequence[Standing], *, title: str) -> Drawing:
    """The chart of :func:`plot_ranking`."""
    if not standings:
        raise InvalidInputError("there is nothing to rank; pass the standings of at least one model.")
    drawing = Drawing(title=title)
    contenders = [line.contender for line in standings]
    counts = np.array([line.rank_counts for line in standings])
    left, top, n_ranks = _width_of(contenders) + _GAP, TITLE + 34.0, counts.shape[1]
    colours = [style.shade(rank / max(n_ranks - 1, 1)) for rank in range(n_ranks)]
    scale = _BAR_WIDTH / max(1, counts.sum(axis=1).max())
    at = left
    for rank in np.unique(np.linspace(0, n_ranks - 1, min(n_ranks, _MOST_LEGEND_RANKS)).round().astype(int)).tolist():
        name = f"{rank + 1}" if rank else "rank 1"
        drawing.field((at, TITLE + 2), 8.0, 8.0, colour=colours[rank])
        drawing.text((at + 10, TITLE + 6), name, colour=MUTED)
        at += 16.0 + 5.0 * len(name)
    columns = [("average", [f"{line.average_rank:.2f}" for line in standings], INK)]
    if known := next((line.interval for line in standings if line.interval), None):
        ends = ["–" if (each := line.interval) is None else f"{each.low:.2f} – {each.high:.2f}" for line in standings]
        columns.append((f"{100 * known.level:g} % interval", ends, MUTED))
    for right, (head, texts, colour) in zip((46.0, 112.0), columns, strict=False):
        place = left + _BAR_WIDTH + right
        drawing.text((place, top - 16), head, colour=MUTED, anchor="end")
        for number, text in enumerate(texts):
            drawing.text((place, top + _BAR_STEP * number), text, colour=colour, anchor="end")
    for number, (contender, of_model) in enumerate(zip(contenders, counts.tolist(), strict=True)):
        y, start = top + _BAR_STEP * number, left
        drawing.text((left - _GAP, y), contender.label, size=FONT_SIZE, anchor="end")
        for count, colour in zip(of_model, colours, strict=True):
            if count:
                drawing.field((start, y - _BAR_HEIGHT / 2), scale * count, _BAR_HEIGHT, colour=colour)
            if count * scale >= _LEAST_LABELLED_SHARE * _BAR_WIDTH:
                middle = start + scale * count / 2
                drawing.text((middle, y), str(count), colour=style.text_colour(colour), size=SMALL - 1, anchor="middle")
            start += scale * count
    bottom = top + _BAR_STEP * len(standings) - 8.0
    drawing.line((left, bottom), (left + _BAR_WIDTH, bottom), colour=FAINT, width=0.8)
    for tick, text in _ticks(0, _BAR_WIDTH / scale, most=8, whole=True):
        drawing.line((left + scale * tick, bottom), (left + scale * tick, bottom + 3), colour=MUTED, width=0.8)
        drawing.text((left + scale * tick, bottom + 9), text, colour=MUTED, anchor="middle")
    note = _note("number of datasets", _sources_note(contenders))
    drawing.notes((left + _BAR_WIDTH / 2, bottom + 23), note)
    return drawing.end_at(left + _BAR_WIDTH + 116, bottom + 32 + LINE * note.count("\n"))


# The critical-difference diagram of Demšar (2006)

_ROW = 17.0  # points between the names of two models
_FIRST_BAR, _BAR_GAP = 0.55, 0.5  # rows of the bars that join models


def plot_critical_difference(comparison: Comparison, *, title: str = "Average rank", ax: Axes | None = None) -> Figure:
    """Draw models on a line by average rank, best left; a bar joins those that Nemenyi's test does not tell apart.

    Parameters
    ----------
    comparison : as ``mcquack.bench.ranking.compare`` returns it. The small print has the p value of Iman and
        Davenport's test that all models are alike.
    title : what stands above the figure.
    ax : axes to draw into, instead of a new figure; they are then in points.

    Examples
    --------
    >>> from mcquack.bench.ranking import CellScores, compare, score_table
    >>> scores = {("kernel", "moons"): 0.9, ("tree", "moons"): 0.8, ("kernel", "rings"): 0.7, ("tree", "rings"): 0.8}
    >>> cells = [
    ...     CellScores(dataset=dataset, family="own", model=model, title=model, values={("test", "accuracy"): (score,)})
    ...     for (model, dataset), score in scores.items()
    ... ]
    >>> figure = plot_critical_difference(compare(score_table(cells)))
    >>> "kernel  1.50" in {text.get_text() for text in figure.axes[0].texts}
    True
    """
    return difference_drawing(comparison, title=title).plot(ax)


def difference_drawing(comparison: Comparison, *, title: str) -> Drawing:
    """The chart of :func:`plot_critical_difference`."""
    drawing = Drawing(title=title)
    contenders, n_models = comparison.contenders, len(comparison.contenders)
    n_left, width = (n_models + 1) // 2, max(230.0, 26.0 * n_models)
    first, top = _width_of(contenders[:n_left]) + 40.0, TITLE + 2.5 * _ROW
    scale = width / max(1, n_models - 1)

    def x(rank: float) -> float:
        return first + scale * (rank - 1)

    drawing.line((x(1), top), (x(n_models), top), colour=INK, width=1.0)
    for rank in range(1, n_models + 1):
        drawing.line((x(rank), top), (x(rank), top - 5), colour=INK, width=1.0)
        drawing.text((x(rank), top - 12), str(rank), colour=MUTED, anchor="middle")
    # With few models on few datasets, the difference may be longer than the scale: the bar ends there, with an arrow.
    difference, longest = comparison.critical_difference, n_models - 1
    end, above = x(1 + min(difference, longest)), top - 1.9 * _ROW
    drawing.line((x(1), above), (end, above), colour=INK, width=1.4)
    drawing.line((x(1), above - 3.5), (x(1), above + 3.5), colour=INK, width=1.4)
    back = 0.0 if difference <= longest else 5.0
    drawing.line((end - back, above - 3.5), (end, above), (end - back, above + 3.5), colour=INK, width=1.4)
    more = "" if difference <= longest else ", more than the scale"
    drawing.text((end + _GAP, above), f"critical difference {difference:.2f}{more}")
    places = dict(zip(contenders, comparison.average_ranks, strict=True))
    for number, group in enumerate(comparison.groups):
        y = top + _ROW * (_FIRST_BAR + _BAR_GAP * number)
        drawing.line((x(places[group[0]]) - 2, y), (x(places[group[-1]]) + 2, y), colour=INK, width=3.6)
    names = top + _ROW * (_FIRST_BAR + _BAR_GAP * len(comparison.groups) + 0.6)
    for index, (contender, average) in enumerate(places.items()):
        is_left, y = index < n_left, names + _ROW * min(index, n_models - 1 - index)
        edge = first - 5 if is_left else first + width + 5
        drawing.line((x(average), top), (x(average), y), (edge, y), colour=MUTED, width=0.9)
        name = contender.label
        text, at = (f"{name}  {average:.2f}", edge - 3) if is_left else (f"{average:.2f}  {name}", edge + 3)
        drawing.text((at, y), text, size=FONT_SIZE, anchor="end" if is_left else "start")
    explained, bottom = _explanation(comparison), names + _ROW * n_left
    drawing.notes((first + width / 2, bottom + 4), explained)
    full = first + width + _width_of(contenders[n_left:]) + 40.0
    return drawing.end_at(full, bottom + 12 + LINE * explained.count("\n"))


def _explanation(comparison: Comparison) -> str:
    """What was compared and how, as small print."""
    left_out = f", {comparison.n_left_out} left out where a model has no score" if comparison.n_left_out else ""
    absent = ", ".join(contender.label for contender in comparison.absent)
    bars = f"Nemenyi at α\u00a0=\u00a0{comparison.alpha:g}"
    return _note(
        f"{comparison.n_datasets} datasets{left_out}",
        f"not compared, with scores on too few datasets: {absent}" if absent else "",
        f"all alike: {overall_test(comparison)} (Iman and Davenport); bars: {bars}",
        _sources_note((*comparison.contenders, *comparison.absent)),
        n_letters=80,
    )


# Each model against each other

_FIELD = (51.8, 25.9)  # width and height of a field in points
_SLANT = 35.0  # degrees by which the names of columns are turned


def plot_wins(matrix: WinMatrix, *, title: str = "Wins – ties – losses", ax: Axes | None = None) -> Figure:
    """Draw on how many datasets the model of a row has a better, equal and worse score than that of a column.

    Parameters
    ----------
    matrix : as ``mcquack.bench.ranking.win_matrix`` returns it. A field is blue where the row wins more, red where the
        column does, and empty where the two share no dataset.
    title : what stands above the figure.
    ax : axes to draw into, instead of a new figure; they are then in points.

    Examples
    --------
    >>> from mcquack.bench.ranking import Contender, WinMatrix
    >>> pair = tuple(Contender(model=name, title=name) for name in ("kernel", "network"))
    >>> figure = plot_wins(WinMatrix(contenders=pair, wins=((0, 5), (2, 0)), ties=((0, 1), (1, 0))))
    >>> [text.get_text() for text in figure.axes[0].texts if "–" in text.get_text()]
    ['5–1–2', '2–1–5']
    """
    return wins_drawing(matrix, title=title).plot(ax)


def wins_drawing(matrix: WinMatrix, *, title: str) -> Drawing:
    """The chart of :func:`plot_wins`."""
    contenders, (width, height), n_models = matrix.contenders, _FIELD, len(matrix.contenders)
    if n_models < 2:
        raise InvalidInputError(f"{n_models} models make no pair; compare at least 2.")
    drawing = Drawing(title=title)
    longest = _width_of(contenders)  # left of the rows, and slanted below the columns
    left, top = longest + _GAP, TITLE
    losses = loss_shares(matrix)
    for row, contender in enumerate(contenders):
        y = top + height * (row + 0.5)
        drawing.text((left - _GAP, y), contender.label, size=FONT_SIZE, anchor="end")
        for column in np.flatnonzero(~np.isnan(losses[row])).tolist():
            colour, x = style.shade(losses[row, column]), left + width * column
            drawing.field((x + 0.75, y - height / 2 + 0.75), width - 1.5, height - 1.5, colour=colour)
            text = "–".join(map(str, matrix.record(row, column)))
            drawing.text((x + width / 2, y), text, colour=style.text_colour(colour), anchor="middle")
        below = left + width * (row + 0.5), top + height * n_models + 8
        drawing.text(below, contender.label, size=FONT_SIZE, anchor="end", turned=-_SLANT)
    bottom = top + height * n_models + 26 + longest * math.sin(math.radians(_SLANT))
    note = _note("datasets, the row against the column", _sources_note(contenders))
    drawing.notes((left + width * n_models / 2, bottom), note)
    return drawing.end_at(left + width * n_models + 4, bottom + 10 + LINE * note.count("\n"))


def loss_shares(matrix: WinMatrix) -> NDArray[np.float64]:
    """The share of the shared datasets that the row loses to the column, a tie for half; NaN if they share none."""
    wins, ties = np.array(matrix.wins), np.array(matrix.ties)
    n_shared = wins + ties + wins.T
    shares: NDArray[np.float64] = np.full(wins.shape, np.nan)
    np.divide(wins.T + ties / 2, n_shared, out=shares, where=n_shared > 0)
    return shares


# Scores against the size of the datasets

_MOST_COLUMNS = 4  # panels side by side
_PANEL_INCHES = (2.7, 2.3)  # of a panel of a figure: width and height
_PANEL = (230.0, 194.0)  # points of a panel in a page
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 8.0, 26.0, 36.0
_DASHES = {"test": (), "validation": (5, 2, 1, 2), "train": (3, 2)}  # solid is what counts
_LINE_NAMES = {
    "test": "solid: test part",
    "validation": "dash-dotted: validation part",
    "train": "dashed: training part",
}


def plot_scores_by_size(
    curves: Sequence[SizeCurve], *, contenders: Sequence[Contender] | None = None, legend: bool = True
) -> Figure:
    """Draw mean scores with their bands against the size of the datasets, in a panel for each family.

    Scores on the test part are solid and those on the training part dashed. A contender has the same colour and shape
    in every panel.

    Parameters
    ----------
    curves : as ``mcquack.bench.ranking.scores_by_size`` returns them, of one metric.
    contenders : all contenders in the order of their colours, where figures of different curves are to agree.
    legend : whether the contenders and the lines are explained below the panels.

    Returns
    -------
    The panels, at most four side by side. The ids of a curve and its band in an SVG end in ``curve-3-test`` and
    ``band-3-test``, where 3 is the contender's place in the order of colours.

    Examples
    --------
    >>> from mcquack.bench.ranking import CellScores, scores_by_size
    >>> def cell(n):
    ...     same = {"family": "rings", "model": "kernel", "title": "kernel"}
    ...     scores = (0.9 - n / 100, 0.88 - n / 100)
    ...     return CellScores(dataset=f"rings_{n}", size=n, values={("test", "accuracy"): scores}, **same)
    >>> plot_scores_by_size(scores_by_size([cell(2), cell(4), cell(8)])).axes[0].lines[0].get_xdata().tolist()
    [2, 4, 8]
    """
    if not curves:
        raise InvalidInputError("no scores are of a dataset with a size; run some of a family, as two_curves_2 to 20.")
    families = tuple(dict.fromkeys(curve.family for curve in curves))
    drawn = tuple(dict.fromkeys(curve.contender for curve in curves))
    looks = {contender: index for index, contender in enumerate(contenders or drawn)}
    n_columns = min(len(families), _MOST_COLUMNS)
    n_rows = -(-len(families) // n_columns)
    panel_width, panel_height = _PANEL_INCHES
    width = max(6.2 if legend else 0, 0.5 + panel_width * n_columns)
    n_names = max(1, int(width / (0.6 + _width_of(drawn) / 72)))  # in a line of the legend
    figure = style.new_figure(width, 0.4 + panel_height * n_rows + (0.2 * -(-len(drawn) // n_names) if legend else 0))
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False, sharey=True).flat)
    for ax in panels[::n_columns]:
        ax.set_ylabel(metric_phrase(curves[0].metric))
    for number, (ax, family) in enumerate(zip(panels, families, strict=False)):
        of_family = [curve for curve in curves if curve.family == family]
        for mark in _curve_marks(of_family, looks, prefix=f"panel-{number}-"):
            mark.draw(ax)
        style.quiet(ax)
        style.grid_lines(ax)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
        ax.set_xlabel("n")
        style.write_title(ax, family.replace("_", " "))
    for ax in panels[len(families) :]:
        ax.remove()
    if legend:
        handles = [
            Line2D([], [], label=_plain(each.label), **style.class_look(look))
            for each, look in looks.items()
            if each in drawn
        ]
        note = _plain(_note(_curves_note(curves), n_letters=int(12 * width)))
        style.legend_below(figure, handles, n_columns=n_names, title=note)
    return figure


def _curve_marks(curves: Sequence[SizeCurve], looks: Mapping[Contender, int], *, prefix: str = "") -> list[Area | Line]:
    """Bands and curves of one family, with sizes and scores as coordinates."""
    bands: list[Area | Line] = []
    lines: list[Area | Line] = []
    # What was run here is seen first: it is drawn last.
    for curve in sorted(curves, key=lambda curve: not curve.contender.is_published):
        look, is_test = looks[curve.contender], curve.part == "test"
        colour = style.class_colour(look)
        banded = [(point.size, point.band) for point in curve.points if point.band is not None]
        edge = *((x, band.low) for x, band in banded), *((x, band.high) for x, band in reversed(banded))
        bands.append(
            Area(
                shapes=(edge,) if edge else (),
                colour=colour,
                opacity=0.15 if is_test else 0.06,
                name=f"{prefix}band-{look}-{curve.part}",
            )
        )
        lines.append(
            Line(
                points=tuple((point.size, point.mean) for point in curve.points),
                colour=colour,
                width=(1.3 if is_test else 0.9) * (1 if curve.contender.is_published else 1.5),
                dashes=_DASHES[curve.part],
                marker=style.class_marker(look) if is_test else "",
                label=curve.contender.label,
                name=f"{prefix}curve-{look}-{curve.part}",
            )
        )
    return bands + lines


def sizes_svg(
    curves: Sequence[SizeCurve], *, contenders: Sequence[Contender], metric: str, name: str, label: str
) -> Markup:
    """The curves of one family as an element of a page: a panel of :func:`plot_scores_by_size`, with its own scale.

    The ids of a curve and its band are ``name`` and ``curve-3-test`` or ``band-3-test``, 3 being the place in
    ``contenders``.
    """
    marks = _curve_marks(curves, {contender: index for index, contender in enumerate(contenders)})
    points = [point for curve in curves for point in curve.points]
    ends = [end for point in points if (band := point.band) is not None for end in (band.low, band.high)]
    across = Scale([point.size for point in points], _LEFT, _PANEL[0] - _RIGHT)
    up = Scale([*(point.mean for point in points), *ends], _PANEL[1] - _BOTTOM, _TOP)
    drawing = Drawing(title=curves[0].family.replace("_", " "), title_left=_LEFT)
    for tick, text in _ticks(up.low, up.high, most=6, whole=False):
        drawing.line((across.first, up(tick)), (across.last, up(tick)), colour=GRID, width=0.8)
        drawing.text((across.first - 4, up(tick)), text, colour=MUTED, anchor="end")
    for tick, text in _ticks(across.low, across.high, most=6, whole=True):
        drawing.line((across(tick), up.first), (across(tick), up.first + 3), colour=MUTED, width=0.8)
        drawing.text((across(tick), up.first + 9), text, colour=MUTED, anchor="middle")
    corners = (across.first, up.last), (across.first, up.first), (across.last, up.first)
    drawing.line(*corners, colour=FAINT, width=0.8)
    middle = (across.first + across.last) / 2, (up.first + up.last) / 2
    drawing.text((middle[0], up.first + 23), "n", colour=MUTED, size=FONT_SIZE, anchor="middle")
    drawing.text((7.0, middle[1]), metric, colour=MUTED, size=FONT_SIZE, anchor="middle", turned=-90)

    def place(point: Point) -> Point:
        return across(point[0]), up(point[1])

    drawing.marks += [mark.mapped(place) for mark in marks]
    return drawing.end_at(*_PANEL).svg(label=label, name=name)


def _curves_note(curves: Sequence[SizeCurve]) -> str:
    parts = {curve.part for curve in curves}
    drawn = [text for part, text in _LINE_NAMES.items() if part in parts]
    levels = {point.band.level for curve in curves for point in curve.points if point.band is not None}
    shares = " and ".join(f"{100 * level:g} %" for level in sorted(levels))
    bands = f"shaded: {shares} interval over seeds" if levels else ""
    return "; ".join(filter(None, [*drawn, bands, _sources_note(curve.contender for curve in curves)]))
