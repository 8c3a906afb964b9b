"""The circuits that a model asks of a sampler, known before any of them is run, and none of them run twice."""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.overlap import OverlapCircuits, Sampler

if TYPE_CHECKING:
    from mcquack.models import McQuackClassifier

Counts = NDArray[np.int64]


def asked_circuits(
    classifier: "McQuackClassifier", X: NDArray[Any], *, shots: int, calibrating: bool
) -> list[OverlapCircuits]:
    """What labelling these rows measures, call by call, and before it what calibration does."""
    listener = _Listener()
    if len(X):
        # The model itself is asked, as it may divide many rows among several calls.
        copy.copy(classifier).set_params(engine=listener, shots=shots).predict(X)
    return [*([classifier.overlap_circuits()] if calibrating else []), *listener.heard]


class Once:
    """A sampler that remembers its answers: labels and shares of the same rows take one measurement."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self._known: dict[tuple[str, int], Counts] = {}

    def weight_counts(self, circuits: OverlapCircuits, *, shots: int) -> Counts:
        """What the other sampler counts."""
        key = circuits.digest, shots
        if key not in self._known:
            self._known[key] = self.sampler.weight_counts(circuits, shots=shots)
        return self._known[key]


class _Listener:
    """Notes what it is asked for, and answers as if nothing was ever flipped."""

    def __init__(self) -> None:
        self.heard: list[OverlapCircuits] = []

    def weight_counts(self, circuits: OverlapCircuits, *, shots: int) -> Counts:
        self.heard.append(circuits)
        counts = np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
        counts[..., 0] = shots
        return counts
