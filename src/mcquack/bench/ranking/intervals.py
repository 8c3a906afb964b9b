"""How far an average rank may be off because other datasets could have been chosen."""

from dataclasses import dataclass

import numpy as np

from mcquack.bench.ranking.ranks import Scale, Ties, normalised_ranks
from mcquack.bench.ranking.score_table import ScoreTable
from mcquack.checks import is_whole_number, require
from mcquack.randomness import stream

FEWEST_RESAMPLES = 100
"""Fewer would leave two or three beyond each end; with so many, every dataset is drawn at least once."""

FEWEST_DATASETS = 5
"""Of fewer, resamples are nearly all alike, and an interval would say that there is no doubt."""


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
    draws = stream(seed, "bootstrap of average ranks").multinomial(
        n_datasets, np.full(n_datasets, 1 / n_datasets), size=n_resamples
    )
    weights = draws.astype(np.float64)  # products of whole numbers take far longer
    # Two products in place of a loop: how often a dataset was drawn is its weight in the mean.
    totals = weights @ np.nan_to_num(normalised_ranks(table, ties=ties, scale=scale))
    counts = weights @ table.is_there
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    lows, highs = np.nanquantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    ends = zip(lows.tolist(), highs.tolist(), table.n_datasets, strict=True)
    return tuple(
        Interval(low=low, high=high, level=level) if n_scores >= FEWEST_DATASETS else None
        for low, high, n_scores in ends
    )
