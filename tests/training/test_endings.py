"""Endings: which trainings go on, and which parameters are kept."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mcquack.training.endings import Convergence, Ending, Patience, Progress, Row, TrainedEpoch
from mcquack.training.state import Parameters, TrainingState
from mcquack.training.step import CONVERGED


def state(value: float, *, n_steps: int = 0, outcome: int = 0) -> TrainingState:
    start = TrainingState.start(Parameters(np.array([value]), np.zeros(0)))
    return replace(start, losses=np.zeros(n_steps), outcome=outcome)


def after(progress: Progress, ending: Ending, losses: list[float], values: list[float]) -> Progress:
    row: Row = {"epoch": progress.epoch + 1, "loss": float(np.mean(losses))}
    trained = TrainedEpoch([state(value) for value in values], row, losses)
    return progress.after(trained, ending.better(progress, trained))


def test_patience_keeps_the_best_of_each_training_and_ends_each_by_itself() -> None:
    ending = Patience(2, max_epochs=10)
    progress = Progress.start([state(0.0), state(0.0)])
    assert ending.going(progress) == [True, True]
    for losses, values in (([3.0, 3.0], [1.0, 1.0]), ([4.0, 2.0], [2.0, 2.0]), ([5.0, 1.0], [3.0, 3.0])):
        progress = after(progress, ending, losses, values)
    assert ending.going(progress) == [False, True]
    assert [float(kept.weights[0]) for kept in progress.kept] == [1.0, 3.0]
    assert (progress.best_epochs, progress.best_losses) == ([1, 3], [3.0, 1.0])
    resting = progress.resting(ending.going(progress))
    assert [float(each.parameters.weights[0]) for each in resting.states] == [1.0, 3.0]
    assert ending.length(progress) == len(progress.history) == 3


def test_epochs_end_a_training_that_has_patience() -> None:
    ending = Patience(None, max_epochs=1)
    progress = Progress.start([state(0.0)])
    assert ending.going(progress) == [True]
    assert ending.going(after(progress, ending, [9.0], [1.0])) == [False]


def test_a_warm_start_counts_its_own_epochs_and_goes_on_with_their_numbers() -> None:
    ending = Patience(2, max_epochs=2)
    progress = Progress.start([replace(state(0.0), epoch=7)])
    progress = after(progress, ending, [1.0], [1.0])
    assert (progress.epoch, progress.n_epochs, progress.best_epochs) == (8, 1, [8])


def test_convergence_keeps_the_last_and_warns_of_what_has_not_converged() -> None:
    ending = Convergence(interval=5, max_steps=20)
    settled, going, over = state(1.0, n_steps=12, outcome=CONVERGED), state(2.0, n_steps=12), state(3.0, n_steps=20)
    progress = Progress.start([settled, going, over])
    assert ending.going(progress) == [False, True, False]
    assert ending.length(progress) == 20
    assert float(after(progress, ending, [9.0] * 3, [4.0] * 3).kept[0].weights[0]) == 4.0
    with pytest.warns(ConvergenceWarning, match=r"\b20\b"):
        ending.warn(progress)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ending.warn(Progress.start([settled]))
        Convergence(interval=None, max_steps=20).warn(progress)
