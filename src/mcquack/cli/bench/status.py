"""``mcquack bench status``: what a store holds, also while it is being written."""

import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from mcquack.cli.bench.options import StoreFile
from mcquack.cli.bench.texts import counted, metric_name
from mcquack.cli.notes import tell
from mcquack.cli.options import Json
from mcquack.cli.tables import bare_table, plain_console, tab_separated

if TYPE_CHECKING:
    from mcquack.bench.choice import Choice
    from mcquack.bench.outcome import Outcome
    from mcquack.bench.store import RunRecord, Store

_SHOWN_FAILURES = 10
_FIELDS = (
    "dataset",
    "model",
    "n_done",
    "n_failed",
    "n_seeds_done",
    "n_seeds",
    "metric",
    "validation",
    "test",
    "spread",
)

Facts = dict[str, Any]


def status(store: StoreFile, as_json: Json = False) -> None:
    """Tell how far a benchmark is: scores of each model on each dataset, what failed and why, and the last run.

    A run that goes on meanwhile is not disturbed. Elsewhere than on a terminal each model on a dataset is a line of
    dataset, model, tasks done, tasks failed, seeds done, seeds, metric, score of the search, mean score on the test
    part and its standard deviation over seeds, separated by tabs.

    Examples: mcquack bench status real-world.sqlite, or mcquack bench status real-world.sqlite --json
    """
    from mcquack.bench.store import Store  # not above: it would delay every --help

    with Store.open(store) as opened:
        facts = _facts(opened)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
        return
    for line in _summary(facts):
        tell(line)
    if sys.stdout.isatty():
        _print_scores(facts["cells"])
    else:
        typer.echo(tab_separated(map(_fields, facts["cells"])))


def _facts(store: "Store") -> Facts:
    counts, runs = store.counts(), store.runs()
    return {
        "store": str(store.path),
        "n_done": counts.done,
        "n_failed": counts.failed,
        "phases": {phase: {"n_done": each.done, "n_failed": each.failed} for phase, each in counts.by_phase.items()},
        "cells": list(_cells(store, runs[-1].suite if runs else {})),
        "failures": [
            {"id": outcome.task.id, **outcome.task.to_json(), "reason": outcome.reason}
            for outcome in store.outcomes(failed=True, details=False)
        ],
        "runs": [_run_facts(run) for run in runs],
    }


def _run_facts(run: "RunRecord") -> Facts:
    environment = dict(run.environment.facts)
    return {
        "command": run.command,
        "suite": dict(run.suite),
        "started": run.started,
        "ended": run.ended,
        "how": run.how,
        "environment": environment,
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
            **dict(zip(("dataset", "model"), key, strict=True)),
            "n_done": counts[False],
            "n_failed": counts[True],
            **_scores(choices.get(key), final),
        }


def _scores(choice: "Choice | None", final: "Mapping[str, Outcome]") -> Facts:
    """What the search chose, and how that scored; None where it is not known yet."""
    if choice is None:
        return dict.fromkeys(("search", "settings", "metric", "validation", "n_seeds", "test", "spread")) | {
            "n_seeds_done": 0
        }
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
    for name in _FIELDS:
        value = cell[name]
        yield "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def _print_scores(cells: Sequence[Facts]) -> None:
    """Datasets down, models across."""
    models = list(dict.fromkeys(cell["model"] for cell in cells))
    table = bare_table()
    table.add_column("dataset", no_wrap=True)
    for model in models:
        table.add_column(model, justify="right")
    for dataset, of_dataset in groupby(cells, key=lambda cell: str(cell["dataset"])):
        texts = {cell["model"]: _score_text(cell) for cell in of_dataset}
        table.add_row(dataset, *(texts.get(model, "") for model in models))
    console = plain_console()
    console.print(table)
    metrics = ", ".join(dict.fromkeys(metric_name(cell["metric"]) for cell in cells if cell["metric"]))
    console.print(f"\nMean {metrics or 'score'} on the test part, in brackets if seeds are missing.", style="dim")


def _score_text(cell: Facts) -> str:
    if cell["test"] is None:
        return "failed" if cell["n_failed"] and not cell["n_done"] else "searching" if cell["n_done"] else "–"
    score = f"{cell['test']:.3f}"
    return score if cell["n_seeds_done"] == cell["n_seeds"] else f"({score})"
