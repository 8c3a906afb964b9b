"""``mcquack models list``: what there is."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.text import Text

from mcquack.cli.models.facts import brief_facts
from mcquack.cli.options import Json
from mcquack.cli.tables import bare_table, plain_console, tab_separated
from mcquack.models.catalog import Kind, entries

_SUITES = ("real-world", "qml")

Facts = dict[str, Any]


def listing(
    kind: Annotated[Kind | None, typer.Option(help="Only this kind.", show_default="all")] = None,
    as_json: Json = False,
) -> None:
    """List the models: name, how many settings a search tries on each suite of datasets, and what they are.

    Elsewhere than on a terminal each model is a line of name, kind, title, settings for real-world, settings for qml
    and description, separated by tabs.

    Examples: mcquack models list --kind classical, or mcquack models list | cut -f 1
    """
    found = [brief_facts(entry) for entry in entries(kind)]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_table(found)
    else:
        typer.echo(tab_separated(map(_fields, found)))


def _fields(facts: Facts) -> Iterator[object]:
    yield from (facts[key] for key in ("name", "kind", "title"))
    yield from (facts["n_settings"].get(suite, 0) for suite in _SUITES)
    yield facts["description"]


def _print_table(found: Sequence[Facts]) -> None:
    table = bare_table()
    table.add_column("name", no_wrap=True)
    for suite in _SUITES:
        table.add_column(suite, justify="right", no_wrap=True)
    table.add_column("description")
    for kind, of_kind in groupby(found, key=lambda facts: str(facts["kind"])):
        table.add_row(Text(kind, style="bold"))
        for facts in of_kind:
            counts = (str(facts["n_settings"].get(suite, "–")) for suite in _SUITES)
            table.add_row(facts["name"], *counts, facts["description"])
    console = plain_console()
    console.print(table)
    note = f"{' and '.join(_SUITES)}: settings in the search space for that suite. mcquack models show NAME tells more."
    console.print(f"\n{note}", style="dim")
