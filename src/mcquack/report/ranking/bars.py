"""How often each model has which rank: the figure of the paper, after that of the QML benchmark suite."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mcquack.bench.ranking import Interval, Standing
from mcquack.errors import InvalidInputError
from mcquack.report.ranking.contenders import Colour, note, plain, shade, sources_note, text_colour, width_of
from mcquack.report.style import FONT_SIZE, INK, MUTED, SMALL, figure_of, new_axes, quiet, write_title

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
