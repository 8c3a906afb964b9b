"""``mcquack bench status``: what a store holds, also while it is being written."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import typer

from mcquack.cli.bench.facts import Facts, store_facts
from mcquack.cli.bench.options import StoreFile
from mcquack.cli.bench.texts import counted, metric_name
from mcquack.cli.notes import tell
from mcquack.cli.options import Json
from mcquack.cli.tables import bare_table, plain_console, tab_separated

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
