"""The verbs of ``mcquack trainability``."""

import typer

from mcquack.cli.trainability.report import report
from mcquack.cli.trainability.run import run

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for verb in (run, report):
    app.command()(verb)


@app.callback()
def trainability() -> None:
    """Find out whether a model trains and what decides it: gradients, loss curves and states over sizes and starts.

    A study may stop at any moment: the same command goes on where it was.

    Example: mcquack trainability run quick
    """
