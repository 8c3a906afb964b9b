"""Where tasks are done: the seam between the loop of a run and its workers, and the processes of this machine."""

import multiprocessing
import os
import signal
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Self

from loky import BrokenProcessPool, ProcessPoolExecutor

from mcquack.bench.task import Outcome, Task
from mcquack.checks import required_count
from mcquack.errors import WorkerLostError

Evaluation = Callable[[Task], Outcome]  # what workers do with a task; it is sent to them, so it must be importable

# Workers are as many as cores, so threads of their own would only stand in each other's way.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("BLIS", "MKL", "NUMBA", "NUMEXPR", "OMP", "OPENBLAS", "VECLIB_MAXIMUM")
}
_MOST_FALSE_STARTS = 2


class Executor(ABC):
    """Does tasks elsewhere, in any order, and never in the process that asks for them.

    ``with`` closes it; what an exception has left behind is not waited for. ``tasks_per_worker`` is how many tasks each
    worker should have, done or queued, so that it never waits for the next, however small they are. ``n_trials_alone``
    is how often a task may lose its worker, while no other has one, before it is to blame.
    """

    tasks_per_worker: int
    n_trials_alone: int

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks are done at once; it may change while a run goes on."""

    @abstractmethod
    def submit(self, task: Task) -> Future[Outcome]:
        """Ends in an outcome, in ``WorkerLostError`` if its worker died, or cancelled if none began or still has it.

        Raises ``WorkerLostError`` itself where there are no workers and none can be had.
        """

    @abstractmethod
    def stop(self) -> None:
        """Returns at once; from now on no worker begins a task, and those that it has begun go on to their end."""

    @abstractmethod
    def close(self, *, wait: bool) -> None:
        """Stops, then waits for the tasks that were begun or ends them too, and lets go of the workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(wait=kind is None)


def evaluated(task: Task, *, data_dir: str | None, budget: float | None) -> Outcome:
    """The outcome of training and scoring the model of a task; ``data_dir`` has the files of published datasets."""
    # Imported by the workers alone: all models together take longer to import than many a run takes to go on.
    from mcquack.bench.evaluation import outcome

    return outcome(task, data_dir=data_dir, budget=budget)


@contextmanager
def ctrl_c_kept_from_new_processes() -> Iterator[None]:
    """What is started meanwhile inherits that Ctrl-C is blocked, so that there is no moment in which it could hit."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    resource_tracker.ensure_running()  # to start it later would unblock what is blocked here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class LocalExecutor(Executor):
    """Processes of this machine with one thread each, which end with this one and are replaced when they die or grow.

    Parameters
    ----------
    jobs : how many processes.
    data_dir : where the files of published datasets are, by default where ``mcquack.datasets.load`` looks.
    budget : how many seconds a fit may take, if its model trains in epochs; a longer one has failed.
    evaluate : what they do with a task, by default training and scoring its model; it must be importable.

    Examples
    --------
    >>> with LocalExecutor(jobs=2) as executor:
    ...     executor.n_workers
    2
    """

    tasks_per_worker = 3
    n_trials_alone = 2  # the first loss may have been an accident

    def __init__(
        self,
        *,
        jobs: int,
        data_dir: str | None = None,
        budget: float | None = None,
        evaluate: Evaluation | None = None,
    ) -> None:
        self._jobs = required_count("jobs", jobs)
        client, self._client = multiprocessing.Pipe(duplex=False)
        stop, self._stop = multiprocessing.Pipe(duplex=False)
        given = partial(evaluated, data_dir=data_dir, budget=budget)
        self._duty = _Duty(evaluate=evaluate or given, client=client, stop=stop)
        self._pool: Any = None
        self._first_answer: Future[int]  # of a worker of this pool that was able to start
        self._n_false_starts = 0

    @property
    def n_workers(self) -> int:
        return self._jobs

    def submit(self, task: Task) -> Future[Outcome]:
        while True:
            try:
                if self._pool is None:
                    self._start_pool()
                done = self._pool.submit(_outcome_unless_stopped, task)
            except BrokenProcessPool:
                # It is no longer to be trusted, for a worker may have died with a lock in its hands.
                has_started = self._first_answer.done() and self._first_answer.exception() is None
                self._n_false_starts = 0 if has_started else self._n_false_starts + 1
                self._end_pool()
            else:
                translation: Future[Outcome] = Future()
                done.add_done_callback(partial(self._translate, translation))
                return translation

    def stop(self) -> None:
        """Leaves a word in the pipe that all workers look into before a task, and that nobody takes out."""
        if not self._stop.closed and not self._duty.stop.poll():
            self._stop.send_bytes(b"stop")

    def close(self, *, wait: bool) -> None:
        """Ends the workers, after what they have begun or, unless ``wait``, as if this process had ended."""
        self.stop()
        if not wait:
            self._client.close()
        self._end_pool()
        for pipe in (self._client, self._stop, self._duty.client, self._duty.stop):
            pipe.close()

    def _start_pool(self) -> None:
        if self._n_false_starts >= _MOST_FALSE_STARTS:
            raise WorkerLostError(
                f"the worker processes ended {self._n_false_starts} times before they could begin a task; what they "
                "printed says why. Finished tasks are stored: run again once that is mended."
            )
        # A worker that has grown is replaced, as it should; loky's thread would warn on every such occasion.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"loky\.process_executor")
        self._pool = ProcessPoolExecutor(self._jobs, initializer=_take_up, initargs=(self._duty,), env=ONE_THREAD)
        with ctrl_c_kept_from_new_processes():
            self._first_answer = self._pool.submit(os.getpid)

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)  # they do what they were given, unless one has died: then all have to
            self._pool = None

    def _translate(self, translation: Future[Outcome], done: Future[Outcome | None]) -> None:
        error = done.exception()
        if isinstance(error, BrokenProcessPool) and not self._client.closed:
            # In one line: the message ends with the exit codes, which nothing else of loky's tells.
            translation.set_exception(WorkerLostError(f"the worker process died: {' '.join(str(error).split())}"))
        elif error is not None and not isinstance(error, BrokenProcessPool):
            translation.set_exception(error)
        elif error is None and (result := done.result()) is not None:
            translation.set_result(result)
        else:
            translation.cancel()


# What happens inside a worker process of this machine.


@dataclass(frozen=True, kw_only=True)
class _Duty:
    """What a worker is told once, so that tasks need to bring nothing but themselves.

    Nothing is ever read from the two pipes, so each speaks to all workers at once.
    """

    evaluate: Evaluation
    client: Connection  # ends when the process that wants the outcomes does
    stop: Connection  # has something to read as soon as no task may begin any more


_duty: _Duty


def _take_up(duty: _Duty) -> None:
    global _duty
    _duty = duty
    # Ctrl-C in a terminal reaches all processes; the client alone decides what is still finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_client, args=(duty.client,), name="end-with-client", daemon=True).start()


def _outcome_unless_stopped(task: Task) -> Outcome | None:
    """None if the client has stopped before this worker came to the task."""
    return None if _duty.stop.poll() else _duty.evaluate(task)


def _end_with_client(client: Connection) -> None:
    """Nobody would read the outcome of a worker whose client was killed, and it would slow down the next run."""
    client.poll(None)  # readable only once its other end is closed
    os._exit(1)
