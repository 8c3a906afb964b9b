"""Commands that fit, in processes that have everything compiled when they begin, to be interrupted or killed."""

import os
import signal
import tempfile
import traceback
from pathlib import Path

from mcquack.cli.app import exit_code
from tests.cli.tables import two_classes

EPOCHS = 400
FIT = ("fit", "table.csv", "--target", "label", "--out", "model.mcq", "--qubits", "2", "--force")
LONG = (*FIT, "--epochs", str(EPOCHS))


def command(folder: str, *arguments: str) -> int:
    """Runs one command line in a folder, and leaves a file there when it begins."""
    os.chdir(folder)
    try:
        os.close(os.open("begun", os.O_CREAT))
        code = exit_code(list(arguments))
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what comes now is no matter of the command
    except KeyboardInterrupt as stop:
        # Before its first line and after its last the command cannot answer for itself; within it must.
        if len(traceback.extract_tb(stop.__traceback__)) > 2:
            raise
        return 130
    return code


def warm_up() -> None:
    """Has everything compiled for those that are forked from this process."""
    before, handler = Path.cwd(), signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.csv").write_text(two_classes())
        try:
            if command(folder, *FIT, "--epochs", "2") or command(folder, "predict", "model.mcq", "table.csv"):
                raise RuntimeError("the command that is to be interrupted does not work at all")
        finally:
            os.chdir(before)
            signal.signal(signal.SIGINT, handler)
