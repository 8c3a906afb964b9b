"""Where the twin's circuit comes from: nothing trained, as on the devices, or trained exactly."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.models.mcquack import McQuackClassifier
from mcquack.studies.hardware_twin.measuring import Arrays, Circuit
from mcquack.training.parameters import class_means

Learning = Literal["none", "fidelity", "tolerance"]
HistoryRow = dict[str, float | int | None]
EPOCHS: Mapping[Learning, int] = {"fidelity": 100, "tolerance": 10}  # about 20 and 50 seconds on one core


def untrained_circuit(X: NDArray[Any], labels: NDArray[np.int64], *, n_qubits: int) -> Circuit:
    """All weights and biases one, and the class means as centroids."""
    feature_map = FeatureMap.with_repetitions(n_qubits=n_qubits, n_features=X.shape[1], final_entangler=False)
    ones = np.ones(feature_map.parameter_shape)
    centroids = class_means(X, labels, int(labels.max()) + 1, np.ones(len(X)))
    return Circuit(feature_map=feature_map, parameters=Arrays((ones, ones, centroids)))


def trained_circuit(
    X: NDArray[Any],
    labels: NDArray[np.int64],
    *,
    learning: Learning,
    n_qubits: int,
    epochs: int | None,
    n_threads: int | None,
) -> tuple[Circuit, list[HistoryRow]]:
    """Aligned exactly, by fidelities or by k^b with b = n/4; the same whenever the samples are. With its history."""
    model = _fitted(Arrays((X, labels)), learning, n_qubits, epochs or EPOCHS[learning], n_threads)
    parameters = Arrays((model.weights_, model.bias_, model.centroids_))
    return Circuit(feature_map=model.feature_map_, parameters=parameters), list(model.history_)


@lru_cache(maxsize=4)  # for each way to read it the model is the same
def _fitted(
    samples: Arrays, learning: Learning, n_qubits: int, epochs: int, n_threads: int | None
) -> McQuackClassifier:
    X, labels = samples.values
    by_tolerance = learning == "tolerance"
    return McQuackClassifier(
        n_qubits,
        epochs=epochs,
        init_small=not by_tolerance,  # small parameters rotate no bit so often that k^b would notice
        training_tolerance=n_qubits // 4 if by_tolerance else None,
        scale=False,
        feature_range=(-1.0, 1.0),
        final_entangler=False,
        engine="ring",
        n_threads=n_threads,
        random_state=0,
    ).fit(X, labels)
