"""``mcquack bench run``: a suite, from its first task or from where it stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcquack.cli.bench.benchmark import Provenance, Workers, run_to_the_end
from mcquack.cli.bench.options import Dask, Datasets, Jobs, Models, listed
from mcquack.cli.bench.progress import Progress
from mcquack.cli.bench.texts import counted
from mcquack.cli.datasets.options import DataDir

if TYPE_CHECKING:
    from mcquack.bench.suites import Suite


def run(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(help="qml, real-world, hardware-twin, or a TOML file of yours.", metavar="SUITE")
    ],
    models: Models = None,
    datasets: Datasets = None,
    search: Annotated[
        str | None,
        typer.Option(
            help="How settings are chosen: among all, among K at random, by K trials of Optuna, or not at all.",
            metavar="grid|random:K|optuna:K|none",
            show_default="as the suite says",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="How often the chosen settings are scored.", show_default="as the suite says"),
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    store: Annotated[
        Path | None, typer.Option(help="The file for the results.", show_default="SUITE.sqlite in this folder")
    ] = None,
    data_dir: DataDir = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell how much there is to do.")] = False,
) -> None:
    """Choose the settings of each model on each dataset, then score them on the test part, once for each seed.

    Every finished task is a row of the store at once. The same command again goes on from there, whether Ctrl-C, a
    crash or a power cut ended it; with other options it adds to the store what it lacks. Tasks that fail are rows too,
    and the exit code is 3; mcquack bench retry runs them again.

    Examples: mcquack bench run real-world --jobs 2, or
    mcquack bench run qml --datasets 'mnist*' --models mcquack,svc --search random:30 --store small.sqlite
    """
    from mcquack.bench.store import Store  # not above: they would delay every --help
    from mcquack.bench.suites import read_suite

    workers = Workers(jobs=jobs, dask=dask, data_dir=data_dir)
    chosen = read_suite(suite).with_(models=listed(models), datasets=listed(datasets), search=search, seeds=seeds)
    path = store or Path(f"{chosen.name}.sqlite")
    if dry_run:
        _tell_size(chosen, path)
        return
    cells = chosen.cells()
    workers.fetch_missing(cells)
    provenance = Provenance(arguments=context.obj, suite=chosen.to_json())
    with Store.open(path, write=True, create=True) as opened:
        run_to_the_end(cells, opened, workers=workers, provenance=provenance)


def _tell_size(suite: "Suite", path: Path) -> None:
    n_most = Progress.before(suite.cells()).n_most
    typer.echo(
        f"{suite.name}: {counted(len(suite.datasets), 'dataset')}, {counted(len(suite.models), 'model')}, "
        f"search {suite.search}, {counted(suite.seeds, 'seed')}: at most {counted(n_most, 'task')}."
    )
    if path.exists():
        from mcquack.bench.store import Store

        with Store.open(path) as opened:
            counts = opened.counts()
        typer.echo(f"{path} has {counted(counts.done, 'task')} done, {counts.failed:,} failed.")
