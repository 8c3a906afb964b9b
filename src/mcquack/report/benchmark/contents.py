"""What a report shows, read from a store once: everything else is computed from ``Contents`` alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from mcquack.bench.plan import Choice, Trial
from mcquack.bench.ranking import OWN_FAMILY, CellScores, Contender, family_and_size, model_titles, scores_of
from mcquack.bench.store import RunRecord, Store
from mcquack.bench.task import METRICS, Environment, Metric, Outcome
from mcquack.report.document import Document, facts_of

State = Literal["done", "failed", "nothing could be chosen", "unfinished"]

Pair = tuple[str, str]  # a dataset and a model


@dataclass(frozen=True, kw_only=True)
class ListedDataset:
    """A dataset of the report, with its family and the number that distinguishes it there."""

    name: str
    family: str
    size: int | None


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What was done here for one model on one dataset: the search, and the final tasks with what it chose."""

    dataset: str
    contender: Contender
    choice: Choice | None  # None where no settings have a score, or the search goes on
    finals: tuple[Outcome, ...]
    trials: tuple[Trial, ...]
    is_over: bool = False  # whether the last run that was asked for it came to its end

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
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
class Contents(Document):
    """A benchmark, in an order that does not depend on which task ended first."""

    scores: tuple[CellScores, ...]  # of this store, then of publications, on the datasets of this store only
    cells: tuple[Cell, ...]
    datasets: tuple[ListedDataset, ...]

    @cached_property
    def families(self) -> Mapping[str, int]:
        return Counter(dataset.family for dataset in self.datasets)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        known = {metric for cell in self.scores for (part, metric) in (*cell.values, *cell.reported) if part == "test"}
        return tuple(metric for metric in METRICS if metric in known)

    @cached_property
    def metric(self) -> Metric:
        """The metric that is shown first: the one by which most settings were chosen."""
        chosen_by = Counter(cell.choice.metric for cell in self.cells if cell.choice is not None)
        preferred = [metric for metric, _ in chosen_by.most_common()]
        return next(
            (metric for metric in (*preferred, "accuracy", *self.metrics) if metric in self.metrics), "accuracy"
        )

    @cached_property
    def environments(self) -> tuple[Environment, ...]:
        return tuple(dict.fromkeys(outcome.environment for cell in self.cells for outcome in cell.outcomes))

    @cached_property
    def prints(self) -> Mapping[str, tuple[str, ...]]:
        """The fingerprints of each dataset; several where the final tasks were not all measured on the same numbers."""
        found: dict[str, dict[str, None]] = {dataset.name: {} for dataset in self.datasets}
        for cell in self.cells:
            found[cell.dataset] |= {outcome.fingerprint: None for outcome in cell.finals if outcome.fingerprint}
        return {dataset: tuple(prints) for dataset, prints in found.items() if prints}

    @property
    def n_unfinished(self) -> int:
        """How many pairs of a model and a dataset lack tasks, of those that the last run was asked for."""
        asked = set(self.runs[-1].pairs if self.runs else ())
        states = {(cell.dataset, cell.contender.model): cell.state for cell in self.cells}
        return sum(states.get(pair, "unfinished") == "unfinished" for pair in asked | states.keys())

    @property
    def n_without_choice(self) -> int:
        """How many searches are over though none of their settings has a score."""
        return sum(cell.state == "nothing could be chosen" for cell in self.cells)

    @property
    def n_seeds(self) -> int:
        return max((len(cell.finals) for cell in self.cells), default=0)


def read_contents(store: Store, *, published: Sequence[CellScores] = (), title: str | None = None) -> Contents:
    """All that the store has, and of the published scores those on its datasets."""
    choices = store.choices()
    # Searches without their details, the final tasks of the current choices with them, and whatever failed.
    found = (*store.outcomes(phase="search", details=False), *store.outcomes(failed=True), *store.final_outcomes())
    outcomes = {outcome.task.id: outcome for outcome in found}
    facts = facts_of(store, list(outcomes.values()), title=title)
    runs: tuple[RunRecord, ...] = facts["runs"]
    cells = _cells(outcomes, choices=choices, over=_pairs_over(runs))
    datasets = _ordered_datasets(cells, suite=runs[-1].suite if runs else {})
    order = {dataset.name: index for index, dataset in enumerate(datasets)}
    finals = (outcome for cell in cells for outcome in cell.finals)  # the store may have grown since
    titles = {cell.contender.model: cell.contender.title for cell in cells}
    ours = scores_of(finals, choices=choices, titles=titles)
    theirs = (cell for cell in published if cell.dataset in order)
    return Contents(
        **facts,
        scores=tuple(sorted((*ours, *theirs), key=lambda cell: (cell.is_published, order[cell.dataset]))),
        cells=tuple(sorted(cells, key=lambda cell: order[cell.dataset])),
        datasets=datasets,
    )


def _pairs_over(runs: Iterable[RunRecord]) -> set[Pair]:
    """The pairs of which all is done that the last run asked for; a retry may have run only a part of its suite."""
    ends: dict[Pair, bool] = {}
    for run in runs:
        if not run.command.startswith("mcquack bench retry "):
            ends |= dict.fromkeys(run.pairs, run.how == "done")
    return {pair for pair, is_over in ends.items() if is_over}


def _cells(outcomes: Mapping[str, Outcome], *, choices: Mapping[Pair, Choice], over: Collection[Pair]) -> list[Cell]:
    searches: dict[Pair, list[str]] = {}
    for outcome in outcomes.values():
        tried = searches.setdefault((outcome.task.dataset, outcome.task.model), [])
        if outcome.task.phase == "search":
            tried.append(outcome.task.id)
    titles = model_titles(model for _, model in searches)
    cells = []
    for (dataset, model), tried in sorted(searches.items()):
        choice = choices.get((dataset, model))
        # Where nothing was chosen, all that was tried is shown.
        final_ids, search_ids = ((), tried) if choice is None else (choice.final_ids, choice.task_ids)
        cells.append(
            Cell(
                dataset=dataset,
                contender=Contender(model=model, title=titles[model]),
                choice=choice,
                finals=tuple(outcomes[each] for each in final_ids if each in outcomes),
                trials=_trials(outcomes[each] for each in search_ids if each in outcomes),
                is_over=(dataset, model) in over,
            )
        )
    return cells


def _trials(outcomes: Iterable[Outcome]) -> tuple[Trial, ...]:
    by_settings: dict[tuple[tuple[str, Any], ...], list[Outcome]] = {}
    for outcome in outcomes:
        by_settings.setdefault(outcome.task.settings, []).append(outcome)
    n_splits = max(map(len, by_settings.values()), default=0)
    return tuple(
        Trial(settings=dict(settings), outcomes=tuple(found), complete=len(found) == n_splits)
        for settings, found in by_settings.items()
    )


def _ordered_datasets(cells: Sequence[Cell], *, suite: Mapping[str, Any]) -> tuple[ListedDataset, ...]:
    named = {name: index for index, name in enumerate(suite.get("datasets", ()))}
    tables = {cell.dataset for cell in cells if any(outcome.task.table for outcome in cell.outcomes)}
    found = []
    for name in sorted({cell.dataset for cell in cells}):
        family, size = (OWN_FAMILY, None) if name in tables else family_and_size(name)
        found.append(ListedDataset(name=name, family=family, size=size))
    first_of_family: dict[str, int] = {}
    for dataset in sorted(found, key=lambda each: named.get(each.name, len(named))):
        first_of_family.setdefault(dataset.family, named.get(dataset.name, len(named)))

    def place(dataset: ListedDataset) -> tuple[int, str, int, int, str]:
        in_suite = named.get(dataset.name, len(named))
        return first_of_family[dataset.family], dataset.family, in_suite, dataset.size or 0, dataset.name

    return tuple(sorted(found, key=place))
