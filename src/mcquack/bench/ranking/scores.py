"""The scores of models on datasets, ours or published: what rankings, tables and figures read."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mcquack import datasets
from mcquack.arrays import FloatArray
from mcquack.bench.plan import Choice
from mcquack.bench.samples import title
from mcquack.bench.store import Store
from mcquack.bench.task import Metric, Outcome, Part
from mcquack.datasets.registry import draw_of
from mcquack.errors import InvalidInputError, UnknownDatasetError

Key = tuple[Part, Metric]


@dataclass(frozen=True, kw_only=True)
class CellScores:
    """Scores over the seeds of one cell of a benchmark."""

    dataset: str
    family: str
    size: int | None = None  # the number that distinguishes the datasets of a family, where there is one
    model: str
    title: str  # of the model, for people
    source: str = ""  # empty for what was run here, else the publication: whatever shows it must say so
    values: Mapping[Key, tuple[float, ...]] = field(default_factory=dict)  # one score for each seed
    # Mean and standard deviation, where a publication tells no more.
    reported: Mapping[Key, tuple[float, float]] = field(default_factory=dict)
    n_parameters: int | None = None
    note: str = ""  # as "test scores corrected: the published ones are of the training part"

    @property
    def is_published(self) -> bool:
        return bool(self.source)

    def mean(self, part: Part, metric: Metric) -> float | None:
        values = self.values.get((part, metric))
        return statistics.fmean(values) if values else self.reported.get((part, metric), (None, None))[0]

    def spread(self, part: Part, metric: Metric) -> float | None:
        """The standard deviation over the seeds, as numpy's default has it (of the seeds themselves, divisor n)."""
        values = self.values.get((part, metric))
        if not values:
            return self.reported.get((part, metric), (None, None))[1]
        mean = statistics.fmean(values)
        return math.sqrt(statistics.fmean([(value - mean) ** 2 for value in values]))

    @cached_property
    def contender(self) -> "Contender":
        return Contender(model=self.model, title=self.title, source=self.source)


def elided(text: str, *, n_letters: int = 48) -> str:
    """The text, without its middle if it has more letters than these: names that differ do so mostly at an end.

    >>> elided("a" * 40 + "-" + "b" * 40, n_letters=11)
    'aaaaaaa…bbb'
    """
    n_last = (n_letters - 1) // 3
    return text if len(text) <= n_letters else f"{text[: n_letters - 1 - n_last]}…{text[-n_last:]}"


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A model as it was run here, or as somebody published it; the two are never the same contender."""

    model: str
    title: str
    source: str = ""

    @property
    def is_published(self) -> bool:
        return bool(self.source)

    @property
    def label(self) -> str:
        """Its title for figures, with a dagger if it is published: wherever one stands, something near explains it."""
        shown = elided(self.title)
        return f"{shown} †" if self.is_published else shown


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
        return ~np.isnan(self.means)

    @property
    def n_datasets(self) -> tuple[int, ...]:
        return tuple(self.is_there.sum(axis=0).tolist())

    def of_family(self, family: str) -> "ScoreTable":
        return self._cut(np.array([each == family for each in self.families], dtype=bool))

    def complete(self, *, least_share: float = 0.0) -> "ScoreTable":
        """The datasets on which every contender has a score.

        Contenders with scores on less than ``least_share`` of the datasets are left out before: a few gaps of theirs
        would take the datasets from all others.
        """
        frequent = self._cut(columns=self.is_there.sum(axis=0) >= least_share * len(self.datasets))
        return frequent._cut(np.asarray(frequent.is_there.all(axis=1)))

    def _cut(self, rows: NDArray[np.bool_] | None = None, columns: NDArray[np.bool_] | None = None) -> "ScoreTable":
        """What is marked, without the rows and columns that this leaves empty."""
        there = self.is_there & (True if rows is None else rows[:, None]) & (True if columns is None else columns)
        kept_rows, kept_columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
        return replace(
            self,
            datasets=tuple(self.datasets[row] for row in kept_rows),
            families=tuple(self.families[row] for row in kept_rows),
            contenders=tuple(self.contenders[column] for column in kept_columns),
            means=self.means[np.ix_(kept_rows, kept_columns)],
        )


def score_table(cells: Iterable[CellScores], *, part: Part = "test", metric: Metric = "accuracy") -> ScoreTable:
    """The table of the mean scores of one part and metric, from which every comparison starts.

    Parameters
    ----------
    cells : scores of any models on any datasets; those without this part and metric are left out.
    part, metric : which of the scores to take.

    Examples
    --------
    >>> values = {("test", "accuracy"): (0.8, 0.9)}
    >>> cells = [CellScores(dataset="d", family="own", model=name, title=name, values=values) for name in "ab"]
    >>> score_table(cells).means.round(2).tolist()
    [[0.85, 0.85]]
    """
    scores: dict[tuple[str, tuple[str, str]], float] = {}
    families: dict[str, str] = {}
    contenders: dict[tuple[str, str], Contender] = {}
    for cell in cells:
        if (mean := cell.mean(part, metric)) is None:
            continue
        key = cell.dataset, (cell.model, cell.source)
        if key in scores or not math.isfinite(mean):
            whose = f"{cell.model}{f' ({cell.source})' if cell.source else ''} on {cell.dataset}"
            wrong = f"the score {mean}, which cannot be ranked; leave it out."
            if key in scores:
                wrong = "scores twice; pass one CellScores for each model, source, dataset."
            raise InvalidInputError(f"{whose} has {wrong}")
        scores[key] = mean
        families.setdefault(cell.dataset, cell.family)
        contenders.setdefault(key[1], cell.contender)
    means = [[scores.get((dataset, contender), np.nan) for contender in contenders] for dataset in families]
    return ScoreTable(
        part=part,
        metric=metric,
        datasets=tuple(families),
        families=tuple(families.values()),
        contenders=tuple(contenders.values()),
        means=np.array(means, dtype=np.float64).reshape(len(families), len(contenders)),
    )


def over_draws(cells: Iterable[CellScores]) -> tuple[CellScores, ...]:
    """The draws of a dataset, such as "mnist10@0" and "mnist10@1", as one, with the scores of all; others as they are.

    Ranks and intervals of datasets want this: draws of the same data are no further evidence of another kind of data.
    """
    merged: dict[tuple[str, str, str], CellScores] = {}
    for cell in cells:
        name, _ = draw_of(cell.dataset)
        key = name, cell.model, cell.source
        known = merged.get(key)
        values = {each: (*(known.values.get(each, ()) if known else ()), *found) for each, found in cell.values.items()}
        merged[key] = replace(known or cell, dataset=name, values=values)
    return tuple(merged.values())


OWN_FAMILY = "own"
_SIZED_SUITES = ("qml", "own")  # in others a number at the end of a name is no size: kdd_41 is KDD on 41 features


def family_and_size(dataset: str) -> tuple[str, int | None]:
    """The family it is registered with, or "own", and the n of <family>_<n> if it has one."""
    try:
        description = datasets.describe(dataset)
    except UnknownDatasetError:
        return OWN_FAMILY, None
    number = re.fullmatch(rf"{re.escape(description.family)}_(\d+)", dataset)
    size = int(number[1]) if number and description.suite in _SIZED_SUITES else None
    return description.family or OWN_FAMILY, size


def model_titles(names: Iterable[str]) -> Mapping[str, str]:
    """What people call each of these models; where that would mean two of them, their full names."""
    titles = {}
    for name in names:
        try:
            titles[name] = title(name)
        except InvalidInputError:  # it is not in the catalogue
            titles[name] = name
    counts = Counter(titles.values())
    # A title may also be the full name of another, as that of mine:svc is.
    return {
        name: called if counts[called] == 1 and (called == name or called not in titles) else name
        for name, called in titles.items()
    }


def cell_scores(store: Store) -> tuple[CellScores, ...]:
    """The scores of a store, for each model and dataset with at least one finished task, in the order of the store."""
    choices, outcomes = store.choices(), tuple(store.final_outcomes(details=False))
    names = (*(model for _, model in choices), *(outcome.task.model for outcome in outcomes))
    return scores_of(outcomes, choices=choices, titles=model_titles(names))


def scores_of(
    outcomes: Iterable[Outcome], *, choices: Mapping[tuple[str, str], Choice], titles: Mapping[str, str]
) -> tuple[CellScores, ...]:
    """The scores in final outcomes, with the choices that asked for them and what people call the models."""
    cells: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        cells.setdefault((outcome.task.dataset, outcome.task.model), []).append(outcome)
    return tuple(
        _scores(found, choice=choices.get(key), title=titles[key[1]])
        for key, found in cells.items()
        if not all(outcome.failed for outcome in found)
    )


def _scores(outcomes: Sequence[Outcome], *, choice: Choice | None, title: str) -> CellScores:
    task = outcomes[0].task
    done = sorted((outcome for outcome in outcomes if not outcome.failed), key=lambda outcome: outcome.task.seed)
    counts = [outcome.n_parameters for outcome in done if outcome.n_parameters is not None]
    values: dict[Key, list[float]] = {}
    for outcome in done:
        for part, scores in outcome.scores.items():
            for metric, score in scores.items():
                values.setdefault((part, metric), []).append(score)
    n_asked = max(len(outcomes), len(choice.final_ids) if choice is not None else 0)
    n_failed = len(outcomes) - len(done)
    notes = (
        f"{len(done)} of {n_asked} seeds done" if len(outcomes) < n_asked else "",  # as after Ctrl-C
        f"{n_failed} of {n_asked} seeds failed" if n_failed else "",
    )
    # A table of the user's may have the name of a dataset that it is not.
    family, size = family_and_size(task.dataset) if task.table is None else (OWN_FAMILY, None)
    return CellScores(
        dataset=task.dataset,
        family=family,
        size=size,
        model=task.model,
        title=title,
        values={key: tuple(scores) for key, scores in values.items()},
        # A model that keeps samples has another count with every seed: that in the middle is one that occurred.
        n_parameters=statistics.median_low(counts) if counts else None,
        note=", ".join(note for note in notes if note),
    )
