"""Who is better, how surely and where: ranks on each dataset, leaderboards, pairs, tests, and scores by size.

Averages of ranks are normalised as the QML benchmark suite does it, or as the paper does; the tests are those of Demšar
(2006).
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f, rankdata, studentized_range, t

from mcquack.arrays import FloatArray
from mcquack.bench.ranking.scores import CellScores, Contender, ScoreTable
from mcquack.bench.task import Metric, Part
from mcquack.checks import is_whole_number, require
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream

# Equal scores have the smallest of their ranks, or share the mean of them.
Ties = Literal["min", "average"]
# Of K models, "share" is rank / K, as the QML benchmark suite has it; "unit" is (rank − 1) / (K − 1), from 0 to 1, as
# the paper of McQuack has it.
Scale = Literal["share", "unit"]
FEWEST_RESAMPLES = 100  # fewer would leave two or three beyond each end; with so many, every dataset is drawn
FEWEST_DATASETS = 5  # of fewer, resamples are nearly all alike, and an interval would say that there is no doubt
SCORE_DECIMALS = 8  # means are rounded before they are compared: the noise of floating point breaks no tie


def ranks(table: ScoreTable, *, ties: Ties = "min") -> FloatArray:
    """Rank (D, K) on each dataset among the contenders with a score there; 1 is best, NaN where there is none."""
    require(ties in ("min", "average"), "ties", "min or average", ties)
    if table.means.size == 0:
        return np.empty(table.means.shape)
    return np.asarray(rankdata(-np.round(table.means, SCORE_DECIMALS), method=ties, axis=1, nan_policy="omit"))


def normalised_ranks(table: ScoreTable, *, ties: Ties = "min", scale: Scale = "share") -> FloatArray:
    """Ranks (D, K) made comparable between datasets on which different numbers of contenders have a score."""
    require(scale in ("share", "unit"), "scale", "share or unit", scale)
    found, n_contenders = ranks(table, ties=ties), table.is_there.sum(axis=1, keepdims=True)
    normalised: FloatArray = found / n_contenders if scale == "share" else (found - 1) / np.maximum(n_contenders - 1, 1)
    return normalised


def average_ranks(table: ScoreTable, *, ties: Ties = "min", scale: Scale = "share") -> FloatArray:
    """Mean normalised rank (K,) of each contender over the datasets on which it has a score; smaller is better."""
    means: FloatArray = np.nanmean(normalised_ranks(table, ties=ties, scale=scale), axis=0)
    return means


def rank_counts(table: ScoreTable) -> NDArray[np.intp]:
    """On how many datasets each contender has rank 1, 2, … K, as (K, K) with a contender in each row."""
    places = np.arange(1, len(table.contenders) + 1)
    counts: NDArray[np.intp] = (ranks(table)[:, :, None] == places).sum(axis=0)
    return counts


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Where a value lies with the probability ``level``; both ends belong to it."""

    low: float
    high: float
    level: float = 0.95


def bootstrap_intervals(
    table: ScoreTable,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    ties: Ties = "min",
    scale: Scale = "share",
) -> tuple[Interval | None, ...]:
    """Percentile intervals of the average ranks, one for each contender, from datasets drawn anew with replacement.

    Datasets count as independent draws; where those of a family resemble each other, the truth is wider. A contender
    with scores on less than ``FEWEST_DATASETS`` has None.
    """
    require(0 < level < 1, "level", "between 0 and 1", level)
    enough = is_whole_number(n_resamples) and n_resamples >= FEWEST_RESAMPLES
    require(enough, "n_resamples", f"a whole number of at least {FEWEST_RESAMPLES}", n_resamples)
    n_datasets = len(table.datasets)
    if n_datasets < FEWEST_DATASETS:
        return (None,) * len(table.contenders)
    # Two products in place of a loop: how often a dataset was drawn is its weight in the mean.
    weights = _resampled_counts(n_datasets, n_resamples, seed)
    totals = weights @ np.nan_to_num(normalised_ranks(table, ties=ties, scale=scale))
    counts = weights @ table.is_there
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    lows, highs = np.nanquantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return tuple(
        Interval(low=low, high=high, level=level) if n_scores >= FEWEST_DATASETS else None
        for low, high, n_scores in zip(lows.tolist(), highs.tolist(), table.n_datasets, strict=True)
    )


@lru_cache(maxsize=16)  # all metrics are bootstrapped on the same draws
def _resampled_counts(n_datasets: int, n_resamples: int, seed: int) -> FloatArray:
    """How often each of the datasets is in each of the resamples."""
    shares = np.full(n_datasets, 1 / n_datasets)
    draws = stream(seed, "bootstrap of average ranks").multinomial(n_datasets, shares, size=n_resamples)
    return draws.astype(np.float64)  # products of whole numbers take far longer


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A line of a leaderboard."""

    contender: Contender
    average_rank: float
    interval: Interval | None  # of the average rank; None where datasets are too few
    n_datasets: int
    mean_score: float
    rank_counts: tuple[int, ...]  # on how many datasets it has rank 1, 2, …; equal scores have the smallest of theirs

    @property
    def n_first(self) -> int:
        return self.rank_counts[0]


def standings(
    table: ScoreTable,
    *,
    ties: Ties = "min",
    scale: Scale = "share",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> tuple[Standing, ...]:
    """The leaderboard: all contenders, best average rank first; of equal ones that with the better mean score.

    Parameters
    ----------
    table : the scores.
    ties, scale : how equal scores share ranks, and how ranks are normalised.
    level, n_resamples, seed : the probability that an interval holds, how many bootstrap resamples it rests on, and
        which.

    Examples
    --------
    >>> from mcquack.bench.ranking import CellScores, score_table
    >>> values = [("d1", "svc", 0.9), ("d1", "nn", 0.8), ("d2", "svc", 0.7), ("d2", "nn", 0.6)]
    >>> cells = [
    ...     CellScores(dataset=d, family="own", model=m, title=m, values={("test", "accuracy"): (score,)})
    ...     for d, m, score in values
    ... ]
    >>> [(line.contender.title, line.average_rank) for line in standings(score_table(cells))]
    [('svc', 0.5), ('nn', 1.0)]
    """
    intervals = bootstrap_intervals(table, level=level, n_resamples=n_resamples, seed=seed, ties=ties, scale=scale)
    if not intervals:
        return ()
    averages, scores = average_ranks(table, ties=ties, scale=scale), np.nanmean(table.means, axis=0)
    lines = [
        Standing(
            contender=contender,
            average_rank=float(averages[index]),
            interval=intervals[index],
            n_datasets=table.n_datasets[index],
            mean_score=float(scores[index]),
            rank_counts=tuple(counts),
        )
        for index, (contender, counts) in enumerate(zip(table.contenders, rank_counts(table).tolist(), strict=True))
    ]
    # Rounded, as the same ranks in another order of addition may differ in the last bit.
    return tuple(sorted(lines, key=lambda line: (round(line.average_rank, 12), -round(line.mean_score, 12))))


@dataclass(frozen=True, kw_only=True)
class WinMatrix:
    """``wins[i][j]`` counts the datasets on which i has a better score than j, ``ties`` those of equal scores.

    Datasets count where both have a score, so the losses of i are the wins of j. The diagonals are 0.
    """

    contenders: tuple[Contender, ...]
    wins: tuple[tuple[int, ...], ...]
    ties: tuple[tuple[int, ...], ...]

    def record(self, row: int, column: int) -> tuple[int, int, int]:
        return self.wins[row][column], self.ties[row][column], self.wins[column][row]


def win_matrix(table: ScoreTable, *, order: Sequence[Contender] | None = None) -> WinMatrix:
    """Each contender against each other, in the order of the table or in one of your own, as that of the standings."""
    contenders = table.contenders if order is None else tuple(order)
    for contender in contenders:
        if contender not in table.contenders:
            raise InvalidInputError(f"{contender.label} has no score in the table; leave it out of the order.")
    columns = [table.contenders.index(contender) for contender in contenders]
    scores = np.round(table.means, SCORE_DECIMALS)[:, columns]
    # Comparisons with NaN are false, so datasets that one of the two lacks count for neither.
    wins = (scores[:, :, None] > scores[:, None, :]).sum(axis=0)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
    np.fill_diagonal(ties, 0)
    wins, ties = (tuple(map(tuple, counts.tolist())) for counts in (wins, ties))
    return WinMatrix(contenders=contenders, wins=wins, ties=ties)


@dataclass(frozen=True, kw_only=True)
class FriedmanTest:
    """That all contenders are alike, as Friedman's χ² (corrected for ties) and Iman and Davenport's F judge it."""

    statistic: float
    p_value: float
    f_statistic: float  # infinite if all datasets agree on one order
    f_p_value: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Contenders by average rank, best first, with what of it is significant.

    Ranks are 1 to K and ties share theirs. ``p_values`` are Nemenyi's for each pair of ``contenders``. ``groups`` are
    the largest runs of at least two neighbours that are not told apart: the bars of a critical-difference diagram.
    ``n_left_out`` counts the datasets on which one of them has no score, and ``absent`` are those with too few scores.
    """

    contenders: tuple[Contender, ...]
    average_ranks: tuple[float, ...]
    n_datasets: int
    n_left_out: int
    friedman: FriedmanTest
    alpha: float
    critical_difference: float
    p_values: tuple[tuple[float, ...], ...]
    groups: tuple[tuple[Contender, ...], ...]
    absent: tuple[Contender, ...] = ()


def compare(table: ScoreTable, *, alpha: float = 0.05, least_share: float = 0.0) -> Comparison:
    """Friedman's test over all contenders and Nemenyi's for each pair, on the datasets where all have a score.

    Parameters
    ----------
    table : the scores; at least two contenders must share two datasets.
    alpha : how likely a difference may be by chance alone, to count as significant.
    least_share : contenders with scores on less than this share of the datasets take no part.
    """
    require(0 < alpha < 1, "alpha", "between 0 and 1", alpha)
    complete = table.complete(least_share=least_share)
    n_datasets, n_contenders = complete.means.shape
    if n_datasets < 2 or n_contenders < 2:
        raise InvalidInputError(
            f"a test needs at least 2 models with scores on the same 2 datasets, but the {len(table.contenders)} here "
            f"share {n_datasets}; leave out models that have few scores."
        )
    shared = ranks(complete, ties="average")
    averages = shared.mean(axis=0)
    order = np.argsort(np.round(averages, 12), kind="stable")
    contenders, averages = tuple(complete.contenders[index] for index in order), averages[order]
    error = math.sqrt(n_contenders * (n_contenders + 1) / (6 * n_datasets))
    difference = _critical_value(n_contenders, alpha) * error
    return Comparison(
        contenders=contenders,
        average_ranks=tuple(averages.tolist()),
        n_datasets=n_datasets,
        n_left_out=len(table.datasets) - n_datasets,
        friedman=_friedman_test(shared),
        alpha=alpha,
        critical_difference=difference,
        p_values=tuple(map(tuple, _pairwise_p_values(averages / error).tolist())),
        groups=tuple(contenders[first : last + 1] for first, last in _runs(averages, difference)),
        absent=tuple(contender for contender in table.contenders if contender not in contenders),
    )


def _friedman_test(shared: FloatArray) -> FriedmanTest:
    """χ² = D (K − 1) · Σ_k (mean rank_k − (K + 1)/2)² / Σ_k mean over datasets of (rank_k − (K + 1)/2)².

    The lower sum is (K³ − K)/12 without ties, which gives the textbook's 12 D / (K (K + 1)), and less with them.
    """
    n_datasets, n_contenders = shared.shape
    largest = n_datasets * (n_contenders - 1)  # of the statistic
    centred = shared - (n_contenders + 1) / 2
    between, total = np.sum(centred.mean(axis=0) ** 2), np.mean(np.sum(centred**2, axis=1))
    statistic = float(largest * between / total) if total > 0 else 0.0
    # Against noise: where all datasets agree, the difference is zero but for the last bits.
    rest = largest - statistic
    f_statistic = (n_datasets - 1) * statistic / rest if rest > 1e-9 * largest else math.inf
    return FriedmanTest(
        statistic=statistic,
        p_value=float(chi2.sf(statistic, n_contenders - 1)),
        f_statistic=f_statistic,
        f_p_value=float(f.sf(f_statistic, n_contenders - 1, (n_contenders - 1) * (n_datasets - 1))),
    )


@cache
def _critical_value(n_contenders: int, alpha: float) -> float:
    """Nemenyi's q: of the studentised range with infinitely many degrees of freedom, over √2."""
    return float(studentized_range.isf(alpha, n_contenders, math.inf)) / math.sqrt(2)


def _pairwise_p_values(in_errors: FloatArray) -> FloatArray:
    n_contenders = len(in_errors)
    rows, columns = np.triu_indices(n_contenders, k=1)  # each pair once: a value is an integral
    differences = math.sqrt(2) * np.abs(in_errors[rows] - in_errors[columns])
    found: FloatArray = np.ones((n_contenders, n_contenders))
    found[rows, columns] = np.clip(studentized_range.sf(differences, n_contenders, math.inf), 0, 1)
    found[columns, rows] = found[rows, columns]
    return found


def _runs(averages: FloatArray, difference: float) -> list[tuple[int, int]]:
    """First and last of each largest run of at least two sorted averages that lie within ``difference``."""
    lasts = np.searchsorted(averages, averages + difference, side="right") - 1
    # A run that starts later but ends with an earlier one is part of it.
    is_new = np.diff(lasts, prepend=-1) > 0
    return [(first, int(last)) for first, last in enumerate(lasts) if is_new[first] and last > first]


@dataclass(frozen=True, kw_only=True)
class SizePoint:
    """The mean over the seeds and the interval it lies in; None where the spread over several seeds is not known."""

    size: int
    mean: float
    band: Interval | None


@dataclass(frozen=True, kw_only=True)
class SizeCurve:
    """One contender on the datasets of a family, smallest first."""

    family: str
    contender: Contender
    part: Part
    metric: Metric
    points: tuple[SizePoint, ...]


def scores_by_size(
    cells: Iterable[CellScores], *, part: Part = "test", metric: Metric = "accuracy", level: float = 0.95
) -> tuple[SizeCurve, ...]:
    """A curve for each family and contender, of the datasets that have a size.

    Bands are Student's t intervals of the mean over the seeds, cut to [0, 1], where all metrics lie.
    """
    require(0 < level < 1, "level", "between 0 and 1", level)
    curves: dict[tuple[str, str, str], tuple[Contender, list[SizePoint]]] = {}
    for cell in cells:
        mean = cell.mean(part, metric)
        if cell.size is None or mean is None:
            continue
        _, points = curves.setdefault((cell.family, cell.model, cell.source), (cell.contender, []))
        band = t_interval(cell.values.get((part, metric), ()), level=level)
        points.append(SizePoint(size=cell.size, mean=mean, band=band))
    return tuple(
        SizeCurve(
            family=family,
            contender=contender,
            part=part,
            metric=metric,
            points=tuple(sorted(points, key=lambda point: point.size)),
        )
        for (family, _, _), (contender, points) in curves.items()
    )


def t_interval(values: Sequence[float], *, level: float = 0.95) -> Interval | None:
    """Student's t interval of the mean of scores in [0, 1]; None for less than two of them."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = _t_quantile(level, len(values) - 1) * math.sqrt(variance / len(values))
    return Interval(low=max(0.0, mean - half), high=min(1.0, mean + half), level=level)


@cache
def _t_quantile(level: float, n_free: int) -> float:
    return float(t.isf((1 - level) / 2, n_free))
