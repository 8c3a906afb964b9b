"""Tasks on the machines of a Dask cluster."""

import asyncio
import concurrent.futures
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from mcquack.bench.evaluation import outcome
from mcquack.bench.outcome import Outcome
from mcquack.bench.running.dask_connection import connected_client, distributed, local_cluster, require_workers
from mcquack.bench.running.dask_worker import begin_nothing_more, outcome_unless_stopped
from mcquack.bench.task import Task
from mcquack.errors import MissingDependencyError, WorkerLostError

_SECONDS_BETWEEN_COUNTS = 5.0
_SECONDS_BETWEEN_LOOKS = 0.1


class DaskExecutor:
    """The workers of the scheduler at ``address``, or with "local" those of a cluster on this machine, ``jobs`` many.

    Each worker does one task at a time, however many threads it has. The scheduler hands the tasks of a lost worker to
    others. ``patience`` is for how many seconds a scheduler that does not answer or has no workers yet is waited for.
    ``data_dir`` is a folder on the machines of the workers.
    """

    n_trials_alone = 1  # the scheduler has tried several times before it gives a task up

    def __init__(
        self,
        address: str,
        *,
        jobs: int = 1,
        data_dir: str | None = None,
        evaluate: Callable[[Task], Outcome] | None = None,
        patience: float = 60.0,
    ) -> None:
        self._address = address
        self._patience = patience
        self._evaluate = evaluate or partial(outcome, data_dir=data_dir)
        self._run = uuid4().hex[:8]
        self._held: dict[Future[Outcome], Any] = {}  # a cluster forgets the tasks whose futures nobody holds
        self._count = (0, -_SECONDS_BETWEEN_COUNTS)  # of the workers, and when it was taken
        self._numbers = count()
        self._client: Any = None
        self._cluster = local_cluster(jobs) if address == "local" else None
        try:
            self._client = connected_client(self._cluster or address, patience=patience)
            require_workers(self._client, patience=patience)
        except BaseException:
            self.close(wait=False)
            raise

    @property
    def n_workers(self) -> int:
        """As many as the scheduler had when it was last asked, a few seconds ago."""
        n_workers, asked_at = self._count
        if time.monotonic() - asked_at > _SECONDS_BETWEEN_COUNTS:
            with contextlib.suppress(OSError):  # a lost scheduler is for ``submit`` to tell
                n_workers = len(self._client.nthreads())
            self._count = (n_workers, time.monotonic())
        return n_workers

    def submit(self, task: Task) -> Future[Outcome]:
        """Waits for a scheduler that is out of reach."""
        self._require_connection()
        remote = self._client.submit(
            outcome_unless_stopped,
            task,
            self._evaluate,
            run=self._run,
            # Begins with the model, since Dask guesses by that how long a task will take.
            key=f"{task.model}-{task.id}-{self._run}-{next(self._numbers)}",
            pure=False,
        )
        future: Future[Outcome] = Future()
        self._held[future] = remote
        remote.add_done_callback(self._collect)
        return future

    def stop(self) -> None:
        """Said to the workers themselves, since only they know which tasks they have begun."""
        if self._client is not None and self._client.status == "running":
            with contextlib.suppress(OSError):
                self._client.run(begin_nothing_more, self._run, on_error="ignore")

    def close(self, *, wait: bool) -> None:
        """Workers of a cluster that was given stay, with the tasks that were not waited for; a local one ends."""
        self.stop()
        if wait:
            concurrent.futures.wait(tuple(self._held))
        for future in tuple(self._held):
            if self._let_go(future):
                future.cancel()
        for connection in (self._client, self._cluster):
            if connection is not None:
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(wait=kind is None)

    def _require_connection(self) -> None:
        while self._client.status == "connecting":  # Dask itself gives up in the end
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if self._client.status != "running":
            raise WorkerLostError(
                f"the Dask scheduler at {self._address} does not answer any more, and did not for {self._patience:g} s. "
                "Finished tasks are stored: run again once it is back."
            )

    def _let_go(self, future: Future[Outcome]) -> bool:
        """Whether it was still held: of two threads that want to end it, one may."""
        return self._held.pop(future, None) is not None

    def _collect(self, _: Any) -> None:
        """Called by a thread of Dask's for each task that has ended, but fetches all at once: each trip takes time."""
        ended = [(future, remote) for future, remote in tuple(self._held.items()) if remote.done()]
        for (future, _), result in zip(ended, self._results([remote for _, remote in ended]), strict=True):
            if self._let_go(future):
                _end(future, result)

    def _results(self, remotes: list[Any]) -> list[Outcome | BaseException | None]:
        try:
            return list(self._client.gather(remotes))
        except BaseException as error:
            if len(remotes) > 1:  # which one is it?
                return [result for remote in remotes for result in self._results([remote])]
            return [_translated(error)]


def _end(future: Future[Outcome], result: Outcome | BaseException | None) -> None:
    if result is None:
        future.cancel()
    elif isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)


def _translated(error: BaseException) -> BaseException | None:
    """None if the scheduler was lost with the task, or has dropped it."""
    if isinstance(error, asyncio.CancelledError | concurrent.futures.CancelledError | OSError):
        return None
    if isinstance(error, distributed().KilledWorker):
        return WorkerLostError(f"the Dask worker died, and so did {error.allowed_failures} others: {error.last_worker}")
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "mcquack":
        return MissingDependencyError(f"a Dask worker cannot import mcquack: {error}; install it there too.")
    return error
