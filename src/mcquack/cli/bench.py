"""The verbs of ``mcquack bench``."""

import json
import shlex
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mcquack.checks import did_you_mean
from mcquack.cli import console as exit_codes
from mcquack.cli.bench_progress import Progress, counted, metric_name, shown
from mcquack.cli.console import Json, bare_table, check_can_write, plain_console, tab_separated, tell
from mcquack.cli.datasets import DataDir, loaded
from mcquack.datasets.files import places
from mcquack.errors import InvalidInputError, StoreError

if TYPE_CHECKING:
    from mcquack.bench.executors.executor import Executor
    from mcquack.bench.outcome import Outcome
    from mcquack.bench.plan import Cell, Choice
    from mcquack.bench.rows import RunRecord
    from mcquack.bench.store import Store
    from mcquack.bench.suites import Suite
    from mcquack.bench.task import Task


# The files of the datasets of a benchmark, before its first task needs them.


def fetch_missing(cells: Iterable["Cell"], *, data_dir: Path | None) -> None:
    """Downloads once what all workers would ask for at the same time, and refuses what cannot be had.

    Else every task on such a dataset would fail by itself.
    """
    from mcquack.bench.samples import describe  # not above: it would delay every --help

    status = places(data_dir).status
    wanted = (describe(name) for name in dict.fromkeys(cell.dataset for cell in cells if cell.table is None))
    # Many datasets share their files.
    for sources, description in {description.sources: description for description in wanted}.items():
        if status(sources) in ("download", "by hand"):
            tell(f"Fetching {description.name} …")
            loaded(description.name, data_dir=data_dir)


# What ``bench run`` and ``bench retry`` share: the workers, the record of the run, the view, and the exit code.


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
            from mcquack.bench.executors.local import LocalExecutor

            return LocalExecutor(jobs=jobs, data_dir=data_dir)
        from mcquack.bench.executors.cluster import DaskExecutor

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
    from mcquack.bench.rows import RunRecord

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
    from mcquack.bench.runner import run

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


# A store in JSON.

_SCORE_FACTS = ("search", "settings", "metric", "validation", "n_seeds", "n_seeds_done", "test", "spread")

Facts = dict[str, Any]


def store_facts(store: "Store") -> Facts:
    """All that a store tells of the benchmark in it, but for the details of single tasks."""
    counts, runs = store.counts(), store.runs()
    return {
        "store": str(store.path),
        "n_done": counts.done,
        "n_failed": counts.failed,
        "phases": {phase: {"n_done": each.done, "n_failed": each.failed} for phase, each in counts.by_phase.items()},
        "cells": list(_cells(store, runs[-1].suite if runs else {})),
        "failures": [
            {"id": outcome.task.id, **outcome.task.to_json(), "reason": " ".join(outcome.reason.split())}
            for outcome in store.outcomes(failed=True, details=False)
        ],
        "runs": [_run_facts(run) for run in runs],
    }


def _run_facts(run: "RunRecord") -> Facts:
    return {
        "command": run.command,
        "suite": dict(run.suite),
        "started": run.started,
        "ended": run.ended,
        "how": run.how,
        "environment": dict(run.environment.facts),
    }


def _cells(store: "Store", suite: Mapping[str, Any]) -> Iterator[Facts]:
    """Those of the last run in their order, begun or not, then others that the store has."""
    ended: dict[tuple[str, str], Counter[bool]] = {}
    for outcome in store.outcomes(details=False):
        ended.setdefault((outcome.task.dataset, outcome.task.model), Counter())[outcome.failed] += 1
    choices = store.choices()
    final = {outcome.task.id: outcome for outcome in store.final_outcomes(details=False)}
    asked = [(dataset, model) for dataset in suite.get("datasets", ()) for model in suite.get("models", ())]
    for key in dict.fromkeys((*asked, *sorted(ended))):
        counts = ended.get(key, Counter())
        yield {
            "dataset": key[0],
            "model": key[1],
            "n_done": counts[False],
            "n_failed": counts[True],
            **_scores(choices.get(key), final),
        }


def _scores(choice: "Choice | None", final: "Mapping[str, Outcome]") -> Facts:
    """What the search chose, and how that scored; None where it is not known yet."""
    if choice is None:
        return {**dict.fromkeys(_SCORE_FACTS), "n_seeds_done": 0}
    outcomes = [final[task_id] for task_id in choice.final_ids if task_id in final]
    scores = [score for outcome in outcomes if (score := outcome.score("test", choice.metric)) is not None]
    return {
        "search": choice.search,
        "settings": dict(choice.settings),
        "metric": choice.metric,
        "validation": choice.score,
        "n_seeds": len(choice.final_ids),
        "n_seeds_done": sum(not outcome.failed for outcome in outcomes),
        "test": statistics.fmean(scores) if scores else None,
        "spread": statistics.pstdev(scores) if scores else None,
    }


# Arguments and options that several verbs take.

StoreFile = Annotated[Path, typer.Argument(help="A store that mcquack bench run has written.", metavar="STORE")]
Models = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these, by name and separated by commas (may be repeated). Also module:Class of any classifier.",
        show_default="those of the suite",
    ),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these, by names or patterns as 'mnist*', separated by commas (may be repeated).",
        show_default="those of the suite",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Tasks that run at once, each on one core.", show_default="one for each core"),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Run on a Dask cluster: the address of its scheduler, or local to start one here.",
        metavar="ADDRESS|local",
        show_default=False,
    ),
]


def listed(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """What was given with commas, repeatedly, or both; None if nothing was."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(filter(None, names))) or None


# ``mcquack bench export``: the rows of a store as a table that any program reads.


def export(
    store: StoreFile,
    parquet: Annotated[Path | None, typer.Option(help="The Parquet file to write.", show_default=False)] = None,
    csv: Annotated[Path | None, typer.Option(help="The CSV to write.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write one line for each task: dataset, model, settings, seed, all scores, seconds, versions, or its error.

    Example: mcquack bench export real-world.sqlite --parquet real-world.parquet
    """
    from mcquack.bench.store import (
        Store,  # not above: it would delay every --help
        write_csv,
        write_parquet,
    )

    outs = {write: out for write, out in ((write_parquet, parquet), (write_csv, csv)) if out is not None}
    if not outs:
        raise typer.BadParameter("name the file to write.", param_hint="--parquet, --csv")
    for out in outs.values():
        check_can_write(out, overwrite=force, inputs=[store], regular=True)
    with Store.open(store) as opened:
        for write, out in outs.items():
            write(opened, out.resolve())  # a link stays a link
        tell(f"In {' and '.join(map(str, outs.values()))}: {counted(opened.counts().total, 'task')}.")


# ``mcquack bench retry``: what failed, once more.


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


# ``mcquack bench run``: a suite, from its first task or from where it stopped.


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


# ``mcquack bench status``: what a store holds, also while it is being written.

_SHOWN_FAILURES = 10
_COUNTS = ("n_done", "n_failed", "n_seeds_done", "n_seeds")
_SCORES = ("metric", "validation", "test", "spread")


def status(store: StoreFile, as_json: Json = False) -> None:
    """Tell how far a benchmark is: scores of each model on each dataset, what failed and why, and the last run.

    A run that goes on meanwhile is not disturbed. Elsewhere than on a terminal each model on a dataset is a line of
    dataset, model, tasks done, tasks failed, seeds done, seeds, metric, score of the search, mean score on the test
    part and its standard deviation over seeds, separated by tabs.

    Examples: mcquack bench status real-world.sqlite, or mcquack bench status real-world.sqlite --json
    """
    from mcquack.bench.store import Store  # not above: it would delay every --help

    with Store.open(store) as opened:
        facts = store_facts(opened)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
        return
    for line in _summary(facts):
        tell(line)
    if sys.stdout.isatty():
        _print_scores(facts["cells"])
    else:
        typer.echo(tab_separated(map(_fields, facts["cells"])))


def _summary(facts: Facts) -> Iterator[str]:
    cells = facts["cells"]
    n_over = sum(cell["n_seeds"] is not None and cell["n_seeds_done"] == cell["n_seeds"] for cell in cells)
    yield (
        f"{facts['store']}: {counted(facts['n_done'], 'task')} done, {facts['n_failed']:,} failed; "
        f"{n_over:,} of {len(cells):,} models on datasets have all their scores."
    )
    if facts["runs"]:
        yield _run_text(facts["runs"][-1])
    yield from _failure_lines(facts["failures"])


def _run_text(run: Facts) -> str:
    how = "still running, or killed" if run["how"] is None else f"{run['how']} {run['ended']}"
    return f"Last run: {run['command']} (began {run['started']}; {how})"


def _failure_lines(failures: Iterable[Facts]) -> Iterator[str]:
    """Most tasks of a model on a dataset fail alike, so each reason is told once."""
    alike = Counter(f"{failure['model']} on {failure['dataset']}: {failure['reason']}" for failure in failures)
    for text, count in alike.most_common(_SHOWN_FAILURES):
        yield f"  {count:,} × {text}"
    if len(alike) > _SHOWN_FAILURES:
        yield f"  and {len(alike) - _SHOWN_FAILURES} more (--json shows all)"


def _fields(cell: Facts) -> Iterator[object]:
    for name in ("dataset", "model", *_COUNTS, *_SCORES):
        value = cell[name]
        yield "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def _print_scores(cells: Sequence[Facts]) -> None:
    """Datasets down, models across."""
    texts = {(cell["dataset"], cell["model"]): _score_text(cell) for cell in cells}
    datasets, models = (dict.fromkeys(names) for names in zip(*texts, strict=True)) if texts else ((), ())
    table = bare_table()
    table.add_column("dataset", no_wrap=True)
    for model in models:
        table.add_column(model, justify="right")
    for dataset in datasets:
        table.add_row(dataset, *(texts.get((dataset, model), "") for model in models))
    console = plain_console()
    console.print(table)
    metrics = ", ".join(dict.fromkeys(metric_name(cell["metric"]) for cell in cells if cell["metric"]))
    console.print(f"\nMean {metrics or 'score'} on the test part, in brackets if seeds are missing.", style="dim")


def _score_text(cell: Facts) -> str:
    if cell["test"] is not None:
        score = f"{cell['test']:.3f}"
        return score if cell["n_seeds_done"] == cell["n_seeds"] else f"({score})"
    is_searching = cell["n_seeds"] is None and cell["n_done"]
    return "searching" if is_searching else "failed" if cell["n_failed"] else "–"


# ``mcquack bench suites``: which benchmarks come along.


def suites(as_json: Json = False) -> None:
    """List the suites that come along: their datasets, models, search, and how many tasks they are at most.

    Elsewhere than on a terminal each suite is a line of name, title, number of datasets, models, search, seeds and
    tasks, separated by tabs.

    Examples: mcquack bench suites, or mcquack bench suites --json
    """
    from mcquack.bench.suites import BUILT_IN, read_suite  # not above: they would delay every --help

    found = [_facts(read_suite(name)) for name in BUILT_IN]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_table(found)
    else:
        typer.echo(tab_separated(map(_suite_fields, found)))


def _facts(suite: "Suite") -> Facts:
    return {
        "name": suite.name,
        "title": suite.title,
        "datasets": list(suite.datasets),
        "models": list(suite.models),
        "search": suite.search,
        "seeds": suite.seeds,
        "most_tasks": Progress.before(suite.cells()).n_most,
    }


def _suite_fields(facts: Facts) -> Iterator[object]:
    yield from (facts["name"], facts["title"], len(facts["datasets"]), ",".join(facts["models"]))
    yield from (facts[key] for key in ("search", "seeds", "most_tasks"))


def _print_table(found: Sequence[Facts]) -> None:
    table = bare_table()
    for title in ("name", "datasets", "search", "seeds", "tasks", "models"):
        side: Literal["left", "right"] = "right" if title in ("datasets", "seeds", "tasks") else "left"
        table.add_column(title, justify=side, no_wrap=title != "models")
    for facts in found:
        table.add_row(
            facts["name"],
            str(len(facts["datasets"])),
            facts["search"],
            str(facts["seeds"]),
            f"{facts['most_tasks']:,}",
            ", ".join(facts["models"]),
        )
    console = plain_console()
    console.print(table)
    console.print("\nTasks: at most. mcquack bench run NAME runs one, or a part of it.", style="dim")


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for verb in (run, status, retry, export, suites):
    app.command()(verb)


@app.callback()
def bench() -> None:
    """Run many models on many datasets, on this machine or on a cluster, and keep every result in one file.

    A benchmark may stop at any moment: the same command goes on where it was. `mcquack report` turns its results into a
    page to read.

    Examples: mcquack bench suites, then mcquack bench run real-world --datasets 'iris*' --models svc,mcquack
    """
