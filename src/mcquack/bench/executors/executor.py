"""Where tasks are done: the seam between the loop of a run and the processes that it keeps busy."""

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from types import FrameType, TracebackType
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


# Ctrl-C as a wish, and only when repeated as an order.


class Interrupts:
    """While entered, the first Ctrl-C is only noted, and calls ``on_first``; the next raises KeyboardInterrupt.

    An exception in the middle of a submission or a transaction could lose what was just finished. Where Python does not
    handle Ctrl-C itself (outside the main thread, or with a handler of the host's), nothing changes.
    """

    def __init__(self, on_first: Callable[[], None]) -> None:
        self.noted = False
        self._on_first = on_first
        self._is_ours = False

    def __enter__(self) -> Self:
        in_main_thread = threading.current_thread() is threading.main_thread()
        self._is_ours = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._is_ours:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            signal.default_int_handler(number, frame)
        self.noted = True
        self._on_first()


@contextmanager
def ctrl_c_kept_from_new_processes() -> Iterator[None]:
    """What is started meanwhile inherits that it is blocked, so that there is no moment in which it could hit."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    resource_tracker.ensure_running()  # to start it later would unblock what is blocked here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# What workers do with a task, as a value that can be sent to them.

Evaluation = Callable[[Task], Outcome]


def benchmark_evaluation(data_dir: str | None) -> Evaluation:
    """That of the benchmark, with the files of published datasets in ``data_dir``."""
    return partial(_outcome, data_dir=data_dir)


def _outcome(task: Task, *, data_dir: str | None) -> Outcome:
    # Imported by the workers alone: all models together take longer to import than many a run takes to go on.
    from mcquack.bench.evaluation import outcome

    return outcome(task, data_dir=data_dir)
