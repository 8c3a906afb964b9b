"""``mcquack models`` and ``mcquack info``: the models that are known by name, and what is in a model file."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.text import Text

from mcquack.cli.console import bare_table, say, show_rows, tab_separated
from mcquack.cli.options import Json, ModelFile, argument, group, model_names, option
from mcquack.datasets.table.column import IMPUTING
from mcquack.datasets.table.value import listed
from mcquack.errors import printable
from mcquack.models.catalog import Facts, Kind, entries, entry, entry_facts, model_facts
from mcquack.progress import SafeConsole, row_text

_SUITES = ("real-world", "qml")
_SHOWN_COLUMNS = 20
_TOLD = ("name", "title", "kind", "class", "description")


def list_(kind: Annotated[Kind | None, option("Only this kind.", "KIND")] = None, as_json: Json = False) -> None:
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


def show(
    name: Annotated[
        str, argument("NAME", "The model, by a name that mcquack models list shows.", autocompletion=model_names)
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


def info(model: ModelFile, as_json: Json = False) -> None:
    """Tell what a model file holds: classes, features, circuit, parameters, training and versions.

    Example: mcquack info flowers.mcq
    """
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    classifier = load(model)
    facts = model_facts(classifier, path=model)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        say("\n".join(map(printable, _info_lines(facts))))
        if facts["circuit"]:
            say(f"\n{classifier.feature_map_.draw()}")


def _info_lines(facts: Facts) -> Iterator[str]:
    yield f"{facts['file']}: a {facts['kind']}"
    yield f"classes     {len(facts['classes'])}: {listed(map(str, facts['classes']))}"
    yield from _feature_lines(facts)
    circuit, best, last = (facts[name] for name in ("circuit", "best_epoch", "last_epoch"))
    if circuit:
        kind = "layers" if circuit["n_layers"] else "gates"
        size = f"{circuit['n_qubits']} qubits, {circuit[f'n_{kind}']} {kind}"
        yield f"circuit     {size}; {facts['n_parameters']:,} parameters in all"
    else:
        yield f"parameters  {facts['n_parameters']:,}"
    if last:
        which = "" if best is None else f", the best was number {listed(best) if isinstance(best, list) else best}"
        unit = "epochs" if facts["n_steps"] is None else "steps"
        yield f"training    {facts[f'n_{unit}']:,} {unit}{which}"
        yield f"            at the last: {row_text(last)}"
    yield f"settings    {', '.join(f'{name}={_short(value)}' for name, value in facts['settings'].items())}"
    yield f"versions    {', '.join(f'{name} {value}' for name, value in facts['versions'].items())}"


def _short(value: Any) -> str:
    return "a circuit" if isinstance(value, dict) and "gates" in value else repr(value)


def _feature_lines(facts: Facts) -> Iterator[str]:
    table = facts["table"]
    if table is None:
        yield f"features    {facts['n_features']}, without a table: for arrays in Python"
        return
    yield f"target      {table['target']!r}"
    spread = any(column.get("one_hot") for column in table["columns"])
    size = f"{len(table['columns'])} columns" + (f" as {facts['n_features']} features" if spread else "")
    yield f"features    {size}; missing values: {table['missing']}"
    written = {name: how for name, how in table.get("notation", {}).items() if how is not None}
    if written:
        yield f"notation    {', '.join(f'{name} {how!r}' for name, how in written.items())}"
    for column in table["columns"][:_SHOWN_COLUMNS]:
        kinds = column["categories"]
        among = f": {listed(kinds, limit=5)}" if kinds else ""
        fill = ""
        if table["missing"] in IMPUTING:
            value = repr(kinds[int(column["fill"])]) if kinds else f"{column['fill']:g}"
            fill = f"; {value} where missing"
        each = ", a feature for each" if column.get("one_hot") else ""
        yield f"            {column['name']!r} {column['kind']}{each}{among}{fill}"
    if len(table["columns"]) > _SHOWN_COLUMNS:
        yield f"            and {len(table['columns']) - _SHOWN_COLUMNS} more (--json shows all)"


def models() -> None:
    """List and show the models that are known by name: McQuack, and those that it is measured against.

    In Python, `mcquack.models.catalog.entry(NAME).new()` makes one.

    Examples: mcquack models list --kind classical, then mcquack models show svc
    """


app = group(models, list_, show)
