"""All statistics of a report, computed once for its page, its tables and its figures."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking import CellScores, Contender, SizeCurve, scores_by_size
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.views import ALL, Grid, View, Views, score_grid, views

# What the models of a report cost: parameters and time.


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Medians, of parameters over datasets and of times over all seeds of all datasets; None where nobody tells."""

    n_parameters: int | None
    fit_seconds: float | None


Key = tuple[Contender, str]
"""A contender and a family, or ``ALL``."""


Efforts = Mapping[Key, Effort]


def efforts(contents: Contents) -> Efforts:
    """Of every contender in every family; the time is that of a fit with the settings that were chosen."""
    counts, seconds = _parameter_counts(contents), _fit_seconds(contents)
    return {
        key: Effort(
            n_parameters=statistics.median_low(counts[key]) if key in counts else None,
            fit_seconds=statistics.median(seconds[key]) if key in seconds else None,
        )
        for key in counts.keys() | seconds.keys()
    }


def _parameter_counts(contents: Contents) -> Mapping[Key, list[int]]:
    found: defaultdict[Key, list[int]] = defaultdict(list)
    for cell in contents.scores:
        if cell.n_parameters is not None:
            for group in (ALL, cell.family):
                found[Contender.of(cell), group].append(cell.n_parameters)
    return found


def _fit_seconds(contents: Contents) -> Mapping[Key, list[float]]:
    families = {dataset.name: dataset.family for dataset in contents.datasets}
    found: defaultdict[Key, list[float]] = defaultdict(list)
    for cell in contents.cells:
        done = [outcome.seconds["fit"] for outcome in cell.finals if not outcome.failed and "fit" in outcome.seconds]
        for group in (ALL, families[cell.dataset]):
            if done:
                found[cell.contender, group] += done
    return found


PARTS: tuple[Part, ...] = ("test", "train")
"""Those of final tasks."""

_UNKNOWN = Effort(n_parameters=None, fit_seconds=None)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """``grids`` and ``curves`` are by part and metric; ``metric`` is the one that is shown first, if there is any."""

    metric: Metric
    views: Views
    grids: Mapping[tuple[Part, Metric], Grid]
    curves: Mapping[tuple[Part, Metric], tuple[SizeCurve, ...]]
    efforts: Efforts

    @property
    def main_view(self) -> View | None:
        """What is shown first; None if there are no scores."""
        return self.views[self.metric][ALL] if self.metric in self.views else None

    @property
    def has_curves(self) -> bool:
        """Whether any family has several sizes."""
        return any(self.curves.values())

    def effort(self, contender: Contender, *, family: str = ALL) -> Effort:
        """Of a contender in a family."""
        return self.efforts.get((contender, family), _UNKNOWN)


def summary(contents: Contents) -> Summary:
    """Of all metrics that the contents have."""
    keys = [(part, metric) for part in PARTS for metric in contents.metrics]
    grid, curves = partial(score_grid, contents.scores), partial(_size_curves, contents.scores)
    return Summary(
        metric=contents.metric,
        views=views(contents.scores, contents.metrics),
        grids={(part, metric): grid(part=part, metric=metric) for part, metric in keys},
        curves={(part, metric): curves(part=part, metric=metric) for part, metric in keys},
        efforts=efforts(contents),
    )


def _size_curves(cells: Sequence[CellScores], *, part: Part, metric: Metric) -> tuple[SizeCurve, ...]:
    """Of the families that have at least two sizes: one is no curve."""
    curves = scores_by_size(cells, part=part, metric=metric)
    sizes: dict[str, set[int]] = {}
    for curve in curves:
        sizes.setdefault(curve.family, set()).update(point.size for point in curve.points)
    return tuple(curve for curve in curves if len(sizes[curve.family]) > 1)
