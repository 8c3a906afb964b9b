"""Tasks in processes of this machine."""

import multiprocessing
import os
import signal
import threading
import warnings
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from joblib.externals.loky.process_executor import ProcessPoolExecutor

from mcquack.bench.executors.executor import (
    ClosedByWith,
    Evaluation,
    benchmark_evaluation,
    ctrl_c_kept_from_new_processes,
)
from mcquack.bench.outcome import Outcome
from mcquack.bench.task import Task
from mcquack.checks import required_count
from mcquack.errors import WorkerLostError

# What happens inside a worker process on this machine.


@dataclass(frozen=True, kw_only=True)
class Duty:
    """What a worker is told once, so that tasks need to bring nothing but themselves.

    Nothing is ever read from the two pipes, so each speaks to all workers at once: ``client`` ends when the process
    that wants the outcomes does, and ``stop`` has something to read as soon as no task may begin any more.
    """

    evaluate: Evaluation
    client: Connection
    stop: Connection


_duty: Duty


def take_up(duty: Duty) -> None:
    """Called once in each new worker, before its first task."""
    global _duty
    _duty = duty
    # Ctrl-C in a terminal reaches all processes; the client alone decides what is still finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_client, args=(duty.client,), name="end-with-client", daemon=True).start()


def is_ready() -> bool:
    """Comes back from a worker that was able to start."""
    return True


def outcome_unless_stopped(task: Task) -> Outcome | None:
    """None if the client has stopped before this worker came to the task."""
    return None if _duty.stop.poll() else _duty.evaluate(task)


def _end_with_client(client: Connection) -> None:
    """Nobody would read the outcome of a worker whose client was killed, and it would slow down the next run."""
    client.poll(None)  # readable only once its other end is closed
    os._exit(1)


# Workers are as many as cores, so threads of their own would only stand in each other's way.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("BLIS", "MKL", "NUMBA", "NUMEXPR", "OMP", "OPENBLAS", "VECLIB_MAXIMUM")
}
_MOST_FALSE_STARTS = 2


class LocalExecutor(ClosedByWith):
    """``jobs`` processes of one thread each, which end with this one and are replaced when they die or grow too large.

    ``evaluate`` is what they do with a task; it must be importable, and is by default the evaluation of the benchmark
    with the files of published datasets in ``data_dir``.
    """

    tasks_per_worker = 3
    n_trials_alone = 2  # the first loss may have been an accident

    def __init__(self, *, jobs: int, data_dir: str | None = None, evaluate: Evaluation | None = None) -> None:
        self._jobs = required_count("jobs", jobs)
        client, self._client = multiprocessing.Pipe(duplex=False)
        stop, self._stop = multiprocessing.Pipe(duplex=False)
        self._duty = Duty(evaluate=evaluate or benchmark_evaluation(data_dir), client=client, stop=stop)
        self._pool: _Pool | None = None
        self._n_false_starts = 0

    @property
    def n_workers(self) -> int:
        """As many as were asked for."""
        return self._jobs

    def submit(self, task: Task) -> Future[Outcome]:
        """Starts the workers where there are none."""
        while True:
            try:
                done = self._running_pool().submit(task)
            except BrokenProcessPool:
                self._clear_away()
            else:
                return self._translated(done)

    def stop(self) -> None:
        """The word to read is one that nobody will read."""
        if not self._stop.closed and not self._duty.stop.poll():
            self._stop.send_bytes(b"stop")

    def close(self, *, wait: bool) -> None:
        """Workers that need not be waited for end as if this process had."""
        self.stop()
        if not wait:
            self._client.close()
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        for pipe in (self._client, self._stop, self._duty.client, self._duty.stop):
            pipe.close()

    def _running_pool(self) -> "_Pool":
        if self._n_false_starts >= _MOST_FALSE_STARTS:
            raise WorkerLostError(
                f"the worker processes ended {self._n_false_starts} times before they could begin a task; what they "
                "printed says why. Finished tasks are stored: run again once that is mended."
            )
        if self._pool is None:
            self._pool = _Pool(self._duty, jobs=self._jobs)
        return self._pool

    def _clear_away(self) -> None:
        """After a worker died: its pool is no longer to be trusted, for it may have died with a lock in its hands."""
        if self._pool is not None:
            self._n_false_starts = 0 if self._pool.has_started else self._n_false_starts + 1
            self._pool.close()
            self._pool = None

    def _translated(self, done: Future[Outcome | None]) -> Future[Outcome]:
        """The same in the words of ``Executor``."""
        translation: Future[Outcome] = Future()
        done.add_done_callback(partial(self._translate, translation))
        return translation

    def _translate(self, translation: Future[Outcome], done: Future[Outcome | None]) -> None:
        error = done.exception()
        if isinstance(error, BrokenProcessPool) and not self._client.closed:
            translation.set_exception(_loss(error))
        elif error is not None and not isinstance(error, BrokenProcessPool):
            translation.set_exception(error)
        elif error is None and (result := done.result()) is not None:
            translation.set_result(result)
        else:
            translation.cancel()


class _Pool:
    """The workers until one of them dies."""

    def __init__(self, duty: Duty, *, jobs: int) -> None:
        # A worker that has grown is replaced, as it should; that would be told on every such occasion.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        self._processes: Any = ProcessPoolExecutor(jobs, initializer=take_up, initargs=(duty,), env=ONE_THREAD)
        with ctrl_c_kept_from_new_processes():
            self._ready: Future[bool] = self._processes.submit(is_ready)

    @property
    def has_started(self) -> bool:
        """Whether a worker got as far as to answer."""
        return self._ready.done() and self._ready.exception() is None

    def submit(self, task: Task) -> Future[Outcome | None]:
        done: Future[Outcome | None] = self._processes.submit(outcome_unless_stopped, task)
        return done

    def close(self) -> None:
        """Waits for the workers, who do what they were given, unless one has died: then all of them have to."""
        self._processes.shutdown(wait=True)


def _loss(error: BrokenProcessPool) -> WorkerLostError:
    """In fewer words, with the exit codes that end the original message."""
    codes = str(error).partition("exit codes of the workers are ")[2].partition("\n")[0]
    return WorkerLostError(f"the worker process died (exit code {codes.strip('{} ') or 'unknown'})")
