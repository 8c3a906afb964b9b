"""The verbs of ``mcquack bench``."""

import typer

from mcquack.cli.bench.export import export
from mcquack.cli.bench.retry import retry
from mcquack.cli.bench.run import run
from mcquack.cli.bench.status import status
from mcquack.cli.bench.suites import suites

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for verb in (run, status, retry, export, suites):
    app.command()(verb)


@app.callback()
def bench() -> None:
    """Run many models on many datasets, on this machine or on a cluster, and keep every result in one file.

    A benchmark may stop at any moment: the same command goes on where it was. `mcquack report` turns its results into a
    page to read.

    Examples: mcquack bench suites, then mcquack bench run real-world --datasets 'iris*' --models svc,mcquack
    """
