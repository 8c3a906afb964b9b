"""Gradients of the first batch against the number of qubits: the figure of the paper, for every group and start."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mcquack.errors import InvalidInputError
from mcquack.report.style import (
    CLASS_COLOURS,
    FAINT,
    FONT_SIZE,
    INK,
    MUTED,
    PAPER,
    SHARES,
    SMALL,
    class_marker,
    quiet,
    write_title,
)
from mcquack.report.trainability.figures import (
    GROUP_TITLES,
    GROUP_WORDS,
    Line,
    finish,
    legend_below,
    line_colours,
    lines,
    log10_axis,
    panels,
    qubit_axis,
    setting_text,
    setting_values,
    with_settings,
)
from mcquack.studies.trainability.analysis import (
    Anova,
    ForestImportances,
    Law,
    LossSlice,
    Scaling,
    SizeMeans,
    gradient_means,
    scaling,
)
from mcquack.studies.trainability.analysis.decay import FEWEST_SIZES, GradientOf
from mcquack.studies.trainability.observation import GROUPS, Group, Observation


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


# How gradients shrink with the number of qubits: measured, fitted, and with the fits' uncertainty.

LN10 = math.log(10)
DASHES: dict[Law, str] = {"exponential": "--", "power": ":", "constant": "-."}


@dataclass(frozen=True, kw_only=True)
class Decay:
    """The mean square of one group's derivatives along a line; ``scaling`` is None where there are too few sizes."""

    line: Line
    group: Group
    of: GradientOf
    means: SizeMeans
    scaling: Scaling | None


def decays(
    given: Sequence[Line], *, of: GradientOf = "gradients", groups: Sequence[Group] = GROUPS
) -> tuple[Decay, ...]:
    """Of all lines and groups that have such gradients."""
    return tuple(_decays(given, of, groups))


def _decays(given: Sequence[Line], of: GradientOf, groups: Sequence[Group]) -> Iterator[Decay]:
    for group in groups:
        for line in given:
            known = [each for each in line.observations if group in getattr(each, of)]
            if not known:
                continue
            means = gradient_means(known, group, of=of)
            found = scaling(means) if len(means.sizes) >= FEWEST_SIZES else None
            if len(means.sizes):
                yield Decay(line=line, group=group, of=of, means=means, scaling=found)


def plot_decays(found: Sequence[Decay]) -> Figure:
    """A panel for each group: mean squares over seeds with one standard error, both fits, and the better one's band."""
    if not found:
        raise InvalidInputError("there are no gradients to fit; pass the decays of at least one line.")
    groups = [group for group in GROUPS if any(each.group == group for each in found)]
    labels = tuple(dict.fromkeys(each.line.label for each in found))
    colours = line_colours(labels)
    figure, axes = panels(len(groups), legend_lines=2 + (len(labels) - 1) // 2)
    for ax, group in zip(axes, groups, strict=True):
        drawn = [each for each in found if each.group == group]
        for each in drawn:
            place = labels.index(each.line.label)
            _decays_draw(ax, each, colour=colours[each.line.label], marker=class_marker(place))
        _set_limits(ax, drawn)
        log10_axis(ax)
        qubit_axis(ax, [int(size) for each in drawn for size in each.means.sizes])
        finish(ax, title=GROUP_TITLES[group], ylabel="mean square of gradients" if ax is axes[0] else "")
    note = "dashed: exponential fit; dotted: power law; shaded: 95 % band of the better one; bars: one standard error"
    legend_below(figure, axes[0], n_columns=min(len(labels), 2 if len(groups) < 3 else 3), note=note)
    return figure


def _decays_draw(ax: Axes, decay: Decay, *, colour: str, marker: str) -> None:
    """On the scale of logarithms, for derivatives of fidelities may be smaller than a float can be."""
    means = decay.means
    ax.errorbar(
        means.sizes,
        means.logs / LN10,
        np.sqrt(means.variances) / LN10,
        color=colour,
        linestyle="none",
        marker=marker,
        markersize=3.8,
        elinewidth=1.0,
        label=decay.line.label,
    )
    if decay.scaling is None:
        return
    sizes = np.geomspace(means.sizes.min(), means.sizes.max(), 80)
    for law in ("exponential", "power"):
        fitted = decay.scaling.fits[law].log_predicted(sizes) / LN10
        ax.plot(sizes, fitted, color=colour, linewidth=1.1, linestyle=DASHES[law])
    band = decay.scaling.fits[decay.scaling.best].band(sizes)
    with np.errstate(divide="ignore"):
        low, high = np.log10(band.low), np.log10(band.high)
    seen = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(sizes[seen], low[seen], high[seen], color=colour, alpha=0.14, linewidth=0)


def _set_limits(ax: Axes, drawn: Sequence[Decay]) -> None:
    """Around what was measured: a law that does not fit may lead far away."""
    logs = np.concatenate([each.means.logs for each in drawn]) / LN10
    margin = max(0.12 * float(np.ptp(logs)), 0.25)
    ax.set_ylim(float(logs.min()) - margin, float(logs.max()) + margin)


# Which setting decides: three ways to measure it, and all pairs.

# Written on colours that are the same on light and dark pages, so these are no colours of a theme.
ON_LIGHT, ON_DARK = "#101820", "#fdfdfd"

BAR = 0.26
"""Height of a bar where a setting has one."""


def plot_importances(anova: Anova, forest: ForestImportances | None = None, *, target: str = "final loss") -> Figure:
    """Main effects by exact ANOVA and, if there is a forest, by fANOVA in both conventions; the pairs at the right."""
    names = sorted(anova.names, key=anova.share, reverse=True)
    figure = Figure(figsize=(8.6, 1.6 + 0.62 * len(names)), layout="constrained", facecolor=PAPER)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_bars(left, anova, forest, names)
    write_title(left, f"Importance for {target}")
    _draw_pairs(right, anova, names)
    write_title(right, "Exact shares with pairs, in %")
    return figure


def _draw_bars(ax: Axes, anova: Anova, forest: ForestImportances | None, names: Sequence[str]) -> None:
    kinds: dict[str, tuple[str, Mapping[str, float]]] = {"exact ANOVA": (CLASS_COLOURS[0], anova.main)}
    if forest is not None:
        kinds["fANOVA, of all variance"] = (CLASS_COLOURS[1], forest.unnormalised)
        kinds["fANOVA, normalised to 1"] = (CLASS_COLOURS[2], forest.normalised)
    for place, (label, (colour, shares)) in enumerate(kinds.items()):
        heights = np.arange(len(names)) + BAR * (place - (len(kinds) - 1) / 2)
        values = [shares.get(name, 0.0) for name in names]
        ax.barh(heights, values, height=0.86 * BAR, color=colour, label=label)
        for y, value in zip(heights, values, strict=True):
            ax.annotate(
                f"{value:.2f}", (value, y), (3, 0), textcoords="offset points", va="center", size=SMALL - 1, color=MUTED
            )
    _draw_intervals(ax, anova, names, shift=-BAR * (len(kinds) - 1) / 2)
    quiet(ax)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelcolor=INK, labelsize=FONT_SIZE)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(0, 1.08)
    ax.set_xlabel("share of variance")
    ax.legend(loc="lower right", frameon=False, fontsize=SMALL, labelcolor=INK)


def _draw_intervals(ax: Axes, anova: Anova, names: Sequence[str], *, shift: float) -> None:
    intervals = {effect.names[0]: effect.interval for effect in anova.effects if len(effect.names) == 1}
    for place, name in enumerate(names):
        if (interval := intervals.get(name)) is not None:
            ax.plot([interval.low, interval.high], [place + shift] * 2, color=INK, linewidth=1.1, solid_capstyle="butt")


def _draw_pairs(ax: Axes, anova: Anova, names: Sequence[str]) -> None:
    """Single settings on the diagonal, pairs below it."""
    shares = np.full((len(names), len(names)), np.nan)
    for row, one in enumerate(names):
        shares[row, row] = anova.share(one)
        for column, other in enumerate(names[:row]):
            shares[row, column] = anova.share(one, other)
    top = max(float(np.nanmax(shares)), 1e-9)
    # On a scale of roots: a pair of one percent should not look like none.
    ax.pcolormesh(np.sqrt(np.clip(shares, 0, None)), cmap=SHARES, vmin=0, vmax=top**0.5, edgecolors=PAPER, linewidth=1)
    ax.invert_yaxis()
    for row, column in np.argwhere(~np.isnan(shares)).tolist():
        value = max(float(shares[row, column]), 0.0)
        colour = ON_DARK if (value / top) ** 0.5 > 0.55 else ON_LIGHT
        ax.text(column + 0.5, row + 0.5, f"{100 * value:.1f}", ha="center", va="center", size=SMALL, color=colour)
    quiet(ax)
    ax.spines[["left", "bottom"]].set_visible(False)
    middles = np.arange(len(names)) + 0.5
    ax.set_xticks(middles, names, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(middles, names)
    ax.tick_params(length=0, labelcolor=INK, labelsize=SMALL)
    rest = f"higher orders {100 * max(anova.higher, 0):.1f} %, seeds {100 * max(anova.noise, 0):.1f} %"
    ax.set_xlabel(rest)


# The loss around a point, as a surface and as contours.

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
