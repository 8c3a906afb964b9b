"""Samples of classes as points in a plane, the same in every figure."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from mcquack.report.style import INK, PAPER, SMALL, class_colour, class_marker

MOST_SAMPLES = 1000
"""Points that are drawn; more would hide each other."""


def draw_samples(ax: Axes, points: NDArray[np.floating], index: int) -> None:
    """Points (N, 2) in the colour and shape of the class at this position."""
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=18,
        color=class_colour(index),
        marker=class_marker(index),
        edgecolor=PAPER,
        linewidth=0.4,
        alpha=0.8,
    )


def draw_class_legend(ax: Axes, names: Sequence[str], *, others: Sequence[Line2D] = ()) -> None:
    """The name of every class beside the axes, and below them ``others``."""
    handles = [
        Line2D([], [], linestyle="", marker=class_marker(index), color=class_colour(index), markersize=5, label=name)
        for index, name in enumerate(names)
    ]
    ax.legend(
        handles=[*handles, *others],
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        ncols=1 + len(names) // 16,
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        handletextpad=0.3,
    )
