import pytest

from mcquack.bench.outcome import Environment, Outcome
from mcquack.bench.progress import CellProgress
from mcquack.bench.runner import Event
from mcquack.bench.task import Task
from mcquack.cli.trainability import StudyProgress


def test_a_heavy_task_that_comes_first_does_not_make_the_light_ones_look_long():
    tasks = [Task.of("manifold", "probe", {}, seed=seed) for seed in range(3)]
    expected = dict(zip([task.id for task in tasks], (100.0, 1.0, 3.0), strict=True))
    start = StudyProgress(
        cells={("manifold", "probe"): CellProgress(n_most=3, metric="accuracy")}, expected=expected, n_workers=2
    )
    assert start.seconds_left is None

    def after(progress, task, seconds):
        outcome = Outcome(task=task, environment=Environment({}), scores={"test": {}}, seconds={"fit": seconds})
        return progress.after(Event(kind="finished", task=task, outcome=outcome))

    slow = after(start, tasks[0], 200.0)  # a machine half as fast as was thought
    assert slow.seconds_left == pytest.approx(2 * (1 + 3) / 2)
    done = after(after(slow, tasks[1], 2.0), tasks[2], 6.0)
    assert (done.seconds_left, done.n_done) == (0, 3)
