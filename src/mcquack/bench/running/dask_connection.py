"""From an address to a Dask cluster that can do the tasks of a benchmark."""

from importlib import import_module
from typing import Any

from mcquack import __version__
from mcquack.bench.running.dask_worker import installed_version
from mcquack.bench.running.interrupts import ctrl_c_kept_from_new_processes
from mcquack.bench.running.local import ONE_THREAD
from mcquack.checks import required_count
from mcquack.errors import InvalidInputError, MissingDependencyError, WorkerLostError
from mcquack.extras import DASK

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
