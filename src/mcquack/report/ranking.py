"""Figures of a ranking: how often each model has which rank, which differences are significant, pairs, and sizes.

What they draw comes from ``mcquack.bench.ranking``. A dagger marks what is published, here as in tables, and the small
print of each figure names the source.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mcquack.bench.ranking import Comparison, Contender, SizeCurve, Standing, WinMatrix
from mcquack.bench.task import Metric
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import FONT_SIZE, INK, MUTED, PAPER, SMALL

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
    """What the test of all models together says; it is Iman and Davenport's wherever it is told."""
    f_statistic, p_value = comparison.friedman.f_statistic, comparison.friedman.f_p_value
    value = f"{f_statistic:.1f}" if math.isfinite(f_statistic) else "∞"
    return f"F\u00a0=\u00a0{value}, {style.chance(p_value)}"


def _plain(text: str) -> str:
    """Text for matplotlib, to which a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def width_of(contenders: Iterable[Contender]) -> float:
    """Inches that the longest of their names takes."""
    texts = (_plain(contender.label).strip() for contender in contenders)
    return max((_points(text) for text in texts if text), default=0.0) / 72


@lru_cache(maxsize=1024)  # the same names stand in all figures of a report
def _points(text: str) -> float:
    return float(TextPath((0, 0), text, size=FONT_SIZE).get_extents().width)


def note(*lines: str, n_letters: int = 84) -> str:
    """Small print, in lines of at most so many letters."""
    # A dagger stays with its name.
    broken = [fill(line.replace(" †", "\u00a0†"), n_letters).replace("\u00a0", " ") for line in lines if line]
    return "\n".join(broken)


def sources_note(contenders: Iterable[Contender]) -> str:
    """What the dagger means, or nothing if no contender has one."""
    sources = dict.fromkeys(each.source for each in contenders if each.is_published)
    return f"† published: {'; '.join(sources)}" if sources else ""


def _fields(left: NDArray[Any], width: NDArray[Any], top: NDArray[Any], height: float) -> list[NDArray[np.float64]]:
    """The corners (4, 2) of upright rectangles; one collection of them is drawn far quicker than a bar each."""
    right, bottom = left + width, top + height
    return list(np.stack([[left, right, right, left], [top, top, bottom, bottom]]).transpose(2, 1, 0))


# How often each model has which rank: the figure of the paper, after that of the QML benchmark suite

LEAST_LABELLED_SHARE = 0.03  # of the longest bar: a narrower segment has no room for its number
_MOST_LEGEND_RANKS = 10  # squares in the legend; between them the colours tell


def plot_ranking(
    standings: Sequence[Standing], *, title: str = "Average normalised rank", ax: Axes | None = None
) -> Figure:
    """Draw on how many datasets each model is first (blue) to last (red), with its average rank and its interval.

    Parameters
    ----------
    standings : the lines of a leaderboard, as ``mcquack.bench.ranking.standings`` returns them.
    title : what stands above the figure.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.bench.ranking import CellScores, score_table, standings
    >>> def cell(model, dataset, score):
    ...     values = {("test", "accuracy"): (score,)}
    ...     return CellScores(dataset=dataset, family="own", model=model, title=model, values=values)
    >>> cells = [cell("kernel", "moons", 0.9), cell("network", "moons", 0.8), cell("kernel", "rings", 0.7)]
    >>> figure = plot_ranking(standings(score_table(cells)))
    >>> [name.get_text() for name in figure.axes[0].get_yticklabels()]
    ['kernel', 'network']
    """
    if not standings:
        raise InvalidInputError("there is nothing to rank; pass the standings of at least one model.")
    contenders = [line.contender for line in standings]
    ax = ax or style.new_axes(6.0 + width_of(contenders), 1.5 + 0.3 * len(standings))
    counts = np.array([line.rank_counts for line in standings])
    _draw_segments(ax, counts)
    _write_averages(ax, standings)
    _draw_rank_legend(ax, counts.shape[1])
    style.quiet(ax)
    ax.spines["left"].set_visible(False)
    ax.set_yticks(range(len(standings)), [_plain(contender.label) for contender in contenders])
    ax.tick_params(axis="y", length=0, labelcolor=INK, labelsize=FONT_SIZE)
    ax.set_ylim(len(standings) - 0.45, -0.55)
    ax.set_xlim(0, counts.sum(axis=1).max())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    ax.set_xlabel(_plain(note("number of datasets", sources_note(contenders))))
    style.write_title(ax, _plain(title) + "\n")  # a line for the legend
    return style.figure_of(ax)


def _draw_segments(ax: Axes, counts: NDArray[np.intp]) -> None:
    models, ranks = np.nonzero(counts)
    shown = counts[models, ranks]
    starts = (np.cumsum(counts, axis=1) - counts)[models, ranks]
    colours = [rank_colour(rank, counts.shape[1]) for rank in ranks.tolist()]
    ax.add_collection(PolyCollection(_fields(starts, shown, models - 0.37, 0.74), facecolors=colours, linewidths=0))
    roomy = shown >= LEAST_LABELLED_SHARE * counts.sum(axis=1).max()
    for index in np.flatnonzero(roomy).tolist():
        place = starts[index] + shown[index] / 2, models[index]
        number = ax.text(*place, str(shown[index]), ha="center", va="center", size=SMALL - 1)
        number.set(
            color=style.text_colour(colours[index]), in_layout=False
        )  # within its bar, which spares measuring it


def rank_colour(rank: int, n_ranks: int) -> str:
    """The colour of a rank that is counted from 0."""
    return style.shade(rank / max(n_ranks - 1, 1))


def legend_ranks(n_ranks: int) -> list[tuple[int, str]]:
    """The ranks that a legend names, counted from 0, and their names."""
    shown = np.unique(np.linspace(0, n_ranks - 1, min(n_ranks, _MOST_LEGEND_RANKS)).round().astype(int)).tolist()
    return [(rank, f"{rank + 1}" if rank else "rank 1") for rank in shown]


def _write_averages(ax: Axes, standings: Sequence[Standing]) -> None:
    columns = [(46, ["average", *(f"{line.average_rank:.2f}" for line in standings)], INK)]
    intervals = [line.interval for line in standings]
    if known := next(filter(None, intervals), None):
        texts = ["–" if each is None else f"{each.low:.2f} – {each.high:.2f}" for each in intervals]
        columns.append((104, [f"{100 * known.level:g} % interval", *texts], MUTED))
    for offset, texts, colour in columns:
        for y, text in zip((-0.72, *range(len(standings))), texts, strict=True):
            look: dict[str, Any] = {"ha": "right", "va": "center", "size": SMALL, "color": colour if y >= 0 else MUTED}
            ax.annotate(text, (1, y), (offset, 0), ax.get_yaxis_transform(), "offset points", **look)


def _draw_rank_legend(ax: Axes, n_ranks: int) -> None:
    handles = [Patch(color=rank_colour(rank, n_ranks), label=name) for rank, name in legend_ranks(n_ranks)]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": len(handles)}
    gaps = {"handlelength": 1.0, "handletextpad": 0.3, "columnspacing": 0.8, "borderpad": 0, "borderaxespad": 0.4}
    style.legend_of(ax, handles=handles, labelcolor=MUTED, **place, **gaps)


# The critical-difference diagram of Demšar (2006)

_ROW_HEIGHT = 0.24  # inches between the names of two models, the unit of the vertical axis
_SCALE, _DIFFERENCE, _TOP = 0.0, -1.9, -2.5
"""Rows of the line with the ranks, of the critical difference above it, and of the upper edge."""

_FIRST_BAR, _BAR_GAP = 0.55, 0.5  # rows of the bars that join models


def plot_critical_difference(comparison: Comparison, *, title: str = "Average rank", ax: Axes | None = None) -> Figure:
    """Draw models on a line by average rank, best left; a bar joins those that Nemenyi's test does not tell apart.

    Parameters
    ----------
    comparison : as ``mcquack.bench.ranking.compare`` returns it. The small print tells the p value of Iman and
        Davenport's test that all models are alike.
    title : what stands above the figure.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.bench.ranking import CellScores, compare, score_table
    >>> scores = {("kernel", "moons"): 0.9, ("tree", "moons"): 0.8, ("kernel", "rings"): 0.7, ("tree", "rings"): 0.8}
    >>> cells = [
    ...     CellScores(dataset=dataset, family="own", model=model, title=model, values={("test", "accuracy"): (score,)})
    ...     for (model, dataset), score in scores.items()
    ... ]
    >>> figure = plot_critical_difference(compare(score_table(cells)))
    >>> "kernel  1.50" in {text.get_text().strip() for text in figure.axes[0].texts}
    True
    """
    contenders, ranks = comparison.contenders, comparison.average_ranks
    n_models = len(contenders)
    n_left = (n_models + 1) // 2
    first_name = _FIRST_BAR + _BAR_GAP * len(comparison.groups) + 0.6
    bottom = first_name + n_left
    explained = _plain(explanation(comparison))
    if ax is None:
        names = width_of(contenders[:n_left]) + width_of(contenders[n_left:])
        height = 0.4 + _ROW_HEIGHT * (bottom - _TOP) + 0.17 * (1 + explained.count("\n"))
        # The small print has lines of up to 80 letters, also below two models with short names.
        ax = style.new_axes(max(6.4, 1.3 + max(3.2, 0.36 * n_models) + names), height)
    ax.set_xlim(1, n_models)
    ax.set_ylim(bottom, _TOP)
    ax.set_axis_off()
    _draw_rank_axis(ax, comparison)
    places = dict(zip(contenders, ranks, strict=True))
    overhang = 0.006 * (n_models - 1)  # so that the bar is seen to reach both lines
    for number, group in enumerate(comparison.groups):
        y = _FIRST_BAR + _BAR_GAP * number
        ends = [places[group[0]] - overhang, places[group[-1]] + overhang]
        ax.plot(ends, [y, y], color=INK, linewidth=3.6, solid_capstyle="butt", clip_on=False)
    for index, (contender, rank) in enumerate(places.items()):
        row = min(index, n_models - 1 - index)  # names of the better half at the left, of the worse half at the right
        _draw_name(ax, contender, rank, is_left=index < n_left, y=first_name + row, n_models=n_models)
    ax.text(0.5, 0, explained, transform=ax.transAxes, ha="center", va="top", size=SMALL, color=MUTED)
    style.write_title(ax, _plain(title))
    return style.figure_of(ax)


def _draw_rank_axis(ax: Axes, comparison: Comparison) -> None:
    n_models, difference = len(comparison.contenders), comparison.critical_difference
    ax.plot([1, n_models], [_SCALE, _SCALE], color=INK, linewidth=1.0, clip_on=False)
    for rank in range(1, n_models + 1):
        ax.plot([rank, rank], [_SCALE, _SCALE - 0.3], color=INK, linewidth=1.0, clip_on=False)
        ax.text(rank, _SCALE - 0.5, str(rank), ha="center", va="bottom", size=SMALL, color=MUTED)
    length, text = difference_bar(comparison)
    look: dict[str, Any] = {"color": INK, "linewidth": 1.4, "clip_on": False}
    is_whole = length == difference
    ax.plot([1, 1 + length], [_DIFFERENCE] * 2, marker="|", markevery=None if is_whole else [0], markersize=7, **look)
    if not is_whole:  # an arrow, for the bar would go on
        ax.plot([1 + length], [_DIFFERENCE], marker=">", markersize=5, color=INK, clip_on=False)
    ax.text(1 + length, _DIFFERENCE, f"   {text}", va="center", size=SMALL, color=INK)


def difference_bar(comparison: Comparison) -> tuple[float, str]:
    """How long the bar of the critical difference is drawn, in ranks, and what stands beside it.

    Of few models on few datasets it may be longer than the whole scale; the bar then ends with the scale.
    """
    difference, longest = comparison.critical_difference, len(comparison.contenders) - 1
    text = f"critical difference {difference:.2f}"
    return (difference, text) if difference <= longest else (longest, f"{text}, more than the scale")


def _draw_name(ax: Axes, contender: Contender, rank: float, *, is_left: bool, y: float, n_models: int) -> None:
    edge = 1 - 0.02 * (n_models - 1) if is_left else n_models + 0.02 * (n_models - 1)
    ax.plot([rank, rank, edge], [_SCALE, y, y], color=MUTED, linewidth=0.9, clip_on=False)
    name, number = _plain(contender.label), f"{rank:.2f}"
    text = f"{name}  {number} " if is_left else f" {number}  {name}"
    ax.text(edge, y, text, ha="right" if is_left else "left", va="center", size=FONT_SIZE, color=INK)


def explanation(comparison: Comparison) -> str:
    """What was compared and how, as small print."""
    left_out = f", {comparison.n_left_out} left out where a model has no score" if comparison.n_left_out else ""
    absent = ", ".join(contender.label for contender in comparison.absent)
    bars = f"Nemenyi at α\u00a0=\u00a0{comparison.alpha:g}"
    return note(
        f"{comparison.n_datasets} datasets{left_out}",
        f"not compared, with scores on too few datasets: {absent}" if absent else "",
        f"all alike: {overall_test(comparison)} (Iman and Davenport); bars: {bars}",
        sources_note((*comparison.contenders, *comparison.absent)),
        n_letters=80,
    )


# Each model against each other

_FIELD = (0.72, 0.36)  # inches of a field: width and height
_SLANT = 35.0  # degrees by which the names of columns are turned


def plot_wins(matrix: WinMatrix, *, title: str = "Wins – ties – losses", ax: Axes | None = None) -> Figure:
    """Draw on how many datasets the model of a row has a better, equal and worse score than that of a column.

    Parameters
    ----------
    matrix : as ``mcquack.bench.ranking.win_matrix`` returns it. A field is blue where the row wins more, red where the
        column does, and empty where the two share no dataset.
    title : what stands above the figure.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.bench.ranking import Contender, WinMatrix
    >>> pair = tuple(Contender(model=name, title=name) for name in ("kernel", "network"))
    >>> figure = plot_wins(WinMatrix(contenders=pair, wins=((0, 5), (2, 0)), ties=((0, 1), (1, 0))))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['5–1–2', '2–1–5']
    """
    contenders = matrix.contenders
    n_models = len(contenders)
    if n_models < 2:
        raise InvalidInputError(f"{n_models} models make no pair; compare at least 2.")
    longest = width_of(contenders)  # left of the rows, and slanted below the columns
    height = 1.3 + longest * math.sin(math.radians(_SLANT)) + _FIELD[1] * n_models
    ax = ax or style.new_axes(0.6 + longest + _FIELD[0] * n_models, height)
    losses = loss_shares(matrix)
    rows, columns = np.nonzero(~np.isnan(losses))
    colours = [style.shade(share) for share in losses[rows, columns].tolist()]
    fields = _fields(columns - 0.5, np.ones(len(columns)), rows - 0.5, 1.0)
    ax.add_collection(PolyCollection(fields, facecolors=colours, edgecolors=PAPER, linewidths=1.5))
    for row, column, colour in zip(rows.tolist(), columns.tolist(), colours, strict=True):
        text = "–".join(map(str, matrix.record(row, column)))
        record = ax.text(column, row, text, ha="center", va="center", size=SMALL, color=style.text_colour(colour))
        record.set_in_layout(False)  # within its field, which spares measuring it
    names = [_plain(contender.label) for contender in contenders]
    ax.set_xlim(-0.5, n_models - 0.5)
    ax.set_ylim(n_models - 0.5, -0.5)
    ax.set_yticks(range(n_models), names)
    ax.set_xticks(range(n_models), names, rotation=_SLANT, ha="right", rotation_mode="anchor")
    ax.tick_params(length=0, labelsize=FONT_SIZE, labelcolor=INK)
    ax.spines[:].set_visible(False)
    explained = note("datasets, the row against the column", sources_note(contenders))
    ax.set_xlabel(_plain(explained), size=SMALL, color=MUTED)
    style.write_title(ax, _plain(title))
    return style.figure_of(ax)


def loss_shares(matrix: WinMatrix) -> NDArray[np.float64]:
    """The share of the shared datasets that the row loses to the column, a tie for half; NaN if they share none."""
    wins, ties = np.array(matrix.wins), np.array(matrix.ties)
    n_shared = wins + ties + wins.T
    shares: NDArray[np.float64] = np.full(wins.shape, np.nan)
    np.divide(wins.T + ties / 2, n_shared, out=shares, where=n_shared > 0)
    return shares


# Scores against the size of the datasets

_MOST_COLUMNS = 4  # panels side by side
_PANEL = (2.7, 2.3)  # inches of a panel: width and height
_LINES = {"test": "-", "validation": "-.", "train": (0, (3, 2))}  # solid is what counts
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
    width = max(6.2 if legend else 0, 0.5 + _PANEL[0] * n_columns)
    n_names = max(1, int(width / (0.6 + width_of(drawn))))  # in a line of the legend
    figure = style.new_figure(width, 0.4 + _PANEL[1] * n_rows + (0.2 * -(-len(drawn) // n_names) if legend else 0))
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False, sharey=True).flat)
    for ax in panels[::n_columns]:
        ax.set_ylabel(metric_phrase(curves[0].metric))
    for number, (ax, family) in enumerate(zip(panels, families, strict=False)):
        for curve in curves:
            if curve.family == family:
                _draw_curve(ax, curve, looks[curve.contender], panel=number)
        style.quiet(ax)
        style.grid_lines(ax)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
        ax.set_xlabel("n")
        style.write_title(ax, _plain(family.replace("_", " ")))
    for ax in panels[len(families) :]:
        ax.remove()
    if legend:
        handles = [
            Line2D(
                [],
                [],
                color=style.class_colour(look),
                marker=style.class_marker(look),
                markersize=4,
                label=_plain(each.label),
            )
            for each, look in looks.items()
            if each in drawn
        ]
        style.legend_below(
            figure, handles, n_columns=n_names, title=_plain(note(_curves_note(curves), n_letters=int(12 * width)))
        )
    return figure


def _draw_curve(ax: Axes, curve: SizeCurve, look: int, *, panel: int) -> None:
    line, band = (f"panel-{panel}-{kind}-{look}-{curve.part}" for kind in ("curve", "band"))
    colour, is_test, is_own = style.class_colour(look), curve.part == "test", not curve.contender.is_published
    ax.plot(
        [point.size for point in curve.points],
        [point.mean for point in curve.points],
        color=colour,
        linestyle=_LINES[curve.part],
        linewidth=(1.3 if is_test else 0.9) * (1.5 if is_own else 1),
        zorder=3 if is_own else 2,  # what was run here is seen first
        marker=style.class_marker(look) if is_test else None,
        markersize=3.5,
        markeredgewidth=0,
        label=curve.contender.label,
        gid=line,
    )
    banded = [(point.size, point.band.low, point.band.high) for point in curve.points if point.band is not None]
    sizes, lows, highs = np.array(banded).reshape(-1, 3).T
    alpha = 0.15 if is_test else 0.06
    ax.fill_between(sizes, lows, highs, color=colour, alpha=alpha, linewidth=0, gid=band)


def _curves_note(curves: Sequence[SizeCurve]) -> str:
    parts = {curve.part for curve in curves}
    drawn = [text for part, text in _LINE_NAMES.items() if part in parts]
    levels = {point.band.level for curve in curves for point in curve.points if point.band is not None}
    shares = " and ".join(f"{100 * level:g} %" for level in sorted(levels))
    bands = f"shaded: {shares} interval over seeds" if levels else ""
    return "; ".join(filter(None, [*drawn, bands, sources_note(curve.contender for curve in curves)]))
