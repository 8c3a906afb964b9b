"""Where tasks are done: the seam between the loop of a run and the processes that it keeps busy."""

from abc import ABC, abstractmethod
from concurrent.futures import Future
from types import TracebackType
from typing import Protocol, Self

from mcquack.bench.outcome import Outcome
from mcquack.bench.task import Task


class Executor(Protocol):
    """Does tasks elsewhere, in any order, and never in the process that asks for them."""

    @property
    def n_workers(self) -> int:
        """How many tasks are done at once; it may change while a run goes on."""

    @property
    def tasks_per_worker(self) -> int:
        """How many each should have, done or queued, so that it never waits for the next, however small they are."""

    @property
    def n_trials_alone(self) -> int:
        """How often a task may lose its worker, while no other has one, before it is to blame."""

    def submit(self, task: Task) -> Future[Outcome]:
        """Ends in an outcome, in ``WorkerLostError`` if its worker died, or cancelled if none began or still has it.

        Raises ``WorkerLostError`` itself where there are no workers and none can be had.
        """

    def stop(self) -> None:
        """Returns at once; from now on no worker begins a task, and those that it has begun go on to their end."""

    def close(self, *, wait: bool) -> None:
        """Stops, then waits for the tasks that were begun or ends them too, and lets go of the workers."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes; what an exception has left behind is not waited for."""


class ClosedByWith(ABC):
    """What ``with`` means for every executor."""

    @abstractmethod
    def close(self, *, wait: bool) -> None:
        """As in ``Executor``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(wait=kind is None)
