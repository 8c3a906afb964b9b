"""The scores of every contender on every dataset, with the best two of each marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking import CellScores, Contender, ranks, score_table

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
