"""``mcquack trainability run``: a design, from its first task or from where it stopped."""

import shlex
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcquack.cli import exit_codes
from mcquack.cli.bench.benchmark import Workers
from mcquack.cli.bench.options import Dask, Jobs, listed
from mcquack.cli.bench.progress import CellProgress, Progress
from mcquack.cli.bench.texts import counted, duration
from mcquack.cli.bench.view import shown
from mcquack.cli.datasets.options import DataDir
from mcquack.cli.notes import tell
from mcquack.cli.trainability.progress import StudyProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcquack.bench.store import Store
    from mcquack.bench.task import Task
    from mcquack.studies.trainability import Design


def run(
    context: typer.Context,
    designs: Annotated[
        list[str] | None,
        typer.Argument(
            help="paper, wide, quick, or TOML files of yours.", metavar="[DESIGN]", show_default="paper wide"
        ),
    ] = None,
    qubits: Annotated[
        str | None,
        typer.Option(help="Only these of its sizes, as 2-13 or 4,8,124.", metavar="SIZES", show_default="all"),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="How often each point is run.", show_default="as the design says"),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="These in place of its own: mcquack, quack, vc, shared_vc, separated by commas (may be repeated).",
            show_default="as the design says",
        ),
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    store: Annotated[Path, typer.Option(help="The file for the results.")] = Path("trainability.sqlite"),
    data_dir: DataDir = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run once more what failed before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell how much there is to do.")] = False,
) -> None:
    """Measure gradients, states and training of a model over sizes, starts and seeds.

    Every finished task is a row of the store at once. The same command again goes on from there, whether Ctrl-C, a
    crash or a power cut ended it; with other options it adds to the store what it lacks. Tasks that fail are rows too,
    and the exit code is 3.

    Examples: mcquack trainability run quick, then mcquack trainability report trainability.sqlite --out report, or
    mcquack trainability run paper --qubits 2-10 --models mcquack,vc --seeds 3 --jobs 2
    """
    from mcquack.bench.store import Store  # not above: they would delay every --help

    workers = Workers(jobs=jobs, dask=dask, data_dir=data_dir)
    chosen = _chosen(designs, qubits=qubits, seeds=seeds, models=listed(models))
    tasks = chosen.tasks()
    if dry_run:
        _tell_size(chosen, tasks, store, n_workers=_local_workers(workers))
        return
    _fetch_missing(workers, chosen)
    tell(f"{chosen.name}: {counted(len(tasks), 'task')}, results go to {store}.")
    with Store.open(store, write=True, create=True) as opened:
        command = shlex.join(["mcquack", *context.obj])
        progress = _last_progress(chosen, tasks, opened, workers=workers, command=command, retry_failed=retry_failed)
    _finish(progress, store)


def _chosen(
    names: list[str] | None, *, qubits: str | None, seeds: int | None, models: tuple[str, ...] | None
) -> "Design":
    from mcquack.studies.trainability import DEFAULT, Sizes, read_design

    first, *others = (read_design(name) for name in dict.fromkeys(names or DEFAULT))
    for other in others:
        first += other
    return first.with_(qubits=None if qubits is None else Sizes.parse(qubits), seeds=seeds, models=models)


def _fetch_missing(workers: Workers, design: "Design") -> None:
    """The cells say no more here than which datasets are wanted."""
    from mcquack.studies.trainability.running import cells

    workers.fetch_missing(cells(design))


def _last_progress(
    design: "Design", tasks: "Sequence[Task]", store: "Store", *, workers: Workers, command: str, retry_failed: bool
) -> Progress:
    from mcquack.studies.trainability import run_design
    from mcquack.studies.trainability.work import seconds

    counts = Counter((task.dataset, task.model) for task in tasks)
    start = StudyProgress(
        cells={key: CellProgress(n_most=count, metric="accuracy") for key, count in counts.items()},
        expected={task.id: seconds(task) for task in tasks},
    )
    progress: Progress = start
    try:
        with workers.executor() as executor:
            events = run_design(design, store, executor, command=command, retry_failed=retry_failed)
            with closing(events):
                for latest in shown(events, start, executor=executor):
                    progress = latest
    except KeyboardInterrupt:
        tell(f"mcquack: interrupted; what was finished is in {store.path}, and the same command goes on from there.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    return progress


def _finish(progress: Progress, path: Path) -> None:
    before = f", {progress.n_known_done:,} of them before" if progress.n_known_done else ""
    tell(f"{counted(progress.n_done, 'task')} done{before}.")
    if progress.n_done:
        tell(f"Read what came of it with: mcquack trainability report {path} --out {path.stem}-report")
    if progress.n_failed:
        tell(
            f"{counted(progress.n_failed, 'task')} failed: mcquack bench status {path} tells why, and the same command "
            "with --retry-failed runs them again."
        )
        raise typer.Exit(exit_codes.SOME_TASKS_FAILED)


def _local_workers(workers: Workers) -> int:
    from joblib import cpu_count

    return workers.jobs or cpu_count()


def _tell_size(design: "Design", tasks: "Sequence[Task]", path: Path, *, n_workers: int) -> None:
    from mcquack.studies.trainability.work import seconds

    for grid in design.grids:
        own = tuple(grid.tasks())
        sizes = grid.values("n_qubits")
        about = duration(sum(map(seconds, own)) / n_workers)
        typer.echo(
            f"{grid.name} on {grid.dataset}: {counted(len(own), 'task')}, {min(sizes)} to {max(sizes)} qubits, "
            f"{counted(grid.seeds, 'seed')}; about {about} with {counted(n_workers, 'worker')}."
        )
    left = ""
    if path.exists():
        from mcquack.bench.store import Store

        with Store.open(path) as opened:
            n_known = len({task.id for task in tasks} & opened.finished_ids())
        left = f", {n_known:,} of which are done in {path}"
    about = duration(sum(map(seconds, tasks)) / n_workers)
    typer.echo(f"All together: {counted(len(tasks), 'task')}{left}; about {about}, and machines differ.")
