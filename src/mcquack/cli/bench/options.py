"""Arguments and options that several verbs take."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

StoreFile = Annotated[Path, typer.Argument(help="A store that mcquack bench run has written.", metavar="STORE")]
Models = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these, by name and separated by commas (may be repeated). Also module:Class of any classifier.",
        show_default="those of the suite",
    ),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these, by names or patterns as 'mnist*', separated by commas (may be repeated).",
        show_default="those of the suite",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Tasks that run at once, each on one core.", show_default="one for each core"),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Run on a Dask cluster: the address of its scheduler, or local to start one here.",
        metavar="ADDRESS|local",
        show_default=False,
    ),
]


def listed(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """What was given with commas, repeatedly, or both; None if nothing was."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(filter(None, names))) or None
