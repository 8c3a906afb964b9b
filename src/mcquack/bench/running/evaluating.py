"""What workers do with a task, as a value that can be sent to them."""

from collections.abc import Callable
from functools import partial

from mcquack.bench.outcome import Outcome
from mcquack.bench.task import Task

Evaluation = Callable[[Task], Outcome]


def benchmark_evaluation(data_dir: str | None) -> Evaluation:
    """That of the benchmark, with the files of published datasets in ``data_dir``."""
    return partial(_outcome, data_dir=data_dir)


def _outcome(task: Task, *, data_dir: str | None) -> Outcome:
    # Imported by the workers alone: all models together take longer to import than many a run takes to go on.
    from mcquack.bench.evaluation import outcome

    return outcome(task, data_dir=data_dir)
