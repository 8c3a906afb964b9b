"""A model as the plots see it: states by construction, no training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class FakeModel:
    """Knows its classes and centroid states; a row of X already is a (complex) state."""

    def __init__(
        self, classes: list[Any], *, k: int = 1, n_qubits: int = 3, n_epochs: int = 5, validated: bool = False
    ) -> None:
        self.classes_ = np.array(sorted(classes))
        self.centroid_states = random_states(len(classes) * k, n_qubits, seed=0)
        self.history_ = [
            {
                "epoch": epoch,
                "loss_kao": 1 - 0.1 * epoch,
                "loss_co": 1 - 0.08 * epoch,
                "alignment": 0.1 * epoch,
                "accuracy": 0.5 + 0.1 * epoch,
                "validation_alignment": 0.05 * epoch if validated else None,
                "validation_accuracy": 0.5 + 0.05 * epoch if validated else None,
            }
            for epoch in range(n_epochs)
        ]

    def statevectors(self, X: NDArray[Any], /) -> NDArray[np.complexfloating]:
        return np.asarray(X)

    def transform(self, X: NDArray[Any], /) -> NDArray[np.floating]:
        return np.abs(np.asarray(X) @ self.centroid_states.conj().T) ** 2

    def samples(self, n_samples: int, *, seed: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
        """States and labels, every class in turn."""
        states = random_states(n_samples, int(np.log2(self.centroid_states.shape[1])), seed=seed)
        return states, self.classes_[np.arange(n_samples) % len(self.classes_)]


def random_states(n_states: int, n_qubits: int, *, seed: int) -> NDArray[np.complex128]:
    """Rows of unit norm in all directions alike."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n_states, 2**n_qubits)) + 1j * rng.normal(size=(n_states, 2**n_qubits))
    return states / np.linalg.norm(states, axis=1, keepdims=True)
