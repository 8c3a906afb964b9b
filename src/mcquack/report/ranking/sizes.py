"""Scores against the size of the datasets, family by family."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from mcquack.bench.ranking import Contender, SizeCurve
from mcquack.errors import InvalidInputError
from mcquack.report.ranking.contenders import note, plain, sources_note, width_of
from mcquack.report.ranking.metrics import metric_phrase
from mcquack.report.style import (
    GRID,
    PAPER,
    class_colour,
    class_marker,
    legend_below,
    quiet,
    write_title,
)

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
    _draw_legend(figure, curves, looks, n_columns=n_names)
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


def _draw_legend(figure: Figure, curves: Sequence[SizeCurve], looks: Looks, *, n_columns: int) -> None:
    handles = [
        Line2D([], [], color=class_colour(look), marker=class_marker(look), markersize=4, label=plain(contender.label))
        for contender, look in looks.items()
    ]
    title = note(_explanation(curves), n_letters=int(12 * figure.get_figwidth()))
    legend_below(figure, handles, n_columns=n_columns, title=title)


def _explanation(curves: Sequence[SizeCurve]) -> str:
    parts = {curve.part for curve in curves}
    lines = {"test": "solid: test part", "validation": "dash-dotted: validation part", "train": "dashed: training part"}
    drawn = [text for part, text in lines.items() if part in parts]
    levels = {point.band.level for curve in curves for point in curve.points if point.band is not None}
    shares = " and ".join(f"{100 * level:g} %" for level in sorted(levels))
    bands = f"shaded: {shares} interval over seeds" if levels else ""
    return "; ".join(filter(None, [*drawn, bands, sources_note(curve.contender for curve in curves)]))
