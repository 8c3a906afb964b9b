"""``mcquack bench retry``: what failed, once more."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcquack.checks import did_you_mean
from mcquack.cli.bench.benchmark import Provenance, Workers, run_to_the_end
from mcquack.cli.bench.options import Dask, Datasets, Jobs, Models, StoreFile, listed
from mcquack.cli.bench.texts import counted
from mcquack.cli.datasets.options import DataDir
from mcquack.cli.notes import tell
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.bench.store import Store
    from mcquack.bench.suites import Suite


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
    """Run the tasks that failed once more, and then what follows from them, as the last run of the store asked for.

    Failures of a lost worker or a full disk pass; those of a model come back, and mcquack bench status tells them.

    Example: mcquack bench retry real-world.sqlite --failed --models mcquack
    """
    if not failed:
        raise typer.BadParameter("say what to run again; there is --failed.", param_hint="--failed")
    workers = Workers(jobs=jobs, dask=dask, data_dir=data_dir)

    from mcquack.bench.store import Store  # not above: it would delay every --help

    with Store.open(store, write=True) as opened:
        suite = _last_suite(opened)
        chosen = _part(suite, models=listed(models), datasets=listed(datasets))
        cells = chosen.cells()
        workers.fetch_missing(cells)
        n_forgotten = sum(opened.forget_failures(dataset=cell.dataset, model=cell.model) for cell in cells)
        tell(f"{counted(n_forgotten, 'failed task')} will be run again.")
        # The whole suite, also if only a part of it runs now: the next retry shall know all of it.
        provenance = Provenance(arguments=context.obj, suite=suite.to_json())
        run_to_the_end(cells, opened, workers=workers, provenance=provenance)


def _last_suite(store: "Store") -> "Suite":
    from mcquack.bench.suites import suite_from_json

    runs = store.runs()
    if not runs:
        raise InvalidInputError(f"no run has begun in {store.path}; begin one with mcquack bench run.")
    return suite_from_json(runs[-1].suite)


def _part(suite: "Suite", *, models: tuple[str, ...] | None, datasets: tuple[str, ...] | None) -> "Suite":
    """A model that the run did not ask for cannot have failed in it."""
    for model in models or ():
        if model not in suite.models:
            hint = did_you_mean(model, suite.models, otherwise=f"there are {', '.join(suite.models)}.")
            raise InvalidInputError(f"no model of the last run is named {model!r}; {hint}")
    return suite.with_(models=models, datasets=datasets)
