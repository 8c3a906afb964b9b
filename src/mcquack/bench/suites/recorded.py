"""From the runs that a store remembers back to what they asked for."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from mcquack.bench.plan import Cell
from mcquack.bench.store import RunRecord
from mcquack.bench.suites.reading import suite_from_json

Pair = tuple[str, str]  # dataset and model


def recorded_cells(runs: Sequence[RunRecord], wanted: Collection[Pair]) -> dict[Pair, Cell]:
    """The wanted cells that any run asked for, each as the last run that did so asked for it.

    Nothing else of the runs is looked at: tables that are not wanted may be gone.
    """
    cells: dict[Pair, Cell] = {}
    for run in reversed(runs):
        pairs = product(run.suite.get("datasets", ()), run.suite.get("models", ()))
        asked = [pair for pair in pairs if pair in wanted and pair not in cells]
        if asked:
            suite = suite_from_json(_part(run.suite, asked))
            cells |= {(dataset, model): suite.cell(dataset, model) for dataset, model in asked}
    return cells


def _part(suite: Mapping[str, Any], pairs: Iterable[Pair]) -> dict[str, Any]:
    datasets, models = (dict.fromkeys(names) for names in zip(*pairs, strict=True))
    tables = {name: table for name, table in suite.get("tables", {}).items() if name in datasets}
    return {**suite, "datasets": list(datasets), "models": list(models), "tables": tables}
