import multiprocessing
import os
import random
import sqlite3
import time

import pytest

from mcquack.bench.store import Store
from tests.bench.running.cells import rows
from tests.bench.running.evaluations import LOG, SECONDS
from tests.bench.running.processes import is_alive, until
from tests.bench.running.runner_process import work

MOST_IN_FLIGHT = 2 * 3  # two workers, three tasks each

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="needs processes that start quickly"
)


@pytest.fixture(scope="module")
def processes():
    """A server that has imported everything, so that each run starts at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.bench.running.runner_process"])
    return context


class Laboratory:
    """A store and the runs on it."""

    def __init__(self, folder, processes, *, data_dir=None):
        folder.mkdir()
        for name in ("log.txt", "acknowledged.txt"):
            (folder / name).touch()
        self._folder = folder
        self._processes = processes
        self._data_dir = data_dir
        self.path = folder / "rows.sqlite"

    def start(self):
        # Handed on to the workers by way of the runner, which inherits nothing from this process.
        environment = {LOG: str(self._folder / "log.txt"), SECONDS: "0.01"}
        process = self._processes.Process(target=_work_with, args=(environment, self._folder, self._data_dir))
        process.start()
        return process

    @property
    def begun(self):
        """(process, task) of all tasks that workers have begun."""
        return [tuple(line.split()) for line in (self._folder / "log.txt").read_text().splitlines()]

    @property
    def acknowledged(self):
        """Tasks that a caller was told of."""
        return [line for line in (self._folder / "acknowledged.txt").read_text().splitlines() if len(line) == 16]

    @property
    def rows(self):
        if not self.path.exists():
            return {}
        with Store.open(self.path) as store:
            return rows(store)


def _work_with(environment, folder, data_dir):
    os.environ |= environment
    work(folder, data_dir=data_dir)


@pytest.fixture
def laboratory(tmp_path, processes):
    return lambda name, **options: Laboratory(tmp_path / name, processes, **options)


def kill_somewhere(laboratory, chance):
    """After some rows and a moment, both by chance; half of the kills come early, while workers start."""
    process = laboratory.start()
    n_rows = len(laboratory.acknowledged) + chance.choice([0, 0, 0, 1, 5])
    until(lambda: len(laboratory.acknowledged) >= n_rows or not process.is_alive())
    time.sleep(chance.uniform(0, 0.05 if chance.random() < 0.5 else 0.5))
    was_alive = process.is_alive()
    process.kill()
    process.join()
    return was_alive


def completed_rows(laboratory):
    process = laboratory.start()
    process.join()
    assert process.exitcode == 0
    return laboratory.rows


@pytest.mark.parametrize("n_kills", [3, pytest.param(15, marks=pytest.mark.campaign)])
def test_kills_at_any_moment_lose_only_what_is_in_flight_and_no_task_is_done_twice(laboratory, n_kills):
    chance, killed = random.Random(0), laboratory("killed")
    for _ in range(n_kills):
        known, n_begun = killed.rows.keys(), len(killed.begun)
        assert kill_somewhere(killed, chance)
        begun = killed.begun[n_begun:]
        until(lambda begun=begun: not any(is_alive(worker) for worker, _ in begun))
        begun = {task for _, task in killed.begun[n_begun:]}

        stored = killed.rows.keys()
        assert known <= stored
        assert set(killed.acknowledged) <= stored
        assert not begun & known
        assert len(begun - stored) <= MOST_IN_FLIGHT
    undisturbed = laboratory("undisturbed")
    assert completed_rows(killed) == completed_rows(undisturbed)
    assert len(undisturbed.begun) == len(undisturbed.rows)
    assert sqlite3.connect(killed.path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("n_kills", [1, pytest.param(3, marks=pytest.mark.campaign)])
def test_kills_during_real_fits_change_no_row(laboratory, data_dir, n_kills):
    chance = random.Random(1)
    killed, undisturbed = (laboratory(name, data_dir=str(data_dir)) for name in ("killed", "undisturbed"))
    for _ in range(n_kills):
        n_rows = len(killed.acknowledged) + 1
        process = killed.start()
        until(lambda n_rows=n_rows: len(killed.acknowledged) >= n_rows)
        time.sleep(chance.uniform(0, 0.02))
        process.kill()
        process.join()
    assert completed_rows(killed) == completed_rows(undisturbed)
