"""Fits that are interrupted or killed at many moments leave a whole model or none, and nothing half-written."""

import random
import signal
import sys
import time

import pytest

from mcquack import load
from tests.bench.doubles import until
from tests.campaigns import rounds
from tests.cli.fitting import FIT, LONG, command
from tests.cli.tables import two_classes
from tests.nursery import nursery

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and processes that fork")
ROWS = [[0.5, 1.0], [5.0, 0.0]]


@pytest.fixture(scope="module")
def children():
    with nursery("tests.cli.fitting:warm_up") as started:
        yield started


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.csv").write_text(two_classes())
    return tmp_path


def disturbed(children, folder, arguments, number, *, seconds):
    """The exit code and the words of a command that gets a signal so long after it began."""
    (folder / "begun").unlink(missing_ok=True)
    child = children.start(command, str(folder), *arguments)
    until((folder / "begun").exists)
    time.sleep(seconds)
    child.send(number)
    return child.end()


def seconds_of(children, folder, arguments):
    """How long the command takes here and now."""
    (folder / "begun").unlink(missing_ok=True)
    child = children.start(command, str(folder), *arguments)
    until((folder / "begun").exists)
    began = time.monotonic()
    code, printed = child.end()
    assert code == 0, printed
    return time.monotonic() - began


def check_model(folder):
    """A model that is there is whole and answers."""
    assert len(load(folder / "model.mcq").predict(ROWS)) == len(ROWS)


@pytest.mark.parametrize("n_rounds", rounds(4, short=20, full=60))
def test_ctrl_c_at_any_moment_keeps_a_model_or_writes_nothing(children, folder, n_rounds, tally):
    chance, kept = random.Random(n_rounds), 0
    longest = seconds_of(children, folder, LONG)
    (folder / "model.mcq").unlink()
    n_interrupted = 0
    for _ in range(n_rounds):
        code, printed = disturbed(children, folder, LONG, signal.SIGINT, seconds=chance.uniform(0, longest))
        assert code in (0, 130), printed
        # One that arrives while Python clears up an object or calls back from C is lost, and Python says so.
        assert "Traceback" not in printed or "Exception ignored in" in printed, printed
        assert "unexpected" not in printed, printed
        n_interrupted += code == 130
        files = {path.name for path in folder.iterdir()} - {"table.csv", "begun"}
        assert files <= {"model.mcq"}
        if files:
            kept += 1
            check_model(folder)
            (folder / "model.mcq").unlink()
    assert n_interrupted or n_rounds < 10  # a few may all come after a command that was quicker than the first one
    tally("interrupts of a fit", n_rounds, models_kept=kept, half_written=0, tracebacks=0)


@pytest.mark.parametrize("n_kills", rounds(2, short=8, full=25))
def test_a_fit_that_is_killed_leaves_the_old_model_or_the_new_one(children, folder, n_kills, tally):
    chance = random.Random(n_kills)
    arguments = (*FIT, "--epochs", "40")
    longest = seconds_of(children, folder, arguments)
    for _ in range(n_kills):
        # Most of them late, while the model is written.
        seconds = longest * (1 - chance.random() ** 2)
        code, printed = disturbed(children, folder, arguments, signal.SIGKILL, seconds=seconds)
        assert code in (0, -signal.SIGKILL), printed
        check_model(folder)
    left = {path.name for path in folder.iterdir()} - {"table.csv", "begun", "model.mcq"}
    assert all(name.startswith(".mcquack-") for name in left)  # nobody is left to remove what was begun
    tally("kills of a fit", n_kills, models_lost=0)
