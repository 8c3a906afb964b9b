"""The statistics of a report: for each metric, over all datasets and over those of each family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking import (
    CellScores,
    Comparison,
    Contender,
    ScoreTable,
    Standing,
    WinMatrix,
    compare,
    ranks,
    score_table,
    standings,
    win_matrix,
)
from mcquack.errors import InvalidInputError
from mcquack.report.style import chance, counted

ALL = ""
"""In place of a family: all datasets."""

LEAST_SHARE = 0.7
"""Models with scores on fewer datasets take no part in the tests, which need scores of all on the same datasets."""


@dataclass(frozen=True, kw_only=True)
class View:
    """One metric on some datasets; ``comparison`` is None where there is too little to test."""

    table: ScoreTable
    standings: tuple[Standing, ...]
    wins: WinMatrix
    comparison: Comparison | None

    @property
    def reading(self) -> str:
        """What the tests say, in a few sentences."""
        return _reading(self.comparison, self.table)


Views = Mapping[Metric, Mapping[str, View]]


def views(cells: Sequence[CellScores], metrics: Sequence[Metric]) -> Views:
    """By metric, then by family; ``ALL`` is first."""
    return {metric: _views_of(score_table(cells, metric=metric)) for metric in metrics}


def _views_of(table: ScoreTable) -> dict[str, View]:
    found = {ALL: _view(table)}
    families = tuple(dict.fromkeys(table.families))
    if len(families) > 1:
        found |= {family: _view(table.of_family(family)) for family in families}
    return found


def _view(table: ScoreTable) -> View:
    lines = standings(table)
    return View(
        table=table,
        standings=lines,
        wins=win_matrix(table, order=[line.contender for line in lines]),
        comparison=_comparison(table),
    )


def _comparison(table: ScoreTable) -> Comparison | None:
    try:
        return compare(table, least_share=LEAST_SHARE)
    except InvalidInputError:
        return None


def _reading(comparison: Comparison | None, table: ScoreTable) -> str:
    if comparison is None:
        return "There are too few models with scores on the same datasets for a test: it takes two of each."
    test = comparison.friedman
    n_absent = len(table.contenders) - len(comparison.contenders)
    sentences = [
        f"Over the {counted(comparison.n_datasets, 'dataset')} on which all "
        f"{counted(len(comparison.contenders), 'model')} have a score, Friedman’s test gives "
        f"χ²\u00a0=\u00a0{test.statistic:.1f}, {chance(test.p_value)}."
        + (f" Left out: {_joined(comparison.n_left_out, n_absent)}." if comparison.n_left_out or n_absent else ""),
        "A bar joins models that Nemenyi’s test does not tell apart"
        if comparison.groups
        else "Nemenyi’s test tells all models apart",
    ]
    return f"{sentences[0]} {sentences[1]} at α\u00a0=\u00a0{comparison.alpha:g}."


def _joined(n_datasets: int, n_models: int) -> str:
    parts = [
        f"{counted(n_models, 'model')} with scores on less than {100 * LEAST_SHARE:.0f} % of the datasets"
        if n_models
        else "",
        f"{counted(n_datasets, 'dataset')} without scores of all" if n_datasets else "",
    ]
    return " and ".join(filter(None, parts))


# The scores of every contender on every dataset, with the best two of each marked.

Mark = Literal["", "best", "second"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """Mean and standard deviation over the seeds, and whether it is among the best two of its dataset."""

    mean: float
    spread: float | None
    mark: Mark = ""


Grid = Mapping[tuple[str, Contender], Score]


def score_grid(cells: Sequence[CellScores], *, part: Part, metric: Metric) -> Grid:
    """By dataset and contender."""
    table = score_table(cells, part=part, metric=metric)
    known = {(cell.dataset, Contender.of(cell)): cell for cell in cells}
    found: dict[tuple[str, Contender], Score] = {}
    for dataset, means, places in zip(table.datasets, table.means, ranks(table), strict=True):
        marks = _marks(places)
        for contender, mean, mark in zip(table.contenders, means, marks, strict=True):
            if not np.isnan(mean):
                spread = known[dataset, contender].spread(part, metric)
                found[dataset, contender] = Score(mean=float(mean), spread=spread, mark=mark)
    return found


def _marks(places: Sequence[float]) -> list[Mark]:
    """Of the smallest rank and of the next; none where there is nobody to be better than."""
    known = sorted({float(place) for place in places if not np.isnan(place)})
    if np.count_nonzero(~np.isnan(places)) < 2:
        return [""] * len(places)
    names: dict[float, Mark] = dict(zip(known[:2], ("best", "second"), strict=False))
    return [names.get(float(place), "") for place in places]


# What families are called on the page and in its tables.


def family_title(family: str) -> str:
    """The family's name without underscores."""
    return family.replace("_", " ")
