"""Gradients of the first batch against the number of qubits: the figure of the paper, for every group and start."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mcquack.errors import InvalidInputError
from mcquack.report.style import FAINT, class_marker
from mcquack.report.trainability.axes import finish, legend_below, line_colours, panels, qubit_axis
from mcquack.report.trainability.lines import Line, lines, setting_values, with_settings
from mcquack.report.trainability.names import GROUP_TITLES, GROUP_WORDS, setting_text
from mcquack.studies.trainability.observation import Group, Observation


@dataclass(frozen=True, kw_only=True)
class GradientPoint:
    """Of all derivatives by the parameters of one group, over all seeds of one size."""

    n_qubits: int
    mean: float
    std: float
    n_seeds: int


def gradient_points(line: Line, group: Group) -> tuple[GradientPoint, ...]:
    """Mean and standard deviation as if the parameters of all seeds were one list."""
    found = []
    for n_qubits, observations in line.by_qubits.items():
        known = [each.gradients[group] for each in observations if group in each.gradients]
        if known:
            counts = np.array([each.n for each in known], dtype=float)
            means, stds = np.array([[each.mean, each.std] for each in known]).T
            mean = float(np.average(means, weights=counts))
            square = float(np.average(stds**2 + means**2, weights=counts))
            std = math.sqrt(max(square - mean**2, 0.0))
            found.append(GradientPoint(n_qubits=n_qubits, mean=mean, std=std, n_seeds=len(known)))
    return tuple(found)


def plot_gradients(observations: Sequence[Observation], *, groups: Sequence[Group] = ("weights",)) -> Figure:
    """A row for each group of parameters and a panel for each initial magnitude, with scales of their own.

    Dots are means over the parameters of all seeds, bars their standard deviation: not the uncertainty of the mean.
    """
    kept = [each for each in observations if any(group in each.gradients for group in groups)]
    if not kept:
        raise InvalidInputError("no observation has gradients; run a study that measures them.")
    starts: Sequence[Any] = setting_values(kept, "init_small") or (None,)
    labels = tuple(dict.fromkeys(line.label for start in starts for line in _lines_of(kept, start)))
    colours = line_colours(labels)
    figure, axes = panels(len(starts), len(groups), legend_lines=len(labels) if len(labels) > 1 else 0)
    places = [(group, start) for group in groups for start in starts]
    for ax, (group, start) in zip(axes, places, strict=True):
        _draw(ax, _lines_of(kept, start), group, labels=labels, colours=colours)
        name = "" if start is None else f": {setting_text('init_small', start)}"
        finish(ax, title=f"{GROUP_TITLES[group]}{name}", ylabel=f"{GROUP_WORDS[group]} gradient")
    if len(labels) > 1:
        fullest = max(axes, key=lambda ax: len(ax.get_legend_handles_labels()[1]))
        legend_below(figure, fullest, n_columns=2)
    return figure


def _lines_of(observations: Sequence[Observation], start: Any) -> tuple[Line, ...]:
    return lines(observations if start is None else with_settings(observations, init_small=start))


def _draw(ax: Axes, drawn: Sequence[Line], group: Group, *, labels: Sequence[str], colours: dict[str, str]) -> None:
    ax.axhline(0, color=FAINT, linewidth=0.9, zorder=0)
    sizes: set[int] = set()
    for line in drawn:
        points, place = gradient_points(line, group), labels.index(line.label)
        # Bars side by side, for those of several lines would hide each other.
        shift = 0.13 * (place - (len(labels) - 1) / 2) if max(line.sizes) <= 40 else 0.0
        sizes |= {point.n_qubits for point in points}
        ax.errorbar(
            [point.n_qubits + shift for point in points],
            [point.mean for point in points],
            [point.std for point in points],
            color=colours[line.label],
            marker=class_marker(place),
            markersize=3.8,
            linewidth=1.0,
            elinewidth=1.1,
            capsize=2.2,
            label=line.label,
        )
    qubit_axis(ax, sorted(sizes))
