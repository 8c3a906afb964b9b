"""How often each model has which rank: the figure of the paper, after that of the QML benchmark suite."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mcquack.bench.outcome import Metric
from mcquack.bench.ranking import Comparison, Contender, Interval, SizeCurve, Standing, WinMatrix
from mcquack.errors import InvalidInputError
from mcquack.report.style import (
    FONT_SIZE,
    GRID,
    INK,
    MUTED,
    PAPER,
    SMALL,
    class_colour,
    class_marker,
    figure_of,
    legend_below,
    new_axes,
    quiet,
    write_title,
)

# How contenders are named and coloured in all figures of a ranking.

# Blue for good and red for bad, as in the paper's figure. In grey both ends are dark: the order has to tell them apart.
FROM_BEST_TO_WORST = LinearSegmentedColormap.from_list(
    "ranks", ["#1c4f8c", "#5a93c4", "#b4d0e4", "#e9e6df", "#f0b79c", "#d86f55", "#9c2530"]
)

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""


def shade(place: float) -> Colour:
    """Colour from 0, the best, to 1, the worst."""
    red, green, blue, _ = FROM_BEST_TO_WORST(float(place))  # of an integer it would take the entry
    return red, green, blue


def text_colour(background: Colour) -> str:
    """Ink or paper, whichever is easier to read on it."""
    luminance = _luminance(background)
    return max(INK, PAPER, key=lambda colour: _contrast(luminance, _luminance(to_rgb(colour))))


def _contrast(one: float, other: float) -> float:
    """From 1 to 21, as the guidelines for accessible web content measure it."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(colour: Colour) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def plain(text: str) -> str:
    """For matplotlib, to which a dollar sign begins a formula."""
    return text.replace("$", r"\$")


def width_of(contenders: Iterable[Contender]) -> float:
    """Inches of the longest name."""
    texts = (plain(contender.label).strip() for contender in contenders)
    return max((_points(text) for text in texts if text), default=0.0) / 72


@lru_cache(maxsize=1024)  # the same names stand in all figures of a report
def _points(text: str) -> float:
    return float(TextPath((0, 0), text, size=FONT_SIZE).get_extents().width)


def note(*lines: str, n_letters: int = 84) -> str:
    """Small print of the lines that are not empty, long ones broken, as text for matplotlib."""
    # A dagger stays with its name.
    broken = [fill(line.replace(" †", "\u00a0†"), n_letters).replace("\u00a0", " ") for line in lines if line]
    return plain("\n".join(broken))


def sources_note(contenders: Iterable[Contender]) -> str:
    """What the dagger means, or nothing if no contender has one."""
    sources = dict.fromkeys(each.source for each in contenders if each.is_published)
    return f"† published: {'; '.join(sources)}" if sources else ""


ROW_HEIGHT = 0.3
"""Inches of a bar with its gap."""

LEAST_LABELLED_SHARE = 0.03
"""Of the longest bar: a narrower segment has no room for its number."""

MOST_LEGEND_RANKS = 10
"""Squares in the legend; between them the colours tell."""


def plot_ranking(
    standings: Sequence[Standing], *, title: str = "Average normalised rank", ax: Axes | None = None
) -> Figure:
    """On how many datasets each model is first (blue) to last (red), and its average rank with its interval."""
    if not standings:
        raise InvalidInputError("there is nothing to rank; pass the standings of at least one model.")
    ax = ax or new_axes(6.0 + width_of(line.contender for line in standings), 1.5 + ROW_HEIGHT * len(standings))
    counts = np.array([line.rank_counts for line in standings])
    _draw_segments(ax, counts)
    _write_averages(ax, standings)
    _draw_legend(ax, counts.shape[1])
    quiet(ax)
    ax.spines["left"].set_visible(False)
    ax.set_yticks(range(len(standings)), [plain(line.contender.label) for line in standings])
    ax.tick_params(axis="y", length=0, labelcolor=INK, labelsize=FONT_SIZE)
    ax.set_ylim(len(standings) - 0.45, -0.55)
    ax.set_xlim(0, counts.sum(axis=1).max())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    ax.set_xlabel(note("number of datasets", sources_note(line.contender for line in standings)))
    write_title(ax, plain(title) + "\n")  # a line for the legend
    return figure_of(ax)


def _draw_segments(ax: Axes, counts: NDArray[np.intp]) -> None:
    """Side by side, the first ranks at the left; ``counts`` has a model in each row and a rank in each column."""
    n_models, n_ranks = counts.shape
    starts = np.cumsum(counts, axis=1) - counts
    roomy = LEAST_LABELLED_SHARE * counts.sum(axis=1).max()
    for rank in range(n_ranks):
        colour = _rank_colour(rank, n_ranks)
        ax.barh(range(n_models), counts[:, rank], left=starts[:, rank], height=0.74, color=colour)
        for model in np.flatnonzero(counts[:, rank] >= max(roomy, 1)).tolist():
            count = int(counts[model, rank])
            middle = starts[model, rank] + count / 2
            number = ax.text(middle, model, str(count), ha="center", va="center", size=SMALL - 1)
            number.set(color=text_colour(colour), in_layout=False)  # within its bar, which spares measuring it


def _rank_colour(rank: int, n_ranks: int) -> Colour:
    return shade(rank / max(n_ranks - 1, 1))


def _write_averages(ax: Axes, standings: Sequence[Standing]) -> None:
    """Two columns right of the bars: the average and, if any is known, its interval."""
    columns = [(46, ["average", *(f"{line.average_rank:.2f}" for line in standings)], INK)]
    known = [line.interval for line in standings if line.interval is not None]
    if known:
        head = f"{100 * known[0].level:g} % interval"
        columns.append((104, [head, *(_interval_text(line.interval) for line in standings)], MUTED))
    for offset, texts, colour in columns:
        for y, text in zip((-0.72, *range(len(standings))), texts, strict=True):
            ax.annotate(
                text,
                (1, y),
                xycoords=ax.get_yaxis_transform(),
                xytext=(offset, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                size=SMALL,
                color=colour if y >= 0 else MUTED,
            )


def _interval_text(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.low:.2f} – {interval.high:.2f}"


def _draw_legend(ax: Axes, n_ranks: int) -> None:
    """Squares of the ranks, or of some of many, above the bars."""
    shown = np.unique(np.linspace(0, n_ranks - 1, min(n_ranks, MOST_LEGEND_RANKS)).round().astype(int)).tolist()
    handles = [Patch(color=_rank_colour(rank, n_ranks), label=f"{rank + 1}") for rank in shown]
    handles[0].set_label(f"rank {handles[0].get_label()}")
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=SMALL,
        labelcolor=MUTED,
        handlelength=1.0,
        handletextpad=0.3,
        columnspacing=0.8,
        borderpad=0,
        borderaxespad=0.4,
    )


# The critical-difference diagram of Demšar (2006).

DIFFERENCE_ROW_HEIGHT = 0.24
"""Inches between the names of two models, the unit of the vertical axis."""

SCALE, DIFFERENCE, TOP = 0.0, -1.9, -2.5
"""Rows of the line with the ranks, of the critical difference above it, and of the upper edge."""

FIRST_BAR, BAR_GAP = 0.55, 0.5
"""Rows of the bars that join models."""


def plot_critical_difference(comparison: Comparison, *, title: str = "Average rank", ax: Axes | None = None) -> Figure:
    """Models on a line by average rank, best left; a bar joins those that Nemenyi's test does not tell apart."""
    n_models = len(comparison.contenders)
    n_left = (n_models + 1) // 2
    first_name = FIRST_BAR + BAR_GAP * len(comparison.groups) + 0.6
    bottom = first_name + n_left
    names = width_of(comparison.contenders[:n_left]) + width_of(comparison.contenders[n_left:])
    explained = _explanation(comparison)
    height = 0.4 + DIFFERENCE_ROW_HEIGHT * (bottom - TOP) + 0.17 * (1 + explained.count("\n"))
    ax = ax or new_axes(1.3 + max(3.2, 0.36 * n_models) + names, height)
    ax.set_xlim(1, n_models)
    ax.set_ylim(bottom, TOP)
    ax.set_axis_off()
    _draw_scale(ax, n_models)
    _draw_difference(ax, comparison)
    _draw_bars(ax, comparison)
    for index in range(n_models):
        row = min(index, n_models - 1 - index)  # names of the better half at the left, of the worse half at the right
        _draw_name(ax, comparison, index, y=first_name + row)
    ax.text(0.5, 0, explained, transform=ax.transAxes, ha="center", va="top", size=SMALL, color=MUTED)
    write_title(ax, plain(title))
    return figure_of(ax)


def _draw_scale(ax: Axes, n_models: int) -> None:
    ax.plot([1, n_models], [SCALE, SCALE], color=INK, linewidth=1.0, clip_on=False)
    for rank in range(1, n_models + 1):
        ax.plot([rank, rank], [SCALE, SCALE - 0.3], color=INK, linewidth=1.0, clip_on=False)
        ax.text(rank, SCALE - 0.5, str(rank), ha="center", va="bottom", size=SMALL, color=MUTED)


def _draw_difference(ax: Axes, comparison: Comparison) -> None:
    """A ruler of the least difference that is significant, from rank 1."""
    end = 1 + comparison.critical_difference
    ax.plot([1, end], [DIFFERENCE, DIFFERENCE], color=INK, linewidth=1.4, marker="|", markersize=7, clip_on=False)
    text = f"  critical difference {comparison.critical_difference:.2f}"
    ax.text(end, DIFFERENCE, text, va="center", size=SMALL, color=INK)


def _draw_bars(ax: Axes, comparison: Comparison) -> None:
    ranks = dict(zip(comparison.contenders, comparison.average_ranks, strict=True))
    overhang = 0.006 * (len(ranks) - 1)  # so that the bar is seen to reach both lines
    for number, group in enumerate(comparison.groups):
        y = FIRST_BAR + BAR_GAP * number
        ends = [ranks[group[0]] - overhang, ranks[group[-1]] + overhang]
        ax.plot(ends, [y, y], color=INK, linewidth=3.6, solid_capstyle="butt", clip_on=False)


def _draw_name(ax: Axes, comparison: Comparison, index: int, *, y: float) -> None:
    """A line down from the rank and out to the nearer side, where the name is."""
    n_models, rank = len(comparison.contenders), comparison.average_ranks[index]
    is_left = index < (n_models + 1) // 2
    edge = 1 - 0.02 * (n_models - 1) if is_left else n_models + 0.02 * (n_models - 1)
    ax.plot([rank, rank, edge], [SCALE, y, y], color=MUTED, linewidth=0.9, clip_on=False)
    name, number = plain(comparison.contenders[index].label), f"{rank:.2f}"
    text = f"{name}  {number} " if is_left else f" {number}  {name}"
    ax.text(edge, y, text, ha="right" if is_left else "left", va="center", size=FONT_SIZE, color=INK)


def _explanation(comparison: Comparison) -> str:
    left_out = f", {comparison.n_left_out} left out where a model has no score" if comparison.n_left_out else ""
    absent = ", ".join(contender.label for contender in comparison.absent)
    p_value = comparison.friedman.f_p_value
    chance = f"p = {p_value:.2g}" if p_value >= 0.001 else "p < 0.001"
    return note(
        f"{comparison.n_datasets} datasets{left_out}",
        f"not compared, with scores on too few datasets: {absent}" if absent else "",
        f"all alike: {chance} (Iman and Davenport); bars: Nemenyi at α = {comparison.alpha:g}",
        sources_note((*comparison.contenders, *comparison.absent)),
        n_letters=72,
    )


# What metrics are called in figures, on pages and in tables.

METRIC_TITLES: Mapping[Metric, str] = {
    "auc": "AUC",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
}


def metric_phrase(metric: Metric) -> str:
    """As within a sentence."""
    title = METRIC_TITLES[metric]
    return title if title.isupper() else title.lower()


# Scores against the size of the datasets, family by family.

MOST_COLUMNS = 4
"""Panels side by side."""

PANEL = (2.7, 2.3)
"""Inches of a panel: width and height."""

LINES = {"test": "-", "validation": "-.", "train": (0, (3, 2))}
"""Solid is what counts."""

Looks = Mapping[Contender, int]
"""The position of each contender, which decides on its colour and shape."""


def plot_scores_by_size(curves: Sequence[SizeCurve]) -> Figure:
    """A panel for each family: mean scores with their bands, solid on the test part and dashed on the training part.

    A contender has the same colour and shape in every panel.
    """
    if not curves:
        raise InvalidInputError("no scores are of a dataset with a size; run some of a family, as two_curves_2 to 20.")
    families = tuple(dict.fromkeys(curve.family for curve in curves))
    looks = {contender: index for index, contender in enumerate(dict.fromkeys(curve.contender for curve in curves))}
    n_columns = min(len(families), MOST_COLUMNS)
    n_rows = -(-len(families) // n_columns)
    width = max(6.2, 0.5 + PANEL[0] * n_columns)
    n_names = max(1, int(width / (0.6 + width_of(looks))))  # in a line of the legend
    height = 0.4 + PANEL[1] * n_rows + 0.2 * -(-len(looks) // n_names)
    figure = Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False, sharey=True).flat)
    for ax in panels[::n_columns]:
        ax.set_ylabel(metric_phrase(curves[0].metric))
    for ax, family in zip(panels, families, strict=False):
        _draw_panel(ax, [curve for curve in curves if curve.family == family], looks)
        write_title(ax, plain(family.replace("_", " ")))
    for ax in panels[len(families) :]:
        ax.remove()
    _sizes_draw_legend(figure, curves, looks, n_columns=n_names)
    return figure


def _draw_panel(ax: Axes, curves: Sequence[SizeCurve], looks: Looks) -> None:
    for curve in curves:
        _draw_curve(ax, curve, looks[curve.contender])
    quiet(ax)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    ax.set_xlabel("n")


def _draw_curve(ax: Axes, curve: SizeCurve, look: int) -> None:
    colour, is_test, is_own = class_colour(look), curve.part == "test", not curve.contender.is_published
    sizes = [point.size for point in curve.points]
    ax.plot(
        sizes,
        [point.mean for point in curve.points],
        color=colour,
        linestyle=LINES[curve.part],
        linewidth=(1.3 if is_test else 0.9) * (1.5 if is_own else 1),
        zorder=3 if is_own else 2,  # what was run here is seen first
        marker=class_marker(look) if is_test else None,
        markersize=3.5,
        markeredgewidth=0,
        label=curve.contender.label,
    )
    banded = [(point.size, point.band) for point in curve.points if point.band is not None]
    lows, highs = [band.low for _, band in banded], [band.high for _, band in banded]
    ax.fill_between(
        [size for size, _ in banded], lows, highs, color=colour, alpha=0.15 if is_test else 0.06, linewidth=0
    )


def _sizes_draw_legend(figure: Figure, curves: Sequence[SizeCurve], looks: Looks, *, n_columns: int) -> None:
    handles = [
        Line2D([], [], color=class_colour(look), marker=class_marker(look), markersize=4, label=plain(contender.label))
        for contender, look in looks.items()
    ]
    title = note(_sizes_explanation(curves), n_letters=int(12 * figure.get_figwidth()))
    legend_below(figure, handles, n_columns=n_columns, title=title)


def _sizes_explanation(curves: Sequence[SizeCurve]) -> str:
    parts = {curve.part for curve in curves}
    lines = {"test": "solid: test part", "validation": "dash-dotted: validation part", "train": "dashed: training part"}
    drawn = [text for part, text in lines.items() if part in parts]
    levels = {point.band.level for curve in curves for point in curve.points if point.band is not None}
    shares = " and ".join(f"{100 * level:g} %" for level in sorted(levels))
    bands = f"shaded: {shares} interval over seeds" if levels else ""
    return "; ".join(filter(None, [*drawn, bands, sources_note(curve.contender for curve in curves)]))


# Each model against each other.

FIELD = (0.72, 0.36)
"""Inches of a field: width and height."""

SLANT = 35.0
"""Degrees by which the names of columns are turned."""


def plot_wins(matrix: WinMatrix, *, title: str = "Wins – ties – losses", ax: Axes | None = None) -> Figure:
    """On how many datasets the model of a row has a better, equal and worse score than that of a column.

    A field is blue where the row wins more, red where the column does, and white where the two share no dataset.
    """
    n_models = len(matrix.contenders)
    if n_models < 2:
        raise InvalidInputError(f"{n_models} models make no pair; compare at least 2.")
    longest = width_of(matrix.contenders)  # left of the rows, and slanted below the columns
    height = 1.3 + longest * math.sin(math.radians(SLANT)) + FIELD[1] * n_models
    ax = ax or new_axes(0.6 + longest + FIELD[0] * n_models, height)
    losses = loss_shares(matrix)
    ax.imshow(losses, cmap=FROM_BEST_TO_WORST, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    _write_records(ax, matrix, losses)
    _name_rows_and_columns(ax, [plain(contender.label) for contender in matrix.contenders])
    explained = note("datasets, the row against the column", sources_note(matrix.contenders))
    ax.set_xlabel(explained, size=SMALL, color=MUTED)
    write_title(ax, plain(title))
    return figure_of(ax)


def loss_shares(matrix: WinMatrix) -> NDArray[np.float64]:
    """Share of the shared datasets that the row loses to the column, a tie for half; NaN if they share none."""
    wins, ties = np.array(matrix.wins), np.array(matrix.ties)
    n_shared = wins + ties + wins.T
    shares: NDArray[np.float64] = np.full(wins.shape, np.nan)
    np.divide(wins.T + ties / 2, n_shared, out=shares, where=n_shared > 0)
    return shares


def _write_records(ax: Axes, matrix: WinMatrix, losses: NDArray[np.float64]) -> None:
    for row, column in np.argwhere(~np.isnan(losses)).tolist():
        text = "–".join(map(str, matrix.record(row, column)))
        colour = text_colour(shade(losses[row, column]))
        record = ax.text(column, row, text, ha="center", va="center", size=SMALL, color=colour)
        record.set_in_layout(False)  # within its field, which spares measuring it


def _name_rows_and_columns(ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_xticks(range(len(names)), names, rotation=SLANT, ha="right", rotation_mode="anchor")
    ax.tick_params(length=0, labelsize=FONT_SIZE, labelcolor=INK)
    ax.spines[:].set_visible(False)
    # White lines between the fields.
    edges = np.arange(1, len(names)) - 0.5
    ax.hlines(edges, -0.5, len(names) - 0.5, color=PAPER, linewidth=1.5)
    ax.vlines(edges, -0.5, len(names) - 0.5, color=PAPER, linewidth=1.5)
