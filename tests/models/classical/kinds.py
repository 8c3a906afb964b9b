"""The five baselines, small enough to train in an instant, and samples for them."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris

from mcquack.models.classical import (
    CentroidKernelClassifier,
    MatchedNeuralNetwork,
    MultilayerPerceptron,
    NystroemSVM,
    SupportVectorClassifier,
)
from mcquack.models.classical.base import ClassicalClassifier

SMALL: dict[type[ClassicalClassifier], dict[str, Any]] = {
    CentroidKernelClassifier: {},
    SupportVectorClassifier: {},
    NystroemSVM: {},
    MatchedNeuralNetwork: {"epochs": 5},
    MultilayerPerceptron: {"hidden_layer_sizes": (7, 5), "learning_rate": 0.05},
}


def small(kind: type[ClassicalClassifier], **settings: Any) -> ClassicalClassifier:
    """An estimator that trains in milliseconds."""
    return kind(**{"random_state": 0, **SMALL[kind], **settings})


@cache
def samples(n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Flowers of two or three kinds, or digits."""
    X, y = load_iris(return_X_y=True) if n_classes < 4 else load_digits(return_X_y=True)
    chosen = y < n_classes
    return X[chosen][-300:], y[chosen][-300:]
