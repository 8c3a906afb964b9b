"""The loop of a benchmark: what the store lacks is done, and stored as soon as it is."""

import heapq
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from queue import SimpleQueue
from typing import Literal

from mcquack.bench.executors.executor import Executor, Interrupts
from mcquack.bench.outcome import Outcome, current_environment
from mcquack.bench.plan import Cell, Choice, Plan, Step, plan
from mcquack.bench.store import Store
from mcquack.bench.task import Task
from mcquack.errors import WorkerLostError

# The tasks that workers have, and what becomes of those whose worker dies.


@dataclass(frozen=True, kw_only=True)
class Landing:
    """A task that came back: with its outcome, or without because its worker was lost or never began it."""

    task: Task
    outcome: Outcome | None = None


class Flight:
    """Tasks between their submission and their outcome.

    When a worker dies, nobody knows which of the tasks it had is to blame. All that came back without an outcome are
    tried again, one at a time and with nothing else in flight: the one that loses its worker then has failed.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._landed: SimpleQueue[Future[Outcome] | None] = SimpleQueue()
        self._tasks: dict[Future[Outcome], Task] = {}
        self._suspects: deque[Task] = deque()
        self._trial: Task | None = None  # the suspect that flies alone now
        self._losses: Counter[str] = Counter()
        self._stopped = False

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All that are to come back, in the order of their submission."""
        return (*self._tasks.values(), *self._suspects)

    @property
    def n_free(self) -> int:
        """How many more tasks the workers can do with now."""
        if self._stopped or self._suspects or self._trial is not None:
            return 0
        n_workers = max(1, self._executor.n_workers)  # a cluster may be without any until the next comes
        return max(0, self._executor.tasks_per_worker * n_workers - len(self._tasks))

    def send(self, task: Task) -> None:
        """Hands it to the workers."""
        future = self._executor.submit(task)
        self._tasks[future] = task
        future.add_done_callback(self._landed.put)

    def wake(self) -> None:
        """Ends the wait for a landing; safe to call from a signal handler."""
        self._landed.put(None)

    def stop(self) -> None:
        """From now on tasks only come back: those that a worker has begun with an outcome, the others without."""
        self._stopped = True
        self._suspects.clear()
        self._executor.stop()

    def landing(self) -> Landing | None:
        """Waits for the next task that comes back; None if woken."""
        if not self._tasks:
            self._try_suspect()
        future = self._landed.get()
        if future is None:
            return None
        task = self._tasks.pop(future)
        was_alone, self._trial = task is self._trial, None
        if future.cancelled():
            return self._sent_back(task)
        error = future.exception()
        if error is None:
            return Landing(task=task, outcome=future.result())
        if isinstance(error, WorkerLostError):
            return self._lost(task, error, was_alone=was_alone)
        return Landing(task=task, outcome=_failure(task, error))

    def _try_suspect(self) -> None:
        if self._suspects:
            self._trial = self._suspects.popleft()
            self.send(self._trial)

    def _lost(self, task: Task, error: WorkerLostError, *, was_alone: bool) -> Landing:
        self._losses[task.id] += was_alone
        if self._losses[task.id] >= self._executor.n_trials_alone:
            return Landing(task=task, outcome=_failure(task, error))
        return self._sent_back(task)

    def _sent_back(self, task: Task) -> Landing:
        if not self._stopped:
            self._suspects.append(task)
        return Landing(task=task)


def _failure(task: Task, error: BaseException) -> Outcome:
    """The row of a task whose evaluation could not tell of its failure itself."""
    return Outcome(
        task=task,
        environment=current_environment(),
        error="".join(traceback.format_exception(error)),
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


# What a run tells while it goes on.

EventKind = Literal[
    "planned",  # a cell asks for ``tasks``; some of them may be known already
    "known",  # ``outcome`` was in the store, or another cell asked for it too
    "chosen",  # the search of a cell ended in ``choice``, and the store has it
    "not_chosen",  # the search of a cell ended without a choice, for this ``reason``
    "started",  # ``task`` was handed to the workers, who begin it as soon as one is free
    "finished",  # ``outcome`` is in the store, be it a success or a failure
    "lost",  # the worker of ``task`` died; it will be tried again, alone
    "cell_done",  # all that ``cell`` asks for is in the store, be it that nothing could be chosen
    "stopping",  # nothing more is begun, and ``tasks`` are waited for
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened, with the values that belong to it."""

    kind: EventKind
    cell: Cell | None = None
    task: Task | None = None
    tasks: tuple[Task, ...] = ()
    outcome: Outcome | None = None
    choice: Choice | None = None
    reason: str = ""


# Which tasks can be done now: the plans of all cells, advanced by the outcomes that come in.


class Agenda:
    """The tasks that the store lacks, those of earlier cells first.

    Cells are opened only when there is need of their tasks, since each open one takes memory for its search. What a
    plan is told does not depend on the order in which its tasks end.
    """

    def __init__(
        self, cells: Iterable[Cell], store: Store, *, retry_failed: bool, plan: Callable[[Cell], Plan]
    ) -> None:
        self._store = store
        self._plan = plan
        self._known = _known_ids(store, retry_failed=retry_failed)
        self._unopened = iter(cells)
        self._numbers = count()
        self._ready: list[tuple[int, int, Task]] = []  # a heap by cell and by the order in its step
        self._waiting: dict[str, list[_Progress]] = {}  # who waits for the outcome of a task, by its id

    def opened(self, n_tasks: int) -> Iterator[Event]:
        """Opens cells until ``n_tasks`` are ready, or no cell is left."""
        while len(self._ready) < n_tasks:
            cell = next(self._unopened, None)
            if cell is None:
                return
            progress = _Progress(cell, self._plan(cell), number=next(self._numbers))
            yield from self._advanced(progress)

    def next_task(self) -> Task | None:
        """The one to do next; None if none is ready."""
        return heapq.heappop(self._ready)[-1] if self._ready else None

    def cell_of(self, task: Task) -> Cell:
        """The first cell that waits for a task."""
        return self._waiting[task.id][0].cell

    def settled(self, outcome: Outcome) -> Iterator[Event]:
        """Tells all cells that wait for an outcome, which by now is in the store."""
        self._known.add(outcome.task.id)
        for position, progress in enumerate(self._waiting.pop(outcome.task.id)):
            progress.take(outcome)
            if position:
                yield Event(kind="known", cell=progress.cell, outcome=outcome)
            if not progress.missing:
                yield from self._advanced(progress)

    def _advanced(self, progress: "_Progress") -> Iterator[Event]:
        """Takes step after step until one has tasks that are still to be done."""
        while (step := progress.next_step()) is not None:
            if step.choice is not None:
                self._store.choose(step.choice)
                yield Event(kind="chosen", cell=progress.cell, choice=step.choice)
            if step.why_no_choice:
                yield Event(kind="not_chosen", cell=progress.cell, reason=step.why_no_choice)
            yield Event(kind="planned", cell=progress.cell, tasks=step.tasks)
            yield from self._asked(progress)
            if progress.missing:
                return
        yield Event(kind="cell_done", cell=progress.cell)

    def _asked(self, progress: "_Progress") -> Iterator[Event]:
        for order, task in enumerate(tuple(progress.missing.values())):
            outcome = self._store.outcome(task.id) if task.id in self._known else None
            if outcome is not None:
                progress.take(outcome)
                yield Event(kind="known", cell=progress.cell, outcome=outcome)
            elif task.id in self._waiting:
                self._waiting[task.id].append(progress)
            else:
                self._waiting[task.id] = [progress]
                heapq.heappush(self._ready, (progress.number, order, task))


class _Progress:
    """How far the plan of a cell has come."""

    def __init__(self, cell: Cell, plan: Plan, *, number: int) -> None:
        self.cell = cell
        self.number = number
        self.missing: dict[str, Task] = {}  # of this step, by id
        self._plan = plan
        self._step: Step | None = None
        self._outcomes: dict[str, Outcome] = {}

    def take(self, outcome: Outcome) -> None:
        """One that this step was missing."""
        del self.missing[outcome.task.id]
        self._outcomes[outcome.task.id] = outcome

    def next_step(self) -> Step | None:
        """What the plan makes of the outcomes of its last step; None at its end."""
        try:
            self._step = next(self._plan) if self._step is None else self._plan.send(self._answers(self._step))
        except StopIteration:
            return None
        self.missing = {task.id: task for task in self._step.tasks}
        self._outcomes = {}
        return self._step

    def _answers(self, step: Step) -> dict[str, Outcome]:
        """In the order of the tasks, whatever that of their ends was."""
        return {task.id: self._outcomes[task.id] for task in step.tasks}


def _known_ids(store: Store, *, retry_failed: bool) -> set[str]:
    failed = store.failed_ids()
    return store.finished_ids() - failed if retry_failed else store.finished_ids() | failed


def run(
    cells: Iterable[Cell],
    store: Store,
    executor: Executor,
    *,
    retry_failed: bool = False,
    plan_of: Callable[[Cell], Plan] = plan,
) -> Generator[Event, None, None]:
    """Does all tasks of the cells that the store lacks; run it again after any break, and none is done twice.

    To stop, close it, press Ctrl-C or throw KeyboardInterrupt: the tasks that workers have begun are still waited for
    and stored, unless Ctrl-C comes again. Unless closed, it goes on to yield until then, and KeyboardInterrupt comes
    last. Failures of an earlier run stand, unless ``retry_failed``.
    """
    agenda = Agenda(cells, store, retry_failed=retry_failed, plan=plan_of)
    flight = Flight(executor)
    with Interrupts(flight.wake) as interrupts:
        try:
            try:
                for event in _worked_off(agenda, flight, store):
                    yield event
                    if interrupts.noted:
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                yield from _brought_home(agenda, flight, store)
                raise
        except GeneratorExit:  # nobody listens any more, but what was begun is worth its wait
            for _ in _brought_home(agenda, flight, store):
                pass
            raise


def _worked_off(agenda: Agenda, flight: Flight, store: Store) -> Iterator[Event]:
    """All tasks of all cells."""
    while True:
        yield from agenda.opened(flight.n_free)
        yield from _sent(agenda, flight)
        if not flight.tasks:
            return
        landing = flight.landing()
        if landing is None:
            raise KeyboardInterrupt
        if landing.outcome is not None:
            yield _stored(landing.outcome, agenda, store)
            yield from agenda.settled(landing.outcome)
        else:
            yield Event(kind="lost", cell=agenda.cell_of(landing.task), task=landing.task)


def _sent(agenda: Agenda, flight: Flight) -> Iterator[Event]:
    """As many tasks as the workers can do with."""
    while flight.n_free and (task := agenda.next_task()) is not None:
        flight.send(task)
        yield Event(kind="started", cell=agenda.cell_of(task), task=task)


def _brought_home(agenda: Agenda, flight: Flight, store: Store) -> Iterator[Event]:
    """Only what workers have begun."""
    flight.stop()
    yield Event(kind="stopping", tasks=flight.tasks)
    while flight.tasks:
        landing = flight.landing()
        if landing is not None and landing.outcome is not None:
            yield _stored(landing.outcome, agenda, store)


def _stored(outcome: Outcome, agenda: Agenda, store: Store) -> Event:
    store.add(outcome)
    return Event(kind="finished", cell=agenda.cell_of(outcome.task), outcome=outcome)
