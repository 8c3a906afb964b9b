"""The verbs of ``mcquack datasets``."""

import typer

from mcquack.cli.datasets.export import export
from mcquack.cli.datasets.fetch import fetch
from mcquack.cli.datasets.listing import listing
from mcquack.cli.datasets.plot import plot
from mcquack.cli.datasets.show import show

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
app.command("list")(listing)
for verb in (show, fetch, export, plot):
    app.command()(verb)


@app.callback()
def datasets() -> None:
    """List, show, fetch, export and plot the datasets that are known by name: the paper's, the QML suite's, and more.

    Many are generated. The files of the others are looked for in the folder given by --data-dir or MCQUACK_DATA, then
    in the cache, and are downloaded otherwise. Train on a dataset by its name with `mcquack fit`.

    Examples: mcquack datasets list --suite real-world, then mcquack datasets show mnist10
    """
