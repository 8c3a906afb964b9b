import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcquack.bench.executors import ctrl_c_kept_from_new_processes
from mcquack.bench.plan import Step
from mcquack.bench.runner import run
from mcquack.bench.store import Store
from mcquack.bench.task import Outcome
from mcquack.errors import StoreBusyError, StoreError, WorkerLostError
from mcquack.numerics import NUMERICS
from tests.bench.doubles import (
    LOG,
    N_SEEDS,
    NOWHERE,
    SECONDS,
    ScriptedExecutor,
    cell,
    is_alive,
    new_store,
    rows,
    scored,
    search_tasks,
    until,
)
from tests.bench.runner_process import work
from tests.campaigns import rounds
from tests.known import known

CELLS = (cell("a"), cell("b"), cell("b", model="mlp"), cell("c", search="random:2"))
N_TASKS = 3 * (6 + N_SEEDS) + 4 + N_SEEDS
seeds = st.integers(0, 2**32)
few = settings(max_examples=settings().max_examples // 3)  # each example writes a file


def events(cells, store, executor, **options):
    with executor.waited_for():
        return list(run(cells, store, executor, **options))


def kinds(told, kind):
    return [event for event in told if event.kind == kind]


def failing(task):
    return Outcome(task=task, environment=NOWHERE, error="Traceback …\nValueError: no")


@cache
def undisturbed():
    with new_store() as store:
        events(CELLS, store, ScriptedExecutor(n_workers=1))
        return rows(store), store.choices()


@few
@given(seed=seeds, n_workers=st.integers(1, 5))
def test_rows_and_choices_do_not_depend_on_the_order_in_which_tasks_end(seed, n_workers):
    with new_store() as store:
        told = events(CELLS, store, ScriptedExecutor(n_workers=n_workers, seed=seed))
        assert (rows(store), store.choices()) == undisturbed()
    assert len(kinds(told, "finished")) == N_TASKS
    assert {event.cell for event in kinds(told, "cell_done")} == set(CELLS)


@few
@given(seed=seeds, n_events=st.integers(0, 80), n_workers=st.integers(1, 4))
def test_a_run_that_was_closed_anywhere_goes_on_to_the_same_rows_and_does_no_task_twice(seed, n_events, n_workers):
    first, second = (ScriptedExecutor(n_workers=n_workers, seed=seed + number) for number in range(2))
    with new_store() as store:
        with first.waited_for(), contextlib.closing(run(CELLS, store, first)) as going:
            for _ in zip(range(n_events), going, strict=False):
                pass
        stored = store.finished_ids()
        events(CELLS, store, second)
        assert not stored & {task.id for task in second.submitted}
        assert len(stored) + len(second.submitted) == N_TASKS
        assert rows(store) == undisturbed()[0]


@few
@given(data=st.data())
def test_what_the_store_has_is_told_and_not_done_again(data):
    tasks = [task for each in CELLS for task in search_tasks(each)]
    had = data.draw(st.lists(st.sampled_from(tasks), unique_by=lambda task: task.id))
    executor = ScriptedExecutor()
    with new_store() as store:
        for task in had:
            store.add(scored(task))
        told = events(CELLS, store, executor)
        assert rows(store).keys() >= undisturbed()[0].keys()
    known = {event.outcome.task.id for event in kinds(told, "known")}
    submitted = {task.id for task in executor.submitted}
    assert known <= {task.id for task in had}
    assert not known & submitted
    assert len(known) + len(submitted) == N_TASKS


def test_a_finished_benchmark_is_only_read():
    with new_store() as store:
        events(CELLS, store, ScriptedExecutor())
        again = ScriptedExecutor()
        told = events(CELLS, store, again)
    assert not again.submitted
    assert len(kinds(told, "known")) == N_TASKS
    assert len(kinds(told, "cell_done")) == len(CELLS)


def test_tasks_of_an_older_numerics_version_are_run_anew_and_their_rows_stay():
    given_cell = cell(model="mcquack")
    old = [replace(task, numerics=1) for task in search_tasks(given_cell)]
    executor = ScriptedExecutor()
    with new_store() as store:
        for task in old:
            store.add(scored(task))
        told = events((given_cell,), store, executor)
        assert {task.id for task in old} < store.finished_ids()
        assert store.numerics() == {1: len(old), NUMERICS: len(executor.submitted)}
    assert not kinds(told, "known")
    assert len(executor.submitted) == 6 + N_SEEDS


def test_a_row_that_holds_another_task_is_refused():
    with new_store() as store:
        events([cell()], store, ScriptedExecutor())
        kept = search_tasks(cell())[0]
        other = store._rows("SELECT task FROM outcomes WHERE id != ? LIMIT 1", [kept.id])[0]["task"]
        with store._transaction() as connection:
            connection.execute("UPDATE outcomes SET task = ? WHERE id = ?", [other, kept.id])
        with pytest.raises(StoreError, match=f"the row {kept.id} of the store .* holds another task"):
            events([cell()], store, ScriptedExecutor())


@few
@given(seed=seeds)
def test_a_task_that_two_cells_ask_for_is_done_once(seed):
    smaller, larger = cell("a", values=(1, 2)), cell("a", values=(1, 2, 3, 4))
    executor = ScriptedExecutor(n_workers=4, seed=seed)
    with new_store() as store:
        told = events((smaller, larger), store, executor)
    ids = [task.id for task in executor.submitted]
    assert len(ids) == len(set(ids))
    for each in (smaller, larger):
        asked = {task.id for event in kinds(told, "planned") if event.cell is each for task in event.tasks}
        answered = [
            event.outcome.task.id for event in told if event.cell is each and event.kind in ("known", "finished")
        ]
        assert sorted(answered) == sorted(asked)
    assert len(kinds(told, "cell_done")) == 2


def test_a_task_that_one_step_asks_for_twice_is_done_once():
    task = cell().task({"C": 1}, split=cell().splits[0])
    answers = []

    def plan(_):
        answers.append((yield Step(tasks=(task, task))))

    executor = ScriptedExecutor()
    with new_store() as store:
        events((cell(),), store, executor, plan_of=plan)
    assert executor.submitted == [task]
    assert answers == [{task.id: scored(task)}]


def test_failures_stand_until_they_are_to_be_retried():
    with new_store() as store:
        events((cell(),), store, ScriptedExecutor(evaluate=failing))
        failed = store.failed_ids()
        assert len(failed) == 6  # a search without a score ends the cell

        again = ScriptedExecutor()
        told = events((cell(),), store, again)
        assert not again.submitted
        assert all(event.outcome.failed for event in kinds(told, "known"))

        events((cell(),), store, again, retry_failed=True)
        assert failed <= {task.id for task in again.submitted}
        assert not store.failed_ids()


def test_only_failures_of_the_given_cells_are_retried():
    with new_store() as store:
        events((cell("a"), cell("b")), store, ScriptedExecutor(evaluate=failing))
        again = ScriptedExecutor()
        events((cell("b"),), store, again, retry_failed=True)
        assert {task.dataset for task in again.submitted} == {"b"}
        assert {failure.task.dataset for failure in store.outcomes(failed=True)} == {"a"}


def test_a_failure_stays_until_its_task_has_ended_anew():
    with new_store() as store:
        events((cell(),), store, ScriptedExecutor(evaluate=failing))
        again = ScriptedExecutor(n_workers=1)
        with again.waited_for(), contextlib.closing(run((cell(),), store, again, retry_failed=True)) as going:
            while next(going).kind != "finished":
                pass
        assert len(store.failed_ids() | store.finished_ids()) == 6
        assert store.failed_ids()


def test_a_search_without_a_choice_is_told():
    with new_store() as store:
        told = events((cell(),), store, ScriptedExecutor(evaluate=failing))
    (event,) = kinds(told, "not_chosen")
    assert (event.cell, event.reason) == (cell(), "all 3 settings failed")
    assert told[-1].kind == "cell_done"


def test_a_task_that_fails_again_is_not_retried_twice():
    with new_store() as store:
        events((cell(),), store, ScriptedExecutor(evaluate=failing))
        again = ScriptedExecutor(evaluate=failing)
        events((cell(),), store, again, retry_failed=True)
        assert len(again.submitted) == 6


def test_a_choice_is_stored_before_the_tasks_that_it_asks_for():
    executor = ScriptedExecutor()
    with new_store() as store, executor.waited_for():
        for event in run(CELLS, store, executor):
            for task in executor.pending:
                if task.phase == "final":
                    assert task.id in store.choices()[task.dataset, task.model].final_ids
            if event.kind == "chosen":
                assert store.choices()[known(event.choice).dataset, known(event.choice).model] == event.choice


def test_an_outcome_is_stored_before_it_is_told():
    executor = ScriptedExecutor()
    with new_store() as store, executor.waited_for():
        for event in run(CELLS, store, executor):
            if event.kind == "finished":
                assert store.outcome(known(event.outcome).task.id) == event.outcome


def test_cells_that_ask_for_one_task_at_a_time_together_keep_all_workers_busy():
    cells = [cell(f"d{number}") for number in range(12)]

    def one_at_a_time(each):
        for task in search_tasks(each):
            yield Step(tasks=(task,))

    executor = ScriptedExecutor(n_workers=2)
    with new_store() as store:
        events(cells, store, executor, plan_of=one_at_a_time)
    room = 2 * executor.tasks_per_worker
    assert max(executor.n_pending_at_waits) == room
    # At the end there are fewer cells than room, and no more.
    assert executor.n_pending_at_waits.index(room - 1) >= len(executor.submitted) - 6 * room


@few
@given(seed=seeds)
def test_no_task_starts_while_one_of_an_earlier_cell_is_ready(seed):
    ready: dict[str, Any] = {}
    with new_store() as store:
        for event in events(CELLS, store, ScriptedExecutor(n_workers=1, seed=seed)):
            if event.kind == "planned":
                ready |= {task.id: CELLS.index(event.cell) for task in event.tasks}
            if event.kind == "started":
                assert ready.pop(event.task.id) <= min(ready.values(), default=len(CELLS))
    assert not ready


def test_closing_stores_what_was_begun_and_begins_nothing():
    executor = ScriptedExecutor(n_workers=2)
    with new_store() as store:
        with executor.waited_for(), contextlib.closing(run(CELLS, store, executor)) as going:
            while next(going).kind != "finished":
                pass
            begun = executor.pending[:2]
            n_submitted = len(executor.submitted)
        assert len(executor.submitted) == n_submitted
        assert not executor.pending
        assert {task.id for task in begun} <= store.finished_ids()
        assert len(store.finished_ids()) == 1 + len(begun)


def test_an_interrupted_run_tells_what_still_ends_and_then_raises():
    executor = ScriptedExecutor(n_workers=2)
    with new_store() as store, executor.waited_for():
        going = run(CELLS, store, executor)
        while next(going).kind != "finished":
            pass
        stopping = going.throw(KeyboardInterrupt)
        assert stopping.kind == "stopping"
        told: list[Any] = []
        with pytest.raises(KeyboardInterrupt):
            told.extend(going)  # extends by one after the other, so what came before the exception stays
        assert [event.kind for event in told] == ["finished"] * 2
        assert len(store.finished_ids()) == 3


def test_closing_while_stopping_still_stores_what_was_begun():
    executor = ScriptedExecutor(n_workers=2)
    with new_store() as store, executor.waited_for():
        going = run(CELLS, store, executor)
        while next(going).kind != "finished":
            pass
        going.throw(KeyboardInterrupt)
        going.close()
        assert len(store.finished_ids()) == 3


@few
@given(seed=seeds, data=st.data(), n_workers=st.integers(1, 4))
def test_only_tasks_that_kill_their_workers_fail_and_all_others_are_done(seed, data, n_workers):
    given_cell = cell("a", values=tuple(range(8)))
    tasks = search_tasks(given_cell)
    killers = {task.id for task in data.draw(st.lists(st.sampled_from(tasks), max_size=4))}
    executor = ScriptedExecutor(n_workers=n_workers, seed=seed, kills=lambda task: task.id in killers)
    with new_store() as store:
        told = events((given_cell,), store, executor)
        assert store.failed_ids() == killers
        assert store.finished_ids() | killers == {task.id for task in tasks} | {
            task.id for task in executor.submitted if task.phase == "final"
        }
        assert all(WorkerLostError.__name__ in store.outcome(each).reason for each in killers)
    assert bool(kinds(told, "lost")) == bool(killers)


@few
@given(seed=seeds)
def test_a_worker_that_dies_once_by_accident_fails_no_task(seed):
    deaths = iter([True])
    executor = ScriptedExecutor(seed=seed, kills=lambda task: next(deaths, False))
    with new_store() as store:
        events(CELLS, store, executor)
        assert rows(store) == undisturbed()[0]


def test_tasks_that_a_cluster_has_dropped_are_sent_again_and_not_blamed():
    executor = ScriptedExecutor()
    with new_store() as store, executor.waited_for():
        for number, _ in enumerate(run(CELLS, store, executor)):
            if number % 20 == 10:
                executor.lose_all()
        assert rows(store) == undisturbed()[0]


def test_what_an_evaluation_raises_is_a_failure_with_its_traceback():
    def raising(task):
        raise MemoryError("no room")

    with new_store() as store:
        events((cell(),), store, ScriptedExecutor(evaluate=raising))
        failures = list(store.outcomes(failed=True))
    assert [failure.reason for failure in failures] == ["MemoryError: no room"] * 6
    assert all("in raising" in failure.error for failure in failures)


def test_a_store_that_cannot_be_written_ends_the_run_at_once(monkeypatch):
    executor = ScriptedExecutor()

    def full(outcome):
        raise StoreError("the disk is full")

    with new_store() as store:
        monkeypatch.setattr(store, "add", full)
        with pytest.raises(StoreError, match="full"):
            events(CELLS, store, executor)
    assert len(executor.n_pending_at_waits) == 1


HOME = Path(__file__).parents[2]


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_a_new_process_can_be_kept_from_ctrl_c():
    program = "import signal; signal.raise_signal(signal.SIGINT); print('alive')"
    with ctrl_c_kept_from_new_processes():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "alive\n"
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


class RunInTerminal:
    """A run whose processes all get Ctrl-C, as they do in a terminal."""

    def __init__(self, folder, *, seconds, on="processes"):
        self.folder = folder
        for name in ("log.txt", "acknowledged.txt"):
            (folder / name).touch()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.runner_process", str(folder), on],
            cwd=HOME,
            env={**os.environ, LOG: str(folder / "log.txt"), SECONDS: str(seconds)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def press_ctrl_c(self):
        os.killpg(self._process.pid, signal.SIGINT)

    def end(self):
        """Exit code and what was printed."""
        _, printed = self._process.communicate(timeout=120)
        return self._process.returncode, printed

    @property
    def begun(self):
        return [tuple(line.split()) for line in (self.folder / "log.txt").read_text().splitlines()]

    @property
    def acknowledged(self):
        return self._told - {"started", "stopping"}

    @property
    def is_started(self):
        return "started" in self._told

    @property
    def is_stopping(self):
        return "stopping" in self._told

    @property
    def _told(self):
        return set((self.folder / "acknowledged.txt").read_text().splitlines())

    @property
    def stored(self):
        with Store.open(self.folder / "rows.sqlite") as store:
            return store.finished_ids()


@pytest.mark.parametrize("on", ["processes", "dask"])
def test_ctrl_c_ends_a_run_with_all_that_was_begun(tmp_path, on):
    running = RunInTerminal(tmp_path, on=on, seconds=0.2)
    until(lambda: len(running.acknowledged) >= 3)
    running.press_ctrl_c()
    assert running.end() == (130, "")
    assert running.is_stopping
    assert running.stored == {task for _, task in running.begun} == running.acknowledged
    until(lambda: not any(is_alive(worker) for worker, _ in running.begun))


def test_ctrl_c_while_workers_start_ends_a_run_quietly(tmp_path):
    running = RunInTerminal(tmp_path, seconds=0.2)
    until(lambda: running.is_started)
    running.press_ctrl_c()
    assert running.end() == (130, "")
    assert running.stored == {task for _, task in running.begun} == running.acknowledged


def test_a_second_ctrl_c_stops_at_once(tmp_path):
    running = RunInTerminal(tmp_path, seconds=600)
    until(lambda: len(running.begun) == 2)
    running.press_ctrl_c()
    until(lambda: running.is_stopping)
    running.press_ctrl_c()
    assert running.end() == (130, "")
    assert running.stored == set()
    until(lambda: not any(is_alive(worker) for worker, _ in running.begun))


MOST_IN_FLIGHT = 2 * 3  # two workers, three tasks each

quick_processes = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="needs processes that start quickly"
)


@pytest.fixture(scope="module")
def processes():
    """A server that has imported everything, so that each run starts at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.bench.runner_process", "optuna"])
    return context


REFUSED = 75  # the exit code of a run whose store another one writes


class Laboratory:
    """A store and the runs on it."""

    def __init__(self, folder, processes, *, data_dir=None, kind="many"):
        folder.mkdir()
        for name in ("log.txt", "acknowledged.txt"):
            (folder / name).touch()
        self._folder = folder
        self._processes = processes
        self._data_dir = data_dir
        self._kind = kind
        self.path = folder / "rows.sqlite"

    def start(self):
        # Handed on to the workers by way of the runner, which inherits nothing from this process.
        environment = {LOG: str(self._folder / "log.txt"), SECONDS: "0.01"}
        process = self._processes.Process(
            target=_work_with, args=(environment, self._folder, self._data_dir, self._kind)
        )
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
    def choices(self):
        with Store.open(self.path) as store:
            return store.choices()

    @property
    def rows(self):
        if not self.path.exists():
            return {}
        with Store.open(self.path) as store:
            return rows(store)


def _work_with(environment, folder, data_dir, kind):
    os.environ |= environment
    try:
        work(folder, data_dir=data_dir, kind=kind)
    except StoreBusyError:
        sys.exit(REFUSED)


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


@quick_processes
@pytest.mark.parametrize("kind", ["many", "optuna"])
@pytest.mark.parametrize("n_kills", rounds(3, short=6, full=15))
def test_kills_at_any_moment_lose_only_what_is_in_flight_and_no_task_is_done_twice(laboratory, n_kills, kind, tally):
    if kind == "optuna":
        pytest.importorskip("optuna")
        n_kills = n_kills * 2 // 3  # its tasks come one after the other, and are over sooner
    chance, killed = random.Random(0), laboratory("killed", kind=kind)
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
    undisturbed = laboratory("undisturbed", kind=kind)
    assert completed_rows(killed) == completed_rows(undisturbed)
    assert killed.choices == undisturbed.choices
    assert len(undisturbed.begun) == len(undisturbed.rows)
    with contextlib.closing(sqlite3.connect(killed.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    what = "benchmark" if kind == "many" else "benchmark that Optuna searches"
    tally(f"kills of a {what}", n_kills, rows_lost=0, tasks_done_twice=0)


@quick_processes
@pytest.mark.parametrize("n_rounds", rounds(1, short=3, full=8))
def test_of_two_runs_on_one_store_one_is_refused_and_no_task_is_done_twice(laboratory, n_rounds, tally):
    chance, n_refused = random.Random(3), 0
    alone = laboratory("alone", kind="few")
    expected = completed_rows(alone)
    for number in range(n_rounds):
        shared = laboratory(f"shared {number}", kind="few")
        first = shared.start()
        time.sleep(chance.choice([0, chance.uniform(0, 0.1)]))
        second = shared.start()
        for process in (first, second):
            process.join()
        codes = sorted((first.exitcode, second.exitcode))
        assert codes in ([0, 0], [0, REFUSED])  # both, if one was over before the other began
        n_refused += codes[1] == REFUSED
        assert shared.rows == expected
        assert sorted(task for _, task in shared.begun) == sorted(expected)
    assert n_refused
    tally("pairs of runs on one store", n_rounds, refused=n_refused, rows_lost=0, tasks_done_twice=0)


@quick_processes
@pytest.mark.parametrize("n_kills", rounds(1, short=2, full=3))
def test_kills_during_real_fits_change_no_row(laboratory, data_dir, n_kills, tally):
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
    tally("kills of a benchmark of real fits", n_kills, rows_changed=0)
