"""A small fit, in a module that processes can import: what stands in a script would be sent along with every task."""

import os

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from mcquack.models import (
    MatchedNeuralNetwork,
    McQuackClassifier,
    SupportVectorClassifier,
    VariationalEnsembleClassifier,
)
from mcquack.simulators import StatevectorEngine

Data = tuple[NDArray[np.float64], NDArray[np.generic]]

EPOCHS = 20


def models() -> dict[str, ClassifierMixin]:
    """Models whose number of epochs does not depend on how well they do, each on one thread."""
    circuit = {"n_repetitions": 1, "epochs": EPOCHS, "patience": None, "engine": StatevectorEngine(n_threads=1)}
    return {
        "McQuack": McQuackClassifier(**circuit, loss="alignment", steps="alternating"),
        "variational ensemble": VariationalEnsembleClassifier(**circuit),
        "SVC": SupportVectorClassifier(),
        "matched network": MatchedNeuralNetwork(epochs=EPOCHS),
    }


def fit(model: ClassifierMixin, data: Data, *, seed: int) -> None:
    """A fit as a search over settings does it: of a fresh model, which is then dropped."""
    clone(model).set_params(random_state=seed).fit(*data)


def warmed_up(data: Data) -> int:
    """Fits each model once, so that code is compiled and loaded; tells in which process."""
    for model in models().values():
        fit(model, data, seed=0)
    return os.getpid()
