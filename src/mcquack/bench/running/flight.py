"""The tasks that workers have, and what becomes of those whose worker dies."""

import traceback
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import SimpleQueue

from mcquack.bench.environment import current_environment
from mcquack.bench.outcome import Outcome
from mcquack.bench.running.executor import Executor
from mcquack.bench.task import Task
from mcquack.errors import WorkerLostError


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
