"""A model in training changes from one whole state to the next, whenever it is interrupted."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mcquack.models import (
    DataReuploadingClassifier,
    McQuackClassifier,
    VariationalEnsembleClassifier,
)
from mcquack.models.base import changed_at_once

X, Y = load_iris(return_X_y=True)


def test_an_interrupt_leaves_what_was_there() -> None:
    model = McQuackClassifier(n_qubits=2)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt), changed_at_once(model) as double:  # noqa: PT012
        double.n_qubits, double.bias_ = 3, np.zeros(1)
        raise KeyboardInterrupt
    assert vars(model) == before


@pytest.mark.parametrize(
    "model",
    [
        McQuackClassifier(n_qubits=2, epochs=3, random_state=0),
        VariationalEnsembleClassifier(n_qubits=2, epochs=3, random_state=0),
        DataReuploadingClassifier(n_layers=1, max_steps=6, convergence_interval=None, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_state_after_an_epoch_is_not_touched_by_the_next(model) -> None:
    epochs = model.fit_iter(X, Y)
    next(epochs)
    kept = dict(vars(model))
    n_rows = len(kept["history_"])
    next(epochs, None)
    assert len(kept["history_"]) == n_rows == 1


def test_partial_fit_leaves_the_history_that_somebody_holds() -> None:
    model = McQuackClassifier(n_qubits=2, random_state=0).partial_fit(X, Y, classes=[0, 1, 2])
    held = model.history_
    model.partial_fit(X, Y)
    assert (len(held), len(model.history_), model.n_iter_) == (1, 2, 2)
