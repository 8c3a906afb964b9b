"""The verbs of ``mcquack hardware``."""

import typer

from mcquack.cli.hardware.calibrate import calibrate
from mcquack.cli.hardware.devices import devices
from mcquack.cli.hardware.export import export
from mcquack.cli.hardware.jobs import cancel, resume, status
from mcquack.cli.hardware.layout import layout
from mcquack.cli.hardware.run import run
from mcquack.cli.hardware.submit import submit
from mcquack.cli.hardware.train import train

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for verb in (devices, layout, calibrate, run, submit, status, resume, cancel, train, export):
    app.command()(verb)


@app.callback()
def hardware() -> None:
    """Run a model on a device of IBM, or rehearse exactly that on a snapshot of one.

    Devices and snapshots take mcquack[ibm]; an account is found where the vendor's own package keeps it, and never
    written anywhere.

    Examples: mcquack hardware devices, then mcquack hardware run --model m.mcq --data new.csv --backend fake_pittsburgh
    """
