"""What the axes of all figures of the study have in common."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import (
    GRID,
    INK,
    MUTED,
    PAPER,
    RAMP,
    SMALL,
    class_colour,
    class_marker,
    counted,
    quiet,
    write_title,
)
from mcquack.studies.trainability.analysis import Convergence, Oscillation, convergence, oscillation
from mcquack.studies.trainability.observation import Group, Observation

# What settings and groups of parameters are called in figures, tables and sentences.

SETTING_NAMES = {
    "init_small": "initial parameters",
    "init_strategy": "strategy",
    "regularised": "regularisation",
    "n_qubits": "qubits",
    "n_layers": "layers",
    "lr": "learning rate",
    "reg_param": "regularisation parameter",
}
_VALUES: Mapping[tuple[str, Any], str] = {
    ("init_small", True): "small and normal",
    ("init_small", False): "all ones",
    ("init_strategy", "default"): "default strategy",
    ("init_strategy", "wx+b=0"): "wx + b = 0",
    ("regularised", True): "regularised",
    ("regularised", False): "not regularised",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
GROUP_TITLES: Mapping[Group, str] = {"weights": "Weights", "bias": "Biases", "centroids": "Centroids"}
GROUP_WORDS: Mapping[Group, str] = {"weights": "weight", "bias": "bias", "centroids": "centroid"}


def setting_name(name: str) -> str:
    """As people say it."""
    return SETTING_NAMES.get(name, name.replace("_", " "))


def setting_text(name: str, value: Any) -> str:
    """A setting and its value in a few words."""
    if name == "model":
        return str(value)
    known = _VALUES.get((name, value)) if isinstance(value, str | bool) else None
    return known or f"{setting_name(name)} {value}"


def number_text(value: float, *, digits: int = 3) -> str:
    """With these significant digits; very large and very small numbers as powers of ten."""
    if value == 0:
        return "0"
    text = f"{value:.{digits - 1}e}"
    mantissa, _, exponent = text.partition("e")
    if -4 <= int(exponent) < 6:
        return f"{float(text):,.{max(digits - 1 - int(exponent), 0)}f}".replace("-", "−")
    return f"{mantissa.replace('-', '−')} · {power_of_ten(int(exponent))}"


def power_of_ten(exponent: int) -> str:
    """As 10⁻³."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def shots_text(log10_shots: float) -> str:
    """A number of shots by its decimal logarithm."""
    if log10_shots < 6:
        return counted(max(round(10**log10_shots), 1), "shot")
    return f"about {power_of_ten(round(log10_shots))} shots"


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


# Observations that belong together: the same model with the same start, at all of its sizes.

DERIVED = frozenset({"n_qubits", "n_layers", "n_features", "engine", "series", "data_seed"})
"""What a line runs along, what follows from that, the name of the series, and what only repeats a run."""

BUDGETS = frozenset({"epochs", "batch_size", "n_train", "n_entries"})
"""What is spent on a measurement; a larger size may have less, and is still the same model."""


PAPER_SLICE = {"regularised": True, "init_strategy": "wx+b=0"}
"""What the paper's figures show."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One model and start; ``settings`` are what tells it from the other lines."""

    model: str
    settings: tuple[tuple[str, Any], ...]
    observations: tuple[Observation, ...]

    @property
    def label(self) -> str:
        """As a legend has it."""
        return ", ".join(setting_text(name, value) for name, value in self.settings) or self.model

    @cached_property
    def by_qubits(self) -> Mapping[int, tuple[Observation, ...]]:
        """All seeds of each number of qubits, the smallest first."""
        found: dict[int, list[Observation]] = {}
        for each in sorted(self.observations, key=lambda each: (each.settings["n_qubits"], each.seed)):
            found.setdefault(each.settings["n_qubits"], []).append(each)
        return {n_qubits: tuple(group) for n_qubits, group in found.items()}

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of qubits, the smallest first."""
        return tuple(self.by_qubits)

    def value(self, name: str, default: Any = None) -> Any:
        """Of a setting, whether it tells lines apart or not."""
        return self.observations[0].settings.get(name, default)


def lines(observations: Iterable[Observation], *, apart_from: Iterable[str] = ()) -> tuple[Line, ...]:
    """In the order of their settings; a setting that all share, or that is in ``apart_from``, tells none apart."""
    kept = tuple(observations)
    names = [name for name in factors(kept) if name not in set(apart_from)]
    several_models = len({each.model for each in kept}) > 1
    groups: dict[tuple[str, tuple[Any, ...]], list[Observation]] = {}
    for each in kept:
        groups.setdefault((each.model, tuple(each.settings.get(name) for name in names)), []).append(each)
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], tuple(map(value_place, group[0][1]))))
    return tuple(
        Line(
            model=model,
            settings=((("model", model),) if several_models else ()) + tuple(zip(names, values, strict=True)),
            observations=tuple(found),
        )
        for (model, values), found in ordered
    )


def varied_settings(observations: Iterable[Observation]) -> tuple[str, ...]:
    """Names of the settings that are not the same in all of them, sorted."""
    values: dict[str, set[str]] = {}
    kept = tuple(observations)
    for name in {name for each in kept for name in each.settings}:
        values[name] = {repr(each.settings.get(name)) for each in kept}
    return tuple(sorted(name for name, found in values.items() if len(found) > 1))


def factors(observations: Iterable[Observation]) -> tuple[str, ...]:
    """The settings that were varied on purpose, besides the number of qubits."""
    kept = tuple(observations)
    layers: dict[int, set[int]] = {}
    for each in kept:
        layers.setdefault(each.settings["n_qubits"], set()).add(each.settings.get("n_layers", 0))
    # Depths that follow from the number of features change with the qubits, and are no choice.
    chosen_depths = any(len(found) > 1 for found in layers.values())
    derived = (DERIVED - {"n_layers"} if chosen_depths else DERIVED) | BUDGETS
    return tuple(name for name in varied_settings(kept) if name not in derived)


def with_settings(observations: Iterable[Observation], **wanted: Any) -> tuple[Observation, ...]:
    """Those that have these values, or do not know the setting at all."""
    return tuple(
        each for each in observations if all(each.settings.get(name, value) == value for name, value in wanted.items())
    )


def paper_slice(observations: Iterable[Observation]) -> tuple[Observation, ...]:
    """Of what the paper draws, the regularised models with wx + b = 0, as much as there is."""
    kept = tuple(observations)
    for name, value in PAPER_SLICE.items():
        kept = with_settings(kept, **{name: value}) or kept
    return kept


def slice_text(observations: Iterable[Observation]) -> str:
    """What ``paper_slice`` leaves of these observations, in a few words; empty if it leaves all."""
    kept = tuple(observations)
    sizes = {name: len(with_settings(kept, **{name: value})) for name, value in PAPER_SLICE.items()}
    return ", ".join(setting_text(name, PAPER_SLICE[name]) for name, size in sizes.items() if 0 < size < len(kept))


def setting_values(observations: Sequence[Observation], name: str) -> tuple[Any, ...]:
    """Without repetition; True, which is the usual start, comes before False."""
    return tuple(sorted({each.settings[name] for each in observations if name in each.settings}, key=value_place))


def value_place(value: Any) -> tuple[int, float, str]:
    """Any values in one order: truth first, numbers by size, then names."""
    if isinstance(value, bool):
        return 0, -float(value), ""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return 2, 0.0, str(value)


# Training losses for every system size, the second figure of the paper's study, and gradients along the way.

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


# How much losses oscillate, and how far they come back up, against the number of qubits or the learning rate.


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """How the training of one seed went; ``minimised`` is the oscillation of the loss with its regulariser."""

    observation: Observation
    oscillation: Oscillation
    convergence: Convergence
    minimised: Oscillation | None = None


Measure = Callable[[TrainedRun], float | None]
MEASURES: Mapping[str, tuple[str, Measure]] = {
    "Way uphill": ("share of the whole way", lambda run: run.oscillation.uphill),
    "Amplitude": ("of the detrended loss", lambda run: run.oscillation.amplitude),
    "Relapse": ("share of the descent lost again", lambda run: run.convergence.relapse),
}


def trained_run(observation: Observation) -> TrainedRun | None:
    """None if there is no curve, or one that ended in what is no number."""
    curve = loss_curve(observation)
    if len(curve) < 3 or None in curve:
        return None
    regularised = minimised_curve(observation)
    known = len(regularised) > 1 and None not in regularised
    return TrainedRun(
        observation=observation,
        oscillation=_oscillation(curve),
        convergence=convergence(curve),
        minimised=_oscillation(regularised) if known else None,
    )


# Every section, figure and table asks for the same curves again.
_oscillation = lru_cache(maxsize=16_384)(oscillation)


def trained_runs(observations: Sequence[Observation]) -> tuple[TrainedRun, ...]:
    """Of all that have a finite curve."""
    return tuple(run for each in observations if (run := trained_run(each)) is not None)


def plot_oscillations(given: Sequence[Line], *, along: str = "n_qubits") -> Figure:
    """Medians over the runs with the same value of ``along``, shaded between the smallest and the largest."""
    runs = {line.label: trained_runs(line.observations) for line in given}
    runs = {label: found for label, found in runs.items() if found}
    if not runs:
        raise InvalidInputError("no observation has a loss curve; run a study with epochs above 0.")
    colours = line_colours(tuple(runs))
    figure, axes = panels(len(MEASURES), legend_lines=1 + (len(runs) - 1) // 3)
    for ax, (title, (unit, measure)) in zip(axes, MEASURES.items(), strict=True):
        for place, (label, found) in enumerate(runs.items()):
            values = _values(found, along, measure)
            if values:
                draw_medians(ax, values, label=label, colour=colours[label], marker=class_marker(place))
        places = [run.observation.settings[along] for found in runs.values() for run in found]
        qubit_axis(ax, places) if along == "n_qubits" else rate_axis(ax, places)
        ax.set_ylim(bottom=0)
        finish(ax, title=title, ylabel=unit, xlabel=setting_name(along))
    legend_below(figure, axes[0], n_columns=3)
    return figure


def _values(runs: Sequence[TrainedRun], along: str, measure: Measure) -> dict[float, list[float]]:
    found: dict[float, list[float]] = {}
    for run in sorted(runs, key=lambda run: run.observation.settings[along]):
        if (value := measure(run)) is not None:
            found.setdefault(run.observation.settings[along], []).append(value)
    return found
