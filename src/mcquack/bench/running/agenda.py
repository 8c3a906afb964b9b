"""Which tasks can be done now: the plans of all cells, advanced by the outcomes that come in."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from mcquack.bench.outcome import Outcome
from mcquack.bench.plan import Cell, Plan, Step
from mcquack.bench.running.event import Event
from mcquack.bench.store import Store
from mcquack.bench.task import Task


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
