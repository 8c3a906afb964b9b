"""``mcquack trainability report``: from the store of a study to a page to read."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.cli.notes import tell
from mcquack.errors import InvalidInputError


def report(
    store: Annotated[Path, typer.Argument(help="A store that mcquack trainability run has written.", metavar="STORE")],
    out: Annotated[Path, typer.Option(help="The folder to write to; it is made if it does not exist.")],
    landscape: Annotated[
        list[Path] | None,
        typer.Option(
            help="Show a slice of a loss as well, from a JSON file of LossSlice.to_json (may be repeated).",
            metavar="FILE.json",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Above the page.", show_default="that of the design")] = None,
) -> None:
    """Write a page about a study: gradients and how they scale, training, what decides it, kernels, and shots.

    OUT/index.html needs no internet and can be sent to others as it is; beside it are all tables as CSV and LaTeX, and
    the figures. Every sentence and verdict follows from the numbers in the store.

    Example: mcquack trainability report trainability.sqlite --out trainability-report
    """
    from mcquack.report.trainability import (  # not above: matplotlib would delay every --help
        read_landscape,
        write_trainability_report,
    )

    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder with --out.")
    landscapes = [read_landscape(path) for path in landscape or ()]
    tell(f"The report is in {write_trainability_report(store, out, landscapes=landscapes, title=title)}")
