"""Training losses for every system size, the second figure of the paper's study, and gradients along the way."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from mcquack.errors import InvalidInputError
from mcquack.report.style import INK, MUTED, SMALL
from mcquack.report.trainability.axes import finish, log10_axis, panels, size_colour
from mcquack.report.trainability.lines import lines, setting_values, with_settings
from mcquack.report.trainability.names import GROUP_WORDS, setting_text
from mcquack.studies.trainability.observation import Group, Observation

Curve = Callable[[Observation], tuple[float | None, ...]]
"""One number for each epoch."""

MOST_CURVES = 12
"""Sizes in a panel; of more, some are left out evenly."""


def loss_curve(observation: Observation) -> tuple[float | None, ...]:
    """One loss for each epoch, None where it was no number; empty if nothing was trained."""
    return _traced(observation, "loss")


def minimised_curve(observation: Observation) -> tuple[float | None, ...]:
    """What the steps minimise, with the regulariser, as the mean over each epoch's; empty if nothing was trained."""
    return _traced(observation, "loss_kao") or _traced(observation, "step_loss")


def is_stepwise(observations: Sequence[Observation]) -> bool:
    """Whether the batch is the whole sample, so that every epoch is one step and no loss moves with its batch."""
    return any(each.step_losses for each in observations)


def norm_curve(observation: Observation, group: Group) -> tuple[float | None, ...]:
    """The norm of the gradient in each epoch, the root mean square over its steps; empty if nothing was trained."""
    return _traced(observation, f"grad_norm_{group}")


def plot_losses(observations: Sequence[Observation], *, minimised: bool = False) -> Figure:
    """A panel for each start and other setting: the mean over seeds, shaded between the smallest and the largest.

    Of all training samples after each epoch, without the regulariser, or as it is ``minimised`` step by step.
    """
    return _plot(observations, minimised_curve if minimised else loss_curve, name="Training loss", ylabel="loss")


def plot_gradient_norms(observations: Sequence[Observation], group: Group = "weights") -> Figure:
    """The same for the norm of the gradients by one group of parameters, on the scale of logarithms."""

    def logarithms(observation: Observation) -> tuple[float | None, ...]:
        return tuple(math.log10(norm) if norm else None for norm in norm_curve(observation, group))

    word = GROUP_WORDS[group]
    figure = _plot(observations, logarithms, name=f"{word.capitalize()} gradients", ylabel=f"norm of {word} gradient")
    for ax in figure.axes:
        log10_axis(ax)
    return figure


def _traced(observation: Observation, name: str) -> tuple[float | None, ...]:
    return tuple(observation.trace.get(name, ()))


def _plot(observations: Sequence[Observation], curve: Curve, *, name: str, ylabel: str) -> Figure:
    kept = [each for each in observations if len(curve(each)) > 1]
    if not kept:
        raise InvalidInputError("no observation has a loss curve; run a study with epochs above 0.")
    starts: Sequence[Any] = setting_values(kept, "init_small") or (None,)
    rest = _others(kept)
    figure, axes = panels(len(starts), len(rest), sharey=True)
    sizes = _shown(sorted({each.settings["n_qubits"] for each in kept}))
    places = [(label, group, start) for label, group in rest.items() for start in starts]
    for ax, (label, group, start) in zip(axes, places, strict=True):
        chosen = group if start is None else with_settings(group, init_small=start)
        _draw(ax, chosen, sizes, curve)
        title = name if start is None else setting_text("init_small", start).capitalize()
        finish(
            ax,
            title=f"{title}\n{label}" if len(rest) > 1 else title,
            xlabel="step" if is_stepwise(kept) else "epoch",
            ylabel=ylabel if ax is axes[0] or start == starts[0] else "",
        )
    handles, labels = max((ax.get_legend_handles_labels() for ax in axes), key=lambda found: len(found[1]))
    legend = figure.legend(
        handles,
        labels,
        loc="outside right center",
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        title="qubits",
        title_fontsize=SMALL,
    )
    legend.get_title().set_color(MUTED)
    return figure


def _others(observations: Sequence[Observation]) -> dict[str, list[Observation]]:
    """Groups that differ in something else than size and initial magnitude, by what they are called."""
    found: dict[str, list[Observation]] = {}
    for line in lines(observations):
        label = ", ".join(setting_text(name, value) for name, value in line.settings if name != "init_small")
        found.setdefault(label, []).extend(line.observations)
    return found


def _shown(sizes: Sequence[int]) -> list[int]:
    places = np.unique(np.linspace(0, len(sizes) - 1, min(len(sizes), MOST_CURVES)).round().astype(int))
    return [sizes[place] for place in places]


def _draw(ax: Axes, observations: Sequence[Observation], sizes: Sequence[int], curve: Curve) -> None:
    for index, n_qubits in enumerate(sizes):
        curves = _stacked([curve(each) for each in observations if each.settings["n_qubits"] == n_qubits])
        if curves.size == 0:
            continue
        colour = size_colour(index, len(sizes))
        steps = np.arange(1, curves.shape[1] + 1)
        ax.plot(steps, curves.mean(axis=0), color=colour, linewidth=1.3, label=f"{n_qubits}")
        if len(curves) > 1:
            ax.fill_between(steps, curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.1, linewidth=0)


def _stacked(curves: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    """As rows, cut to the shortest: a mean over fewer and fewer seeds would jump where one ends."""
    length = min(map(len, curves), default=0)
    return np.array([curve[:length] for curve in curves], dtype=float)
