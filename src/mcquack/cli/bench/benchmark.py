"""What ``bench run`` and ``bench retry`` share: the workers, the record of the run, the view, and the exit code."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mcquack.cli import exit_codes
from mcquack.cli.bench.data import fetch_missing
from mcquack.cli.bench.progress import Progress
from mcquack.cli.bench.texts import counted
from mcquack.cli.bench.view import shown
from mcquack.cli.notes import tell
from mcquack.errors import StoreError

if TYPE_CHECKING:
    from mcquack.bench.plan import Cell
    from mcquack.bench.running.executor import Executor
    from mcquack.bench.store import Store


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where tasks run, as the user asked for it."""

    jobs: int | None = None
    dask: str | None = None
    data_dir: Path | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and self.dask not in (None, "local"):
            raise typer.BadParameter("a cluster at an address has its own number of workers.", param_hint="--jobs")

    def fetch_missing(self, cells: "Iterable[Cell]") -> None:
        """Sees to it that the files of all datasets are there, as far as the workers are on this machine."""
        if self.dask in (None, "local"):
            fetch_missing(cells, data_dir=self.data_dir)

    def executor(self) -> "Executor":
        """New workers, to be closed by whoever asks for them."""
        from joblib import cpu_count  # not above: it would delay every --help

        jobs = self.jobs or cpu_count()
        data_dir = None if self.data_dir is None else str(self.data_dir)
        if self.dask is None:
            from mcquack.bench.running.local import LocalExecutor

            return LocalExecutor(jobs=jobs, data_dir=data_dir)
        from mcquack.bench.running.cluster import DaskExecutor

        return DaskExecutor(self.dask, jobs=jobs, data_dir=data_dir)


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What the store remembers of a run: the words after ``mcquack``, and the suite."""

    arguments: Sequence[str]
    suite: Mapping[str, Any]


def run_to_the_end(
    cells: "Sequence[Cell]", store: "Store", *, workers: Workers, provenance: Provenance, retry_failed: bool = False
) -> None:
    """Runs what the store lacks and shows it; leaves by the exit code that tells how it ended."""
    start = Progress.before(cells)
    n_datasets, n_models = (len(set(names)) for names in zip(*start.cells, strict=True))
    tell(
        f"{counted(n_datasets, 'dataset')}, {counted(n_models, 'model')}: at most {counted(start.n_most, 'task')}, "
        f"results go to {store.path}."
    )
    with _recorded(store, provenance):
        progress = _last_progress(cells, store, start=start, workers=workers, retry_failed=retry_failed)
    _finish(progress, store.path)


@contextmanager
def _recorded(store: "Store", provenance: Provenance) -> Iterator[None]:
    """Notes in the store that a run began and how it ended."""
    from mcquack.bench.store import RunRecord

    command = shlex.join(["mcquack", *provenance.arguments])
    number = store.begin_run(RunRecord(command=command, suite=provenance.suite))
    try:
        yield
    except KeyboardInterrupt:
        store.end_run(number, "interrupted")
        tell(f"mcquack: interrupted; what was finished is in {store.path}, and the same command goes on from there.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    except BaseException:
        with suppress(StoreError):  # the disk that is full now was so before, and that is what should be told
            store.end_run(number, "failed")
        raise
    store.end_run(number, "done")


def _last_progress(
    cells: "Sequence[Cell]", store: "Store", *, start: Progress, workers: Workers, retry_failed: bool
) -> Progress:
    from mcquack.bench.running.runner import run

    progress = start
    with workers.executor() as executor:
        events: Any = run(cells, store, executor, retry_failed=retry_failed)  # a generator: its type promises less
        with closing(events):
            for latest in shown(events, start, executor=executor):
                progress = latest
    return progress


def _finish(progress: Progress, path: Path) -> None:
    tell(f"{counted(progress.n_done, 'task')} done{_before(progress.n_known_done)}.")
    if progress.best():
        tell(f"Read what came of it with: mcquack report {path} --out {path.stem}-report")
    if progress.n_without_choice:
        tell(f"No settings could be chosen for {counted(progress.n_without_choice, 'pair')} of a model and a dataset.")
    if progress.n_failed:
        tell(
            f"{counted(progress.n_failed, 'task')} failed{_before(progress.n_known_failed)}: "
            f"mcquack bench status {path} tells why, mcquack bench retry {path} --failed runs them again."
        )
    if progress.n_failed or progress.n_without_choice:
        raise typer.Exit(exit_codes.SOME_TASKS_FAILED)


def _before(n_known: int) -> str:
    return f", {n_known:,} of them before" if n_known else ""
