"""The exact share of a result's variance that each setting explains, alone and in pairs, on a complete grid."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution

from mcquack.bench.ranking.intervals import FEWEST_RESAMPLES, Interval
from mcquack.checks import is_whole_number, require
from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis.complete_grid import CompleteGrid, Rows, complete_grid
from mcquack.studies.trainability.analysis.decomposition import (
    FloatArray,
    Names,
    Parts,
    Scatter,
    parts_of,
    resampled_parts,
    scatter_of,
)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Of one setting, or of two beyond what each does alone.

    Scatter looks like a small effect, too: ``unbiased`` is the share without what it adds. ``interval`` is that of the
    latter, bootstrapped over replicates; ``p`` is that of the F-test. Both are None unless cells have replicates.
    """

    names: Names
    share: float
    unbiased: float
    degrees: int
    interval: Interval | None = None
    f: float | None = None
    p: float | None = None


@dataclass(frozen=True, kw_only=True)
class Anova:
    """The functional ANOVA decomposition: shares of effects, ``higher`` orders and ``noise`` sum to 1.

    All cells of the grid count alike. ``noise`` is the variance of replicates within cells.
    """

    names: Names
    mean: float
    variance: float
    effects: tuple[Effect, ...]
    higher: float
    noise: float

    def effect(self, *names: str) -> Effect:
        """That of one setting, or the interaction of two, in any order."""
        for each in self.effects:
            if set(each.names) == set(names):
                return each
        raise InvalidInputError(f"there is no effect of {' and '.join(names)}; settings are {', '.join(self.names)}.")

    def share(self, *names: str) -> float:
        """Of the whole variance."""
        return self.effect(*names).share

    def noiseless(self, *names: str) -> float:
        """Of the variance between cells alone, which is what a surrogate such as fANOVA's forest divides up."""
        return self.share(*names) / (1 - self.noise) if self.noise < 1 else 0.0

    @property
    def main(self) -> dict[str, float]:
        """Shares of the single settings."""
        return {each.names[0]: each.share for each in self.effects if len(each.names) == 1}

    @property
    def pairs(self) -> dict[tuple[str, str], float]:
        """Shares of the interactions of two."""
        return {(each.names[0], each.names[1]): each.share for each in self.effects if len(each.names) == 2}

    @property
    def normalised(self) -> dict[str, float]:
        """Main effects divided by their sum, the convention in which importances are usually drawn."""
        total = sum(self.main.values())
        return {name: share / total if total > 0 else 0.0 for name, share in self.main.items()}


def exact_anova(
    rows: Rows,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Anova:
    """Decomposes the values of a complete grid, by the named settings or by all that vary."""
    require(0 < level < 1, "level", "between 0 and 1", level)
    enough = is_whole_number(n_resamples) and n_resamples >= FEWEST_RESAMPLES
    require(enough, "n_resamples", f"a whole number of at least {FEWEST_RESAMPLES}", n_resamples)
    grid = complete_grid(rows, names=names)
    parts = parts_of(
        grid, np.array([cell.mean() for cell in grid.cells]), np.array([cell.var() for cell in grid.cells])
    )
    scatter = scatter_of(grid)
    draws = resampled_parts(grid, n_resamples, seed=seed) if scatter is not None and scatter.everywhere else None
    effects = [_effect(grid, parts, which, scatter=scatter, draws=draws, level=level) for which in parts.effects]
    variance = float(parts.between + parts.within)
    noise = float(parts.within) / variance if variance > 0 else 0.0
    explained = noise + sum(effect.share for effect in effects)
    return Anova(
        names=grid.names,
        mean=float(np.mean([cell.mean() for cell in grid.cells])),
        variance=variance,
        effects=tuple(sorted(effects, key=lambda effect: -effect.share)),
        higher=max(0.0, 1 - explained) if variance > 0 else 0.0,
        noise=noise,
    )


def _effect(
    grid: CompleteGrid, parts: Parts, which: Names, *, scatter: Scatter | None, draws: Parts | None, level: float
) -> Effect:
    degrees = math.prod(len(grid.levels[name]) - 1 for name in which)
    share = float(parts.shares(which))
    if scatter is None:
        return Effect(names=which, share=share, unbiased=share, degrees=degrees)
    variance, added = float(parts.effects[which]), degrees * scatter.of_means / len(grid.cells)
    unbiased = max(0.0, variance - added) / float(parts.between + parts.within)
    f = variance / added
    return Effect(
        names=which,
        share=share,
        unbiased=unbiased,
        degrees=degrees,
        interval=None if draws is None else _interval(draws.shares(which), unbiased, level),
        f=f,
        p=float(f_distribution.sf(f, degrees, scatter.degrees)),
    )


def _interval(shares: FloatArray, unbiased: float, level: float) -> Interval:
    """Percentiles of the resamples, moved to where the share is without the scatter that they have twice."""
    ends = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2]) + unbiased - shares.mean()
    low, high = np.clip(ends, 0, 1)
    return Interval(low=float(min(low, unbiased)), high=float(max(high, unbiased)), level=level)
