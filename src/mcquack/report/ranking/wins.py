"""Each model against each other."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from mcquack.bench.ranking import WinMatrix
from mcquack.errors import InvalidInputError
from mcquack.report.ranking.contenders import (
    FROM_BEST_TO_WORST,
    note,
    plain,
    shade,
    sources_note,
    text_colour,
    width_of,
)
from mcquack.report.style import FONT_SIZE, INK, MUTED, PAPER, SMALL, figure_of, new_axes, write_title

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
