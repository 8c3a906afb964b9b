"""What happens inside a worker process of a Dask cluster."""

import threading

from mcquack import __version__
from mcquack.bench.outcome import Outcome
from mcquack.bench.running.evaluating import Evaluation
from mcquack.bench.task import Task

_stopped: set[str] = set()  # workers outlive runs, so each run has a name of its own
# Evaluations catch warnings and limit threads for their whole process, so the other threads of a worker wait.
_one_at_a_time = threading.Lock()


def outcome_unless_stopped(task: Task, evaluate: Evaluation, *, run: str) -> Outcome | None:
    """None if the run was stopped before this worker came to the task."""
    with _one_at_a_time:
        return None if run in _stopped else evaluate(task)


def installed_version() -> str:
    """That of the mcquack here."""
    return __version__


def begin_nothing_more(run: str) -> None:
    """For one run; the task at work goes on."""
    _stopped.add(run)
