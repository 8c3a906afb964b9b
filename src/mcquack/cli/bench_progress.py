"""How far a benchmark is, as a value: every event of the runner turns it into the next one."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mcquack.bench.outcome import Metric, Outcome, Part
from mcquack.bench.task import Task
from mcquack.cli.console import bare_table, tell

if TYPE_CHECKING:
    from mcquack.bench.executors.executor import Executor
    from mcquack.bench.plan import Cell
    from mcquack.bench.runner import Event

CellKey = tuple[str, str]  # dataset and model


@dataclass(frozen=True, kw_only=True)
class CellProgress:
    """How far one model on one dataset is.

    ``n_most`` bounds its tasks from above: a search may stop early. ``validation`` is the score that its settings were
    chosen by, ``test`` has a score for each seed that was done, ``why_no_choice`` tells why a search ended without one.
    """

    n_most: int
    metric: Metric
    n_done: int = 0
    n_failed: int = 0
    n_timed: int = 0
    seconds: float = 0.0
    validation: float | None = None
    test: tuple[float, ...] = ()
    why_no_choice: str = ""
    is_over: bool = False

    @property
    def n_ended(self) -> int:
        """Done or failed."""
        return self.n_done + self.n_failed

    @property
    def n_left(self) -> int:
        """At most so many tasks are still to be run."""
        return 0 if self.is_over else max(self.n_most - self.n_ended, 0)

    def after(self, outcome: Outcome) -> Self:
        """With one more task ended."""
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
    """How far all of it is.

    ``in_flight`` has the tasks that the workers were given, the oldest first; they are more than run at once.
    Of the tasks that had ended before this run, ``n_known_done`` have scores and ``n_known_failed`` an error.
    """

    cells: Mapping[CellKey, CellProgress]
    in_flight: Mapping[str, Task] = field(default_factory=dict)
    n_known_done: int = 0
    n_known_failed: int = 0
    n_workers: int = 1

    @classmethod
    def before(cls, cells: Iterable["Cell"]) -> Self:
        """Nothing is done yet."""
        from mcquack.bench.plan import most_tasks  # not above: it would delay every --help

        return cls(cells={_key(cell): CellProgress(n_most=most_tasks(cell), metric=cell.metric) for cell in cells})

    def after(self, event: "Event") -> Self:
        """What the event makes of it."""
        match event.kind:
            case "started" if event.task is not None:
                return replace(self, in_flight={**self.in_flight, event.task.id: event.task})
            case "stopping":
                return replace(self, in_flight={task.id: task for task in event.tasks})
            case "finished" | "known" if event.outcome is not None:
                return self._after_outcome(event.outcome, is_known=event.kind == "known")
            case "chosen" if event.cell is not None and event.choice is not None:
                return self._with_cell(_key(event.cell), validation=event.choice.score)
            case "not_chosen" if event.cell is not None:
                return self._with_cell(_key(event.cell), why_no_choice=event.reason)
            case "cell_done" if event.cell is not None:
                return self._with_cell(_key(event.cell), is_over=True)
        return self

    def _after_outcome(self, outcome: Outcome, *, is_known: bool) -> Self:
        key = (outcome.task.dataset, outcome.task.model)
        in_flight = {name: task for name, task in self.in_flight.items() if name != outcome.task.id}
        cells = {**self.cells, key: self.cells[key].after(outcome)}
        return replace(
            self,
            cells=cells,
            in_flight=in_flight,
            n_known_done=self.n_known_done + (is_known and not outcome.failed),
            n_known_failed=self.n_known_failed + (is_known and outcome.failed),
        )

    def _with_cell(self, key: CellKey, **changes: Any) -> Self:
        return replace(self, cells={**self.cells, key: replace(self.cells[key], **changes)})

    @cached_property
    def n_done(self) -> int:
        """Tasks that have scores."""
        return sum(cell.n_done for cell in self.cells.values())

    @cached_property
    def n_failed(self) -> int:
        """Tasks that have an error in place of scores."""
        return sum(cell.n_failed for cell in self.cells.values())

    @property
    def n_ended(self) -> int:
        """Done or failed, in this run or before."""
        return self.n_done + self.n_failed

    @property
    def n_run(self) -> int:
        """Ended in this run."""
        return self.n_ended - self.n_known_done - self.n_known_failed

    @property
    def n_without_choice(self) -> int:
        """Models on datasets for which no settings could be chosen."""
        return sum(bool(cell.why_no_choice) for cell in self.cells.values())

    @property
    def n_most(self) -> int:
        """The tasks there are, at most; it shrinks where a search stops early."""
        return self.n_ended + sum(cell.n_left for cell in self.cells.values())

    @property
    def running(self) -> tuple[Task, ...]:
        """What the workers are at now: each takes the oldest task that it finds."""
        return tuple(self.in_flight.values())[: self.n_workers]

    @property
    def seconds_left(self) -> float | None:
        """At most so long, by what tasks took so far; None while a model that is to run has not been timed at all."""
        if not self.n_workers:  # a cluster may have lost them all
            return None
        of_models = self._seconds_by_model
        total = 0.0
        for (_, model), cell in self.cells.items():
            if not cell.n_left:
                continue
            each = cell.seconds / cell.n_timed if cell.n_timed else of_models.get(model)
            if each is None:
                return None
            total += cell.n_left * each
        return total / self.n_workers

    @property
    def _seconds_by_model(self) -> dict[str, float]:
        """The mean over datasets of the mean over tasks: a dataset with many tasks says no more than others."""
        means: dict[str, list[float]] = {}
        for (_, model), cell in self.cells.items():
            if cell.n_timed:
                means.setdefault(model, []).append(cell.seconds / cell.n_timed)
        return {model: statistics.fmean(each) for model, each in means.items()}

    def best(self) -> dict[str, Best]:
        """The leader on each dataset that has any score."""
        leaders: dict[str, Best] = {}
        for dataset, candidate in self._candidates():
            leader = leaders.get(dataset)
            # A score on the test part is what counts; one of a search only stands in for it.
            if leader is None or _weight(candidate) > _weight(leader):
                leaders[dataset] = candidate
        return leaders

    def _candidates(self) -> Iterator[tuple[str, Best]]:
        for (dataset, model), cell in self.cells.items():
            if cell.test:
                yield dataset, Best(model, "test", cell.metric, statistics.fmean(cell.test), len(cell.test))
            elif cell.validation is not None:
                yield dataset, Best(model, "validation", cell.metric, cell.validation, 0)


def _key(cell: "Cell") -> CellKey:
    return cell.dataset, cell.model


def _weight(best: Best) -> tuple[bool, float]:
    return best.part == "test", best.score


# Numbers of a benchmark in words.


def counted(count: int, noun: str) -> str:
    """As "1 task" or "1,200 tasks"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float | None) -> str:
    """For people; a dash where nobody knows."""
    if seconds is None:
        return "–"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


def metric_name(metric: str) -> str:
    """As "balanced accuracy"."""
    return metric.replace("_", " ")


def score_text(cell: CellProgress) -> str:
    """The mean over seeds and how far they spread, or before that the score of the search."""
    if cell.test:
        spread = f" ± {statistics.pstdev(cell.test):.3f}" if len(cell.test) > 1 else ""
        return f"test {metric_name(cell.metric)} {statistics.fmean(cell.test):.3f}{spread}"
    if cell.validation is not None:
        return f"validation {metric_name(cell.metric)} {cell.validation:.3f}"
    return "no scores"


# A benchmark made visible while it runs: a live view on a terminal, a few plain lines elsewhere.

_REFRESHES_PER_SECOND = 4
_SECONDS_BETWEEN_LINES = 5.0
_WIDEST_BAR = 60
_LINES_ABOVE_DATASETS = 6  # bar, two lines of numbers, titles, and two to spare
_LEAST_SHOWN = 2

Clock = Callable[[], float]
Step = tuple["Event", Progress]


def shown(
    events: Iterable["Event"], start: Progress, *, executor: "Executor", clock: Clock = time.monotonic
) -> Iterator[Progress]:
    """How far it is after each event, shown on stderr."""
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    steps = _steps(events, start, executor=executor)
    if console.is_interactive:
        return _with_live_view(steps, start, clock=clock, console=console)
    return _with_lines(steps, clock=clock)


def _steps(events: Iterable["Event"], progress: Progress, *, executor: "Executor") -> Iterator[Step]:
    for event in events:
        progress = replace(progress.after(event), n_workers=executor.n_workers)
        yield event, progress


def _with_lines(steps: Iterable[Step], *, clock: Clock) -> Iterator[Progress]:
    started = told_at = clock()
    for event, progress in steps:
        for note in (*_notes(event, progress), *_cell_notes(event, progress)):
            tell(note)
        if clock() - told_at >= _SECONDS_BETWEEN_LINES:
            told_at = clock()
            tell(", ".join((*_counts(progress), *_times(progress, elapsed=told_at - started))))
        yield progress


def _with_live_view(steps: Iterable[Step], progress: Progress, *, clock: Clock, console: Console) -> Iterator[Progress]:
    started = clock()

    def view() -> RenderableType:
        # Called by another thread: it reads one value, which never changes under its hands.
        return live_view(progress, elapsed=clock() - started, height=console.height)

    with Live(get_renderable=view, console=console, refresh_per_second=_REFRESHES_PER_SECOND):
        for event, latest in steps:
            progress = latest
            for note in _notes(event, progress):
                console.print(note)
            yield progress


def live_view(progress: Progress, *, elapsed: float, height: int) -> RenderableType:
    """Bar, numbers, what runs now, and who leads where, as far as the terminal has room."""
    n_rows = max(height - _LINES_ABOVE_DATASETS, 2 * _LEAST_SHOWN)
    running = progress.running[: n_rows - _LEAST_SHOWN]
    return Group(
        _bar(progress),
        *map(Text, (" · ".join(facts) for facts in (_counts(progress), _times(progress, elapsed=elapsed)))),
        *(Text(str(task), style="dim", no_wrap=True, overflow="ellipsis") for task in running),
        *_leaders(progress, n_rows=n_rows - len(running)),
    )


def _bar(progress: Progress) -> Table:
    grid = Table.grid()  # a bar alone would leave its line open
    grid.add_row(ProgressBar(total=max(progress.n_most, 1), completed=progress.n_ended, width=_WIDEST_BAR))
    return grid


def _leaders(progress: Progress, *, n_rows: int) -> Iterator[Table]:
    """The datasets that came last, if there is no room for all."""
    best = list(progress.best().items())
    if not best:
        return
    table = bare_table()
    _, first = best[0]  # all cells of a suite have one metric
    for title in ("dataset", "best so far", metric_name(first.metric), "on"):
        table.add_column(title, no_wrap=True, overflow="ellipsis")
    for dataset, leader in best[-n_rows:]:
        seeds = f", {counted(leader.n_seeds, 'seed')}" if leader.n_seeds else ""
        table.add_row(dataset, leader.model, f"{leader.score:.3f}", f"{leader.part}{seeds}")
    yield table


def _counts(progress: Progress) -> Iterator[str]:
    yield f"{progress.n_ended:,} of {counted(progress.n_most, 'task')}"
    yield f"{progress.n_failed:,} failed"
    yield f"{len(progress.running)} running"


def _times(progress: Progress, *, elapsed: float) -> Iterator[str]:
    left = progress.seconds_left
    yield f"{progress.n_run / elapsed:.2g} per second" if elapsed > 0 and progress.n_run else "– per second"
    yield f"{duration(elapsed)} so far"
    yield "– left" if left is None else f"about {duration(left)} left"


def _notes(event: "Event", progress: Progress) -> Iterator[str]:
    """What should not go by unseen."""
    if event.kind == "stopping":
        yield "Stopping: the tasks that run are waited for and kept. Ctrl-C again stops at once."
    elif event.kind == "lost":
        yield f"A worker was lost; to be tried again: {event.task}."
    elif event.kind == "not_chosen":
        yield f"{event.cell}: no settings could be chosen: {event.reason}."
    elif event.kind == "finished" and event.outcome is not None and event.outcome.failed:
        task = event.outcome.task
        if progress.cells[task.dataset, task.model].n_failed == 1:  # others may fail alike
            yield f"{task.model} on {task.dataset} failed: {' '.join(event.outcome.reason.split())}"


def _cell_notes(event: "Event", progress: Progress) -> Iterator[str]:
    if event.kind == "cell_done" and event.cell is not None:
        yield f"{event.cell}: {_cell_text(progress.cells[event.cell.dataset, event.cell.model])}"


def _cell_text(cell: CellProgress) -> str:
    failed = f", {cell.n_failed:,} failed" if cell.n_failed else ""
    return f"{score_text(cell)}; {counted(cell.n_done, 'task')} done{failed}, {duration(cell.seconds)}"
