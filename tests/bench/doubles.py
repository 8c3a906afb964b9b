"""Stand-ins for tests of runs: evaluations that take no time, small cells, and an executor without processes.

Worker processes import the evaluations from here.
"""

import hashlib
import os
import random
import signal
import tempfile
import time
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mcquack.bench import runner as flight
from mcquack.bench.executors import Executor
from mcquack.bench.plan import Cell, SearchMethod
from mcquack.bench.store import Store
from mcquack.bench.task import Environment, Outcome, Split
from mcquack.errors import WorkerLostError
from mcquack.models.catalog import SearchSpace

NOWHERE = Environment({"python": "3"})
LOG = "MCQUACK_TEST_LOG"  # where worker processes write which task they have begun
SECONDS = "MCQUACK_TEST_SECONDS"


def scored(task):
    """A score that the task alone decides."""
    part = "test" if task.phase == "final" else "validation"
    score = int(hashlib.sha256(task.id.encode()).hexdigest()[:8], 16) / 2**32
    return Outcome(
        task=task,
        environment=NOWHERE,
        scores={"train": {"accuracy": 1.0}, part: {"accuracy": score}},  # type: ignore[dict-item]
        n_parameters=1,
        fingerprint=task.dataset,
        finished_at="2024-01-01T00:00:00+00:00",
    )


def logged(task):
    """Takes as many seconds as the environment says, and leaves a line with the process and the task before."""
    with Path(os.environ[LOG]).open("a") as file:
        file.write(f"{os.getpid()} {task.id}\n")  # a short line is written in one go
    time.sleep(float(os.environ.get(SECONDS, "0")))
    return scored(task)


def deadly(task):
    """Kills its process if that is one of the task's settings, and it is of the first fold."""
    if dict(task.settings).get("C") == "death" and task.split.fold == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return scored(task)


def raising(task):
    """What an evaluation cannot turn into an outcome itself."""
    raise MemoryError("no room for this task")


def thread_limits(task):
    """Says in its details to how many threads its process keeps."""
    outcome = scored(task)
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return Outcome(**{**vars(outcome), "details": {name: os.environ.get(name) for name in variables}})


class Unstartable:
    """Ends every process that it is sent to, before that can do anything."""

    def __reduce__(self):
        return os._exit, (1,)


# Cells and stores for tests of running.

N_FOLDS = 2
N_SEEDS = 2


def cell(dataset="a", *, model="svc", values=(1, 2, 3), search="grid"):
    """One whose tasks are two folds for each value, then two seeds."""
    return Cell(
        dataset=dataset,
        model=model,
        space=SearchSpace.of({"C": list(values)}),
        method=SearchMethod.parse(search),
        splits=tuple(Split(kind="fold", fold=fold, n_folds=N_FOLDS) for fold in range(N_FOLDS)),
        metric="accuracy",
        n_seeds=N_SEEDS,
    )


def search_tasks(given):
    """Of a cell with a grid."""
    return [given.task(settings, split=split) for settings in given.space for split in given.splits]


@contextmanager
def new_store():
    """An empty one, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "rows.sqlite", create=True) as store:
        yield store


def rows(store):
    """All that must not depend on how a run went, by the ids of the tasks."""
    return {
        outcome.task.id: (outcome.task, outcome.scores, outcome.n_parameters, outcome.fingerprint, outcome.error)
        for outcome in store.outcomes()
    }


# An executor without processes, whose tasks end in an order that a seed decides.


class ScriptedExecutor(Executor):
    """Ends one task whenever somebody waits for one.

    A task for which ``kills`` is true takes all that are in flight with it, as a broken pool does.
    """

    tasks_per_worker = 3
    n_trials_alone = 2
    n_workers = 2

    def __init__(self, *, n_workers=2, seed=0, evaluate=scored, kills=lambda task: False):
        self.n_workers = n_workers
        self.submitted = []
        self.n_pending_at_waits = []
        self.is_stopped = False
        self._random = random.Random(seed)
        self._evaluate = evaluate
        self._kills = kills
        self._pending = {}

    @property
    def pending(self):
        return list(self._pending.values())

    def submit(self, task):
        assert not self.is_stopped
        self.submitted.append(task)
        future: Future[Outcome] = Future()
        self._pending[future] = task
        return future

    def stop(self):
        self.is_stopped = True
        for future in list(self._pending)[self.n_workers :]:
            del self._pending[future]
            future.cancel()

    def close(self, *, wait):
        self.stop()

    def end_one(self):
        self.n_pending_at_waits.append(len(self._pending))
        future = self._random.choice(list(self._pending))
        if self._kills(self._pending[future]):
            lost = list(self._pending)
            self._pending.clear()
            for each in lost:
                each.set_exception(WorkerLostError("the worker process died (exit code SIGKILL(-9))"))
            return
        task = self._pending.pop(future)
        try:
            future.set_result(self._evaluate(task))
        except Exception as error:
            future.set_exception(error)

    def lose_all(self):
        """As when a scheduler is lost."""
        lost = list(self._pending)
        self._pending.clear()
        for future in lost:
            future.cancel()

    @contextmanager
    def waited_for(self):
        """Without a second process or thread there is nobody to end a task but the one who waits."""
        with patch.object(flight, "SimpleQueue", lambda: _WaitingRoom(self)):
            yield self


class _WaitingRoom:
    def __init__(self, executor):
        self._executor = executor
        self._items: deque[Any] = deque()

    def put(self, item):
        self._items.append(item)

    def get(self):
        while not self._items:
            self._executor.end_one()
        return self._items.popleft()


# What tests with real processes share.

_SECONDS_TO_WAIT = 120


def until(condition):
    """Waits for what happens elsewhere; a test that waits for ever is a test that fails."""
    deadline = time.monotonic() + _SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True
