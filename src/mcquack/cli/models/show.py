"""``mcquack models show``: all that is known of one model."""

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mcquack.cli.models.facts import brief_facts
from mcquack.cli.options import Json
from mcquack.cli.tables import bare_table, plain_console, tab_separated
from mcquack.models.catalog import Entry, entry, names

Facts = dict[str, Any]
_TITLES = ("title", "kind", "class", "description")


def _completions(incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


def show(
    name: Annotated[
        str, typer.Argument(help="The model, by a name that mcquack models list shows.", autocompletion=_completions)
    ],
    as_json: Json = False,
) -> None:
    """Tell all about a model: its settings with their defaults, and what a search tries on each suite of datasets.

    Values are in the notation of Python. Elsewhere than on a terminal the fields of a line are separated by tabs.

    Example: mcquack models show mcquack
    """
    facts = _facts(entry(name))
    if as_json:
        typer.echo(json.dumps(facts, indent=2, default=str))
    elif sys.stdout.isatty():
        _print_tables(facts)
    else:
        typer.echo(tab_separated([*_entries(facts), *_rows(facts)]))


def _facts(model: Entry) -> Facts:
    return {
        **brief_facts(model),
        "defaults": dict(model.defaults()),
        "search_spaces": {suite: model.search_space(suite).values for suite in model.suites},
    }


def _entries(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "name", facts["name"]
    yield from ((title, facts[title]) for title in _TITLES)


def _rows(facts: Facts) -> Iterator[list[str]]:
    """A line for each setting, with titles above and the number of combinations below."""
    spaces = facts["search_spaces"]
    yield ["setting", "default", *spaces]
    for name, default in facts["defaults"].items():
        yield [name, repr(default), *(", ".join(map(repr, space.get(name, ()))) for space in spaces.values())]
    if spaces:
        yield ["combinations", "", *(f"{facts['n_settings'][suite]:,}" for suite in spaces)]


def _print_tables(facts: Facts) -> None:
    about, settings = bare_table(), bare_table()
    about.show_header = False
    for line in _entries(facts):
        about.add_row(*line)
    titles, *rows = _rows(facts)
    for title in titles:
        settings.add_column(title, no_wrap=title == "setting")
    for row in rows:
        settings.add_row(*row)
    console = plain_console()
    console.print(about)
    console.print()
    console.print(settings)
