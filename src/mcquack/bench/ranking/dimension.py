"""Scores against the size of a dataset, family by family."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from scipy.stats import t

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking.cell_scores import CellScores
from mcquack.bench.ranking.intervals import Interval
from mcquack.bench.ranking.score_table import Contender
from mcquack.checks import require


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
    points: dict[tuple[str, str, str], list[SizePoint]] = {}
    contenders: dict[tuple[str, str, str], Contender] = {}
    for cell in cells:
        mean = cell.mean(part, metric)
        if cell.size is None or mean is None:
            continue
        key = cell.family, cell.model, cell.source
        contenders.setdefault(key, Contender.of(cell))
        band = t_interval(cell.values.get((part, metric), ()), level=level)
        points.setdefault(key, []).append(SizePoint(size=cell.size, mean=mean, band=band))
    return tuple(
        SizeCurve(
            family=key[0],
            contender=contenders[key],
            part=part,
            metric=metric,
            points=tuple(sorted(found, key=lambda point: point.size)),
        )
        for key, found in points.items()
    )


def t_interval(values: Sequence[float], *, level: float = 0.95) -> Interval | None:
    """Of the mean of scores in [0, 1]; None for less than two of them."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = _t_quantile(level, len(values) - 1) * math.sqrt(variance / len(values))
    return Interval(low=max(0.0, mean - half), high=min(1.0, mean + half), level=level)


@cache
def _t_quantile(level: float, n_free: int) -> float:
    """How many standard errors either end of the interval is from the mean."""
    return float(t.isf((1 - level) / 2, n_free))
