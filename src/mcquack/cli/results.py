"""What is in a store of results: status, export, merge and the report; and the suites that fill one."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import JustifyMethod

from mcquack import bench as laboratory  # what runs a benchmark loads on first use: it would delay every --help
from mcquack.bench.progress import Progress, metric_name
from mcquack.bench.task import short_names
from mcquack.cli.console import check_can_write, check_folder, say, show_rows, tab_separated, tell
from mcquack.cli.options import DataDir, Force, Json, OutFolder, StoreFile, Title, argument, flag, listed, option
from mcquack.errors import InvalidInputError
from mcquack.progress import SafeConsole, counted

Facts = dict[str, Any]

_SHOWN_FAILURES = 10
_COLUMNS = ("dataset", "model", "n_done", "n_failed", "n_seeds_done", "n_seeds")
_SCORES = ("metric", "validation", "test", "spread")
_QML = "qml"
_PUBLISHED = "Rank published scores beside these: qml for those of the QML suite, or a CSV (may be repeated)."
_RANK_SCALE = (
    "Average ranks are means of rank / models, as in the QML suite (share), or of (rank - 1) / (models - 1), as in the "
    "paper of McQuack (unit)."
)


def is_study(store: Path) -> bool:
    """Whether all that a store holds is of a study of trainability, which has a run and a report of its own."""
    from mcquack.studies.trainability.design import PROBE  # not above: it would delay every --help

    with laboratory.Store.open(store) as opened:
        models = (outcome.task.model for outcome in opened.outcomes(details=False))
        first = next(models, None)
        return first == PROBE and all(model == PROBE for model in models)


def export(
    store: StoreFile,
    parquet: Annotated[Path | None, option("The Parquet file to write.", "FILE")] = None,
    csv: Annotated[Path | None, option("The CSV to write.", "FILE")] = None,
    force: Force = False,
) -> None:
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


def merge(
    stores: Annotated[list[Path], argument("STORE", "The stores to read.")],
    out: Annotated[Path, option("The store to write, or to add to.", "FILE")],
    final: Annotated[bool, flag("--final", "Without searches and training curves.")] = False,
) -> None:
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


def report(
    store: StoreFile,
    out: OutFolder,
    published: Annotated[list[str] | None, option(_PUBLISHED, "qml|FILE.csv")] = None,
    rank_scale: Annotated[Literal["share", "unit"], option(_RANK_SCALE)] = "share",
    title: Title = None,
    data_dir: DataDir = None,
) -> None:
    """Write a page about a benchmark: leaderboard, rankings, scores of each dataset, every task, and all tables.

    OUT/index.html needs no internet and can be sent to others as it is; beside it are all tables as CSV and LaTeX, and
    the figures. A CSV of published scores has the columns dataset, model, part, metric, mean, std, n_parameters and
    source.

    Example: mcquack report qml.sqlite --out qml-report --published qml
    """
    # Not above: matplotlib would delay every --help.
    from mcquack.bench.ranking import published_scores, read_published
    from mcquack.report import write_report

    check_folder(out)
    if is_study(store):
        raise InvalidInputError(
            f"{store} holds a study of trainability; its report is made by: mcquack trainability report {store} --out "
            f"{out}"
        )
    scores = [
        cell
        for source in listed(published) or ()
        for cell in (published_scores(data_dir) if source == _QML else read_published(source))
    ]
    page = write_report(store, out, published=scores, title=title, rank_scale=rank_scale)
    tell(f"The report is in {page}")
