"""Rows for people on a terminal, and for programs elsewhere."""

from collections.abc import Iterable

from rich.console import Console
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
