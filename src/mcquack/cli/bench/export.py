"""``mcquack bench export``: the rows of a store as a table that any program reads."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.cli.bench.options import StoreFile
from mcquack.cli.bench.texts import counted
from mcquack.cli.files import check_can_write
from mcquack.cli.notes import tell


def export(
    store: StoreFile,
    parquet: Annotated[Path | None, typer.Option(help="The Parquet file to write.", show_default=False)] = None,
    csv: Annotated[Path | None, typer.Option(help="The CSV to write.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write one line for each task: dataset, model, settings, seed, all scores, seconds, versions, or its error.

    Example: mcquack bench export real-world.sqlite --parquet real-world.parquet
    """
    from mcquack.bench.store import Store  # not above: it would delay every --help
    from mcquack.bench.store.export import write_csv, write_parquet

    outs = {write: out for write, out in ((write_parquet, parquet), (write_csv, csv)) if out is not None}
    if not outs:
        raise typer.BadParameter("name the file to write.", param_hint="--parquet, --csv")
    for out in outs.values():
        check_can_write(out, overwrite=force, inputs=[store], regular=True)
    with Store.open(store) as opened:
        for write, out in outs.items():
            write(opened, out.resolve())  # a link stays a link
        tell(f"In {' and '.join(map(str, outs.values()))}: {counted(opened.counts().total, 'task')}.")
