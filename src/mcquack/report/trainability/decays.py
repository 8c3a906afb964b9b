"""How gradients shrink with the number of qubits: measured, fitted, and with the fits' uncertainty."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mcquack.errors import InvalidInputError
from mcquack.report.style import class_marker
from mcquack.report.trainability.axes import finish, legend_below, line_colours, log10_axis, panels, qubit_axis
from mcquack.report.trainability.lines import Line
from mcquack.report.trainability.names import GROUP_TITLES
from mcquack.studies.trainability.analysis import Law, Scaling, SizeMeans, gradient_means, scaling
from mcquack.studies.trainability.analysis.decay import FEWEST_SIZES
from mcquack.studies.trainability.analysis.size_means import GradientOf
from mcquack.studies.trainability.observation import GROUPS, Group

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
            _draw(ax, each, colour=colours[each.line.label], marker=class_marker(place))
        _set_limits(ax, drawn)
        log10_axis(ax)
        qubit_axis(ax, [int(size) for each in drawn for size in each.means.sizes])
        finish(ax, title=GROUP_TITLES[group], ylabel="mean square of gradients" if ax is axes[0] else "")
    note = "dashed: exponential fit; dotted: power law; shaded: 95 % band of the better one; bars: one standard error"
    legend_below(figure, axes[0], n_columns=min(len(labels), 2 if len(groups) < 3 else 3), note=note)
    return figure


def _draw(ax: Axes, decay: Decay, *, colour: str, marker: str) -> None:
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
