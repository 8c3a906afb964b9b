"""Rows for people on a terminal, and for programs elsewhere."""

import sys
from collections.abc import Iterable, Mapping, Sequence

import typer
from rich.console import Console, JustifyMethod
from rich.table import Table


def bare_table() -> Table:
    """A table without lines, as wide as its cells."""
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def plain_console() -> Console:
    """Prints text as it is: brackets and colons in it mean nothing."""
    return Console(markup=False, emoji=False, highlight=False)


def tab_separated(rows: Iterable[Iterable[object]]) -> str:
    """A line for each row, to be cut into fields."""
    return "\n".join("\t".join(map(str, row)) for row in rows)


def show_rows(columns: Mapping[str, JustifyMethod], rows: Sequence[Sequence[object]]) -> None:
    """A table with these columns on a terminal, and lines without a header elsewhere."""
    if not sys.stdout.isatty():
        if rows:
            typer.echo(tab_separated(rows))
        return
    table = bare_table()
    for number, (name, justify) in enumerate(columns.items()):
        table.add_column(name, justify=justify, no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(str, row))
    plain_console().print(table)
