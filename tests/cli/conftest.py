import csv
import io
import re
from dataclasses import dataclass

import pytest

from mcquack.cli.app import exit_code


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def rows(self):
        """What was printed, read as CSV."""
        return list(csv.DictReader(io.StringIO(self.out, newline="")))


@pytest.fixture
def mcquack(capsys):
    """Runs one command line as the shell would, in this process."""

    def run(*arguments):
        capsys.readouterr()
        code = exit_code([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def terminal(mcquack, monkeypatch):
    """Runs a command line as on a terminal of this width, and gives the lines without colours."""

    def run(*arguments, width):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        return re.sub(r"\x1b\[[0-9;]*m", "", mcquack(*arguments).out).splitlines()

    return run


@pytest.fixture
def table(tmp_path):
    """Writes a CSV and gives its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def fitted(mcquack, table, tmp_path):
    """Fits a small model to a CSV and gives the path of the model file and the outcome."""

    def fit(content, *options, name="train.csv", target="label"):
        path = tmp_path / "model.mcq"
        outcome = mcquack(
            "fit", table(content, name), "--target", target, "--out", path, "--epochs", 2, "--qubits", 2, *options
        )
        return path, outcome

    return fit
