"""The figures of the study, in the style of the paper."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import (
    CLASS_COLOURS,
    FAINT,
    FONT_SIZE,
    HEAT,
    INK,
    MUTED,
    PAPER,
    RAMP,
    SMALL,
    capital,
    power_of_ten,
)
from mcquack.report.trainability.study import GROUP_TITLES, Landscape, Line, lines, sizes_of
from mcquack.studies.trainability import Observation
from mcquack.studies.trainability.analysis import gradient_means, scaling
from mcquack.studies.trainability.analysis.decay import FEWEST_SIZES, GradientOf, Law, Scaling, SizeMeans
from mcquack.studies.trainability.analysis.importance import Anova, normalised
from mcquack.studies.trainability.analysis.states import haar_entanglement, haar_log_moments
from mcquack.studies.trainability.observation import GROUPS, Group

LN10 = math.log(10)


class GradientPoint(NamedTuple):
    """Mean and standard deviation of all derivatives by one group of parameters, over all seeds of one size."""

    n_qubits: int
    mean: float
    std: float
    n_seeds: int


def gradient_points(line: Line, group: Group) -> tuple[GradientPoint, ...]:
    """Mean and standard deviation at each size, as if the parameters of all seeds were one list."""
    found = []
    for n_qubits, observations in line.by_qubits.items():
        known = [each.gradients[group] for each in observations if group in each.gradients]
        if known:
            counts = [each.n for each in known]
            means, stds = np.array([[each.mean, each.std] for each in known]).T
            mean = float(np.average(means, weights=counts))
            square = float(np.average(stds**2 + means**2, weights=counts))
            found.append(GradientPoint(n_qubits, mean, math.sqrt(max(square - mean**2, 0.0)), len(known)))
    return tuple(found)


def plot_gradients(observations: Sequence[Observation]) -> Figure:
    """Weight gradients against the number of qubits, with a panel and a scale for each start.

    Dots are means over the parameters of all seeds, bars their standard deviation: not the uncertainty of the mean.
    """
    found = lines(each for each in observations if "weights" in each.gradients)
    if not found:
        raise InvalidInputError("no observation has gradients; run a study that measures them.")
    figure, axes = _panels(len(found))
    for ax, line in zip(axes, found, strict=True):
        sizes, means, stds, _ = zip(*gradient_points(line, "weights"), strict=True)
        ax.axhline(0, color=FAINT, linewidth=0.9, zorder=0)
        ax.errorbar(sizes, means, stds, linewidth=1.0, elinewidth=1.1, capsize=2.2, **style.class_look(0))
        _qubit_axis(ax, list(line.by_qubits))
        _finish(ax, title=capital(line.label), ylabel="weight gradient" if ax is axes[0] else "")
    return figure


@dataclass(frozen=True, kw_only=True)
class Decay:
    """The mean square of one group's derivatives along a line; ``scaling`` is None where there are too few sizes."""

    line: Line
    group: Group
    means: SizeMeans
    scaling: Scaling | None


def decays(
    given: Sequence[Line], *, of: GradientOf = "gradients", groups: Sequence[Group] = GROUPS
) -> tuple[Decay, ...]:
    """The decay of all lines and groups that have such gradients."""
    found = []
    for group in groups:
        for line in given:
            means = gradient_means(line.observations, group, of=of)
            if len(means):
                law = scaling(means) if len(means) >= FEWEST_SIZES else None
                found.append(Decay(line=line, group=group, means=means, scaling=law))
    return tuple(found)


def plot_decays(found: Sequence[Decay], *, compact: bool = False) -> Figure:
    """A panel for each group: mean squares over seeds with one standard error, both fits, and the better one's band.

    A compact figure leaves the explanation of its lines to its caption.
    """
    if not found:
        raise InvalidInputError("there are no gradients to fit; pass the decays of at least one line.")
    groups = [group for group in GROUPS if any(each.group == group for each in found)]
    labels = tuple(dict.fromkeys(each.line.label for each in found))
    figure, axes = _panels(len(groups), legend_lines=len(labels) if compact else 2 + (len(labels) - 1) // 2)
    for ax, group in zip(axes, groups, strict=True):
        drawn = [each for each in found if each.group == group]
        for each in drawn:
            _draw_decay(ax, each, place=labels.index(each.line.label))
        # Around what was measured: a law that does not fit may lead far away.
        logs = np.concatenate([each.means.logs for each in drawn]) / LN10
        margin = max(0.12 * float(np.ptp(logs)), 0.25)
        ax.set_ylim(float(logs.min()) - margin, float(logs.max()) + margin)
        _log10_axis(ax)
        _qubit_axis(ax, [int(size) for each in drawn for size in each.means.sizes])
        _finish(ax, title=GROUP_TITLES[group], ylabel="mean square of gradients" if ax is axes[0] else "")
    note = "dashed: exponential fit; dotted: power law; shaded: 95 % band of the better one; bars: one standard error"
    _legend_below(figure, axes[0], note="" if compact else note, n_columns=1 if compact else 2)
    return figure


def _draw_decay(ax: Axes, decay: Decay, *, place: int) -> None:
    """On the scale of logarithms, for derivatives of fidelities may be smaller than a float can be."""
    means, colour = decay.means, style.class_colour(place)
    look = {**style.class_look(place), "linestyle": "none", "label": decay.line.label}
    ax.errorbar(means.sizes, means.logs / LN10, np.sqrt(means.variances) / LN10, elinewidth=1.0, **look)
    if decay.scaling is not None:
        sizes = np.geomspace(means.sizes.min(), means.sizes.max(), 80)
        dashes: dict[Law, str] = {"exponential": "--", "power": ":"}
        for law, dash in dashes.items():
            fitted = decay.scaling.fits[law].log_predicted(sizes) / LN10
            ax.plot(sizes, fitted, color=colour, linewidth=1.1, linestyle=dash)
        low, high = decay.scaling.fits[decay.scaling.best].log_band(sizes)
        ax.fill_between(sizes, low / LN10, high / LN10, color=colour, alpha=0.14, linewidth=0)


def plot_losses(observations: Sequence[Observation]) -> Figure:
    """Training losses after each epoch, with a panel for each start and other setting and a curve for each size.

    Curves are means over seeds, shaded between the smallest and the largest.
    """
    kept = [each for each in observations if len(each.trace.get("loss", ())) > 1]
    if not kept:
        raise InvalidInputError("no observation has a loss curve; run a study with epochs above 0.")
    found, sizes = lines(kept), sizes_of(kept)
    figure, axes = _panels(len(found), sharey=True)
    for ax, line in zip(axes, found, strict=True):
        for n_qubits, seeds in line.by_qubits.items():
            # Cut to the shortest: a mean over fewer and fewer seeds would jump where one ends.
            length = min(len(each.trace["loss"]) for each in seeds)
            curves = np.array([each.trace["loss"][:length] for each in seeds], dtype=float)
            # From light, the smallest system, to dark, the largest; in grey the order stays.
            colour = RAMP[round((len(RAMP) - 1) * sizes.index(n_qubits) / max(len(sizes) - 1, 1))]
            steps = np.arange(1, length + 1)
            ax.plot(steps, curves.mean(axis=0), color=colour, linewidth=1.3, label=f"{n_qubits}")
            ax.fill_between(steps, curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.1, linewidth=0)
        xlabel = "step" if any(each.step_losses for each in kept) else "epoch"
        _finish(ax, title=capital(line.label), xlabel=xlabel, ylabel="loss" if ax is axes[0] else "")
    handles, labels = max((ax.get_legend_handles_labels() for ax in axes), key=lambda both: len(both[1]))
    legend = style.legend_of(figure, handles=handles, labels=labels, loc="outside right center", title="qubits")
    legend.get_title().set(color=MUTED, size=SMALL)
    return figure


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number of an observation that is drawn against its size."""

    title: str
    of: Callable[[Observation], float | None]
    unit: str = ""
    is_log: bool = False  # a decimal logarithm: numbers of a thousand qubits are smaller than a float can be
    by_chance: Callable[[int], float] | None = None  # what it is for Haar-random states of n qubits


def _moment(title: str, name: str, place: int) -> Measure:
    return Measure(
        title=title,
        of=lambda seen: None if (log := seen.kernel.get(f"log_{name}")) is None else log / LN10,
        is_log=True,
        by_chance=lambda n: haar_log_moments(n)[place] / LN10,
    )


def _shots(name: str) -> Callable[[Observation], float | None]:
    return lambda seen: None if (log := seen.kernel.get(f"log10_shots_{name}")) is None else max(log, 0.0)


KERNEL = (
    _moment("Mean fidelity", "mean", 0),
    _moment("Variance of fidelities", "variance", 1),
    Measure(title="Entangling power", of=lambda seen: seen.kernel.get("entanglement"), by_chance=haar_entanglement),
    Measure(title="Distance from all states", of=lambda seen: seen.kernel.get("expressibility")),
)
"""Concentration of the kernel, Meyer and Wallach's measure, and expressibility."""

SHOTS = (
    Measure(title="To see a kernel entry’s gradient", of=_shots("entry"), unit="shots per circuit", is_log=True),
    Measure(title="To see the alignment’s gradient", of=_shots("alignment"), is_log=True),
    Measure(title="To tell two classes apart", of=_shots("prediction"), is_log=True),
)
"""Decimal logarithms of the shots for each circuit."""


def measured(line: Line, measure: Measure) -> dict[int, list[float]]:
    """The values of all seeds that have one, by number of qubits."""
    found = {n: [x for each in group if (x := measure.of(each)) is not None] for n, group in line.by_qubits.items()}
    return {n: values for n, values in found.items() if values}


def plot_measures(given: Sequence[Line], measures: Sequence[Measure], *, compact: bool = False) -> Figure:
    """A panel for each of ``KERNEL`` or ``SHOTS`` that has values: medians over seeds, shaded from least to most.

    The names of the lines stand below one another in a compact figure, so that it stays as narrow as its panels.
    """
    values = {each.title: [measured(line, each) for line in given] for each in measures}
    taken = [each for each in measures if any(values[each.title])]
    if not taken:
        raise InvalidInputError(f"no observation has {measures[0].title.lower()}; run a study that measures it.")
    figure, axes = _panels(len(taken), legend_lines=1 + len(given) // (1 if compact else 2))
    for ax, measure in zip(axes, taken, strict=True):
        for place, (line, found) in enumerate(zip(given, values[measure.title], strict=True)):
            medians = [statistics.median(each) for each in found.values()]
            ax.plot(list(found), medians, linewidth=1.4, label=line.label, **style.class_look(place))
            ends = [min(each) for each in found.values()], [max(each) for each in found.values()]
            ax.fill_between(list(found), *ends, color=style.class_colour(place), alpha=0.13, linewidth=0)
        known = sorted({n for found in values[measure.title] for n in found})
        _draw_beside(ax, measure, known)
        if measure.is_log:
            _log10_axis(ax)
        _qubit_axis(ax, known)
        _finish(ax, title=measure.title, ylabel=measure.unit)
    _legend_below(figure, axes[0], n_columns=1 if compact else 2)
    return figure


def _draw_beside(ax: Axes, measure: Measure, places: Sequence[Any]) -> None:
    low, high = ax.get_ylim()
    if measure.by_chance is not None:
        known = np.unique(np.geomspace(min(places), max(places), 60).round().astype(int)).tolist()
        by_chance = [measure.by_chance(n) for n in known]
        ax.plot(known, by_chance, color=MUTED, linewidth=1.0, linestyle="--", label="states by chance (Haar)")
        # Far below all that was measured, the line of chance would only press the others together.
        least = max(min(low, *by_chance), low - 0.5 * max(high - low, 2)) if measure.is_log else 0.0
        ax.set_ylim(least, max(high, 0.0 if measure.is_log else 1.02))
    elif measure.is_log:
        ax.set_ylim(max(min(low, 0.0), -0.3), max(high, 6.5))
        ax.axhline(6, color=FAINT, linewidth=1.0, zorder=0)
        # Behind the end of the line, where no curve can run through it.
        beside: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
        ax.annotate("a million", (1, 6), (3, 0), size=SMALL - 1, color=MUTED, **beside)
    else:
        ax.axhline(0, color=FAINT, linewidth=0.9, zorder=0)
        ax.set_ylim(min(low, 0.0), high)


def plot_importances(anova: Anova, forest: Mapping[str, float] | None = None, *, target: str = "final loss") -> Figure:
    """Main effects by exact ANOVA with intervals and, if there is a forest, by fANOVA in both conventions."""
    names = sorted(anova.names, key=anova.share, reverse=True)
    ax = style.new_axes(5.0, 1.9 + 0.62 * len(names))
    kinds: dict[str, Mapping[str, float]] = {"exact ANOVA": anova.main}
    if forest is not None:
        kinds |= {"fANOVA, of all variance": forest, "fANOVA, normalised to 1": normalised(forest)}
    heights = np.arange(len(names)) - 0.13 * (len(kinds) - 1)
    for height, name in zip(heights, names, strict=True):
        if (interval := anova.effect(name).interval) is not None:
            ax.plot([interval.low, interval.high], [height, height], color=INK, linewidth=1.1, zorder=3)
    for colour, (label, shares) in zip(CLASS_COLOURS, kinds.items(), strict=False):
        values = [shares.get(name, 0.0) for name in names]
        ax.barh(heights, values, height=0.22, color=colour, label=label)
        for y, value in zip(heights, values, strict=True):
            beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "size": SMALL - 1, "color": MUTED}
            ax.annotate(f"{value:.2f}", (value, y), (3, 0), **beside)
        heights = heights + 0.26
    style.quiet(ax)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelcolor=INK, labelsize=FONT_SIZE)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(0, 1.08)
    ax.set_xlabel("share of variance")
    style.write_title(ax, f"Importance for {target}")
    figure = style.figure_of(ax)
    _legend_below(figure, ax, n_columns=1)
    return figure


def plot_landscape(landscape: Landscape) -> Figure:
    """The losses of a slice as contours, with the lowest of them and the way that training took."""
    ax = style.new_axes(4.6, 3.9)
    grid = landscape.losses.first, landscape.losses.second, landscape.losses.losses
    filled = ax.contourf(*grid, levels=14, cmap=ListedColormap(HEAT[::-1]))
    ax.contour(*grid, levels=filled.levels, colors=PAPER, linewidths=0.35)
    # In the page's own colour: whatever lies below, a line stands out from it.
    outlined: dict[str, Any] = {"path_effects": [withStroke(linewidth=3.5, foreground=PAPER)]}
    if len(landscape.path) > 1:
        way = np.transpose(landscape.path)
        ax.plot(*way, color=CLASS_COLOURS[5], linewidth=1.3, marker=".", markersize=3, label="training", **outlined)
    first, second, _ = landscape.losses.minimum
    marks: dict[str, Any] = {"linestyle": "none", "marker": "x", "color": CLASS_COLOURS[1], "markersize": 6}
    ax.plot([first], [second], label="smallest loss", **marks, **outlined)
    style.quiet(ax)
    ax.set_xlabel("first direction")
    ax.set_ylabel("second direction")
    style.colour_bar(ax, filled, shrink=0.9).tick_params(labelsize=SMALL - 1)
    figure = style.figure_of(ax)
    figure.suptitle(capital(landscape.title), x=0.01, ha="left", size=FONT_SIZE + 1, color=INK, parse_math=False)
    _legend_below(figure, ax)
    return figure


def _panels(n: int, *, sharey: bool = False, legend_lines: int = 0) -> tuple[Figure, list[Axes]]:
    n_columns = n if n <= 3 else 2 if n == 4 else 3
    n_rows = math.ceil(n / n_columns)
    figure = style.new_figure(0.3 + 3.5 * n_columns, 0.3 + 2.6 * n_rows + 0.22 * legend_lines)
    axes = list(figure.subplots(n_rows, n_columns, squeeze=False, sharey=sharey).flat)
    for ax in axes[n:]:
        ax.remove()
    return figure, axes[:n]


def _finish(ax: Axes, *, title: str, ylabel: str = "", xlabel: str = "qubits") -> None:
    style.quiet(ax)
    style.grid_lines(ax)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    style.write_title(ax, title)


def _qubit_axis(ax: Axes, sizes: Sequence[int]) -> None:
    """Linear with whole numbers for small systems, logarithmic where some have more than 40 qubits."""
    known = sorted(set(sizes))
    ticks = known if 1 < len(known) <= 14 else []
    if known and known[-1] > 40:
        # Those that have room, with both ends.
        ticks, least = [known[-1]], 0.075 * math.log(known[-1] / known[0])
        for size in reversed(known[:-1]):
            if math.log(ticks[-1] / size) >= least:
                ticks.append(size)
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.xaxis.set_major_locator(FixedLocator(ticks) if ticks else MaxNLocator(integer=True, min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _log10_axis(ax: Axes) -> None:
    low, high = ax.get_ylim()
    if high - low < 2.2:  # powers of ten alone would leave the axis nearly without numbers
        decades = range(math.floor(low), math.ceil(high) + 1)
        ticks = [decade + math.log10(factor) for decade in decades for factor in (1, 2, 5)]
        ax.yaxis.set_major_locator(FixedLocator(ticks))
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7, min_n_ticks=1))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _log_text(value)))
    ax.set_ylim(low, high)


def _log_text(logarithm: float) -> str:
    exponent = math.floor(logarithm + 1e-9)
    factor = round(10 ** (logarithm - exponent))
    if -2 <= exponent <= 3:
        return f"{factor * 10.0**exponent:,.{max(-exponent, 0)}f}"
    return power_of_ten(exponent) if factor == 1 else f"{factor}·{power_of_ten(exponent)}"


def _legend_below(figure: Figure, ax: Axes, *, note: str = "", n_columns: int = 2) -> None:
    handles, _ = ax.get_legend_handles_labels()
    legend = style.legend_below(figure, handles, n_columns=n_columns, title=note or None)
    for text in legend.get_texts():
        text.set_parse_math(False)  # whatever a setting is called, it is no formula
