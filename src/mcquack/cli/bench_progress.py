"""A benchmark made visible while it runs: a live view on a terminal, a few plain lines elsewhere."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mcquack.bench.progress import CellProgress, Progress
from mcquack.cli.console import bare_table, plain_console, tell

if TYPE_CHECKING:
    from mcquack.bench.executors import Executor
    from mcquack.bench.runner import Event

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
    """Shows on stderr how far a run is, and hands on what each event makes of it."""
    console = plain_console(stderr=True)
    steps = _steps(events, start, executor=executor)
    if not console.is_interactive:
        return _with_lines(steps, clock=clock)
    return _with_live_view(steps, start, clock=clock, console=console)


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
    bar = Table.grid()  # a bar alone would leave its line open
    bar.add_row(ProgressBar(total=max(progress.n_most, 1), completed=progress.n_ended, width=_WIDEST_BAR))
    return Group(
        bar,
        *map(Text, (" · ".join(facts) for facts in (_counts(progress), _times(progress, elapsed=elapsed)))),
        *(Text(progress.told_task(task), style="dim", no_wrap=True, overflow="ellipsis") for task in running),
        *_leaders(progress, n_rows=n_rows - len(running)),
    )


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
        table.add_row(
            progress.names[dataset], progress.names[leader.model], f"{leader.score:.3f}", f"{leader.part}{seeds}"
        )
    yield table


def _counts(progress: Progress) -> Iterator[str]:
    most = "" if progress.is_exact else "at most "
    yield f"{progress.n_ended:,} of {most}{counted(progress.n_most, 'task')}{_before(progress.n_known)}"
    yield f"{progress.n_failed:,} failed{_before(progress.n_known_failed)}"
    yield f"{len(progress.running)} running"


def _before(n_known: int) -> str:
    return f" ({n_known:,} before this run)" if n_known else ""


def _times(progress: Progress, *, elapsed: float) -> Iterator[str]:
    left = progress.seconds_left
    yield f"{progress.n_run / elapsed:.2g} per second" if elapsed > 0 and progress.n_run else "– per second"
    yield f"{duration(elapsed)} so far"
    yield "– left" if left is None else f"about {duration(left)} left"


def _notes(event: "Event", progress: Progress) -> Iterator[str]:
    if event.kind == "stopping":
        yield "Stopping: the tasks that run are waited for and kept. Ctrl-C again stops at once."
    elif event.kind == "lost" and event.task is not None:
        yield f"A worker was lost; to be tried again: {progress.told_task(event.task)}."
    elif event.kind == "not_chosen" and event.cell is not None:
        yield f"{progress.told_cell(event.cell)}: no settings could be chosen: {event.reason}."
    elif event.kind == "finished" and event.outcome is not None and event.outcome.failed:
        task = event.outcome.task
        if progress.cells[task.dataset, task.model].n_failed == 1:  # others may fail alike
            yield f"{progress.told_cell(task)} failed: {' '.join(event.outcome.reason.split())}"


def _cell_notes(event: "Event", progress: Progress) -> Iterator[str]:
    if event.kind == "cell_done" and event.cell is not None:
        cell = progress.cells[event.cell.dataset, event.cell.model]
        failed = f", {cell.n_failed:,} failed" if cell.n_failed else ""
        done = f"{counted(cell.n_done, 'task')} done{failed}, {duration(cell.seconds)}"
        score = f"{score_text(cell)}; " if progress.has_scores else ""
        yield f"{progress.told_cell(event.cell)}: {score}{done}"


def counted(count: int, noun: str) -> str:
    """A number with its noun, as "1 task" or "1,200 tasks"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float | None) -> str:
    """Seconds as people read them; a dash where nobody knows."""
    if seconds is None:
        return "–"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


def metric_name(metric: str) -> str:
    """A metric as people write it, as "balanced accuracy"."""
    return metric.replace("_", " ")


def score_text(cell: CellProgress) -> str:
    """The mean over seeds and how far they spread, or before that the score of the search."""
    if cell.test:
        spread = f" ± {statistics.pstdev(cell.test):.3f}" if len(cell.test) > 1 else ""
        return f"test {metric_name(cell.metric)} {statistics.fmean(cell.test):.3f}{spread}"
    if cell.validation is not None:
        return f"validation {metric_name(cell.metric)} {cell.validation:.3f}"
    return "no scores"
