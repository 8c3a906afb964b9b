"""The loss around a point, as a surface and as contours."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mcquack.errors import InvalidInputError
from mcquack.report.style import CLASS_COLOURS, FAINT, FONT_SIZE, INK, MUTED, PAPER, SHARES, SMALL, quiet, write_title
from mcquack.report.trainability.names import setting_text
from mcquack.studies.trainability.analysis import LossSlice
from mcquack.studies.trainability.observation import Observation

DIRECTIONS = {"path": "main directions of training", "random": "directions by chance"}
N_LEVELS = 14
RISE, TURN = 38, -58
"""Degrees from which the surface is seen."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Landscape:
    """A slice with its title and, if it is known, the way that training took through it."""

    title: str
    losses: LossSlice
    path: tuple[tuple[float, float], ...] = ()


def observed_landscapes(observations: Iterable[Observation]) -> tuple[Landscape, ...]:
    """The slices that a study has kept, of each start and size those of the first seed; along paths before others."""
    found: dict[tuple[str, int, bool, str], tuple[int, Landscape]] = {}
    for each in observations:
        for kind, fields in each.landscapes.items():
            small = each.settings.get("init_small")
            start = "" if small is None else f"{setting_text('init_small', small)}, "
            n_qubits = int(each.settings["n_qubits"])
            made = Landscape(
                title=f"{start}{n_qubits} qubits, {DIRECTIONS.get(kind, kind)}",
                losses=LossSlice.from_json(fields),
                path=tuple((float(first), float(second)) for first, second in fields.get("path", ())),
            )
            key = kind, n_qubits, small is False, each.model
            if key not in found or each.seed < found[key][0]:
                found[key] = each.seed, made
    return tuple(made for _, (_, made) in sorted(found.items(), key=lambda item: item[0]))


def read_landscape(path: str | PathLike[str]) -> Landscape:
    """From a JSON file with "first", "second" and "losses" of a slice, and perhaps "title" and "path"."""
    place = Path(path)
    try:
        fields = json.loads(place.read_text(encoding="utf-8"))
        losses = LossSlice.from_json(fields)
        way = tuple((float(first), float(second)) for first, second in fields.get("path", ()))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInputError(
            f"{place} is no slice of a loss ({type(error).__name__}: {error}); write it with LossSlice.to_json."
        ) from error
    if losses.losses.shape != (len(losses.second), len(losses.first)) or not np.isfinite(losses.losses).all():
        raise InvalidInputError(
            f"{place} has losses of shape {losses.losses.shape} for {len(losses.second)} × {len(losses.first)} points, "
            "or some that are no numbers; write it with LossSlice.to_json."
        )
    return Landscape(title=str(fields.get("title", place.stem.replace("_", " "))), losses=losses, path=way)


def plot_landscape(
    loss_slice: LossSlice, *, path: Sequence[tuple[float, float]] = (), title: str = "Loss around the optimum"
) -> Figure:
    """Surface and contours of the same losses; ``path`` is where training went, in the coordinates of the slice."""
    figure = Figure(figsize=(8.2, 3.6), layout="constrained", facecolor=PAPER)
    _draw_surface(figure.add_subplot(1, 2, 1, projection="3d"), loss_slice)
    _draw_contours(figure, figure.add_subplot(1, 2, 2), loss_slice, path)
    figure.suptitle(title, x=0.01, ha="left", size=FONT_SIZE + 1, color=INK, parse_math=False)
    return figure


def _draw_surface(ax: Any, loss_slice: LossSlice) -> None:
    first, second = np.meshgrid(loss_slice.first, loss_slice.second)
    ax.plot_surface(
        first,
        second,
        loss_slice.losses,
        cmap=SHARES.reversed(),
        rcount=len(loss_slice.second),
        ccount=len(loss_slice.first),
        linewidth=0.15,
        edgecolor=FAINT,
        antialiased=True,
    )
    ax.view_init(RISE, TURN)
    ax.set_facecolor("none")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.set_tick_params(labelsize=SMALL - 1, colors=MUTED, pad=-2)
        axis.line.set_color(FAINT)
        axis.set_major_locator(MaxNLocator(4))
    ax.grid(visible=False)
    ax.set_xlabel("first direction", size=SMALL, color=MUTED, labelpad=-6)
    ax.set_ylabel("second direction", size=SMALL, color=MUTED, labelpad=-6)
    ax.set_zlabel("loss", size=SMALL, color=MUTED, labelpad=-4)


def _draw_contours(figure: Figure, ax: Axes, loss_slice: LossSlice, path: Sequence[tuple[float, float]]) -> None:
    grid = loss_slice.first, loss_slice.second, loss_slice.losses
    filled = ax.contourf(*grid, levels=N_LEVELS, cmap=SHARES.reversed())
    ax.contour(*grid, levels=filled.levels, colors=PAPER, linewidths=0.35)
    if len(path) > 1:
        ax.plot(*np.transpose(path), color=CLASS_COLOURS[5], linewidth=1.3, marker=".", markersize=3, label="training")
    first, second, _ = loss_slice.minimum
    ax.plot(
        [first], [second], linestyle="none", marker="x", color=CLASS_COLOURS[1], markersize=6, label="smallest loss"
    )
    quiet(ax)
    ax.set_xlabel("first direction")
    ax.set_ylabel("second direction")
    ax.legend(loc="upper right", fontsize=SMALL - 1, framealpha=0.85, edgecolor="none", labelcolor=MUTED)
    bar = figure.colorbar(filled, ax=ax, shrink=0.9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL - 1, colors=MUTED, length=0)
    write_title(ax, "loss")
