"""An executor without processes, whose tasks end in an order that a seed decides."""

import random
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from unittest.mock import patch

from mcquack.bench import runner as flight
from mcquack.errors import WorkerLostError
from tests.bench.running.evaluations import scored


class ScriptedExecutor:
    """Ends one task whenever somebody waits for one.

    A task for which ``kills`` is true takes all that are in flight with it, as a broken pool does.
    """

    tasks_per_worker = 3
    n_trials_alone = 2

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
        future = Future()
        self._pending[future] = task
        return future

    def stop(self):
        self.is_stopped = True
        for future in list(self._pending)[self.n_workers :]:
            del self._pending[future]
            future.cancel()

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
        self._items = deque()

    def put(self, item):
        self._items.append(item)

    def get(self):
        while not self._items:
            self._executor.end_one()
        return self._items.popleft()
