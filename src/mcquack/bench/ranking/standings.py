"""Who stands where: the lines of a leaderboard."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mcquack.bench.ranking.intervals import Interval, bootstrap_intervals
from mcquack.bench.ranking.ranks import Scale, Ties, average_ranks, rank_counts
from mcquack.bench.ranking.score_table import Contender, ScoreTable


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A line of a leaderboard.

    ``interval`` is of the average rank, None where datasets are too few. ``rank_counts`` tells on how many datasets it
    has rank 1, 2, …; equal scores have the smallest of their ranks.
    """

    contender: Contender
    average_rank: float
    interval: Interval | None
    n_datasets: int
    mean_score: float
    rank_counts: tuple[int, ...]

    @property
    def n_first(self) -> int:
        """On how many datasets nobody is better."""
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
    """All contenders, best average rank first; of equal ones that with the better mean score."""
    intervals = bootstrap_intervals(table, level=level, n_resamples=n_resamples, seed=seed, ties=ties, scale=scale)
    if not intervals:
        return ()
    averages, scores = average_ranks(table, ties=ties, scale=scale), np.nanmean(table.means, axis=0)
    counts = rank_counts(table)
    lines = [
        Standing(
            contender=contender,
            average_rank=float(averages[index]),
            interval=intervals[index],
            n_datasets=table.n_datasets[index],
            mean_score=float(scores[index]),
            rank_counts=tuple(counts[index].tolist()),
        )
        for index, contender in enumerate(table.contenders)
    ]
    # Rounded, as the same ranks in another order of addition may differ in the last bit.
    return tuple(sorted(lines, key=lambda line: (round(line.average_rank, 12), -round(line.mean_score, 12))))


def standings_by_family(
    table: ScoreTable, *, ties: Ties = "min", scale: Scale = "share", n_resamples: int = 2000, seed: int = 0
) -> Mapping[str, tuple[Standing, ...]]:
    """The leaderboard of each family of datasets."""
    return {
        family: standings(table.of_family(family), ties=ties, scale=scale, n_resamples=n_resamples, seed=seed)
        for family in dict.fromkeys(table.families)
    }
