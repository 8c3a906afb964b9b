"""What the axes of all figures of the study have in common."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from mcquack.report import style
from mcquack.report.style import GRID, PAPER, RAMP, class_colour, quiet, write_title
from mcquack.report.trainability.names import power_of_ten

PANEL = (3.5, 2.6)
"""Inches of a panel: width and height."""

MOST_SIZES_AS_TICKS = 14
FEW_DECADES = 2.2


def panels(
    n_columns: int, n_rows: int = 1, *, sharey: bool = False, legend_lines: int = 0
) -> tuple[Figure, list[Axes]]:
    """A figure with rows of panels and room for a legend below them."""
    size = (0.3 + PANEL[0] * max(n_columns, 1), 0.3 + PANEL[1] * n_rows + 0.22 * legend_lines)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    return figure, list(figure.subplots(n_rows, n_columns, squeeze=False, sharey=sharey).flat)


def finish(ax: Axes, *, title: str, ylabel: str = "", xlabel: str = "qubits") -> None:
    """Frame, grid and names."""
    quiet(ax)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    write_title(ax, title)


def qubit_axis(ax: Axes, sizes: Sequence[int]) -> None:
    """Linear with whole numbers for small systems, logarithmic where some have more than 40 qubits."""
    known = sorted(set(sizes))
    if known and known[-1] > 40:
        ax.set_xscale("log")
        ticks = _spread(known)
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_minor_locator(FixedLocator([]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    elif 1 < len(known) <= MOST_SIZES_AS_TICKS:
        ax.xaxis.set_major_locator(FixedLocator(known))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def rate_axis(ax: Axes, rates: Sequence[float]) -> None:
    """Logarithmic, with the rates that were tried."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sorted(set(rates))))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def legend_below(figure: Figure, ax: Axes, *, n_columns: int, note: str = "") -> None:
    """The names of all lines of ``ax``, and in grey what else there is to know."""
    handles, _ = ax.get_legend_handles_labels()
    legend = style.legend_below(figure, handles, n_columns=n_columns, title=note or None)
    for text in legend.get_texts():
        text.set_parse_math(False)  # whatever a setting is called, it is no formula


def draw_medians(ax: Axes, values: Mapping[Any, Sequence[float]], *, label: str, colour: str, marker: str) -> None:
    """Medians over seeds, shaded between the smallest and the largest."""
    sizes = list(values)
    medians = [statistics.median(values[n]) for n in sizes]
    ax.plot(sizes, medians, color=colour, linewidth=1.4, marker=marker, markersize=3.8, label=label)
    lows, highs = [min(values[n]) for n in sizes], [max(values[n]) for n in sizes]
    ax.fill_between(sizes, lows, highs, color=colour, alpha=0.13, linewidth=0)


def log10_axis(ax: Axes) -> None:
    """For values that are decimal logarithms: those of a thousand qubits are smaller than a float can be."""
    low, high = ax.get_ylim()
    if high - low < FEW_DECADES:  # powers of ten alone would leave the axis nearly without numbers
        decades = range(math.floor(low), math.ceil(high) + 1)
        ticks = [decade + math.log10(factor) for decade in decades for factor in (1, 2, 5)]
        ax.yaxis.set_major_locator(FixedLocator(ticks))
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7, min_n_ticks=1))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _log_text(value)))
    ax.set_ylim(low, high)


def size_colour(index: int, count: int) -> str:
    """From light, the smallest system, to dark, the largest; in grey the order stays."""
    return RAMP[round((len(RAMP) - 1) * index / max(count - 1, 1))]


def line_colours(labels: Sequence[str]) -> dict[str, str]:
    """By label; more lines than colours share them, and differ in their shapes."""
    return {label: class_colour(index) for index, label in enumerate(labels)}


def _spread(sizes: Sequence[int]) -> list[int]:
    """Those that have room on a logarithmic axis, with both ends."""
    least = 0.075 * math.log(sizes[-1] / sizes[0])
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if math.log(kept[-1] / size) >= least:
            kept.append(size)
    return sorted(kept)


def _log_text(logarithm: float) -> str:
    exponent = math.floor(logarithm + 1e-9)
    factor = round(10 ** (logarithm - exponent))
    if -2 <= exponent <= 3:
        return f"{factor * 10.0**exponent:,.{max(-exponent, 0)}f}"
    return power_of_ten(exponent) if factor == 1 else f"{factor}·{power_of_ten(exponent)}"
