"""The verbs of ``mcquack models``."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.text import Text

from mcquack.cli.console import Json, bare_table, plain_console, tab_separated
from mcquack.models.catalog import Entry, Kind, entries, entry, names

# A model in JSON.


def brief_facts(entry: Entry) -> dict[str, Any]:
    """What it takes to choose one, without importing it."""
    return {
        "name": entry.name,
        "title": entry.title,
        "kind": entry.kind,
        "description": entry.description,
        "class": entry.home.replace(":", "."),
        "n_settings": {suite: len(entry.search_space(suite)) for suite in entry.suites},
    }


# ``mcquack models list``: what there is.

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


# ``mcquack models show``: all that is known of one model.

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


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
app.command("list")(listing)
app.command()(show)


@app.callback()
def models() -> None:
    """List and show the models that are known by name: McQuack, and those that it is measured against.

    In Python, `mcquack.models.catalog.entry(NAME).new()` makes one.

    Examples: mcquack models list --kind classical, then mcquack models show svc
    """
