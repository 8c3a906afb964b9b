"""The loop of a benchmark: what the store lacks is done, and stored as soon as it is."""

import heapq
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue
from typing import Literal

from mcquack.bench.executors import Executor
from mcquack.bench.plan import Cell, Choice, Plan, Step, plan
from mcquack.bench.store import Store
from mcquack.bench.task import Outcome, Task, current_environment, now
from mcquack.errors import StoreError, WorkerLostError
from mcquack.interrupts import interrupts_noted

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
    """One thing that happened in a run, with the values that belong to it."""

    kind: EventKind
    cell: Cell | None = None
    task: Task | None = None
    tasks: tuple[Task, ...] = ()
    outcome: Outcome | None = None
    choice: Choice | None = None
    reason: str = ""


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
    last.

    Parameters
    ----------
    cells : what is wanted, the most urgent first; they are opened only as their tasks are needed.
    store, executor : where outcomes are kept, and who does the tasks. The caller closes both.
    retry_failed : whether failures of an earlier run are tried again; else they stand.
    plan_of : what is to be done for a cell, by default a search and then the final scores.

    Yields
    ------
    Event
        Each thing as it happens; an outcome is in the store before it is told.

    Examples
    --------
    >>> from mcquack.bench import LocalExecutor, Store, read_suite, run
    >>> suite = read_suite("real-world").with_(datasets=["iris3"], models=["svc"], search="none")
    >>> with Store.open("iris.sqlite", create=True) as store, LocalExecutor(jobs=2) as executor:  # doctest: +SKIP
    ...     for event in run(suite.cells(), store, executor):
    ...         print(event.kind, event.task)
    """
    agenda = _Agenda(cells, store, retry_failed=retry_failed, plan_of=plan_of)
    flight = _Flight(executor)
    with interrupts_noted(flight.wake) as interrupts:
        try:
            try:
                for event in _worked_off(agenda, flight, store):
                    yield event
                    if interrupts:
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                yield from _brought_home(agenda, flight, store)
                raise
        except GeneratorExit:  # nobody listens any more, but what was begun is worth its wait
            for _ in _brought_home(agenda, flight, store):
                pass
            raise


def _worked_off(agenda: "_Agenda", flight: "_Flight", store: Store) -> Iterator[Event]:
    while True:
        yield from agenda.opened(flight.n_free)
        while flight.n_free and (task := agenda.next_task()) is not None:
            flight.send(task)
            yield Event(kind="started", cell=agenda.cell_of(task), task=task)
        if not flight.tasks:
            return
        landed = flight.landed()
        if landed is None:
            raise KeyboardInterrupt
        task, outcome = landed
        if outcome is None:
            yield Event(kind="lost", cell=agenda.cell_of(task), task=task)
        else:
            yield _stored(outcome, agenda, store)
            yield from agenda.settled(outcome)


def _brought_home(agenda: "_Agenda", flight: "_Flight", store: Store) -> Iterator[Event]:
    flight.stop()
    yield Event(kind="stopping", tasks=flight.tasks)
    while flight.tasks:
        landed = flight.landed()
        if landed is not None and landed[1] is not None:
            yield _stored(landed[1], agenda, store)


def _stored(outcome: Outcome, agenda: "_Agenda", store: Store) -> Event:
    store.add(outcome)
    return Event(kind="finished", cell=agenda.cell_of(outcome.task), outcome=outcome)


class _Flight:
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
        return (*self._tasks.values(), *self._suspects)

    @property
    def n_free(self) -> int:
        if self._stopped or self._suspects or self._trial is not None:
            return 0
        n_workers = max(1, self._executor.n_workers)  # a cluster may be without any until the next comes
        return max(0, self._executor.tasks_per_worker * n_workers - len(self._tasks))

    def send(self, task: Task) -> None:
        future = self._executor.submit(task)
        self._tasks[future] = task
        future.add_done_callback(self._landed.put)

    def wake(self) -> None:
        self._landed.put(None)

    def stop(self) -> None:
        """From now on tasks only come back: those that a worker has begun with an outcome, the others without."""
        self._stopped = True
        self._suspects.clear()
        self._executor.stop()

    def landed(self) -> tuple[Task, Outcome | None] | None:
        """The next task that comes back, without an outcome if its worker was lost or never began it; None if woken."""
        if not self._tasks and self._suspects:
            self._trial = self._suspects.popleft()
            self.send(self._trial)
        future = self._landed.get()
        if future is None:
            return None
        task = self._tasks.pop(future)
        was_alone, self._trial = task is self._trial, None
        error = None if future.cancelled() else future.exception()
        if error is None and not future.cancelled():
            return task, future.result()
        if isinstance(error, WorkerLostError):
            self._losses[task.id] += was_alone
        is_to_blame = self._losses[task.id] >= self._executor.n_trials_alone
        if error is not None and (is_to_blame or not isinstance(error, WorkerLostError)):
            text = "".join(traceback.format_exception(error))
            return task, Outcome(task=task, environment=current_environment(), error=text, finished_at=now())
        if not self._stopped:
            self._suspects.append(task)
        return task, None


class _Agenda:
    """The tasks that the store lacks, those of earlier cells first.

    Cells are opened only when there is need of their tasks, since each open one takes memory for its search. What a
    plan is told does not depend on the order in which its tasks end.
    """

    def __init__(
        self, cells: Iterable[Cell], store: Store, *, retry_failed: bool, plan_of: Callable[[Cell], Plan]
    ) -> None:
        self._store = store
        self._plan_of = plan_of
        self._known = store.finished_ids() | (set() if retry_failed else store.failed_ids())
        self._unopened = iter(cells)
        self._numbers = count()
        self._ready: list[tuple[int, int, Task]] = []  # a heap by cell and by the order in its step
        self._waiting: dict[str, list[_OpenCell]] = {}  # who waits for the outcome of a task, by its id

    def opened(self, n_tasks: int) -> Iterator[Event]:
        while len(self._ready) < n_tasks:
            cell = next(self._unopened, None)
            if cell is None:
                return
            yield from self._advanced(_OpenCell(cell, self._plan_of(cell), number=next(self._numbers)))

    def next_task(self) -> Task | None:
        return heapq.heappop(self._ready)[-1] if self._ready else None

    def cell_of(self, task: Task) -> Cell:
        return self._waiting[task.id][0].cell

    def settled(self, outcome: Outcome) -> Iterator[Event]:
        self._known.add(outcome.task.id)
        for position, opened in enumerate(self._waiting.pop(outcome.task.id)):
            opened.take(outcome)
            if position:
                yield Event(kind="known", cell=opened.cell, outcome=outcome)
            if not opened.missing:
                yield from self._advanced(opened)

    def _advanced(self, opened: "_OpenCell") -> Iterator[Event]:
        while (step := opened.next_step()) is not None:
            if step.choice is not None:
                self._store.choose(step.choice)
                yield Event(kind="chosen", cell=opened.cell, choice=step.choice)
            if step.why_no_choice:
                yield Event(kind="not_chosen", cell=opened.cell, reason=step.why_no_choice)
            yield Event(kind="planned", cell=opened.cell, tasks=step.tasks)
            for order, task in enumerate(tuple(opened.missing.values())):
                outcome = self._store.outcome(task.id) if task.id in self._known else None
                if outcome is not None:
                    if outcome.task.id != task.id:
                        raise StoreError(
                            f"the row {task.id} of the store {self._store} holds another task ({outcome.task}): it was "
                            "damaged or edited; delete the row, or use a copy of the store."
                        )
                    opened.take(outcome)
                    yield Event(kind="known", cell=opened.cell, outcome=outcome)
                    continue
                if task.id not in self._waiting:
                    heapq.heappush(self._ready, (opened.number, order, task))
                self._waiting.setdefault(task.id, []).append(opened)
            if opened.missing:
                return
        yield Event(kind="cell_done", cell=opened.cell)


class _OpenCell:
    """A cell whose plan is being followed, and what its present step still misses."""

    def __init__(self, cell: Cell, plan: Plan, *, number: int) -> None:
        self.cell = cell
        self.number = number
        self.missing: dict[str, Task] = {}  # of this step, by id
        self._plan = plan
        self._step: Step | None = None
        self._outcomes: dict[str, Outcome] = {}

    def take(self, outcome: Outcome) -> None:
        del self.missing[outcome.task.id]
        self._outcomes[outcome.task.id] = outcome

    def next_step(self) -> Step | None:
        try:
            if self._step is None:
                self._step = next(self._plan)
            else:  # answered in the order of the tasks, whatever that of their ends was
                self._step = self._plan.send({task.id: self._outcomes[task.id] for task in self._step.tasks})
        except StopIteration:
            return None
        self.missing = {task.id: task for task in self._step.tasks}
        self._outcomes = {}
        return self._step
