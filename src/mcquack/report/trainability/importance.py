"""Which setting decides: three ways to measure it, and all pairs."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mcquack.report.style import CLASS_COLOURS, FONT_SIZE, INK, MUTED, PAPER, SHARES, SMALL, quiet, write_title
from mcquack.studies.trainability.analysis import Anova, ForestImportances

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
