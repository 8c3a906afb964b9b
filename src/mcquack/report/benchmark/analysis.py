"""All statistics of a report, computed once from its contents, for the page as well as for its tables and figures."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mcquack.bench.ranking import (
    CellScores,
    Comparison,
    Contender,
    Scale,
    ScoreTable,
    SizeCurve,
    Standing,
    WinMatrix,
    compare,
    ranks,
    score_table,
    scores_by_size,
    standings,
    win_matrix,
)
from mcquack.bench.task import Metric, Part
from mcquack.errors import InvalidInputError
from mcquack.report.benchmark.contents import Contents
from mcquack.report.document import Several
from mcquack.report.ranking import METRIC_TITLES, overall_test
from mcquack.report.style import counted

ALL = ""  # in place of a family: all datasets

PARTS: tuple[Part, ...] = ("test", "train")  # the parts that final tasks are scored on

LEAST_SHARE = 0.7
"""Models with scores on fewer datasets take no part in the tests, which need scores of all on the same datasets."""

Mark = Literal["", "best", "second"]

RANK_SCALES: Mapping[Scale, str] = {
    "share": "rank ÷ number of models",
    "unit": "(rank − 1) ÷ (number of models − 1)",
}
"""How ranks on a dataset are made comparable with those on others, as the page and the tables say it."""


@dataclass(frozen=True, kw_only=True)
class Score(Several):
    """Mean and standard deviation over the seeds, and whether it is among the best two of its dataset."""

    mean: float
    spread: float | None
    mark: Mark = ""

    @property
    def numbers(self) -> Sequence[float | None]:
        return self.mean, self.spread

    def latex(self, digits: int) -> str:
        """The best score is bold, the second best underlined."""
        mean = f"{self.mean:.{digits}f}"
        marked = {"best": rf"\textbf{{{mean}}}", "second": rf"\underline{{{mean}}}"}.get(self.mark, mean)
        return marked if self.spread is None else rf"{marked} $\pm$ {self.spread:.{digits}f}"


SCORE_PARTS = (" mean", " std")


@dataclass(frozen=True, kw_only=True)
class View:
    """What can be looked at together: one metric on all datasets, or on those of one family."""

    family: str
    rank_scale: Scale
    table: ScoreTable
    standings: tuple[Standing, ...]
    wins: WinMatrix
    comparison: Comparison | None  # None where there is too little to test
    n_parameters: Mapping[Contender, int]  # medians over the datasets where it is known
    fit_seconds: Mapping[Contender, float]  # medians over all seeds of all datasets with the settings that were chosen

    @property
    def metric(self) -> Metric:
        return self.table.metric

    @property
    def title(self) -> str:
        """As in "Accuracy on two curves"."""
        return METRIC_TITLES[self.metric] + (f" on {self.family.replace('_', ' ')}" if self.family else "")

    @property
    def rank_formula(self) -> str:
        return RANK_SCALES[self.rank_scale]

    @property
    def reading(self) -> str:
        comparison = self.comparison
        if comparison is None:
            return "There are too few models with scores on the same datasets for a test: it takes two of each."
        left_out = [
            f"{counted(len(comparison.absent), 'model')} with scores on less than {100 * LEAST_SHARE:.0f} % of the "
            "datasets"
            if comparison.absent
            else "",
            f"{counted(comparison.n_left_out, 'dataset')} without scores of all" if comparison.n_left_out else "",
        ]
        groups = (
            "A bar joins models that Nemenyi’s test does not tell apart"
            if comparison.groups
            else "Nemenyi’s test tells all models apart"
        )
        return (
            f"Over the {counted(comparison.n_datasets, 'dataset')} on which all "
            f"{counted(len(comparison.contenders), 'model')} have a score, Iman and Davenport’s form of Friedman’s "
            f"test gives {overall_test(comparison)}."
            + (f" Left out: {' and '.join(filter(None, left_out))}." if any(left_out) else "")
            + f" {groups} at α\u00a0=\u00a0{comparison.alpha:g}."
        )


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """``views`` are by metric and family, ``grids`` and ``curves`` by part and metric, a grid by dataset and contender.

    ``contenders`` are ours before published ones, each by the ranking that is shown first. ``main`` is the view that
    is shown first, None if there are no scores.
    """

    main: View | None
    views: Mapping[Metric, Mapping[str, View]]
    grids: Mapping[tuple[Part, Metric], Mapping[tuple[str, Contender], Score]]
    curves: Mapping[tuple[Part, Metric], tuple[SizeCurve, ...]]
    contenders: tuple[Contender, ...]


def analyse(contents: Contents, *, rank_scale: Scale = "share") -> Analysis:
    """The statistics of all metrics that the contents have, with average ranks on this scale."""
    seconds: Seconds = {
        (cell.dataset, cell.contender): [
            each.seconds["fit"] for each in cell.finals if not each.failed and "fit" in each.seconds
        ]
        for cell in contents.cells
    }
    views = {metric: _views(contents.scores, metric, seconds, rank_scale=rank_scale) for metric in contents.metrics}
    main = views[contents.metric][ALL] if contents.metric in views else None
    ranked = [] if main is None else [line.contender for line in main.standings]
    others = (*(cell.contender for cell in contents.cells), *(cell.contender for cell in contents.scores))
    keys = [(part, metric) for part in PARTS for metric in contents.metrics]
    return Analysis(
        main=main,
        views=views,
        grids={(part, metric): score_grid(contents.scores, part=part, metric=metric) for part, metric in keys},
        curves={(part, metric): _size_curves(contents.scores, part=part, metric=metric) for part, metric in keys},
        contenders=tuple(sorted(dict.fromkeys((*ranked, *others)), key=lambda contender: contender.is_published)),
    )


Seconds = Mapping[tuple[str, Contender], Sequence[float]]  # how long each final fit took, by dataset and contender


def _views(cells: Sequence[CellScores], metric: Metric, seconds: Seconds, *, rank_scale: Scale) -> dict[str, View]:
    table = score_table(cells, metric=metric)
    tables = {ALL: table}
    families = tuple(dict.fromkeys(table.families))
    if len(families) > 1:
        tables |= {family: table.of_family(family) for family in families}
    return {
        family: _view(table, cells, family=family, seconds=seconds, rank_scale=rank_scale)
        for family, table in tables.items()
    }


def _view(table: ScoreTable, cells: Sequence[CellScores], *, family: str, seconds: Seconds, rank_scale: Scale) -> View:
    lines = standings(table, scale=rank_scale)
    try:
        comparison = compare(table, least_share=LEAST_SHARE)
    except InvalidInputError:
        comparison = None
    counts: defaultdict[Contender, list[int]] = defaultdict(list)
    times: defaultdict[Contender, list[float]] = defaultdict(list)
    for cell in cells:
        if family in (ALL, cell.family):
            contender = cell.contender
            counts[contender] += [] if cell.n_parameters is None else [cell.n_parameters]
            times[contender] += seconds.get((cell.dataset, contender), ())
    return View(
        family=family,
        rank_scale=rank_scale,
        table=table,
        standings=lines,
        wins=win_matrix(table, order=[line.contender for line in lines]),
        comparison=comparison,
        n_parameters={each: statistics.median_low(found) for each, found in counts.items() if found},
        fit_seconds={each: statistics.median(found) for each, found in times.items() if found},
    )


def score_grid(cells: Sequence[CellScores], *, part: Part, metric: Metric) -> Mapping[tuple[str, Contender], Score]:
    """The scores of every contender on every dataset, with the best two of each dataset marked."""
    table = score_table(cells, part=part, metric=metric)
    known = {(cell.dataset, cell.contender): cell for cell in cells}
    found: dict[tuple[str, Contender], Score] = {}
    for dataset, means, places in zip(table.datasets, table.means, ranks(table), strict=True):
        there = np.flatnonzero(~np.isnan(means))
        best: list[float] = np.unique(places[there])[:2].tolist()
        # Where there is nobody to be better than, nobody is best.
        marks: dict[float, Mark] = dict(zip(best, ("best", "second"), strict=False)) if len(there) > 1 else {}
        for index in there.tolist():
            contender = table.contenders[index]
            spread = known[dataset, contender].spread(part, metric)
            score = Score(mean=float(means[index]), spread=spread, mark=marks.get(float(places[index]), ""))
            found[dataset, contender] = score
    return found


def _size_curves(cells: Sequence[CellScores], *, part: Part, metric: Metric) -> tuple[SizeCurve, ...]:
    """The curves of the families that have at least two sizes: one is no curve."""
    curves = scores_by_size(cells, part=part, metric=metric)
    sizes: dict[str, set[int]] = {}
    for curve in curves:
        sizes.setdefault(curve.family, set()).update(point.size for point in curve.points)
    return tuple(curve for curve in curves if len(sizes[curve.family]) > 1)
