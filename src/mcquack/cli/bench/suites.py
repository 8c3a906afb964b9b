"""``mcquack bench suites``: which benchmarks come along."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import typer

from mcquack.cli.bench.progress import Progress
from mcquack.cli.options import Json
from mcquack.cli.tables import bare_table, plain_console, tab_separated

if TYPE_CHECKING:
    from mcquack.bench.suites import Suite

Facts = dict[str, Any]


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
        typer.echo(tab_separated(map(_fields, found)))


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


def _fields(facts: Facts) -> Iterator[object]:
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
