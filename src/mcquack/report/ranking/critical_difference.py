"""The critical-difference diagram of Demšar (2006)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mcquack.bench.ranking import Comparison
from mcquack.report.ranking.contenders import note, plain, sources_note, width_of
from mcquack.report.style import FONT_SIZE, INK, MUTED, SMALL, figure_of, new_axes, write_title

ROW_HEIGHT = 0.24
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
    height = 0.4 + ROW_HEIGHT * (bottom - TOP) + 0.17 * (1 + explained.count("\n"))
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
