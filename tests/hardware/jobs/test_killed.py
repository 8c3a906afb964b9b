import random
import sys

import numpy as np
import pytest

from mcquack.errors import StoreBusyError
from mcquack.hardware.jobs.ledger import Ledger, hamming_histograms, stored_counts
from mcquack.hardware.jobs.running import follow, noted
from mcquack.hardware.native import angle_sets
from tests.database.processes import started
from tests.hardware.doubles import bits_of
from tests.hardware.jobs.processes import CIRCUITS, SHOTS, FolderService, measure

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing there ends a process as SIGKILL does")
N_PARTS = 6


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "service"
    folder.mkdir()
    return folder


def expected_counts():
    bits = bits_of(angle_sets(CIRCUITS).reshape(12, -1), shots=SHOTS, n_qubits=CIRCUITS.n_qubits)
    return hamming_histograms(bits, n_qubits=CIRCUITS.n_qubits).reshape(4, 3, -1)


def steps_until_killed(path, folder, *, n_steps):
    """What a process told before it was killed at a step; fewer if it came to its end."""
    with started(measure, path, folder) as (process, pipe):
        told = []
        for _ in range(n_steps):
            told.append(pipe.recv())
            if told[-1] == "end":
                break
            pipe.send("go on")
        process.kill()
        process.join()
    return told


@pytest.mark.parametrize(("most_steps", "least_kills"), [(20, 2), pytest.param(9, 5, marks=pytest.mark.campaign)])
def test_processes_killed_again_and_again_measure_everything_once(path, folder, most_steps, least_kills, tally):
    moments = random.Random(7)
    kills = 0
    while "end" not in (told := steps_until_killed(path, folder, n_steps=moments.randint(1, most_steps))):
        kills += 1
        assert told, "it began at all"
        assert kills < 100
    assert kills >= least_kills
    service = FolderService(folder)
    assert len(service.tags()) == N_PARTS  # each part was sent once, and "sent twice" is no file
    with Ledger.open(path) as ledger:
        (measurement_id,) = ledger.ids()
        np.testing.assert_array_equal(stored_counts(ledger, measurement_id), expected_counts())
        assert [job.state for job in ledger.jobs(measurement_id)] == ["done"] * N_PARTS
    tally("kills of a measuring process", kills, jobs_lost=0, jobs_sent_twice=0)


@pytest.mark.parametrize("last_step", ["submit", "submitted", "event sent", "status", "outcomes", "event done"])
def test_another_process_goes_on_from_each_step(path, folder, last_step):
    with started(measure, path, folder) as (process, pipe):
        while pipe.recv() != last_step:
            pipe.send("go on")
        process.kill()
        process.join()
    service = FolderService(folder)
    with Ledger.open(path, write=True) as ledger:
        measurement = noted(ledger, service, CIRCUITS, shots=SHOTS)
        list(follow(ledger, service, measurement))
        np.testing.assert_array_equal(stored_counts(ledger, measurement.id), expected_counts())
        assert ledger._connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert len(service.tags()) == N_PARTS


def test_a_second_process_is_refused_while_the_first_measures_and_may_read(path, folder):
    with started(measure, path, folder) as (_, first):
        assert first.recv() == "submit"
        with started(measure, path, folder) as (_, second):
            assert second.recv().startswith("StoreBusyError: another process is measuring")
        with pytest.raises(StoreBusyError):
            Ledger.open(path, write=True)
        with Ledger.open(path) as reader:
            (measurement_id,) = reader.ids()
            assert [job.state for job in reader.jobs(measurement_id)] == ["noted"]
    with Ledger.open(path, write=True) as ledger:  # the first is gone, and holds nothing any more
        assert ledger.ids() == (measurement_id,)
