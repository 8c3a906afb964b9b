"""``mcquack models``: list the models that are known by name, and show all about one."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated

import typer
from rich.text import Text

from mcquack.cli import completions
from mcquack.cli.console import Json, bare_table, say, show_rows, tab_separated
from mcquack.models.catalog import Facts, Kind, entries, entry, entry_facts
from mcquack.progress import SafeConsole

_SUITES = ("real-world", "qml")
_TOLD = ("name", "title", "kind", "class", "description")

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")


@app.callback()
def models() -> None:
    """List and show the models that are known by name: McQuack, and those that it is measured against.

    In Python, `mcquack.models.catalog.entry(NAME).new()` makes one.

    Examples: mcquack models list --kind classical, then mcquack models show svc
    """


@app.command("list")
def listing(
    kind: Annotated[Kind | None, typer.Option(help="Only this kind.", show_default="all")] = None, as_json: Json = False
) -> None:
    """List the models: name, how many settings a search tries on each suite of datasets, and what they are.

    Elsewhere than on a terminal each model is a line of name, kind, title, settings for real-world, settings for qml
    and description, separated by tabs.

    Examples: mcquack models list --kind classical, or mcquack models list | cut -f 1
    """
    found = [entry_facts(entry, with_settings=False) for entry in entries(kind)]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_list(found)
    else:
        say(tab_separated(map(_fields, found)))


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(help="The model, by a name that mcquack models list shows.", autocompletion=completions.models),
    ],
    as_json: Json = False,
) -> None:
    """Tell all about a model: its settings with their defaults, and what a search tries on each suite of datasets.

    Values are in the notation of Python. Elsewhere than on a terminal the fields of a line are separated by tabs.

    Example: mcquack models show mcquack
    """
    facts = entry_facts(entry(name))
    about = [(title, facts[title]) for title in _TOLD]
    if as_json:
        typer.echo(json.dumps(facts, indent=2, default=str))
    elif sys.stdout.isatty():
        _print_model(about, list(_setting_rows(facts)))
    else:
        say(tab_separated([*about, *_setting_rows(facts)]))


def _fields(facts: Facts) -> list[object]:
    n_settings = (facts["n_settings"].get(suite, 0) for suite in _SUITES)
    return [facts["name"], facts["kind"], facts["title"], *n_settings, facts["description"]]


def _print_list(found: Sequence[Facts]) -> None:
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
    console = SafeConsole()
    console.print(table)
    note = f"{' and '.join(_SUITES)}: settings in the search space for that suite. mcquack models show NAME tells more."
    console.print(f"\n{note}", style="dim")


def _setting_rows(facts: Facts) -> Iterator[list[str]]:
    """A row for each setting, with titles above and the number of combinations below."""
    spaces = facts["search_spaces"]
    yield ["setting", "default", *spaces]
    for name, default in facts["defaults"].items():
        yield [name, repr(default), *(", ".join(map(repr, space.get(name, ()))) for space in spaces.values())]
    if spaces:
        yield ["combinations", "", *(f"{facts['n_settings'][suite]:,}" for suite in spaces)]


def _print_model(about: Sequence[tuple[str, str]], settings: Sequence[Sequence[str]]) -> None:
    upper = bare_table()
    upper.show_header = False
    for line in about:
        upper.add_row(*line)
    SafeConsole().print(upper)
    typer.echo()
    show_rows(dict.fromkeys(settings[0], "left"), settings[1:])
