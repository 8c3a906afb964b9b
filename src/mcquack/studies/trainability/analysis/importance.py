"""Which settings decide a result: means by setting, exact shares of variance on a complete grid, and fANOVA."""

import itertools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t

from mcquack.arrays import FloatArray
from mcquack.bench.ranking import Interval
from mcquack.checks import OPTUNA, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream

Rows = Iterable[tuple[Mapping[str, Any], float]]
Levels = Mapping[str, tuple[Any, ...]]
Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GroupMean:
    """Mean over the ``n`` runs that share these settings, with Student's interval where there are two or more."""

    settings: Mapping[str, Any]
    mean: float
    interval: Interval | None
    n: int
    n_left_out: int = 0  # runs without a value, as they diverged or it is not defined for them


def means_by(
    rows: Iterable[tuple[Mapping[str, Any], float | None]], names: Sequence[str], *, level: float = 0.95
) -> tuple[GroupMean, ...]:
    """Means for each combination of some settings, in the order in which they first occur.

    Parameters
    ----------
    rows : settings and value of each run; a combination without any value is left out.
    names : the settings that tell groups apart.
    level : probability of the intervals.

    Examples
    --------
    >>> [group.mean for group in means_by([({"lr": 1}, 2.0), ({"lr": 1}, 4.0), ({"lr": 3}, 5.0)], ["lr"])]
    [3.0, 5.0]
    """
    require(0 < level < 1, "level", "between 0 and 1", level)
    groups: dict[tuple[Any, ...], list[float | None]] = {}
    for settings, value in rows:
        absent = [name for name in names if name not in settings]
        if absent:
            raise InvalidInputError(f"a run has no setting {absent[0]!r}; it has {', '.join(map(str, settings))}.")
        groups.setdefault(tuple(settings[name] for name in names), []).append(value)
    means = []
    for key, given in groups.items():
        values = np.array([value for value in given if value is not None and math.isfinite(value)])
        n = len(values)
        if n:
            mean = float(values.mean())
            half = float(t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n)) if n > 1 else 0.0
            means.append(
                GroupMean(
                    settings=dict(zip(names, key, strict=True)),
                    mean=mean,
                    interval=Interval(low=mean - half, high=mean + half, level=level) if n > 1 else None,
                    n=n,
                    n_left_out=len(given) - n,
                )
            )
    return tuple(means)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The share of the variance that one setting explains, or two of them beyond what each does alone."""

    names: Names
    share: float  # of the whole variance
    unbiased: float  # the share without what scatter adds, which looks like a small effect, too
    interval: Interval | None = None  # that of ``unbiased``, bootstrapped over replicates; None without any
    p: float | None = None  # probability of the F-test; None without replicates


@dataclass(frozen=True, kw_only=True)
class Anova:
    """The functional ANOVA decomposition of a complete grid, all of whose cells count alike.

    Shares of ``effects`` (largest first), of ``higher`` orders and of ``noise``, the variance of replicates within
    cells, sum to 1. ``variance`` is the whole one.
    """

    names: Names
    variance: float
    effects: tuple[Effect, ...]
    higher: float
    noise: float

    def effect(self, *names: str) -> Effect:
        for each in self.effects:
            if set(each.names) == set(names):
                return each
        raise InvalidInputError(f"there is no effect of {' and '.join(names)}; settings are {', '.join(self.names)}.")

    def share(self, *names: str) -> float:
        return self.effect(*names).share

    @property
    def main(self) -> dict[str, float]:
        return {each.names[0]: each.share for each in self.effects if len(each.names) == 1}


def exact_anova(
    rows: Rows, *, names: Sequence[str] | None = None, level: float = 0.95, n_resamples: int = 1000, seed: int = 0
) -> Anova:
    """Decomposes the variance of the values of a complete grid.

    Parameters
    ----------
    rows : settings and value of each run; rows that differ in nothing named are replicates of one cell.
    names : the settings of the grid; None takes all that vary.
    level, n_resamples, seed : those of the bootstrap intervals.

    Examples
    --------
    >>> rows = [({"a": a, "b": b}, 2.0 * a + b) for a in (0, 1) for b in (0, 1)]
    >>> {name: round(share, 3) for name, share in exact_anova(rows).main.items()}
    {'a': 0.8, 'b': 0.2}
    """
    require(0 < level < 1, "level", "between 0 and 1", level)
    required_count("n_resamples", n_resamples)
    levels, cells = _complete_grid(list(rows), names)
    parts = _parts(levels, np.array([cell.mean() for cell in cells]), np.array([cell.var() for cell in cells]))
    # Variance of one replicate around its cell's mean, from all cells together, and of the means: where some cells
    # have lost replicates, each mean is as good as with the harmonic number of them.
    free = sum(len(cell) - 1 for cell in cells)
    squares = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in cells)
    of_means = squares / free * sum(1 / len(cell) for cell in cells) / len(cells) if free else 0.0
    draws = None
    if of_means > 0 and all(len(cell) > 1 for cell in cells):
        draws = _resampled_parts(levels, cells, n_resamples, seed=seed)
    variance = float(parts.between + parts.within)
    effects = []
    for which in parts.effects:
        share = unbiased = float(parts.shares(which))
        interval, p = None, None
        if of_means > 0:
            degrees = math.prod(len(levels[name]) - 1 for name in which)
            own, added = float(parts.effects[which]), degrees * of_means / len(cells)
            unbiased = max(0.0, own - added) / variance
            interval = None if draws is None else _interval(draws.shares(which), unbiased, level)
            p = float(f_distribution.sf(own / added, degrees, free))
        effects.append(Effect(names=which, share=share, unbiased=unbiased, interval=interval, p=p))
    noise = float(parts.within) / variance if variance > 0 else 0.0
    explained = noise + sum(effect.share for effect in effects)
    return Anova(
        names=tuple(levels),
        variance=variance,
        effects=tuple(sorted(effects, key=lambda effect: -effect.share)),
        higher=max(0.0, 1 - explained) if variance > 0 else 0.0,
        noise=noise,
    )


def normalised(shares: Mapping[str, float]) -> dict[str, float]:
    """Shares divided by their sum, which is what Optuna gives and draws unless it is asked otherwise."""
    total = sum(shares.values())
    return {name: share / total if total > 0 else 0.0 for name, share in shares.items()}


def forest_importances(
    rows: Rows, *, names: Sequence[str] | None = None, n_trees: int = 64, seed: int = 0
) -> dict[str, float]:
    """Optuna's fANOVA: importances by a random forest that is fitted to the rows, so that no complete grid is needed.

    Every level of a setting counts alike, as in the exact ANOVA.

    Parameters
    ----------
    rows, names : as in :func:`exact_anova`.
    n_trees, seed : those of the forest.

    Returns
    -------
    Main effects, largest first, as shares of the forest's variance; what they lack to 1 are interactions.

    Examples
    --------
    >>> rows = [({"a": a, "b": b}, 2.0 * a + b) for a in (0, 1) for b in (0, 1)] * 5
    >>> list(forest_importances(rows, n_trees=8))  # doctest: +SKIP
    ['a', 'b']
    """
    required_count("n_trees", n_trees)
    given = list(rows)
    levels = _varying_levels(given, names)
    optuna = OPTUNA.imported(what="fANOVA (on a complete grid, exact_anova needs nothing)")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(study_name="importance", storage=None)
    # Numbers by their places in their order: trees may divide them, and gaps do not count as more of the space.
    kinds = {
        name: optuna.distributions.IntDistribution(0, len(values) - 1)
        if are_numbers(values)
        else optuna.distributions.CategoricalDistribution(range(len(values)))
        for name, values in levels.items()
    }
    study.add_trials(
        optuna.trial.create_trial(
            params={name: values.index(settings[name]) for name, values in levels.items()},
            distributions=kinds,
            value=float(value),
        )
        for settings, value in given
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=n_trees, seed=seed)
        found = {name: float(share) for name, share in evaluator.evaluate(study).items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def are_numbers(levels: Iterable[Any]) -> bool:
    """Whether levels of a setting have an order; truth values have none."""
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _varying_levels(rows: Sequence[tuple[Mapping[str, Any], float]], names: Sequence[str] | None) -> Levels:
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
    found = {name: tuple(dict.fromkeys(settings[name] for settings, _ in rows)) for name in wanted}
    levels = {
        name: tuple(sorted(values)) if are_numbers(values) else values
        for name, values in found.items()
        if len(values) > 1
    }
    if not levels:
        raise InvalidInputError("no setting has more than one value, so that none can matter; vary one.")
    return levels


def _complete_grid(
    rows: Sequence[tuple[Mapping[str, Any], float]], names: Sequence[str] | None
) -> tuple[Levels, list[FloatArray]]:
    levels = _varying_levels(rows, names)
    found: dict[tuple[Any, ...], list[float]] = {}
    for settings, value in rows:
        found.setdefault(tuple(settings[name] for name in levels), []).append(float(value))
    combinations = list(itertools.product(*levels.values()))
    missing = [combination for combination in combinations if combination not in found]
    if missing:
        examples = "; ".join(_told(dict(zip(levels, each, strict=True))) for each in missing[:3])
        more = "; …" if len(missing) > 3 else ""
        raise InvalidInputError(
            f"the grid of {', '.join(levels)} lacks {len(missing)} of {len(combinations)} cells ({examples}{more}); "
            "run them, or give names= of settings that vary freely."
        )
    return levels, [np.array(found[each]) for each in combinations]


def _told(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in settings.items())


class _Parts(NamedTuple):
    """Variances of each effect, of all between cells and within them, for one table of cells or for many at once."""

    effects: dict[Names, FloatArray]
    between: FloatArray
    within: FloatArray

    def shares(self, which: Names) -> FloatArray:
        total = self.between + self.within
        return np.divide(self.effects[which], total, out=np.zeros_like(total), where=total > 0)


def _parts(levels: Levels, means: FloatArray, variances: FloatArray) -> _Parts:
    n_before, names = means.ndim - 1, tuple(levels)
    shape = tuple(len(values) for values in levels.values())
    table = (means - means.mean(axis=-1, keepdims=True)).reshape(*means.shape[:-1], *shape)
    axes = range(n_before, table.ndim)

    def averaged(*kept: int) -> FloatArray:
        return np.asarray(table.mean(axis=tuple(axis for axis in axes if axis not in kept), keepdims=True))

    def variance(effect: FloatArray) -> FloatArray:
        return np.asarray(np.mean(effect**2, axis=tuple(axes)))

    alone = {axis: averaged(axis) for axis in axes}
    effects: dict[Names, FloatArray] = {(names[axis - n_before],): variance(each) for axis, each in alone.items()}
    for one, two in itertools.combinations(axes, 2):
        pair = names[one - n_before], names[two - n_before]
        effects[pair] = variance(averaged(one, two) - alone[one] - alone[two])
    return _Parts(effects, np.asarray(means.var(axis=-1)), np.asarray(variances.mean(axis=-1)))


def _resampled_parts(levels: Levels, cells: Sequence[FloatArray], n_resamples: int, *, seed: int) -> _Parts:
    rng = stream(seed, "bootstrap of importance")
    drawn = []
    for cell in cells:
        places = rng.integers(len(cell), size=(n_resamples, len(cell)))
        # Draws from k values vary by (k - 1) / k of what they are to estimate, which for few replicates is too little.
        wider = math.sqrt(len(cell) / (len(cell) - 1))
        drawn.append(cell.mean() + wider * (cell[places] - cell.mean()))
    means, variances = (np.stack([measure(each, axis=1) for each in drawn], axis=1) for measure in (np.mean, np.var))
    return _parts(levels, means, variances)


def _interval(shares: FloatArray, unbiased: float, level: float) -> Interval:
    """Percentiles of the resamples, moved to where the share is without the scatter that they have twice."""
    ends = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2]) + unbiased - shares.mean()
    low, high = np.clip(ends, 0, 1)
    return Interval(low=float(min(low, unbiased)), high=float(max(high, unbiased)), level=level)
