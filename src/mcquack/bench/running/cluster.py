"""Tasks on the machines of a Dask cluster."""

import asyncio
import concurrent.futures
import contextlib
import time
from concurrent.futures import Future
from itertools import count
from typing import Any
from uuid import uuid4

from mcquack.bench.outcome import Outcome
from mcquack.bench.running.dask_connection import connected_client, distributed, local_cluster, require_workers
from mcquack.bench.running.dask_watch import Watch
from mcquack.bench.running.dask_worker import begin_nothing_more, outcome_unless_stopped
from mcquack.bench.running.evaluating import Evaluation, benchmark_evaluation
from mcquack.bench.running.executor import ClosedByWith
from mcquack.bench.task import Task
from mcquack.errors import WorkerLostError

_SECONDS_BETWEEN_LOOKS = 0.1


class DaskExecutor(ClosedByWith):
    """The workers of the scheduler at ``address``, or with "local" those of a cluster on this machine, ``jobs`` many.

    Each worker does one task at a time, however many threads it has. The scheduler hands the tasks of a lost worker to
    others. ``patience`` is for how many seconds a scheduler that does not answer or has no workers yet is waited for.
    ``data_dir`` is a folder on the machines of the workers.
    """

    tasks_per_worker = 8  # a trip there and back takes longer than many a task
    n_trials_alone = 1  # the scheduler has tried several times before it gives a task up

    def __init__(
        self,
        address: str,
        *,
        jobs: int = 1,
        data_dir: str | None = None,
        evaluate: Evaluation | None = None,
        patience: float = 60.0,
    ) -> None:
        self._address = address
        self._patience = patience
        self._evaluate = evaluate or benchmark_evaluation(data_dir)
        self._run = uuid4().hex[:8]
        self._remotes: dict[Future[Outcome], Any] = {}
        self._has_given_up = False
        self._numbers = count()
        self._client: Any = None
        self._watch: Watch | None = None
        self._cluster = local_cluster(jobs) if address == "local" else None
        try:
            self._client = connected_client(self._cluster or address, patience=patience)
            require_workers(self._client, patience=patience)
            self._watch = Watch(self._client, patience=patience, give_up=self._give_up)
        except BaseException:
            self.close(wait=False)
            raise

    @property
    def n_workers(self) -> int:
        """As many as the scheduler had a moment ago."""
        return 0 if self._watch is None else self._watch.n_workers

    def submit(self, task: Task) -> Future[Outcome]:
        """Waits for a scheduler that is out of reach."""
        self._require_workers()
        remote = self._client.submit(
            outcome_unless_stopped,
            task,
            self._evaluate,
            run=self._run,
            # Begins with the model, since Dask guesses by that how long a task will take.
            key=f"{task.model}-{task.id}-{self._run}-{next(self._numbers)}",
            pure=False,
        )
        future = asyncio.run_coroutine_threadsafe(self._fetched(remote), self._client.loop.asyncio_loop)
        self._remotes[future] = remote
        future.add_done_callback(self._remotes.pop)
        return future

    def stop(self) -> None:
        """Said to the workers themselves, since only they know which tasks they have begun."""
        if self._is_connected:
            with contextlib.suppress(OSError):
                self._client.run(begin_nothing_more, self._run, on_error="ignore")

    def close(self, *, wait: bool) -> None:
        """Workers of a cluster that was given stay, with the tasks that were not waited for; a local one ends."""
        self.stop()
        if wait:
            concurrent.futures.wait(tuple(self._remotes))
        self._drop_all()
        if self._watch is not None:
            self._watch.end()
        for connection in (self._client, self._cluster):
            if connection is not None:
                connection.close()

    @property
    def _is_connected(self) -> bool:
        return self._client is not None and self._client.status == "running"

    def _require_workers(self) -> None:
        if self._has_given_up:
            raise WorkerLostError(
                f"the Dask scheduler at {self._address} has had no workers for {self._patience:g} s. Finished tasks "
                "are stored: run again once there are some."
            )
        while self._client.status == "connecting":  # Dask itself gives up in the end
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if not self._is_connected:
            raise WorkerLostError(
                f"the Dask scheduler at {self._address} has not answered for {self._patience:g} s. Finished tasks are "
                "stored: run again once it is back."
            )

    def _give_up(self) -> None:
        """Tasks that nobody will do come back, and ``submit`` tells why."""
        self._has_given_up = True
        self._drop_all()

    def _drop_all(self) -> None:
        if self._is_connected:
            with contextlib.suppress(OSError):
                self._client.cancel(list(self._remotes.values()))

    async def _fetched(self, remote: Any) -> Outcome:
        """Ends as ``Executor`` has it."""
        try:
            result: Outcome | None = await self._client.gather(remote, asynchronous=True)
        except distributed().KilledWorker as error:
            raise WorkerLostError(
                f"the worker died, on all of {error.allowed_failures + 1} Dask workers that were tried"
            ) from error
        except (concurrent.futures.CancelledError, OSError):  # lost with the scheduler
            result = None
        if result is None:
            raise asyncio.CancelledError
        return result
