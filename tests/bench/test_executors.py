import os
from typing import Any

import pytest

from mcquack.bench.executors import LocalExecutor
from mcquack.bench.runner import run
from mcquack.errors import InvalidInputError, WorkerLostError
from tests.bench.doubles import (
    LOG,
    N_SEEDS,
    SECONDS,
    ScriptedExecutor,
    Unstartable,
    cell,
    deadly,
    is_alive,
    logged,
    new_store,
    raising,
    rows,
    scored,
    search_tasks,
    thread_limits,
    until,
)
from tests.campaigns import rounds

TASKS = search_tasks(cell(values=range(10)))


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Which process has begun which task, as lines."""
    path = tmp_path / "log.txt"
    path.touch()
    monkeypatch.setenv(LOG, str(path))
    return lambda: [line.split() for line in path.read_text().splitlines()]


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_give_the_rows_that_one_process_would(jobs):
    cells = (cell("a"), cell("b", search="random:2"), cell("c", search="none"))
    with new_store() as store, new_store() as expected:
        with LocalExecutor(jobs=jobs, evaluate=scored) as executor:
            told = list(run(cells, store, executor))
        scripted = ScriptedExecutor()
        with scripted.waited_for():
            list(run(cells, expected, scripted))
        assert rows(store) == rows(expected)
        assert store.choices() == expected.choices()
    assert sum(event.kind == "finished" for event in told) == 6 + 4 + 3 * N_SEEDS


def test_a_benchmark_of_real_models_runs_in_processes(data_dir):
    with new_store() as store:
        with LocalExecutor(jobs=2, data_dir=str(data_dir)) as executor:
            list(run((cell("iris3", values=(0.1, 1.0)),), store, executor))
        assert not store.failed_ids(), [outcome.error for outcome in store.outcomes(failed=True)]
        assert len(store.finished_ids()) == 4 + N_SEEDS


def test_a_task_that_kills_its_worker_fails_alone():
    cells = (cell("a", values=("life", "death")), cell("b"))
    with new_store() as store:
        with LocalExecutor(jobs=2, evaluate=deadly) as executor:
            told = list(run(cells, store, executor))
        failures = list(store.outcomes(failed=True))
        assert len(store.finished_ids()) == 3 + 6 + 2 * N_SEEDS
    assert [dict(failure.task.settings)["C"] for failure in failures] == ["death"]
    assert "WorkerLostError" in failures[0].reason
    assert "SIGKILL" in failures[0].reason
    assert sum(event.kind == "cell_done" for event in told) == 2


@pytest.mark.parametrize("n_kills", rounds(1, short=3, full=12))
def test_a_worker_that_somebody_kills_costs_no_row(log, monkeypatch, n_kills, tally):
    monkeypatch.setenv(SECONDS, "0.05")
    n_values, killed = 5 * n_kills + 3, set[int]()
    with new_store() as store:
        with LocalExecutor(jobs=2, evaluate=logged) as executor:
            for event in run((cell("a", values=range(n_values)),), store, executor):
                # One after the other, each after some rows: a task that ever kills its worker would be told as failed.
                if event.kind == "finished" and len(store.finished_ids()) >= 3 + 10 * len(killed) < 3 + 10 * n_kills:
                    killed.add(int(log()[-1][0]))
                    os.kill(int(log()[-1][0]), 9)
        assert len(store.finished_ids()) == 2 * n_values + N_SEEDS
        assert not store.failed_ids()
    assert len(killed) == n_kills
    tally("kills of a worker", n_kills, rows_lost=0)


def test_what_an_evaluation_cannot_catch_is_raised_with_its_traceback():
    with LocalExecutor(jobs=1, evaluate=raising) as executor:
        error = executor.submit(TASKS[0]).exception()
    assert isinstance(error, MemoryError)
    assert "in raising" in str(error.__cause__)


def test_workers_keep_to_one_thread():
    with LocalExecutor(jobs=1, evaluate=thread_limits) as executor:
        assert set(executor.submit(TASKS[0]).result().details.values()) == {"1"}


def test_a_stopped_executor_ends_what_was_begun_and_cancels_the_rest(log, monkeypatch):
    monkeypatch.setenv(SECONDS, "0.3")
    with LocalExecutor(jobs=2, evaluate=logged) as executor:
        futures = [executor.submit(task) for task in TASKS]
        until(log)
        executor.stop()
    begun = {task_id for _, task_id in log()}
    done = {future.result().task.id for future in futures if not future.cancelled()}
    assert 1 <= len(begun) <= 3  # a second and a third may have begun while we looked
    assert done == begun


def test_a_closed_executor_that_need_not_wait_kills_its_workers(log, monkeypatch):
    monkeypatch.setenv(SECONDS, "600")
    executor = LocalExecutor(jobs=1, evaluate=logged)
    future = executor.submit(TASKS[0])
    until(log)
    executor.close(wait=False)
    executor.close(wait=False)  # once more does no harm
    assert future.cancelled()
    assert not is_alive(log()[0][0])


UNSTARTABLE: Any = Unstartable()


def test_workers_that_cannot_start_end_the_run_without_a_failure():
    with new_store() as store:
        with LocalExecutor(jobs=1, evaluate=UNSTARTABLE) as executor, pytest.raises(WorkerLostError, match="begin"):
            list(run((cell(),), store, executor))
        assert not store.failed_ids()


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True, "2"])
def test_the_number_of_jobs_is_checked(jobs):
    with pytest.raises(InvalidInputError, match="jobs"):
        LocalExecutor(jobs=jobs)
