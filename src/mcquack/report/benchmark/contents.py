"""What a report tells, read from a store once: everything that follows is computed from this value alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

from mcquack.bench.outcome import METRICS, Metric, Outcome
from mcquack.bench.plan import Choice, Trial
from mcquack.bench.ranking import CellScores, Contender, cell_scores
from mcquack.bench.ranking.scores import OWN_FAMILY, family_and_size, model_titles
from mcquack.bench.store import RunRecord, Store

State = Literal["done", "failed", "nothing could be chosen", "unfinished"]

Pair = tuple[str, str]  # dataset and model


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """A row of the tables of scores."""

    name: str
    family: str
    size: int | None


@dataclass(frozen=True, kw_only=True)
class WorkedCell:
    """What was done here for one model on one dataset: the search, and the final tasks with what it chose."""

    dataset: str
    contender: Contender
    choice: Choice | None  # None where no settings have a score, or the search goes on
    finals: tuple[Outcome, ...]
    trials: tuple[Trial, ...]
    is_over: bool = False  # whether the last run that was asked for it came to its end

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Of all its tasks, the final ones first."""
        return (*self.finals, *(outcome for trial in self.trials for outcome in trial.outcomes))

    @property
    def state(self) -> State:
        """Whether all final tasks were run; a search that is over without a choice has none to run."""
        if self.choice is None:
            if all(trial.failed for trial in self.trials):
                return "failed"
            return "nothing could be chosen" if self.is_over else "unfinished"
        if len(self.finals) < len(self.choice.final_ids):
            return "unfinished"
        return "failed" if all(outcome.failed for outcome in self.finals) else "done"


@dataclass(frozen=True, kw_only=True)
class Contents:
    """A benchmark, in an order that does not depend on which task ended first.

    ``scores`` are of this store, then of publications, on the datasets of this store only.
    """

    title: str
    runs: tuple[RunRecord, ...]
    scores: tuple[CellScores, ...]
    cells: tuple[WorkedCell, ...]
    datasets: tuple[DatasetFacts, ...]
    failures: tuple[Outcome, ...]
    n_done: int
    seconds: float  # of all stages of all tasks

    @cached_property
    def families(self) -> tuple[str, ...]:
        """Of its datasets, in their order."""
        return tuple(dict.fromkeys(dataset.family for dataset in self.datasets))

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """Those that some test part was scored with."""
        known = {metric for cell in self.scores for (part, metric) in (*cell.values, *cell.reported) if part == "test"}
        return tuple(metric for metric in METRICS if metric in known)

    @cached_property
    def metric(self) -> Metric:
        """The one that is shown first: by which settings were chosen, if all were chosen by one."""
        chosen_by = Counter(cell.choice.metric for cell in self.cells if cell.choice is not None)
        preferred = [metric for metric, _ in chosen_by.most_common()]
        return next(
            (metric for metric in (*preferred, "accuracy", *self.metrics) if metric in self.metrics), "accuracy"
        )

    @property
    def n_unfinished(self) -> int:
        """Pairs of a model and a dataset that the last run was asked for and that lack tasks."""
        suite = self.runs[-1].suite if self.runs else {}
        asked = _asked_pairs(suite)
        states = {(cell.dataset, cell.contender.model): cell.state for cell in self.cells}
        return sum(states.get(pair, "unfinished") == "unfinished" for pair in asked | states.keys())

    @property
    def n_without_choice(self) -> int:
        """Pairs whose search is over, though none of its settings has a score."""
        return sum(cell.state == "nothing could be chosen" for cell in self.cells)

    @property
    def n_seeds(self) -> int:
        """The most seeds with which a model was scored on a dataset."""
        return max((len(cell.finals) for cell in self.cells), default=0)


def read_contents(store: Store, *, published: Sequence[CellScores] = (), title: str | None = None) -> Contents:
    """All that the store has, and of the published scores those on its datasets."""
    runs = store.runs()
    suite = runs[-1].suite if runs else {}
    outcomes = _outcomes(store)
    choices = store.choices()
    cells = _worked_cells(outcomes, choices=choices, over=_pairs_over(runs))
    datasets = _ordered_datasets(cells, suite=suite)
    order = {dataset.name: index for index, dataset in enumerate(datasets)}
    finals = _Finals((outcome for cell in cells for outcome in cell.finals), choices)
    ours = cell_scores(finals, titles={cell.contender.model: cell.contender.title for cell in cells})
    theirs = (cell for cell in published if cell.dataset in order)
    return Contents(
        title=title or suite.get("title") or suite.get("name") or store.path.stem,
        runs=runs,
        scores=tuple(sorted((*ours, *theirs), key=lambda cell: (cell.is_published, order[cell.dataset]))),
        cells=tuple(sorted(cells, key=lambda cell: order[cell.dataset])),
        datasets=datasets,
        failures=tuple(sorted((each for each in outcomes.values() if each.failed), key=lambda each: str(each.task))),
        n_done=sum(not outcome.failed for outcome in outcomes.values()),
        seconds=sum(sum(outcome.seconds.values()) for outcome in outcomes.values()),
    )


class _Finals:
    """Outcomes that were read already, as a store would tell them."""

    def __init__(self, outcomes: Iterable[Outcome], choices: Mapping[tuple[str, str], Choice]) -> None:
        self._outcomes = tuple(outcomes)
        self._choices = choices

    def final_outcomes(self, *, details: bool) -> Iterable[Outcome]:  # noqa: ARG002
        """With their details, which nobody minds."""
        return self._outcomes

    def choices(self) -> Mapping[tuple[str, str], Choice]:
        """As they were read."""
        return self._choices


def _outcomes(store: Store) -> dict[str, Outcome]:
    """By id: those of searches, the final ones of the current choices with their details, and whatever failed."""
    found = (*store.outcomes(phase="search", details=False), *store.outcomes(failed=True), *store.final_outcomes())
    return {outcome.task.id: outcome for outcome in found}


def _pairs_over(runs: Iterable[RunRecord]) -> set[Pair]:
    """Of which all is done that the last run asked for; a retry may have run only a part of its suite."""
    ends: dict[Pair, bool] = {}
    for run in runs:
        if not run.command.startswith("mcquack bench retry "):
            ends |= dict.fromkeys(_asked_pairs(run.suite), run.how == "done")
    return {pair for pair, is_over in ends.items() if is_over}


def _asked_pairs(suite: Mapping[str, Any]) -> set[Pair]:
    return set(product(suite.get("datasets", ()), suite.get("models", ())))


def _worked_cells(
    outcomes: Mapping[str, Outcome], *, choices: Mapping[Pair, Choice], over: Collection[Pair]
) -> list[WorkedCell]:
    by_cell: dict[Pair, list[Outcome]] = {}
    for outcome in outcomes.values():
        by_cell.setdefault((outcome.task.dataset, outcome.task.model), []).append(outcome)
    titles = model_titles(model for _, model in by_cell)
    cells = []
    for dataset, model in sorted(by_cell):
        choice = choices.get((dataset, model))
        final_ids, search_ids = _ids(by_cell[dataset, model], choice)
        cells.append(
            WorkedCell(
                dataset=dataset,
                contender=Contender(model=model, title=titles[model]),
                choice=choice,
                finals=tuple(outcomes[each] for each in final_ids if each in outcomes),
                trials=_trials([outcomes[each] for each in search_ids if each in outcomes]),
                is_over=(dataset, model) in over,
            )
        )
    return cells


def _ids(outcomes: Sequence[Outcome], choice: Choice | None) -> tuple[Sequence[str], Sequence[str]]:
    """Of the final tasks and of those of the search; where nothing was chosen, all that was tried."""
    if choice is not None:
        return choice.final_ids, choice.task_ids
    return (), [outcome.task.id for outcome in outcomes if outcome.task.phase == "search"]


def _trials(outcomes: Iterable[Outcome]) -> tuple[Trial, ...]:
    """The outcomes of a search by their settings, in the order in which these were tried."""
    by_settings: dict[tuple[tuple[str, Any], ...], list[Outcome]] = {}
    for outcome in outcomes:
        by_settings.setdefault(outcome.task.settings, []).append(outcome)
    n_splits = max(map(len, by_settings.values()), default=0)
    return tuple(
        Trial(settings=dict(settings), outcomes=tuple(found), complete=len(found) == n_splits)
        for settings, found in by_settings.items()
    )


def _ordered_datasets(cells: Sequence[WorkedCell], *, suite: Mapping[str, Any]) -> tuple[DatasetFacts, ...]:
    """Family by family, in the order of the suite, then by size and name."""
    named = {name: index for index, name in enumerate(suite.get("datasets", ()))}
    tables = {cell.dataset for cell in cells if any(outcome.task.table for outcome in cell.outcomes)}
    found = []
    for name in sorted({cell.dataset for cell in cells}):
        family, size = (OWN_FAMILY, None) if name in tables else family_and_size(name)
        found.append(DatasetFacts(name=name, family=family, size=size))
    last = len(named)
    first_of_family: dict[str, int] = {}
    for dataset in found:
        first = first_of_family.get(dataset.family, last)
        first_of_family[dataset.family] = min(first, named.get(dataset.name, last))

    def place(dataset: DatasetFacts) -> tuple[int, str, int, int, str]:
        of_family = first_of_family[dataset.family]
        return of_family, dataset.family, named.get(dataset.name, last), dataset.size or 0, dataset.name

    return tuple(sorted(found, key=place))
