"""From an address to a Dask cluster that can do the tasks of a benchmark."""

from importlib import import_module
from typing import Any

from mcquack import __version__
from mcquack.bench.running.interrupts import ctrl_c_held
from mcquack.bench.running.local import ONE_THREAD
from mcquack.datasets.files.extra import Extra
from mcquack.errors import InvalidInputError, MissingDependencyError, WorkerLostError

DASK = Extra(name="dask", module="distributed")


def distributed() -> Any:
    """The package, imported only where there is a cluster to speak to."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise MissingDependencyError(f"a run on a Dask cluster takes {DASK.module}: {DASK.how_to_install}") from error


def local_cluster(n_workers: int) -> Any:
    """Processes on this machine, which Ctrl-C does not reach."""
    package = distributed()
    with ctrl_c_held():
        return package.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None, env=dict(ONE_THREAD)
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
    """At least one worker, and the mcquack of this process on each: with another, the same task may score otherwise."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except (OSError, TimeoutError) as error:
        address = client.scheduler.address
        raise WorkerLostError(
            f"the Dask scheduler at {address} has no workers; start some: dask worker {address} --nthreads 1"
        ) from error
    for worker, facts in client.get_versions(packages=["mcquack"])["workers"].items():
        _require_same_version(worker, facts["packages"]["mcquack"])


def _require_same_version(worker: str, version: str | None) -> None:
    if version is None:
        raise MissingDependencyError(f"the Dask worker at {worker} has no mcquack; pip install mcquack=={__version__}")
    if version != __version__:
        raise InvalidInputError(
            f"the Dask worker at {worker} has mcquack {version}, but this is {__version__}; install the same on both."
        )
