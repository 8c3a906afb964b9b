"""The verbs of ``mcquack models``."""

import typer

from mcquack.cli.models.listing import listing
from mcquack.cli.models.show import show

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
app.command("list")(listing)
app.command()(show)


@app.callback()
def models() -> None:
    """List and show the models that are known by name: McQuack, and those that it is measured against.

    In Python, `mcquack.models.catalog.entry(NAME).new()` makes one.

    Examples: mcquack models list --kind classical, then mcquack models show svc
    """
