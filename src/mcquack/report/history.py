"""Training curves."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mcquack.errors import InvalidInputError
from mcquack.report.protocols import TrainedModel
from mcquack.report.style import CLASS_COLOURS, FAINT, GRID, INK, MUTED, PAPER, SMALL, quiet, write_title

BLUE, ORANGE = CLASS_COLOURS[:2]


class Curve(NamedTuple):
    """A column of the history and how it is drawn; validation is dashed, as a grey print shows it."""

    column: str
    label: str
    colour: str
    dashes: str = "-"


PANELS = {
    "Loss": (
        Curve("loss_kao", "alignment (KAO)", BLUE),
        Curve("loss_co", "centroids (CO)", ORANGE, "-."),
        Curve("validation_loss", "validation", MUTED, "--"),
    ),
    "Alignment": (
        Curve("alignment", "training", BLUE),
        Curve("validation_alignment", "validation", MUTED, "--"),
    ),
    "Accuracy": (
        Curve("accuracy", "training", BLUE),
        Curve("validation_accuracy", "validation", MUTED, "--"),
    ),
}


def plot_history(model: TrainedModel) -> Figure:
    """Losses, alignment below its ceiling 1/√M, and accuracy over the epochs; validation where there was one.

    The epoch whose parameters the model has kept is marked if the model tells it in ``best_epoch_``.
    """
    history = [_with_validation_loss(row) for row in model.history_]
    if not history:
        raise InvalidInputError("the model has no training history; plot it after fit.")
    figure = Figure(figsize=(9.6, 2.9), layout="constrained", facecolor=PAPER)
    for ax, (title, curves) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        _draw_panel(ax, history, curves)
        if title == "Alignment":
            _draw_ceiling(ax, len(model.classes_))
        _draw_kept_epoch(ax, getattr(model, "best_epoch_", None))
        write_title(ax, title)
        ax.legend(frameon=False, fontsize=SMALL, labelcolor=INK, handlelength=2.2)
    return figure


def _with_validation_loss(row: Mapping[str, Any]) -> dict[str, Any]:
    alignment = row.get("validation_alignment")
    return {**row, "validation_loss": None if alignment is None else 1 - alignment}


def _draw_panel(ax: Axes, history: Sequence[Mapping[str, Any]], curves: Sequence[Curve]) -> None:
    epochs = [row["epoch"] for row in history]
    for curve in curves:
        values = [row.get(curve.column) for row in history]
        if all(value is None for value in values):
            continue
        # A line of one epoch has no length; a dot shows it.
        ax.plot(
            epochs,
            np.array(values, dtype=float),
            color=curve.colour,
            linestyle=curve.dashes,
            linewidth=1.6,
            marker="o" if len(history) == 1 else None,
            label=curve.label,
        )
    quiet(ax)
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)


def _draw_ceiling(ax: Axes, n_classes: int) -> None:
    ceiling = 1 / math.sqrt(n_classes)
    ax.axhline(ceiling, color=MUTED, linewidth=0.9, linestyle=":", label=f"ceiling 1/√{n_classes} = {ceiling:.2f}")


def _draw_kept_epoch(ax: Axes, epoch: int | None) -> None:
    if epoch is not None:
        ax.axvline(epoch, color=FAINT, linewidth=1.4, zorder=0, label=f"kept: epoch {epoch}")
