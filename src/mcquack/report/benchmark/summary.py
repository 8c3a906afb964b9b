"""All statistics of a report, computed once for its page, its tables and its figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking import CellScores, Contender, SizeCurve, scores_by_size
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.efforts import Effort, Efforts, efforts
from mcquack.report.benchmark.grid import Grid, score_grid
from mcquack.report.benchmark.views import ALL, View, Views, views

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
