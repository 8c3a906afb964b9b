"""Ranks of models on each dataset, and their average as the QML benchmark suite normalises it."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from mcquack.bench.ranking.score_table import FloatArray, ScoreTable
from mcquack.checks import require

Ties = Literal["min", "average"]
"""Equal scores have the smallest of their ranks, or share the mean of them."""

Scale = Literal["share", "unit"]
"""Of K models, "share" is rank / K, as the QML benchmark suite has it; "unit" is (rank − 1) / (K − 1), from 0 to 1."""

SCORE_DECIMALS = 8
"""Means are rounded before they are compared: the noise of floating point breaks no tie."""


def rounded_means(table: ScoreTable) -> FloatArray:
    """The scores as they are compared."""
    return np.round(table.means, SCORE_DECIMALS)


def ranks(table: ScoreTable, *, ties: Ties = "min") -> FloatArray:
    """Rank (D, K) on each dataset among the contenders with a score there; 1 is best, NaN where there is none."""
    require(ties in ("min", "average"), "ties", "min or average", ties)
    if table.means.size == 0:
        return np.empty(table.means.shape)
    found: FloatArray = rankdata(-rounded_means(table), method=ties, axis=1, nan_policy="omit")
    return found


def normalised_ranks(table: ScoreTable, *, ties: Ties = "min", scale: Scale = "share") -> FloatArray:
    """Ranks (D, K) made comparable between datasets on which different numbers of contenders have a score."""
    require(scale in ("share", "unit"), "scale", "share or unit", scale)
    found, n_contenders = ranks(table, ties=ties), table.is_there.sum(axis=1, keepdims=True)
    normalised: FloatArray = found / n_contenders
    if scale == "unit":
        normalised = (found - 1) / np.maximum(n_contenders - 1, 1)
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
