"""How far a benchmark is, counted from its events, and shown while it runs."""

import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from mcquack.bench.task import Metric, Outcome, Part, Task, short_names
from mcquack.progress import Clock, SafeConsole, View, can_draw, counted, displayed, duration, seconds_left, tell

if TYPE_CHECKING:  # so that a command line can show its help before it imports what runs a benchmark
    from rich.console import Console

    from mcquack.bench.executors import Executor
    from mcquack.bench.plan import Cell
    from mcquack.bench.runner import Event

CellKey = tuple[str, str]  # dataset and model

_SHOWN_TASKS = 8  # of those that run; below them come the best models


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
    def score(self) -> "Score | None":
        """The scores on the test part, or before there are any that of the search."""
        if self.test:
            return Score("test", self.metric, tuple(sorted(self.test)))  # in whatever order seeds ended
        return None if self.validation is None else Score("validation", self.metric, (self.validation,))

    @property
    def n_left(self) -> int:
        """How many tasks are left, at most."""
        return 0 if self.is_over else max(self.n_most - self.n_done - self.n_failed, 0)

    def after(self, outcome: Outcome) -> Self:
        """Return the progress after one more task."""
        score = outcome.score("test", self.metric)
        return replace(
            self,
            n_done=self.n_done + (not outcome.failed),
            n_failed=self.n_failed + outcome.failed,
            n_timed=self.n_timed + bool(outcome.seconds),
            seconds=self.seconds + sum(outcome.seconds.values()),
            test=self.test if score is None else (*self.test, score),
        )


class Score(NamedTuple):
    """The score of a cell: one on the test part for each seed, or that of a search on the validation part."""

    part: Part
    metric: Metric
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    def __str__(self) -> str:
        spread = f" ± {statistics.pstdev(self.values):.3f}" if len(self.values) > 1 else ""
        seeds = f" ({counted(len(self.values), 'seed')})" if self.part == "test" else ""
        return f"{self.part} {metric_name(self.metric)} {self.mean:.3f}{spread}{seeds}"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far all cells of a run are.

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
        """Return the progress before the first event."""
        return cls(
            cells={
                (each.dataset, each.model): CellProgress(
                    n_most=each.most_tasks, metric=each.metric, may_be_fewer=each.method.kind == "optuna"
                )
                for each in cells
            }
        )

    def after(self, event: "Event") -> Self:
        """Return the progress after an event."""
        match event.kind:
            case "started" if event.task is not None:
                return replace(self, in_flight={**self.in_flight, event.task.id: event.task})
            case "stopping":
                return replace(self, in_flight={task.id: task for task in event.tasks})
            case "finished" | "known" if event.outcome is not None:
                return self._after_outcome(event.outcome, is_known=event.kind == "known")
            case "chosen" if event.cell is not None and event.choice is not None:
                before = self.cells[event.cell.dataset, event.cell.model]
                n_most = before.n_done + before.n_failed + event.cell.n_seeds  # what is left is a task for each seed
                return self._with_cell(event.cell, validation=event.choice.score, n_most=n_most, may_be_fewer=False)
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
        """The names of models and datasets to show: without modules, unless two would then be the same."""
        datasets, models = (dict.fromkeys(names) for names in zip(*self.cells, strict=True)) if self.cells else ((), ())
        return {**short_names(datasets), **short_names(models)}

    def task_text(self, task: Task) -> str:
        """Return a task in one line."""
        return task.text(self.names)

    def cell_text(self, cell: "Cell | Task") -> str:
        """Return the model and the dataset of a cell or task."""
        return f"{self.names[cell.model]} on {self.names[cell.dataset]}"

    @property
    def running(self) -> tuple[Task, ...]:
        """The tasks that run now: each worker takes the oldest."""
        return tuple(self.in_flight.values())[: self.n_workers]

    @property
    def seconds_left(self) -> float | None:
        """The most seconds left, by what tasks took so far; None while a model that is to run was never timed."""
        # A dataset with many tasks says no more of its model than others do.
        of_one: dict[str, list[float]] = {}
        for (_, model), cell in self.cells.items():
            if (seconds := seconds_left(cell.seconds, done=cell.n_timed, left=1)) is not None:
                of_one.setdefault(model, []).append(seconds)
        total = 0.0
        for (_, model), cell in self.cells.items():
            if cell.n_left and model not in of_one:
                return None
            if cell.n_left:
                known = seconds_left(cell.seconds, done=cell.n_timed, left=cell.n_left)
                total += cell.n_left * statistics.fmean(of_one[model]) if known is None else known
        return total / self.n_workers if self.n_workers else None  # a cluster may have lost all workers

    def best(self) -> dict[str, tuple[str, Score]]:
        """Return the best model on each dataset that has scores, with its score; any test score beats the others."""
        best: dict[str, tuple[str, Score]] = {}
        for (dataset, model), cell in self.cells.items() if self.has_scores else ():
            if (score := cell.score) is not None:
                found = (best.get(dataset, (model, score)), (model, score))  # the first of equals leads
                best[dataset] = max(found, key=lambda each: (each[1].part == "test", each[1].mean))
        return best

    def view(self, elapsed: float) -> View:
        """Return what is shown after so many seconds."""
        names = self.names
        leaders = [f"best on {names[key]}: {names[model]}, {score}" for key, (model, score) in self.best().items()]
        failed = f" ({self.n_known_failed:,} failed)" if self.n_known_failed else ""
        facts = (
            f"{self.n_failed:,} failed",
            f"{len(self.running)} running",
            f"{self.n_known:,} before this run{failed}" if self.n_known else "",
            "" if self.is_exact else "searches may end early",
            f"{self.n_run / elapsed:.2g} per second" if elapsed > 0 and self.n_run else "",
        )
        return View(
            unit="task",
            n_done=self.n_ended,
            n_most=self.n_most,
            is_exact=self.is_exact,
            seconds_left=self.seconds_left,
            facts=tuple(filter(None, facts)),
            lines=[*map(self.task_text, self.running[:_SHOWN_TASKS]), *leaders[::-1]],
        )


def shown(
    events: Iterable["Event"],
    progress: Progress,
    *,
    executor: "Executor",
    console: "Console | None" = None,
    clock: Clock = time.monotonic,
) -> Iterator[Progress]:
    """Yield the progress after each event of a run, and show it on stderr.

    ``progress`` is that before the first event, and ``executor`` has the workers that do the tasks.
    """
    where = console or SafeConsole(stderr=True)

    def steps() -> Iterator[Progress]:
        nonlocal progress
        for event in events:
            progress = replace(progress.after(event), n_workers=executor.n_workers)
            for note in _notes(event, progress, is_log=not can_draw(where)):
                tell(note, where)
            yield progress

    return displayed(steps(), lambda elapsed: progress.view(elapsed), console=where, clock=clock)


def _notes(event: "Event", progress: Progress, *, is_log: bool) -> Iterator[str]:
    """Yield what is said of an event at once; a log also gets a line for each cell, which a table shows elsewhere."""
    match event.kind:
        case "stopping":
            yield "Stopping: the tasks that run are waited for and kept. Ctrl-C again stops at once."
        case "lost" if event.task is not None:
            yield f"A worker was lost; to be tried again: {progress.task_text(event.task)}."
        case "not_chosen" if event.cell is not None:
            yield f"{progress.cell_text(event.cell)}: no settings could be chosen: {event.reason}."
        case "finished" if event.outcome is not None and event.outcome.failed:
            task = event.outcome.task
            if progress.cells[task.dataset, task.model].n_failed == 1:  # others may fail alike
                yield f"{progress.cell_text(task)} failed: {' '.join(event.outcome.reason.split())}"
        case "cell_done" if event.cell is not None and is_log:
            cell = progress.cells[event.cell.dataset, event.cell.model]
            failed = f", {cell.n_failed:,} failed" if cell.n_failed else ""
            score = f"{cell.score or 'no scores'}; " if progress.has_scores else ""
            done = f"{counted(cell.n_done, 'task')} done{failed}, {duration(cell.seconds)}"
            yield f"{progress.cell_text(event.cell)}: {score}{done}"


def metric_name(metric: str) -> str:
    """Return a metric as people write it, as "balanced accuracy"."""
    return metric.replace("_", " ")
