"""How far a benchmark is, as values: while it runs, from its events, and at any time, from its store."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, get_args

from mcquack.bench.outcome import Metric, Outcome, Part
from mcquack.bench.task import Phase, Task, short_names

if TYPE_CHECKING:  # so that a command line can show its help before it imports what runs a benchmark
    from mcquack.bench.plan import Cell, Choice
    from mcquack.bench.runner import Event
    from mcquack.bench.store import Store

CellKey = tuple[str, str]  # dataset and model


@dataclass(frozen=True, kw_only=True)
class CellProgress:
    """How far one model on one dataset is."""

    n_most: int  # tasks, at most
    metric: Metric
    may_be_fewer: bool = False  # as long as a search goes on that may give up settings
    n_done: int = 0
    n_failed: int = 0
    n_timed: int = 0
    seconds: float = 0.0
    validation: float | None = None  # the score that its settings were chosen by
    test: tuple[float, ...] = ()  # a score for each seed that was done
    why_no_choice: str = ""  # why a search ended without one
    is_over: bool = False

    @property
    def n_left(self) -> int:
        return 0 if self.is_over else max(self.n_most - self.n_done - self.n_failed, 0)

    def after(self, outcome: Outcome) -> Self:
        score = outcome.score("test", self.metric)
        return replace(
            self,
            n_done=self.n_done + (not outcome.failed),
            n_failed=self.n_failed + outcome.failed,
            n_timed=self.n_timed + bool(outcome.seconds),
            seconds=self.seconds + sum(outcome.seconds.values()),
            test=self.test if score is None else (*self.test, score),
        )


class Best(NamedTuple):
    """The model that leads on a dataset, by the mean over seeds on the test part, or before that by its search."""

    model: str
    part: Part
    metric: Metric
    score: float
    n_seeds: int


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far all cells of a run are; every event turns it into the next value.

    ``in_flight`` has the tasks that the workers were given, the oldest first; they are more than run at once.
    Of the tasks that had ended before this run, ``n_known_done`` have scores and ``n_known_failed`` an error.

    >>> from mcquack.bench import read_suite
    >>> suite = read_suite("real-world").with_(datasets=["iris3"], models=["svc"], search="none", seeds=5)
    >>> progress = Progress.before(suite.cells())
    >>> progress.n_ended, progress.n_most
    (0, 5)
    """

    cells: Mapping[CellKey, CellProgress]
    in_flight: Mapping[str, Task] = field(default_factory=dict)
    n_known_done: int = 0
    n_known_failed: int = 0
    n_workers: int = 1

    has_scores: ClassVar[bool] = True  # whether the mean over the tasks of a cell means something

    @classmethod
    def before(cls, cells: Iterable["Cell"]) -> Self:
        return cls(
            cells={
                (each.dataset, each.model): CellProgress(
                    n_most=each.most_tasks, metric=each.metric, may_be_fewer=each.method.kind == "optuna"
                )
                for each in cells
            }
        )

    def after(self, event: "Event") -> Self:
        match event.kind:
            case "started" if event.task is not None:
                return replace(self, in_flight={**self.in_flight, event.task.id: event.task})
            case "stopping":
                return replace(self, in_flight={task.id: task for task in event.tasks})
            case "finished" | "known" if event.outcome is not None:
                return self._after_outcome(event.outcome, is_known=event.kind == "known")
            case "chosen" if event.cell is not None and event.choice is not None:
                return self._after_choice(event.cell, event.choice)
            case "not_chosen" if event.cell is not None:
                return self._with_cell(event.cell, why_no_choice=event.reason)
            case "cell_done" if event.cell is not None:
                return self._with_cell(event.cell, is_over=True)
        return self

    def _after_outcome(self, outcome: Outcome, *, is_known: bool) -> Self:
        key = (outcome.task.dataset, outcome.task.model)
        return replace(
            self,
            cells={**self.cells, key: self.cells[key].after(outcome)},
            in_flight={name: task for name, task in self.in_flight.items() if name != outcome.task.id},
            n_known_done=self.n_known_done + (is_known and not outcome.failed),
            n_known_failed=self.n_known_failed + (is_known and outcome.failed),
        )

    def _after_choice(self, cell: "Cell", choice: "Choice") -> Self:
        """What is left of a cell is then known: a task for each seed."""
        before = self.cells[cell.dataset, cell.model]
        n_most = before.n_done + before.n_failed + cell.n_seeds
        return self._with_cell(cell, validation=choice.score, n_most=n_most, may_be_fewer=False)

    def _with_cell(self, cell: "Cell", **changes: Any) -> Self:
        key = (cell.dataset, cell.model)
        return replace(self, cells={**self.cells, key: replace(self.cells[key], **changes)})

    @cached_property
    def n_done(self) -> int:
        return sum(cell.n_done for cell in self.cells.values())

    @cached_property
    def n_failed(self) -> int:
        return sum(cell.n_failed for cell in self.cells.values())

    @property
    def n_ended(self) -> int:
        return self.n_done + self.n_failed

    @property
    def n_run(self) -> int:
        return self.n_ended - self.n_known

    @property
    def n_without_choice(self) -> int:
        return sum(bool(cell.why_no_choice) for cell in self.cells.values())

    @property
    def n_most(self) -> int:
        return self.n_ended + sum(cell.n_left for cell in self.cells.values())

    @property
    def is_exact(self) -> bool:
        """Whether there will be as many tasks as ``n_most``, unless a search finds nothing to choose."""
        return not any(cell.may_be_fewer and not cell.is_over for cell in self.cells.values())

    @property
    def n_known(self) -> int:
        """How many of the tasks that ended had ended before this run."""
        return self.n_known_done + self.n_known_failed

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What to call models and datasets where people read along: no modules, where that leaves no doubt."""
        datasets, models = (dict.fromkeys(names) for names in zip(*self.cells, strict=True)) if self.cells else ((), ())
        return {**short_names(datasets), **short_names(models)}

    def told_task(self, task: Task) -> str:
        """A task in one line."""
        return task.told(self.names)

    def told_cell(self, cell: "Cell | Task") -> str:
        """A model on a dataset."""
        return f"{self.names[cell.model]} on {self.names[cell.dataset]}"

    @property
    def running(self) -> tuple[Task, ...]:
        """What the workers are at now: each takes the oldest task that it finds."""
        return tuple(self.in_flight.values())[: self.n_workers]

    @property
    def seconds_left(self) -> float | None:
        """At most so long, by what tasks took so far; None while a model that is to run has not been timed at all."""
        if not self.n_workers:  # a cluster may have lost them all
            return None
        # A dataset with many tasks says no more of its model than others do.
        means: dict[str, list[float]] = {}
        for (_, model), cell in self.cells.items():
            if cell.n_timed:
                means.setdefault(model, []).append(cell.seconds / cell.n_timed)
        total = 0.0
        for (_, model), cell in self.cells.items():
            if cell.n_left and model not in means:
                return None
            if cell.n_left:
                each = cell.seconds / cell.n_timed if cell.n_timed else statistics.fmean(means[model])
                total += cell.n_left * each
        return total / self.n_workers

    def best(self) -> dict[str, Best]:
        """The leader on each dataset that has scores."""
        leaders: dict[str, Best] = {}
        for (dataset, model), cell in self.cells.items() if self.has_scores else ():
            if cell.test:
                found = Best(model, "test", cell.metric, statistics.fmean(cell.test), len(cell.test))
            elif cell.validation is not None:
                found = Best(model, "validation", cell.metric, cell.validation, 0)
            else:
                continue
            # A score on the test part is what counts; one of a search only stands in for it. The first of equals leads.
            leader = leaders.get(dataset, found)
            leaders[dataset] = max(leader, found, key=lambda each: (each.part == "test", each.score))
        return leaders


Facts = dict[str, Any]


def store_facts(store: "Store") -> Facts:
    """All that a store tells of the benchmark in it, as plain JSON values, but for the details of single tasks.

    They are "store", "n_done", "n_failed", "phases", "numerics" (tasks by version of mcquack's arithmetic), "cells"
    (each model on each dataset, those of the last run first), "failures" and "runs".
    """
    phases = {phase: store.counts(phase=phase) for phase in get_args(Phase)}
    runs = store.runs()
    return {
        "store": str(store.path),
        "n_done": sum(each.done for each in phases.values()),
        "n_failed": sum(each.failed for each in phases.values()),
        "phases": {phase: {"n_done": each.done, "n_failed": each.failed} for phase, each in phases.items()},
        "numerics": {str(version): n_tasks for version, n_tasks in store.numerics().items()},
        "cells": list(_cell_facts(store, runs[-1].pairs if runs else ())),
        "failures": [
            {"id": outcome.task.id, **outcome.task.to_json(), "reason": " ".join(outcome.reason.split())}
            for outcome in store.outcomes(failed=True, details=False)
        ],
        "runs": [
            {
                **{name: getattr(run, name) for name in ("command", "suite", "started", "ended", "how")},
                "environment": dict(run.environment.facts),
            }
            for run in runs
        ],
    }


def _cell_facts(store: "Store", asked: Iterable[CellKey]) -> Iterator[Facts]:
    """The cells of the last run in their order, begun or not, then others that the store has."""
    ended: dict[CellKey, Counter[bool]] = defaultdict(Counter)
    kinds: dict[CellKey, set[str]] = defaultdict(set)
    for outcome in store.outcomes(details=False):
        key = outcome.task.dataset, outcome.task.model
        ended[key][outcome.failed] += 1
        kinds[key].add(outcome.task.auc_scores)
    choices = store.choices()
    final = {outcome.task.id: outcome for outcome in store.final_outcomes(details=False)}
    for key in dict.fromkeys((*asked, *sorted(ended))):
        found = {"dataset": key[0], "model": key[1], "n_done": ended[key][False], "n_failed": ended[key][True]}
        yield {**found, "auc_scores": sorted(kinds[key]), **_score_facts(choices.get(key), final)}


def _score_facts(choice: "Choice | None", final: Mapping[str, Outcome]) -> Facts:
    if choice is None:
        unknown = ("search", "settings", "metric", "validation", "n_seeds", "n_seeds_done", "test", "spread")
        return {**dict.fromkeys(unknown), "n_seeds_done": 0}
    outcomes = [final[task_id] for task_id in choice.final_ids if task_id in final]
    scores = [score for outcome in outcomes if (score := outcome.score("test", choice.metric)) is not None]
    return {
        "search": choice.search,
        "settings": dict(choice.settings),
        "metric": choice.metric,
        "validation": choice.score,
        "n_seeds": len(choice.final_ids),
        "n_seeds_done": sum(not outcome.failed for outcome in outcomes),
        "test": statistics.fmean(scores) if scores else None,
        "spread": statistics.pstdev(scores) if scores else None,
    }
