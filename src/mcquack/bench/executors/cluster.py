"""Tasks on the machines of a Dask cluster."""

import asyncio
import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from importlib import import_module
from itertools import count
from typing import Any
from uuid import uuid4

from mcquack import __version__
from mcquack.bench.executors.executor import (
    ClosedByWith,
    Evaluation,
    benchmark_evaluation,
    ctrl_c_kept_from_new_processes,
)
from mcquack.bench.executors.local import ONE_THREAD
from mcquack.bench.outcome import Outcome
from mcquack.bench.task import Task
from mcquack.checks import DASK, required_count
from mcquack.errors import InvalidInputError, MissingDependencyError, WorkerLostError

# An eye on the workers of a Dask cluster, which come and go.

_MOST_SECONDS_BETWEEN_COUNTS = 2.0


class Watch:
    """Counts the workers again and again, and calls ``give_up`` once there was none for ``patience`` seconds.

    Dask itself would wait for ever.
    """

    def __init__(self, client: Any, *, patience: float, give_up: Callable[[], None]) -> None:
        self.n_workers = len(client.nthreads())
        self._client = client
        self._patience = patience
        self._give_up = give_up
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._count, name="dask-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """No more is counted after that."""
        self._ended.set()
        self._thread.join()

    def _count(self) -> None:
        seen_at = time.monotonic()
        while not self._ended.wait(min(_MOST_SECONDS_BETWEEN_COUNTS, self._patience / 4)):
            with contextlib.suppress(OSError):  # a lost scheduler is noticed by others
                self.n_workers = len(self._client.nthreads())
            if self.n_workers:
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > self._patience:
                self._give_up()
                return


# What happens inside a worker process of a Dask cluster.

_stopped: set[str] = set()  # workers outlive runs, so each run has a name of its own
# Evaluations catch warnings and limit threads for their whole process, so the other threads of a worker wait.
_one_at_a_time = threading.Lock()


def outcome_unless_stopped(task: Task, evaluate: Evaluation, *, run: str) -> Outcome | None:
    """None if the run was stopped before this worker came to the task."""
    with _one_at_a_time:
        return None if run in _stopped else evaluate(task)


def installed_version() -> str:
    """That of the mcquack here."""
    return __version__


def begin_nothing_more(run: str) -> None:
    """For one run; the task at work goes on."""
    _stopped.add(run)


# From an address to a Dask cluster that can do the tasks of a benchmark.

_SECONDS_FOR_A_NEW_WORKER = 600


def distributed() -> Any:
    """The package, imported only where there is a cluster to speak to."""
    return DASK.imported(what="a run on a Dask cluster")


def local_cluster(jobs: int) -> Any:
    """Processes on this machine, which Ctrl-C does not reach."""
    package = distributed()
    # A lost worker takes longer to start again on a busy machine than Dask waits for it, and would then be given up.
    import_module("dask").config.set({"distributed.deploy.lost-worker-timeout": _SECONDS_FOR_A_NEW_WORKER})
    with ctrl_c_kept_from_new_processes():
        return package.LocalCluster(
            n_workers=required_count("jobs", jobs),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port: without an address Dask warns if its usual one is taken
            env=dict(ONE_THREAD),
        )


def connected_client(address: Any, *, patience: float) -> Any:
    """A client of the scheduler there."""
    package = distributed()
    try:
        return package.Client(address, timeout=patience, set_as_default=False)
    except ValueError as error:
        raise InvalidInputError(
            f"{address!r} is no address of a Dask scheduler, as tcp://host:8786: {error}"
        ) from error
    except OSError as error:
        raise WorkerLostError(
            f"no Dask scheduler answers at {address}; start one there with `dask scheduler`, or take --dask local."
        ) from error


def require_workers(client: Any, *, patience: float) -> None:
    """At least one worker, and the mcquack of this process on all machines: another may give a task other scores."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=patience)
    except (OSError, TimeoutError) as error:
        raise WorkerLostError(
            f"the Dask scheduler at {address} has no workers; start some: dask worker {address} --nthreads 1"
        ) from error
    for worker, found in client.run(installed_version, on_error="return").items():
        _require_this_version(f"worker at {worker}", found)
    try:
        _require_this_version(f"scheduler at {address}", client.run_on_scheduler(installed_version))
    except ImportError as error:
        _require_this_version(f"scheduler at {address}", error)


def _require_this_version(where: str, found: str | Exception) -> None:
    if isinstance(found, Exception):
        raise MissingDependencyError(
            f"the Dask {where} cannot import mcquack ({found}); pip install mcquack=={__version__}"
        ) from found
    if found != __version__:
        raise InvalidInputError(
            f"the Dask {where} has mcquack {found}, but this is {__version__}; install the same everywhere."
        )


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
