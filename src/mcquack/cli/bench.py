"""``mcquack bench run`` and ``retry``: run many models on many datasets into a store."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcquack import bench as laboratory  # what runs a benchmark loads on first use: it would delay every --help
from mcquack.bench.progress import Progress, shown
from mcquack.bench.task import AucScores
from mcquack.cli import console as exit_codes
from mcquack.cli.console import say, tell
from mcquack.cli.datasets import loaded
from mcquack.cli.options import (
    Budget,
    Dask,
    DataDir,
    Datasets,
    DryRun,
    Jobs,
    Models,
    StoreFile,
    argument,
    group,
    listed,
    option,
    suite_names,
)
from mcquack.cli.results import export, is_study, merge, status, suites
from mcquack.datasets.files import places
from mcquack.errors import InvalidInputError
from mcquack.progress import counted

if TYPE_CHECKING:
    from mcquack.bench.plan import Cell
    from mcquack.bench.runner import Event

_SUITE = "qml, real-world, hardware-twin, feature-maps, or a TOML file of yours."
_SEARCH = (
    "How settings are chosen: among all (grid), among K at random (random:K), by K trials of Optuna (optuna:K), as "
    "others published them for the QML suite (published), or not at all (none). Without it, as the suite says."
)
_SEEDS = "How often the chosen settings are scored; without it, as the suite says."
_AUC_SCORES = (
    "Where there are more than two classes, the area under the curve is of scores that sum to one for each sample "
    "(normalised), or of those that the model decides by (raw). Without it, as the suite says."
)
_TRUSTED = "The suite whose models or datasets are module:name: only what it names is imported."


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where tasks run, and for how long, as the user asked for it."""

    jobs: int | None = None
    dask: str | None = None
    budget: float | None = None
    data_dir: Path | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and self.dask not in (None, "local"):
            raise typer.BadParameter("a cluster at an address has its own number of workers.", param_hint="--jobs")

    def fetch_missing(self, cells: "Iterable[Cell]") -> None:
        """Downloads once what all workers here would ask for at the same time, and refuses what nobody has."""
        from mcquack.bench.samples import describe

        if self.dask not in (None, "local"):
            return
        status = places(self.data_dir).status
        wanted = (describe(name) for name in dict.fromkeys(cell.dataset for cell in cells if cell.table is None))
        # Many datasets share their files.
        for sources, description in {description.sources: description for description in wanted}.items():
            if status(sources) in ("download", "by hand"):
                tell(f"Fetching {description.name} …")
                loaded(description.name, data_dir=self.data_dir)

    def executor(self) -> "laboratory.Executor":
        from loky import cpu_count

        jobs, data_dir = self.jobs or cpu_count(), None if self.data_dir is None else str(self.data_dir)
        if self.dask is None:
            return laboratory.LocalExecutor(jobs=jobs, data_dir=data_dir, budget=self.budget)
        return laboratory.DaskExecutor(self.dask, jobs=jobs, data_dir=data_dir, budget=self.budget)


def run(
    context: typer.Context,
    suite: Annotated[str, argument("SUITE", _SUITE, autocompletion=suite_names)],
    models: Models = None,
    datasets: Datasets = None,
    search: Annotated[str | None, option(_SEARCH, "SEARCH")] = None,
    seeds: Annotated[int | None, option(_SEEDS, "N", min=1)] = None,
    auc_scores: Annotated[AucScores | None, option(_AUC_SCORES)] = None,
    store: Annotated[Path | None, option("The file for the results; without it, SUITE.sqlite.", "FILE")] = None,
    dry_run: DryRun = False,
    jobs: Jobs = None,
    dask: Dask = None,
    budget: Budget = None,
    data_dir: DataDir = None,
) -> None:
    """Choose the settings of each model on each dataset, then score them on the test part, once for each seed.

    Every finished task is a row of the store at once. The same command again goes on from there, whether Ctrl-C, a
    crash or a power cut ended it; with other options it adds to the store what it lacks. Tasks that fail are rows too,
    and the exit code is 3; mcquack bench retry runs them again.

    Examples: mcquack bench run real-world --jobs 2, or
    mcquack bench run qml --datasets 'mnist*' --models mcquack,svc --search random:30 --store small.sqlite
    """
    workers = Workers(jobs=jobs, dask=dask, budget=budget, data_dir=data_dir)
    named = {"models": listed(models), "datasets": listed(datasets)}
    _tell_imports(suite, models=named["models"])
    asked = laboratory.read_suite(suite).with_(**named, search=search, seeds=seeds, auc_scores=auc_scores)
    chosen = asked.with_published(data_dir)
    _tell_left_out(chosen)
    path = store or Path(f"{chosen.name}.sqlite")
    if dry_run:
        _tell_size(chosen, path)
        return
    cells = chosen.cells()
    workers.fetch_missing(cells)
    with laboratory.Store.open(path, write=True, create=True) as opened:
        run_to_the_end(cells, opened, workers=workers, command=context.obj, suite=chosen.to_json())


def _tell_imports(suite: str | Path | None, *, models: Iterable[str] | None) -> None:
    """Says which code of others is about to run, since a suite and the name of a model may come from anywhere."""
    from mcquack.bench.suite import modules_to_import, names_in_suite

    modules = modules_to_import((*(() if suite is None else names_in_suite(suite)), *(models or ())))
    if modules:
        tell(f"For models or datasets that you name, this is imported: {', '.join(modules)}.")


def _tell_left_out(suite: "laboratory.Suite") -> None:
    left_out = Counter(suite.models * len(suite.datasets)) - Counter(model for _, model in suite.pairs)
    if left_out:
        numbers = ", ".join(f"{model} on {counted(n_datasets, 'dataset')}" for model, n_datasets in left_out.items())
        tell(f"Left out, as no settings were published for them: {numbers}.")


def _tell_size(suite: "laboratory.Suite", path: Path) -> None:
    n_most = Progress.before(suite.cells()).n_most
    say(
        f"{suite.name}: {counted(len(suite.datasets), 'dataset')}, {counted(len(suite.models), 'model')}, "
        f"search {suite.search}, {counted(suite.seeds, 'seed')}: at most {counted(n_most, 'task')}."
    )
    if path.exists():
        with laboratory.Store.open(path) as opened:
            counts = opened.counts()
        say(f"{path} has {counted(counts.done, 'task')} done, {counts.failed:,} failed.")


def retry(
    context: typer.Context,
    store: StoreFile,
    models: Models = None,
    datasets: Datasets = None,
    suite: Annotated[Path | None, option(_TRUSTED, "FILE.toml")] = None,
    failed: Annotated[bool, typer.Option("--failed", hidden=True)] = False,
    jobs: Jobs = None,
    dask: Dask = None,
    budget: Budget = None,
    data_dir: DataDir = None,
) -> None:
    """Run the tasks that failed once more, and then what follows from them, as the last run that had them asked for.

    A failure stays in the store until its task has ended anew.
    Failures of a lost worker or a full disk pass, those of a fit that took too long with a larger --budget or none;
    those of a model come back, and mcquack bench status tells them.
    A store imports nothing: models and datasets module:name are run again if --suite names
    the file that has them, or --models or --datasets names them.

    Examples: mcquack bench retry real-world.sqlite --models mcquack, or
    mcquack bench retry mine.sqlite --suite mine.toml
    """
    del failed  # what earlier releases asked for; nothing else can be retried
    workers = Workers(jobs=jobs, dask=dask, budget=budget, data_dir=data_dir)

    from mcquack.bench.suite import cells_to_retry

    named = listed(models)
    _tell_imports(suite, models=named)
    trusted = None if suite is None else laboratory.read_suite(suite)
    if is_study(store):
        raise InvalidInputError(
            f"{store} holds a study of trainability; its command, mcquack trainability run, runs what failed once more "
            "with --retry-failed."
        )
    with laboratory.Store.open(store, write=True) as opened:
        cells, again, left = cells_to_retry(opened, models=named, patterns=listed(datasets), suite=trusted)
        if left:
            tell(f"No recorded run asks any more for {counted(len(left), 'failed task')}: left alone.")
        if not again:
            tell("Nothing is to be run again.")
            return
        tell(f"At most {counted(len(again), 'failed task')} will be run again.")
        workers.fetch_missing(cells)
        # Status and report tell how far the last suite is, also if only a part of it runs now.
        last = opened.runs()[-1].suite
        run_to_the_end(cells, opened, workers=workers, command=context.obj, suite=last, retry_failed=True)


def run_to_the_end(
    cells: "Sequence[Cell]",
    store: "laboratory.Store",
    *,
    workers: Workers,
    command: str,
    suite: Mapping[str, Any],
    retry_failed: bool = False,
) -> None:
    """Runs cells into a store and shows how far they are; exits if tasks have failed, or on Ctrl-C."""
    progress = Progress.before(cells)
    n_datasets, n_models = (len(set(names)) for names in zip(*progress.cells, strict=True))
    tell(
        f"{counted(n_datasets, 'dataset')}, {counted(n_models, 'model')}: at most {counted(progress.n_most, 'task')}, "
        f"results go to {store.path}."
    )
    if (found := store.counts()).total:  # which the run comes upon one after the other
        tell(f"{store.path} has {counted(found.done, 'task')} done, {found.failed:,} failed before this run.")
    record = laboratory.RunRecord(command=command, suite=suite)
    with goes_on(store.path), store.recorded(record), workers.executor() as executor:
        progress = followed(laboratory.run(cells, store, executor, retry_failed=retry_failed), progress, executor)
    _tell_result(progress, store.path)


@contextmanager
def goes_on(path: Path) -> Iterator[None]:
    """Exit by the code of an interruption on Ctrl-C, and say where the results are."""
    try:
        yield
    except KeyboardInterrupt:
        tell(f"mcquack: interrupted; what was finished is in {path}, and the same command goes on from there.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None


def followed(events: "Generator[Event, None, None]", progress: Progress, executor: "laboratory.Executor") -> Progress:
    """Show the events of a run to its end, and return the last progress."""
    with closing(events):
        for latest in shown(events, progress, executor=executor):
            progress = latest
    return progress


def _tell_result(progress: Progress, path: Path) -> None:
    done, failed = (
        f", {n_known:,} of them before" if n_known else ""
        for n_known in (progress.n_known_done, progress.n_known_failed)
    )
    tell(f"{counted(progress.n_done, 'task')} done{done}.")
    if progress.best():
        tell(f"Read what came of it with: mcquack report {path} --out {path.stem}-report")
    if progress.n_without_choice:
        tell(f"No settings could be chosen for {counted(progress.n_without_choice, 'pair')} of a model and a dataset.")
    if progress.n_failed:
        tell(
            f"{counted(progress.n_failed, 'task')} failed{failed}: "
            f"mcquack bench status {path} tells why, mcquack bench retry {path} runs them again."
        )
    if progress.n_failed or progress.n_without_choice:
        raise typer.Exit(exit_codes.SOME_TASKS_FAILED)


def bench() -> None:
    """Run many models on many datasets, on this machine or on a cluster, and keep every result in one file.

    A benchmark may stop at any moment: the same command goes on where it was. `mcquack report` turns its results into a
    page to read.

    Examples: mcquack bench suites, then mcquack bench run real-world --datasets 'iris*' --models svc,mcquack
    """


app = group(bench, run, status, retry, export, merge, suites)
