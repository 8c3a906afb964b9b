import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mcquack.bench import cluster as dask_connection
from mcquack.bench.cluster import DaskExecutor
from mcquack.bench.runner import run
from mcquack.errors import InvalidInputError, MissingDependencyError, WorkerLostError
from tests.bench.doubles import LOG, N_SEEDS, SECONDS, ScriptedExecutor, cell, deadly, logged, new_store, rows, until
from tests.campaigns import rounds

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

HOME = Path(__file__).parents[2]
CELLS = (cell("a", values=range(8)), cell("b"), cell("b", model="mlp", search="random:2"))


def expected_rows(cells):
    executor = ScriptedExecutor()
    with new_store() as store, executor.waited_for():
        list(run(cells, store, executor))
        return rows(store)


class Cluster:
    """A real scheduler and real workers, each a process of its own, as one would start them by hand."""

    def __init__(self, folder, stack):
        self._folder = folder
        self._stack = stack
        self._n_workers = 0
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(HOME), str(HOME / "src"))),
            LOG: str(folder / "log.txt"),
            SECONDS: "0.02",
        }
        (folder / "log.txt").touch()
        address = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(address))
        until(address.exists)
        self.address = _address(address)

    def start_worker(self, **environment):
        options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(self._folder))
        worker = self._start("worker", self.address, *options, **environment)
        self._n_workers += 1
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(self._n_workers, timeout=60)
        return worker

    def replace_worker(self):
        """A new one in the place of one that was killed; the scheduler may not have noticed yet."""
        with distributed.Client(self.address, set_as_default=False) as client:
            until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) < self._n_workers)
        self._n_workers -= 1
        return self.start_worker()

    @property
    def begun(self):
        """(process, task) of all tasks that workers have begun."""
        return [tuple(line.split()) for line in (self._folder / "log.txt").read_text().splitlines()]

    def _start(self, *arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1"],
            cwd=self._folder,
            env={**self._environment, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


def _address(path):
    found = {}

    def is_whole():
        with contextlib.suppress(json.JSONDecodeError):
            found.update(json.loads(path.read_text()))
        return found

    until(is_whole)
    return found["address"]


@pytest.fixture
def cluster(tmp_path):
    with contextlib.ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def after_rows(n_rows, events, store):
    """Lets a run go on until the store has so many."""
    while len(store.finished_ids()) < n_rows:
        next(events)


def test_a_worker_killed_in_the_middle_of_a_run_changes_no_row(cluster):
    workers = [cluster.start_worker() for _ in range(2)]
    with new_store() as store:
        with DaskExecutor(cluster.address, evaluate=logged) as executor:
            until(lambda: executor.n_workers == 2)
            events = run(CELLS, store, executor)
            after_rows(5, events, store)
            os.kill(int(cluster.begun[-1][0]), signal.SIGKILL)
            list(events)
        assert rows(store) == expected_rows(CELLS)
    until(lambda: any(worker.poll() is not None for worker in workers))
    assert len({worker for worker, _ in cluster.begun}) == 2


@pytest.mark.parametrize("n_kills", rounds(1, short=2, full=6))
def test_a_cluster_that_loses_workers_again_and_again_changes_no_row(cluster, n_kills, tally):
    cells = tuple(cell(f"d{number}", values=range(8)) for number in range(1 + n_kills))
    for _ in range(2):
        cluster.start_worker()
    killed = set()
    with new_store() as store:
        with DaskExecutor(cluster.address, evaluate=logged) as executor:
            until(lambda: executor.n_workers == 2)
            events = run(cells, store, executor)
            for number in range(n_kills):
                after_rows(5 + 15 * number, events, store)
                victim = next(int(pid) for pid, _ in reversed(cluster.begun) if int(pid) not in killed)
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)
                cluster.replace_worker()
            list(events)
        assert rows(store) == expected_rows(cells)
    assert len(killed) == n_kills
    tally("kills of a worker of a Dask cluster", n_kills, rows_changed=0)


@pytest.mark.campaign
def test_a_run_whose_scheduler_was_lost_goes_on_with_another(cluster, tmp_path, tally):
    cluster.start_worker()
    (tmp_path / "second").mkdir()
    with new_store() as store, contextlib.ExitStack() as stack:
        executor = DaskExecutor(cluster.address, evaluate=logged, patience=5.0)
        events = run(CELLS, store, executor)
        after_rows(3, events, store)
        cluster.scheduler.kill()
        with pytest.raises(WorkerLostError):
            list(events)
        executor.close(wait=False)
        kept = rows(store)
        second = Cluster(tmp_path / "second", stack)
        second.start_worker()
        with DaskExecutor(second.address, evaluate=logged) as executor:
            list(run(CELLS, store, executor))
        assert rows(store) == expected_rows(CELLS)
        assert not {task for _, task in second.begun} & kept.keys()  # none is done twice
    tally("kills of a Dask scheduler", 1, rows_lost=0)


def test_a_run_that_is_closed_keeps_what_was_begun(cluster):
    cluster.start_worker(**{SECONDS: "0.3"})
    with new_store() as store:
        with (
            DaskExecutor(cluster.address, evaluate=logged) as executor,
            contextlib.closing(run(CELLS, store, executor)) as events,
        ):
            while next(events).kind != "finished":
                pass
        assert store.finished_ids() == {task for _, task in cluster.begun}
        assert len(store.finished_ids()) <= 3


def test_a_scheduler_that_is_lost_ends_the_run_and_keeps_its_rows(cluster):
    cluster.start_worker()
    with new_store() as store:
        executor = DaskExecutor(cluster.address, evaluate=logged, patience=5.0)
        events = run(CELLS, store, executor)
        after_rows(3, events, store)
        cluster.scheduler.kill()
        with pytest.raises(WorkerLostError, match="not answered for 5 s"):
            list(events)
        executor.close(wait=False)
        assert len(store.finished_ids()) >= 3
        assert not store.failed_ids()


def test_a_cluster_that_has_lost_all_workers_ends_the_run_and_keeps_its_rows(cluster):
    worker = cluster.start_worker()
    with new_store() as store:
        executor = DaskExecutor(cluster.address, evaluate=logged, patience=5.0)
        events = run(CELLS, store, executor)
        after_rows(3, events, store)
        worker.kill()
        with pytest.raises(WorkerLostError, match="no workers for 5 s"):
            list(events)
        executor.close(wait=False)
        assert len(store.finished_ids()) >= 3
        assert not store.failed_ids()


def test_a_task_that_kills_its_workers_fails_alone():
    cells = (cell("a", values=("life", "death")), cell("b"))
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), new_store() as store:
        with DaskExecutor("local", jobs=2, evaluate=deadly) as executor:
            list(run(cells, store, executor))
        failures = list(store.outcomes(failed=True))
        assert len(store.finished_ids()) == 3 + 6 + 2 * N_SEEDS
    assert [dict(failure.task.settings)["C"] for failure in failures] == ["death"]
    assert "WorkerLostError: the worker died, on all of 1 Dask workers" in failures[0].error


def test_a_port_that_is_taken_gives_no_warning(recwarn):
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # another has it already
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        dask_connection.local_cluster(1).close()
    assert not [warning for warning in recwarn if "already in use" in str(warning.message)]


def test_a_scheduler_without_workers_is_told_of(cluster):
    with pytest.raises(WorkerLostError, match="dask worker tcp"):
        DaskExecutor(cluster.address, patience=0.5)


def test_an_address_without_a_scheduler_is_told_of():
    with pytest.raises(WorkerLostError, match=r"127\.0\.0\.1:1;"):
        DaskExecutor("127.0.0.1:1", patience=0.5)


def test_an_address_that_is_none_is_told_of():
    with pytest.raises(InvalidInputError, match="no address://at all"):
        DaskExecutor("no address://at all", patience=0.5)


def test_a_missing_package_is_told_of(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "mcquack\[dask\]"'):
        DaskExecutor("local")


def test_workers_and_schedulers_with_another_version_are_told_of(cluster, monkeypatch):
    cluster.start_worker()
    monkeypatch.setattr(dask_connection, "__version__", "99.9")
    with pytest.raises(InvalidInputError, match=r"worker at tcp://.* 99\.9"):
        DaskExecutor(cluster.address)


def test_workers_that_cannot_import_mcquack_are_told_of(cluster, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text("import sys; sys.modules['mcquack'] = None")
    cluster.start_worker(PYTHONPATH=os.pathsep.join(map(str, (blocked, HOME, HOME / "src"))))
    with pytest.raises(MissingDependencyError, match=r"worker at tcp://.* pip install"):
        DaskExecutor(cluster.address)
