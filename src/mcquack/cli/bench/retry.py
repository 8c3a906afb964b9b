"""``mcquack bench retry``: what failed, once more."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mcquack.checks import did_you_mean
from mcquack.cli.bench.benchmark import Provenance, Workers, run_to_the_end
from mcquack.cli.bench.options import Dask, Datasets, Jobs, Models, StoreFile, listed
from mcquack.cli.bench.texts import counted
from mcquack.cli.datasets.options import DataDir
from mcquack.cli.notes import tell
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.bench.store import RunRecord, Store
    from mcquack.bench.task import Task


def retry(
    context: typer.Context,
    store: StoreFile,
    failed: Annotated[
        bool, typer.Option("--failed", help="The tasks that failed; nothing else can be retried.")
    ] = False,
    models: Models = None,
    datasets: Datasets = None,
    jobs: Jobs = None,
    dask: Dask = None,
    data_dir: DataDir = None,
) -> None:
    """Run the tasks that failed once more, and then what follows from them, as the last run that had them asked for.

    A failure stays in the store until its task has ended anew.
    Failures of a lost worker or a full disk pass; those of a model come back, and mcquack bench status tells them.

    Example: mcquack bench retry real-world.sqlite --failed --models mcquack
    """
    if not failed:
        raise typer.BadParameter("say what to run again; there is --failed.", param_hint="--failed")
    workers = Workers(jobs=jobs, dask=dask, data_dir=data_dir)

    from mcquack.bench.store import Store  # not above: they would delay every --help
    from mcquack.bench.suites import recorded_cells

    with Store.open(store, write=True) as opened:
        runs = _recorded_runs(opened)
        failures = _chosen_failures(opened, runs, models=listed(models), datasets=listed(datasets))
        known = recorded_cells(runs, set(map(_pair, failures)))
        again = [task for task in failures if _pair(task) in known and known[_pair(task)].may_ask_for(task)]
        _announce(n_again=len(again), n_left=len(failures) - len(again))
        if not again:
            return
        pairs = set(map(_pair, again))
        cells = [cell for pair, cell in known.items() if pair in pairs]
        workers.fetch_missing(cells)
        # Status and report tell how far the last suite is, also if only a part of it runs now.
        provenance = Provenance(arguments=context.obj, suite=runs[-1].suite)
        run_to_the_end(cells, opened, workers=workers, provenance=provenance, retry_failed=True)


def _recorded_runs(store: "Store") -> "tuple[RunRecord, ...]":
    runs = store.runs()
    if not runs:
        raise InvalidInputError(f"no run has begun in {store.path}; begin one with mcquack bench run.")
    return runs


def _chosen_failures(
    store: "Store", runs: "Sequence[RunRecord]", *, models: tuple[str, ...] | None, datasets: tuple[str, ...] | None
) -> "list[Task]":
    """All failed tasks, or those of some models or datasets; what no run asked for cannot have failed."""
    from mcquack.bench.suites.suite import chosen_names

    if models is not None:
        _require_known(models, _names(runs, "models"))
    if datasets is not None:
        datasets = chosen_names(_names(runs, "datasets"), datasets)
    failed = (outcome.task for outcome in store.outcomes(failed=True, details=False))
    return [
        task
        for task in failed
        if (models is None or task.model in models) and (datasets is None or task.dataset in datasets)
    ]


def _names(runs: "Iterable[RunRecord]", kind: Literal["models", "datasets"]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for run in runs for name in run.suite.get(kind, ())))


def _require_known(models: Iterable[str], known: tuple[str, ...]) -> None:
    for model in models:
        if model not in known:
            hint = did_you_mean(model, known, otherwise=f"there are {', '.join(known)}.")
            raise InvalidInputError(f"no model of this store is named {model!r}; {hint}")


def _pair(task: "Task") -> tuple[str, str]:
    return task.dataset, task.model


def _announce(*, n_again: int, n_left: int) -> None:
    if n_left:
        tell(f"No recorded run asks any more for {counted(n_left, 'failed task')}: left alone.")
    tell(f"At most {counted(n_again, 'failed task')} will be run again." if n_again else "Nothing is to be run again.")
