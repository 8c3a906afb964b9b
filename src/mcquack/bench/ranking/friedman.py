"""Whether differences in rank are more than chance: Friedman's test over all, Nemenyi's for each pair (Demšar 2006)."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import chi2, f, studentized_range

from mcquack.arrays import FloatArray
from mcquack.bench.ranking.ranks import ranks
from mcquack.bench.ranking.scores import Contender, ScoreTable
from mcquack.checks import require
from mcquack.errors import InvalidInputError


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
    """Both tests on the datasets where all contenders have a score.

    Contenders with scores on less than ``least_share`` of the datasets take no part.
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
    n_datasets, n_contenders = shared.shape
    largest = n_datasets * (n_contenders - 1)  # of the statistic
    statistic = _friedman_statistic(shared)
    # Against noise: where all datasets agree, the difference is zero but for the last bits.
    rest = largest - statistic
    f_statistic = (n_datasets - 1) * statistic / rest if rest > 1e-9 * largest else math.inf
    return FriedmanTest(
        statistic=statistic,
        p_value=float(chi2.sf(statistic, n_contenders - 1)),
        f_statistic=f_statistic,
        f_p_value=float(f.sf(f_statistic, n_contenders - 1, (n_contenders - 1) * (n_datasets - 1))),
    )


def _friedman_statistic(shared: FloatArray) -> float:
    """χ² = D (K − 1) · Σ_k (mean rank_k − (K + 1)/2)² / Σ_k mean over datasets of (rank_k − (K + 1)/2)².

    The lower sum is (K³ − K)/12 without ties, which gives the textbook's 12 D / (K (K + 1)), and less with them.
    """
    n_datasets, n_contenders = shared.shape
    centred = shared - (n_contenders + 1) / 2
    between, total = np.sum(centred.mean(axis=0) ** 2), np.mean(np.sum(centred**2, axis=1))
    return float(n_datasets * (n_contenders - 1) * between / total) if total > 0 else 0.0


@cache
def _critical_value(n_contenders: int, alpha: float) -> float:
    """Nemenyi's q: of the studentised range with infinitely many degrees of freedom, over √2."""
    return float(studentized_range.isf(alpha, n_contenders, math.inf)) / math.sqrt(2)


def _pairwise_p_values(in_errors: FloatArray) -> FloatArray:
    """Chance of a difference as large as that of each pair, for average ranks in standard errors."""
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
