"""What happens inside a worker process on this machine."""

import os
import signal
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection

from mcquack.bench.outcome import Outcome
from mcquack.bench.running.evaluating import Evaluation
from mcquack.bench.task import Task


@dataclass(frozen=True, kw_only=True)
class Duty:
    """What a worker is told once, so that tasks need to bring nothing but themselves.

    Nothing is ever read from the two pipes, so each speaks to all workers at once: ``client`` ends when the process
    that wants the outcomes does, and ``stop`` has something to read as soon as no task may begin any more.
    """

    evaluate: Evaluation
    client: Connection
    stop: Connection


_duty: Duty


def take_up(duty: Duty) -> None:
    """Called once in each new worker, before its first task."""
    global _duty
    _duty = duty
    # Ctrl-C in a terminal reaches all processes; the client alone decides what is still finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_client, args=(duty.client,), name="end-with-client", daemon=True).start()


def is_ready() -> bool:
    """Comes back from a worker that was able to start."""
    return True


def outcome_unless_stopped(task: Task) -> Outcome | None:
    """None if the client has stopped before this worker came to the task."""
    return None if _duty.stop.poll() else _duty.evaluate(task)


def _end_with_client(client: Connection) -> None:
    """Nobody would read the outcome of a worker whose client was killed, and it would slow down the next run."""
    client.poll(None)  # readable only once its other end is closed
    os._exit(1)
