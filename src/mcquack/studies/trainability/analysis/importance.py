"""The exact share of a result's variance that each setting explains, alone and in pairs, on a complete grid."""

import itertools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution
from scipy.stats import t

from mcquack.arrays import FloatArray
from mcquack.bench.ranking.ranks import FEWEST_RESAMPLES, Interval
from mcquack.checks import OPTUNA, is_whole_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream

# Any number of a run, averaged over the runs that share some settings: what a learning rate or a start does.


@dataclass(frozen=True, kw_only=True)
class GroupMean:
    """Mean over the runs with these settings, with Student's interval where there are two or more.

    ``n_left_out`` runs of the group had no value, because they diverged or because it is not defined for them.
    """

    settings: Mapping[str, Any]
    mean: float
    interval: Interval | None
    n: int
    n_left_out: int = 0


def means_by(
    rows: Iterable[tuple[Mapping[str, Any], float | None]], names: Sequence[str], *, level: float = 0.95
) -> tuple[GroupMean, ...]:
    """Means for each combination of the named settings, in the order in which they first occur.

    A combination without any value is left out.
    """
    require(0 < level < 1, "level", "between 0 and 1", level)
    groups: dict[tuple[Any, ...], list[float | None]] = {}
    for settings, value in rows:
        absent = [name for name in names if name not in settings]
        if absent:
            raise InvalidInputError(f"a run has no setting {absent[0]!r}; it has {', '.join(map(str, settings))}.")
        groups.setdefault(tuple(settings[name] for name in names), []).append(value)
    means = []
    for key, all_values in groups.items():
        values = np.array([value for value in all_values if value is not None and math.isfinite(value)])
        if len(values):
            means.append(
                GroupMean(
                    settings=dict(zip(names, key, strict=True)),
                    mean=float(values.mean()),
                    interval=_mean_interval(values, level),
                    n=len(values),
                    n_left_out=len(all_values) - len(values),
                )
            )
    return tuple(means)


def _mean_interval(values: "np.ndarray[Any, np.dtype[np.float64]]", level: float) -> Interval | None:
    if len(values) < 2:
        return None
    half = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return Interval(low=float(values.mean()) - half, high=float(values.mean()) + half, level=level)


# Values of all combinations of some settings, one or several for each.

Rows = Iterable[tuple[Mapping[str, Any], float]]
_NAMED_IN_ERRORS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class CompleteGrid:
    """Settings by name with their levels, and the values of every cell of the grid in the order of its levels."""

    levels: Mapping[str, tuple[Any, ...]]
    cells: tuple[NDArray[np.float64], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the settings, one for each axis."""
        return tuple(self.levels)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each setting has."""
        return tuple(len(levels) for levels in self.levels.values())


def varying_levels(
    rows: Sequence[tuple[Mapping[str, Any], float]], names: Sequence[str] | None
) -> dict[str, tuple[Any, ...]]:
    """Levels of the named settings, or of all that vary; numbers in rising order, others as they first occur."""
    if not rows:
        raise InvalidInputError("there is nothing to compare; pass rows of settings and values.")
    for settings, value in rows:
        if not math.isfinite(value):
            raise InvalidInputError(f"the value of {_told(settings)} is {value}; leave such rows out, and say so.")
    known = set.intersection(*(set(settings) for settings, _ in rows))
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise InvalidInputError(f"not all rows have a setting {unknown[0]!r}; all have {', '.join(sorted(known))}.")
    wanted = [name for name in rows[0][0] if name in known] if names is None else names
    levels = {name: _ordered(settings[name] for settings, _ in rows) for name in wanted}
    levels = {name: found for name, found in levels.items() if len(found) > 1}
    if not levels:
        raise InvalidInputError("no setting has more than one value, so that none can matter; vary one.")
    return levels


def complete_grid(rows: Rows, *, names: Sequence[str] | None = None) -> CompleteGrid:
    """The grid that rows of settings and values fill, by the named settings or by all that vary.

    Rows that differ in nothing named are replicates of one cell.
    """
    given = list(rows)
    levels = varying_levels(given, names)
    found: dict[tuple[Any, ...], list[float]] = {}
    for settings, value in given:
        found.setdefault(tuple(settings[name] for name in levels), []).append(float(value))
    combinations = list(itertools.product(*levels.values()))
    missing = [combination for combination in combinations if combination not in found]
    if missing:
        examples = "; ".join(_told(dict(zip(levels, each, strict=True))) for each in missing[:_NAMED_IN_ERRORS])
        more = "; …" if len(missing) > _NAMED_IN_ERRORS else ""
        raise InvalidInputError(
            f"the grid of {', '.join(levels)} lacks {len(missing)} of {len(combinations)} cells ({examples}{more}); "
            "run them, or give names= of settings that vary freely."
        )
    return CompleteGrid(levels=levels, cells=tuple(np.array(found[each]) for each in combinations))


def _ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    distinct = tuple(dict.fromkeys(values))
    return tuple(sorted(distinct)) if are_numbers(distinct) else distinct


def are_numbers(levels: Iterable[Any]) -> bool:
    """Whether they have an order; truth values have none."""
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _told(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in settings.items())


# Variances of a grid's main effects and interactions, for one table of cells or for many resampled ones at once.

Names = tuple[str, ...]


class Parts(NamedTuple):
    """Variances of each effect, of all between cells and within them, for one table of cells or for many at once."""

    effects: dict[Names, FloatArray]
    between: FloatArray
    within: FloatArray

    def shares(self, which: Names) -> FloatArray:
        """Of an effect in the whole variance."""
        total = self.between + self.within
        return np.divide(self.effects[which], total, out=np.zeros_like(total), where=total > 0)


class Scatter(NamedTuple):
    """Of replicates around the mean of their cell: variance of one, of a cell's mean, and how well that is known."""

    variance: float
    of_means: float
    degrees: int
    everywhere: bool  # whether every cell has two or more


def scatter_of(grid: CompleteGrid) -> Scatter | None:
    """None where there are no replicates, or no two that differ."""
    degrees = sum(len(cell) - 1 for cell in grid.cells)
    squares = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in grid.cells)
    if degrees == 0 or squares == 0:
        return None
    # Of unweighted means: where some cells have lost replicates, each mean is as good as with the harmonic number.
    of_means = squares / degrees * sum(1 / len(cell) for cell in grid.cells) / len(grid.cells)
    return Scatter(squares / degrees, of_means, degrees, all(len(cell) > 1 for cell in grid.cells))


def parts_of(grid: CompleteGrid, means: FloatArray, variances: FloatArray) -> Parts:
    """From means and variances of the cells (…, G)."""
    n_before = means.ndim - 1
    table = (means - means.mean(axis=-1, keepdims=True)).reshape(*means.shape[:-1], *grid.shape)
    axes = range(n_before, table.ndim)

    def averaged(*kept: int) -> FloatArray:
        return np.asarray(table.mean(axis=tuple(axis for axis in axes if axis not in kept), keepdims=True))

    def variance(effect: FloatArray) -> FloatArray:
        return np.asarray(np.mean(effect**2, axis=tuple(axes)))

    alone = {axis: averaged(axis) for axis in axes}
    effects: dict[Names, FloatArray] = {}
    for axis, effect in alone.items():
        effects[grid.names[axis - n_before],] = variance(effect)
    for one, two in itertools.combinations(axes, 2):
        names = grid.names[one - n_before], grid.names[two - n_before]
        effects[names] = variance(averaged(one, two) - alone[one] - alone[two])
    return Parts(effects, np.asarray(means.var(axis=-1)), np.asarray(variances.mean(axis=-1)))


def resampled_parts(grid: CompleteGrid, n_resamples: int, *, seed: int) -> Parts:
    """From replicates drawn anew within each cell."""
    rng = stream(seed, "bootstrap of importance")
    drawn = [_drawn(cell, rng.integers(len(cell), size=(n_resamples, len(cell)))) for cell in grid.cells]
    means = np.stack([each.mean(axis=1) for each in drawn], axis=1)
    return parts_of(grid, means, np.stack([each.var(axis=1) for each in drawn], axis=1))


def _drawn(cell: FloatArray, places: NDArray[np.int64]) -> FloatArray:
    # Draws from k values vary by (k - 1) / k of what they are to estimate, which for few replicates is too little.
    wider = math.sqrt(len(cell) / (len(cell) - 1))
    drawn: FloatArray = cell.mean() + wider * (cell[places] - cell.mean())
    return drawn


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


# Importances as Optuna's fANOVA estimates them, with a forest in place of the grid, in both of its conventions.


@dataclass(frozen=True, kw_only=True)
class ForestImportances:
    """Main effects of the settings, largest first.

    ``unnormalised`` are shares of the forest's variance, and what they lack to 1 are interactions; ``normalised`` are
    the same divided by their sum, which is what Optuna gives and draws unless it is asked otherwise.
    """

    normalised: Mapping[str, float]
    unnormalised: Mapping[str, float]
    n_rows: int
    n_trees: int


def forest_importances(
    rows: Rows, *, names: Sequence[str] | None = None, n_trees: int = 64, seed: int = 0
) -> ForestImportances:
    """fANOVA of a random forest fitted to the rows, by the named settings or by all that vary; no grid is needed.

    Every level of a setting counts alike, as in the exact ANOVA.
    """
    required_count("n_trees", n_trees)
    given = list(rows)
    levels = varying_levels(given, names)
    optuna = _optuna()
    study = optuna.create_study(study_name="importance", storage=None)
    kinds = {name: _distribution(optuna, values) for name, values in levels.items()}
    study.add_trials(
        optuna.trial.create_trial(
            params={name: _coded(settings[name], values) for name, values in levels.items()},
            distributions=kinds,
            value=float(value),
        )
        for settings, value in given
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=n_trees, seed=seed)
        found = {name: float(share) for name, share in evaluator.evaluate(study).items()}
    ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
    total = sum(ordered.values())
    return ForestImportances(
        normalised={name: share / total if total > 0 else 0.0 for name, share in ordered.items()},
        unnormalised=ordered,
        n_rows=len(given),
        n_trees=n_trees,
    )


def _distribution(optuna: ModuleType, levels: tuple[Any, ...]) -> Any:
    if are_numbers(levels):
        # Places in their order: trees may divide them, and gaps between numbers do not count as more of the space.
        return optuna.distributions.IntDistribution(0, len(levels) - 1)
    return optuna.distributions.CategoricalDistribution(range(len(levels)))


def _coded(value: Any, levels: tuple[Any, ...]) -> int:
    return levels.index(value)


def _optuna() -> ModuleType:
    optuna = OPTUNA.imported(what="fANOVA (on a complete grid, exact_anova needs nothing)")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
