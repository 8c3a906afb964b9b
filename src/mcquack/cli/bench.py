"""The verbs of ``mcquack bench``."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import JustifyMethod

from mcquack import bench as laboratory  # what runs a benchmark loads on first use: it would delay every --help
from mcquack.bench.progress import Progress, metric_name, shown
from mcquack.bench.task import AucScores, short_names
from mcquack.cli import console as exit_codes
from mcquack.cli.console import Json, check_can_write, described, say, show_rows, tab_separated, tell
from mcquack.cli.datasets import DataDir, loaded
from mcquack.datasets.files import places
from mcquack.errors import InvalidInputError
from mcquack.progress import SafeConsole, counted

if TYPE_CHECKING:
    from mcquack.bench.plan import Cell

Facts = dict[str, Any]
StoreFile = Annotated[Path, typer.Argument(help="A store that mcquack bench run has written.", metavar="STORE")]

_SHOWN_FAILURES = 10
_COLUMNS = ("dataset", "model", "n_done", "n_failed", "n_seeds_done", "n_seeds")
_SCORES = ("metric", "validation", "test", "spread")


def listed(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """What was given with commas, repeatedly, or both; None if nothing was."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(filter(None, names))) or None


def is_study(store: Path) -> bool:
    """Whether all that a store holds is of a study of trainability, which has a run and a report of its own."""
    from mcquack.studies.trainability.design import PROBE  # not above: it would delay every --help

    with laboratory.Store.open(store) as opened:
        models = (outcome.task.model for outcome in opened.outcomes(details=False))
        first = next(models, None)
        return first == PROBE and all(model == PROBE for model in models)


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


@described("bench")
def run(
    context: typer.Context,
    suite: str,
    models: list[str] | None = None,
    datasets: list[str] | None = None,
    search: str | None = None,
    seeds: int | None = None,
    auc_scores: AucScores | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    budget: float | None = None,
    store: Path | None = None,
    data_dir: DataDir = None,
    dry_run: bool = False,
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


@described("bench")
def retry(
    context: typer.Context,
    store: StoreFile,
    failed: bool = False,
    suite: Path | None = None,
    models: list[str] | None = None,
    datasets: list[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    budget: float | None = None,
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
    try:
        with (
            store.recorded(record),
            workers.executor() as executor,
            closing(laboratory.run(cells, store, executor, retry_failed=retry_failed)) as events,
        ):
            for latest in shown(events, progress, executor=executor):
                progress = latest
    except KeyboardInterrupt:
        tell(f"mcquack: interrupted; what was finished is in {store.path}, and the same command goes on from there.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    _tell_result(progress, store.path)


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


@described("bench")
def export(store: StoreFile, parquet: Path | None = None, csv: Path | None = None, force: bool = False) -> None:
    """Write one line for each task: dataset, model, settings, seed, all scores, seconds, versions, or its error.

    Example: mcquack bench export real-world.sqlite --parquet real-world.parquet
    """
    writers = {laboratory.write_parquet: parquet, laboratory.write_csv: csv}
    outs = {write: out for write, out in writers.items() if out is not None}
    if not outs:
        raise typer.BadParameter("name the file to write.", param_hint="--parquet, --csv")
    for out in outs.values():
        check_can_write(out, overwrite=force, inputs=[store], regular=True)
    with laboratory.Store.open(store) as opened:
        for write, out in outs.items():
            write(opened, out.resolve())  # a link stays a link
        tell(f"In {' and '.join(map(str, outs.values()))}: {counted(opened.counts().total, 'task')}.")


@described("bench")
def merge(stores: list[Path], out: Path, final: bool = False) -> None:
    """Put the results of several stores into one, as those of several machines.

    A store that is there already is added to; what it has done stays as it is. With --final the searches and training
    curves are left out, and what remains is small enough to be kept beside the text that quotes it.

    Example: mcquack bench merge one.sqlite two.sqlite --out both.sqlite
    """
    if any(out.resolve() == store.resolve() for store in stores):
        raise typer.BadParameter("it is one of the stores to read.", param_hint="--out")
    with ExitStack() as opened:
        sources = [opened.enter_context(laboratory.Store.open(store)) for store in stores]
        into = opened.enter_context(laboratory.Store.open(out.resolve(), create=True))
        laboratory.merge(sources, into, only_final=final)
        tell(f"In {out}: {counted(into.counts().total, 'task')}.")


def status(store: StoreFile, as_json: Json = False) -> None:
    """Tell how far a benchmark is: scores of each model on each dataset, what failed and why, and the last run.

    A run that goes on meanwhile is not disturbed. Elsewhere than on a terminal each model on a dataset is a line of
    dataset, model, tasks done, tasks failed, seeds done, seeds, metric, score of the search, mean score on the test
    part and its standard deviation over seeds, separated by tabs.

    Examples: mcquack bench status real-world.sqlite, or mcquack bench status real-world.sqlite --json
    """
    with laboratory.Store.open(store) as opened:
        facts = laboratory.store_facts(opened)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
        return
    for line in _summary(facts):
        tell(line)
    if sys.stdout.isatty():
        _print_scores(facts["cells"])
    else:
        say(tab_separated(map(_fields, facts["cells"])))


def _summary(facts: Facts) -> Iterator[str]:
    cells = facts["cells"]
    n_over = sum(cell["n_seeds"] is not None and cell["n_seeds_done"] == cell["n_seeds"] for cell in cells)
    yield (
        f"{facts['store']}: {counted(facts['n_done'], 'task')} done, {facts['n_failed']:,} failed; "
        f"{n_over:,} of {len(cells):,} models on datasets have all their scores."
    )
    if facts["runs"]:
        run = facts["runs"][-1]
        how = "still running, or killed" if run["how"] is None else f"{run['how']} {run['ended']}"
        yield f"Last run: {run['command']} (began {run['started']}; {how})"
    if len(facts["numerics"]) > 1:
        parts = (f"{counted(n_tasks, 'task')} of version {version}" for version, n_tasks in facts["numerics"].items())
        yield f"Its rows are of several numerics versions, between which scores may differ: {', '.join(parts)}."
    mixed = [f"{cell['model']} on {cell['dataset']}" for cell in cells if len(cell["auc_scores"]) > 1]
    if mixed:
        of = ", ".join(mixed)
        yield f"Areas under the curve are of raw scores in some rows and of normalised ones in others: {of}."
    # Most tasks of a model on a dataset fail alike, so each reason is told once.
    names = short_names(cell["model"] for cell in cells)
    alike = Counter(
        f"{names[failed['model']]} on {failed['dataset']}: {failed['reason']}" for failed in facts["failures"]
    )
    for text, count in alike.most_common(_SHOWN_FAILURES):
        yield f"  {count:,} × {text}"
    if len(alike) > _SHOWN_FAILURES:
        yield f"  and {len(alike) - _SHOWN_FAILURES} more (--json shows all)"


def _fields(cell: Facts) -> Iterator[object]:
    for name in (*_COLUMNS, *_SCORES):
        value = cell[name]
        yield "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def _print_scores(cells: Sequence[Facts]) -> None:
    texts = {(cell["dataset"], cell["model"]): _score_text(cell) for cell in cells}
    datasets, models = (dict.fromkeys(names) for names in zip(*texts, strict=True)) if texts else ((), ())
    show_rows(
        {"dataset": "left", **dict.fromkeys(short_names(models).values(), "right")},
        [(dataset, *(texts.get((dataset, model), "") for model in models)) for dataset in datasets],
    )
    metrics = ", ".join(dict.fromkeys(metric_name(cell["metric"]) for cell in cells if cell["metric"]))
    SafeConsole().print(f"\nMean {metrics or 'score'} on the test part, in brackets if seeds are missing.", style="dim")


def _score_text(cell: Facts) -> str:
    if cell["test"] is not None:
        score = f"{cell['test']:.3f}"
        return score if cell["n_seeds_done"] == cell["n_seeds"] else f"({score})"
    is_searching = cell["n_seeds"] is None and cell["n_done"]
    return "searching" if is_searching else "failed" if cell["n_failed"] else "–"


def suites(as_json: Json = False) -> None:
    """List the suites that come along: their datasets, models, search, and how many tasks they are at most.

    Elsewhere than on a terminal each suite is a line of name, title, number of datasets, models, search, seeds and
    tasks, separated by tabs.

    Examples: mcquack bench suites, or mcquack bench suites --json
    """
    found = [_suite_facts(laboratory.read_suite(name)) for name in laboratory.BUILT_IN]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_suites(found)
    else:
        plain = ({**each, "datasets": len(each["datasets"]), "models": ",".join(each["models"])} for each in found)
        say(tab_separated(each.values() for each in plain))


def _suite_facts(suite: "laboratory.Suite") -> Facts:
    told = ("name", "title", "datasets", "models", "search", "seeds")
    return {**{name: getattr(suite, name) for name in told}, "most_tasks": Progress.before(suite.cells()).n_most}


def _print_suites(found: Sequence[Facts]) -> None:
    columns: dict[str, JustifyMethod] = {"name": "left", "datasets": "right", "search": "left", "seeds": "right"}
    rows = []
    for each in found:
        start = (each["name"], len(each["datasets"]), each["search"], each["seeds"])
        rows.append((*start, f"{each['most_tasks']:,}", ", ".join(each["models"])))
    show_rows({**columns, "tasks": "right", "models": "left"}, rows)
    SafeConsole().print("\nTasks: at most. mcquack bench run NAME runs one, or a part of it.", style="dim")


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for verb in (run, status, retry, export, merge, suites):
    app.command()(verb)


@app.callback()
def bench() -> None:
    """Run many models on many datasets, on this machine or on a cluster, and keep every result in one file.

    A benchmark may stop at any moment: the same command goes on where it was. `mcquack report` turns its results into a
    page to read.

    Examples: mcquack bench suites, then mcquack bench run real-world --datasets 'iris*' --models svc,mcquack
    """
