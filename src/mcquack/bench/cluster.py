"""Tasks on the machines of a Dask cluster, whose workers come and go."""

import asyncio
import concurrent.futures
import contextlib
import threading
import time
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any
from uuid import uuid4

from mcquack import __version__
from mcquack.bench.executors import ONE_THREAD, Evaluation, Executor, ctrl_c_kept_from_new_processes, evaluated
from mcquack.bench.task import Outcome, Task
from mcquack.checks import DASK, required_count
from mcquack.errors import InvalidInputError, MissingDependencyError, WorkerLostError

_MOST_SECONDS_BETWEEN_COUNTS = 2.0
_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_FOR_A_NEW_WORKER = 600


class DaskExecutor(Executor):
    """The workers of a Dask scheduler, each of which does one task at a time, however many threads it has.

    The scheduler hands the tasks of a lost worker to others.

    Parameters
    ----------
    address : that of the scheduler, as "tcp://host:8786", or "local" to start a cluster on this machine.
    jobs : how many workers a local cluster has.
    data_dir, budget : where the files of published datasets are on the machines of the workers, and how many seconds a
        fit may take there, as for ``LocalExecutor``.
    evaluate : what they do with a task, by default training and scoring its model; they must be able to import it.
    patience : for how many seconds a scheduler that does not answer or has no workers is waited for.

    Examples
    --------
    >>> with DaskExecutor("local", jobs=2) as executor:  # doctest: +SKIP
    ...     list(run(suite.cells(), store, executor))
    """

    tasks_per_worker = 8  # a trip there and back takes longer than many a task
    n_trials_alone = 1  # the scheduler has tried several times before it gives a task up

    def __init__(
        self,
        address: str,
        *,
        jobs: int = 1,
        data_dir: str | None = None,
        budget: float | None = None,
        evaluate: Evaluation | None = None,
        patience: float = 60.0,
    ) -> None:
        self._address = address
        self._patience = patience
        self._evaluate = evaluate or partial(evaluated, data_dir=data_dir, budget=budget)
        self._run = uuid4().hex[:8]
        self._remotes: dict[Future[Outcome], Any] = {}
        self._has_given_up = False
        self._numbers = count()
        self._client: Any = None
        self._n_workers = 0
        self._is_closed = threading.Event()
        self._watch = threading.Thread(target=self._count_workers, name="dask-watch", daemon=True)
        self._cluster = local_cluster(jobs) if address == "local" else None
        try:
            self._client = _connected_client(self._cluster or address, patience=patience)
            _check_workers(self._client, patience=patience)
            self._n_workers = len(self._client.nthreads())
            self._watch.start()
        except BaseException:
            self.close(wait=False)
            raise

    @property
    def n_workers(self) -> int:
        return self._n_workers

    def submit(self, task: Task) -> Future[Outcome]:
        self._require_workers()
        remote = self._client.submit(
            _outcome_unless_stopped,
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
        """Tells the workers themselves, since only they know which tasks they have begun."""
        if self._is_connected:
            with contextlib.suppress(OSError):
                self._client.run(_begin_nothing_more, self._run, on_error="ignore")

    def close(self, *, wait: bool) -> None:
        """Lets go of the cluster; a local one ends, and one that was given stays with what was not waited for."""
        self.stop()
        if wait:
            concurrent.futures.wait(tuple(self._remotes))
        self._drop_all()
        self._is_closed.set()
        if self._watch.is_alive():
            self._watch.join()
        for connection in (self._client, self._cluster):
            if connection is not None:
                connection.close()

    @property
    def _is_connected(self) -> bool:
        return self._client is not None and self._client.status == "running"

    def _require_workers(self) -> None:
        while self._client.status == "connecting" and not self._has_given_up:  # Dask itself gives up in the end
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if self._has_given_up or not self._is_connected:
            lack, once = ("had no workers", "there are some") if self._has_given_up else ("not answered", "it is back")
            raise WorkerLostError(
                f"the Dask scheduler at {self._address} has {lack} for {self._patience:g} s. Finished tasks are "
                f"stored: run again once {once}."
            )

    def _count_workers(self) -> None:
        """Once there were none for too long, tasks come back and ``submit`` tells why; Dask would wait for ever."""
        seen_at = time.monotonic()
        while not self._is_closed.wait(min(_MOST_SECONDS_BETWEEN_COUNTS, self._patience / 4)):
            with contextlib.suppress(OSError):  # a lost scheduler is noticed by others
                self._n_workers = len(self._client.nthreads())
            if self._n_workers:
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > self._patience:
                self._has_given_up = True
                self._drop_all()
                return

    def _drop_all(self) -> None:
        if self._is_connected:
            with contextlib.suppress(OSError):
                self._client.cancel(list(self._remotes.values()))

    async def _fetched(self, remote: Any) -> Outcome:
        try:
            result: Outcome | None = await self._client.gather(remote, asynchronous=True)
        except _distributed().KilledWorker as error:
            lost = f"the worker died, on all of {error.allowed_failures + 1} Dask workers that were tried"
            raise WorkerLostError(lost) from error
        except (concurrent.futures.CancelledError, OSError):  # lost with the scheduler
            result = None
        if result is None:
            raise asyncio.CancelledError
        return result


# From an address to a cluster that can do the tasks of a benchmark.


def _distributed() -> Any:
    return DASK.imported(what="a run on a Dask cluster")


def local_cluster(jobs: int) -> Any:
    """Processes on this machine, which Ctrl-C does not reach."""
    package = _distributed()
    # A lost worker takes longer to start again on a busy machine than Dask waits for it, and would then be given up.
    import_module("dask").config.set({"distributed.deploy.lost-worker-timeout": _SECONDS_FOR_A_NEW_WORKER})
    with ctrl_c_kept_from_new_processes():
        return package.LocalCluster(
            n_workers=required_count("jobs", jobs),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port: without an address Dask warns if its usual one is taken
            env=dict(ONE_THREAD),
        )


def _connected_client(address: Any, *, patience: float) -> Any:
    try:
        return _distributed().Client(address, timeout=patience, set_as_default=False)
    except ValueError as error:
        message = f"{address!r} is no address of a Dask scheduler, as tcp://host:8786: {error}"
        raise InvalidInputError(message) from error
    except OSError as error:
        raise WorkerLostError(
            f"no Dask scheduler answers at {address}; start one there with `dask scheduler`, or take --dask local."
        ) from error


def _check_workers(client: Any, *, patience: float) -> None:
    """At least one worker, and the mcquack of this process on all machines: another may give a task other scores."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=patience)
    except (OSError, TimeoutError) as error:
        raise WorkerLostError(
            f"the Dask scheduler at {address} has no workers; start some: dask worker {address} --nthreads 1"
        ) from error
    found = {f"worker at {each}": told for each, told in client.run(_installed_version, on_error="return").items()}
    try:
        found[f"scheduler at {address}"] = client.run_on_scheduler(_installed_version)
    except ImportError as error:
        found[f"scheduler at {address}"] = error
    for where, version in found.items():
        if isinstance(version, Exception):
            raise MissingDependencyError(
                f"the Dask {where} cannot import mcquack ({version}); pip install mcquack=={__version__}"
            ) from version
        if version != __version__:
            raise InvalidInputError(
                f"the Dask {where} has mcquack {version}, but this is {__version__}; install the same everywhere."
            )


# What happens inside a worker process of a Dask cluster.

_stopped: set[str] = set()  # workers outlive runs, so each run has a name of its own
# Evaluations catch warnings and limit threads for their whole process, so the other threads of a worker wait.
_one_at_a_time = threading.Lock()


def _outcome_unless_stopped(task: Task, evaluate: Evaluation, *, run: str) -> Outcome | None:
    """None if the run was stopped before this worker came to the task."""
    with _one_at_a_time:
        return None if run in _stopped else evaluate(task)


def _installed_version() -> str:
    return __version__


def _begin_nothing_more(run: str) -> None:
    _stopped.add(run)
