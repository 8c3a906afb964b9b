"""Commands for devices, killed at every step: what was paid for is neither lost nor sent again."""

import random
import shutil
import signal
import sys
from contextlib import closing

import numpy as np
import pytest

from mcquack.hardware.jobs.ledger import Ledger
from tests.campaigns import rounds
from tests.cli.hardware.far_folder import SHOTS, FolderAccount, command
from tests.nursery import nursery

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing there ends a process as SIGKILL does")
STORE = "jobs.sqlite"
ROWS = ("--model", "model.mcq", "--data", "data.csv", "--backend", "ibm_rome", "--store", STORE, "--shots", str(SHOTS))
SUBMIT = ["hardware", "submit", *ROWS, "--yes"]
RESUME = ["hardware", "resume", STORE, "--yes"]
CANCEL = ["hardware", "cancel", STORE]
RUN = ["hardware", "run", *ROWS, "--yes", "--out", "labels.csv"]
N_CIRCUITS = 2 * 2 + 12 * 2  # between the centroids, and of the rows with them


@pytest.fixture(scope="module")
def children():
    with nursery("tests.cli.hardware.far_folder", "mcquack.cli.hardware", "mcquack.hardware.labelling") as opened:
        yield opened


@pytest.fixture
def begun(children, tmp_path, model, data):
    """Makes a folder in which these commands were run, with nothing done by the service unless ``at_once``."""

    def make(name, *commands, finished=False):
        folder = tmp_path / name
        (folder / "account").mkdir(parents=True)
        for file in (model, data):
            shutil.copy(file, folder)
        code, printed = children.run(command, str(folder), list(commands), None, False)
        assert code == 0, printed
        if finished:
            FolderAccount(folder / "account").finish()
        return folder

    return make


# What has happened, whether the service has done its jobs meanwhile, and the command that is killed.
SCENES = {
    "submit": ((), False, SUBMIT),
    "resume": ((SUBMIT,), True, RESUME),
    "cancel": ((SUBMIT,), False, CANCEL),
    "resume what was cancelled": ((SUBMIT, CANCEL), False, RESUME),
    "cancel what is done": ((SUBMIT,), True, CANCEL),
}


def paid_circuits(folder):
    """Every circuit that was measured at the cost of its owner, once for each time."""
    done = [job for job in FolderAccount(folder / "account").sent if job.state == "DONE"]
    return [np.round(np.exp(1j * row), 6).tobytes() for job in done for row in job.angles]


def check_readable(folder):
    """A ledger that was left behind, if there is one yet, is whole and tells of its jobs."""
    if (folder / STORE).exists():
        with closing(Ledger.open(folder / STORE)) as ledger:
            assert ledger._connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            return [[job.state for job in ledger.jobs(each)] for each in ledger.ids()]
    return []


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("most", rounds(2, short=4, full=16))
def test_a_command_killed_at_any_step_loses_no_paid_job_and_sends_none_twice(
    begun, children, tmp_path, scene, most, tally
):
    commands, finished, killed = SCENES[scene]
    undisturbed = begun("undisturbed", *commands, finished=finished)
    assert children.run(command, str(undisturbed), [killed], None, killed is RESUME)[0] == 0
    n_moments = int((undisturbed / "moments.txt").read_text())
    assert n_moments > 5
    FolderAccount(undisturbed / "account").finish()
    code, printed = children.run(command, str(undisturbed), [RESUME, RUN], None, True)
    assert code == 0, printed
    labels = (undisturbed / "labels.csv").read_bytes()

    every = range(1, n_moments + 1)
    moments = sorted(random.Random(scene).sample(every, min(most, n_moments)))
    template = begun("template", *commands, finished=finished)
    for moment in moments:
        folder = tmp_path / "killed"
        shutil.copytree(template, folder)
        code, printed = children.run(command, str(folder), [killed], moment, killed is RESUME)
        assert code == -signal.SIGKILL, printed
        check_readable(folder)
        FolderAccount(folder / "account").finish()
        paid = paid_circuits(folder)
        again = [RESUME, RUN] if (folder / STORE).exists() else [RUN]
        code, printed = children.run(command, str(folder), again, None, True)
        assert code == 0, printed
        assert (folder / "labels.csv").read_bytes() == labels
        tags = [job.tag for job in FolderAccount(folder / "account").sent]
        assert len(tags) == len(set(tags))
        now = paid_circuits(folder)
        assert now[: len(paid)] == paid  # nothing is gone
        assert len(now) == len(set(now)) == N_CIRCUITS  # each was paid for once
        assert {state for states in check_readable(folder) for state in states} <= {"done", "cancelled"}
        shutil.rmtree(folder)
    tally("kills of hardware submit, resume and cancel", len(moments), paid_jobs_lost=0, jobs_sent_twice=0)


@pytest.mark.parametrize("most", rounds(4, short=8, full=100))
def test_a_cancel_killed_at_any_step_is_finished_by_the_next(begun, children, tmp_path, most, tally):
    undisturbed = begun("undisturbed", SUBMIT)
    assert children.run(command, str(undisturbed), [CANCEL], None, False)[0] == 0
    n_moments = int((undisturbed / "moments.txt").read_text())
    every = range(1, n_moments + 1)
    moments = sorted(random.Random(0).sample(every, min(most, n_moments)))
    template = begun("template", SUBMIT)
    for moment in moments:
        folder = tmp_path / "killed"
        shutil.copytree(template, folder)
        code, printed = children.run(command, str(folder), [CANCEL], moment, False)
        assert code == -signal.SIGKILL, printed
        code, printed = children.run(command, str(folder), [CANCEL], None, False)
        assert code == 0, printed
        jobs = FolderAccount(folder / "account").sent
        assert {job.state for job in jobs} == {"CANCELLED"}
        assert {state for states in check_readable(folder) for state in states} == {"cancelled"}
        code, printed = children.run(command, str(folder), [RESUME, RUN], None, True)
        assert code == 0, printed
        assert len(FolderAccount(folder / "account").sent) == 2 * len(jobs)
        shutil.rmtree(folder)
    tally("kills of hardware cancel, and cancel again", len(moments), jobs_left_running=0)
