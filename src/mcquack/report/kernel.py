"""The kernel between samples and centroids as a heat map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from mcquack.report.protocols import KernelModel, checked_rows, class_indices
from mcquack.report.style import FIDELITIES, FONT_SIZE, INK, MUTED, PAPER, SMALL, figure_of, new_axes, write_title

LEAST_LABELLED_SHARE = 0.025
"""Of the height: the rows of a class below it leave no room for its name."""

LEVEL_CHARACTERS = 30
"""Of all class names in a row together; where the longest needs more than its part, the names are turned."""


def plot_kernel(model: KernelModel, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Figure:
    """Heat map of K = ``model.transform(X)`` with the samples of a class below each other, its centroids side by side.

    A perfect model is dark on the staircase from top left to bottom right and white elsewhere.
    """
    labels = class_indices(y, model.classes_)
    kernel = checked_rows(np.asarray(model.transform(X)), len(labels))
    ax = ax or new_axes(max(3.6, 2.4 + 0.32 * kernel.shape[1]), 4.6)
    image = ax.imshow(
        kernel[np.argsort(labels, kind="stable")],
        aspect="auto",
        interpolation="nearest",  # any other would also blend neighbouring columns, that is, classes
        cmap=FIDELITIES,
        vmin=0,
        vmax=float(kernel.max()) or 1.0,
    )
    names = [str(name) for name in model.classes_]
    per_class = kernel.shape[1] // len(names)
    _mark_classes(ax, np.bincount(labels, minlength=len(names)), names, n_columns=per_class)
    ax.set_xlabel("centroid of class" if per_class == 1 else "centroids of class", color=MUTED, size=FONT_SIZE)
    ax.set_ylabel(f"{len(labels):,} samples by class", color=MUTED, size=FONT_SIZE)
    write_title(ax, "Kernel")
    figure = figure_of(ax)
    bar = figure.colorbar(image, ax=ax, shrink=0.5, aspect=18, anchor=(0, 1), label="fidelity")
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=MUTED, labelsize=SMALL, length=0)
    bar.ax.yaxis.label.set(color=MUTED, size=SMALL)
    return figure


def _mark_classes(ax: Axes, counts: NDArray[np.intp], names: Sequence[str], *, n_columns: int) -> None:
    """Lines between the classes, their names in the middle of their rows and below their columns."""
    ends = np.cumsum(counts)
    right = n_columns * np.arange(1, len(names) + 1) - 0.5  # edge of each class's columns
    boundaries = np.unique(ends[(ends > 0) & (ends < ends[-1])])
    ax.hlines(boundaries - 0.5, -0.5, right[-1], color=INK, linewidth=0.6)
    ax.vlines(right[:-1], -0.5, ends[-1] - 0.5, color=PAPER, linewidth=1.2)
    roomy = counts >= max(1, LEAST_LABELLED_SHARE * ends[-1])
    ax.set_yticks((ends - counts / 2 - 0.5)[roomy], [name for name, room in zip(names, roomy, strict=True) if room])
    ax.set_xticks(right - n_columns / 2, names)
    if max(map(len, names)) > max(3, LEVEL_CHARACTERS // len(names)):
        ax.tick_params(axis="x", labelrotation=90)
    ax.tick_params(colors=INK, labelsize=SMALL, length=0)
    ax.spines[:].set_color(INK)
    ax.spines[:].set_linewidth(0.6)
