"""The scores of one part and metric as a table of datasets and contenders: what every comparison starts from."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking.cell_scores import CellScores
from mcquack.errors import InvalidInputError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A model as it was run here, or as somebody published it; the two are never the same contender."""

    model: str
    title: str
    source: str = ""

    @classmethod
    def of(cls, cell: CellScores) -> "Contender":
        """The one whose scores these are."""
        return cls(model=cell.model, title=cell.title, source=cell.source)

    @property
    def is_published(self) -> bool:
        """Whether others ran it."""
        return bool(self.source)

    @property
    def label(self) -> str:
        """Its title, with a dagger if it is published: wherever one stands, something nearby explains it."""
        return f"{self.title} †" if self.is_published else self.title


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable:
    """Mean scores (D, K) of K contenders on D datasets, NaN where there is none.

    Rows and columns keep the order in which the cells came; every row and every column has at least one score.
    """

    part: Part
    metric: Metric
    datasets: tuple[str, ...]
    families: tuple[str, ...]  # of each dataset
    contenders: tuple[Contender, ...]
    means: FloatArray

    def __post_init__(self) -> None:
        self.means.setflags(write=False)

    @cached_property
    def is_there(self) -> NDArray[np.bool_]:
        """Where there is a score (D, K)."""
        return ~np.isnan(self.means)

    @property
    def n_datasets(self) -> tuple[int, ...]:
        """On how many datasets each contender has a score."""
        return tuple(self.is_there.sum(axis=0).tolist())

    @property
    def sources(self) -> tuple[str, ...]:
        """The publications that some of the scores are from."""
        return tuple(dict.fromkeys(each.source for each in self.contenders if each.is_published))

    def of_family(self, family: str) -> "ScoreTable":
        """Its datasets alone, with the contenders that have a score there."""
        return self._cut(np.array([each == family for each in self.families], dtype=bool))

    def among(self, contenders: Collection[Contender]) -> "ScoreTable":
        """These contenders alone, on the datasets where one of them has a score."""
        return self._cut(columns=np.array([each in contenders for each in self.contenders], dtype=bool))

    def complete(self, *, least_share: float = 0.0) -> "ScoreTable":
        """The datasets on which every contender has a score.

        Contenders with scores on less than ``least_share`` of the datasets are left out before: a few gaps of theirs
        would take the datasets from all others.
        """
        frequent = self._cut(columns=self.is_there.sum(axis=0) >= least_share * len(self.datasets))
        return frequent._cut(np.asarray(frequent.is_there.all(axis=1)))

    def _cut(self, rows: NDArray[np.bool_] | None = None, columns: NDArray[np.bool_] | None = None) -> "ScoreTable":
        """What is marked, without the rows and columns that this leaves empty."""
        there = self.is_there
        there = there if rows is None else there & rows[:, None]
        there = there if columns is None else there & columns
        kept_rows, kept_columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
        return replace(
            self,
            datasets=tuple(self.datasets[row] for row in kept_rows),
            families=tuple(self.families[row] for row in kept_rows),
            contenders=tuple(self.contenders[column] for column in kept_columns),
            means=self.means[np.ix_(kept_rows, kept_columns)],
        )


def score_table(cells: Iterable[CellScores], *, part: Part = "test", metric: Metric = "accuracy") -> ScoreTable:
    """The means over the seeds; cells without this part and metric are left out."""
    scores: dict[tuple[str, tuple[str, str]], float] = {}
    families: dict[str, str] = {}
    contenders: dict[tuple[str, str], Contender] = {}
    for cell in cells:
        if (mean := cell.mean(part, metric)) is None:
            continue
        key = cell.dataset, (cell.model, cell.source)
        _check(cell, mean, is_known=key in scores)
        scores[key] = mean
        families.setdefault(cell.dataset, cell.family)
        contenders.setdefault(key[1], Contender.of(cell))
    means = [[scores.get((dataset, contender), np.nan) for contender in contenders] for dataset in families]
    return ScoreTable(
        part=part,
        metric=metric,
        datasets=tuple(families),
        families=tuple(families.values()),
        contenders=tuple(contenders.values()),
        means=np.array(means, dtype=np.float64).reshape(len(families), len(contenders)),
    )


def _check(cell: CellScores, mean: float, *, is_known: bool) -> None:
    whose = f"{cell.model}{f' ({cell.source})' if cell.source else ''} on {cell.dataset}"
    if is_known:
        raise InvalidInputError(f"{whose} has scores twice; pass one CellScores for each model, source and dataset.")
    if not np.isfinite(mean):
        raise InvalidInputError(f"{whose} has the score {mean}, which cannot be ranked; leave it out.")
