"""Evaluations that take no time and no data; worker processes import them from here."""

import hashlib
import os
import signal
import time
from pathlib import Path

from mcquack.bench.outcome import Environment, Outcome

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
        scores={"train": {"accuracy": 1.0}, part: {"accuracy": score}},
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
