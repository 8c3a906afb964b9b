"""The gate engine (being written: this first version is plain NumPy, and keeps the seam)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.gates import gate_matrices
from mcquack.simulators.engine import (
    EncodedRows,
    Gradient,
    ThreadedEngine,
    Wrt,
    checked_cotangent,
    checked_parameters,
    checked_wrt,
    gradient_by_angles,
)
from mcquack.simulators.gates import plain


@dataclass(frozen=True, eq=False)
class PlainStates(EncodedRows):
    """Encoded samples."""

    states: NDArray[Any]


class GateEngine(ThreadedEngine[PlainStates]):
    """Any circuit of up to 20 qubits."""

    name = "gates"
    most_qubits = 20

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> PlainStates:
        rows = self.feature_map.checked_rows(X)
        w, b = checked_parameters(self.feature_map, weights, bias)
        states = plain.states_of(self.feature_map, rows.astype(float), w.astype(float), b.astype(float))
        return PlainStates(rows, w, b, states)

    def fidelities(self, samples: PlainStates, centroids: PlainStates) -> FloatArray:
        overlaps = np.einsum("ia,ma->im", samples.states, centroids.states.conj())
        return np.asarray(np.minimum(np.abs(overlaps) ** 2, 1), self.dtype)

    def pullback(self, samples: PlainStates, centroids: PlainStates, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        pulls = weighting * np.einsum("ia,ma->im", samples.states, centroids.states.conj())
        of_samples = self._slopes(samples, pulls @ centroids.states)
        of_centroids = self._slopes(centroids, pulls.conj().T @ samples.states)
        return gradient_by_angles(
            self.feature_map, samples, centroids, of_samples=of_samples, of_centroids=of_centroids, wrt=wrt
        )

    def _slopes(self, encoded: PlainStates, adjoint: NDArray[Any]) -> FloatArray:
        circuit, states = self.feature_map, encoded.states
        points = (encoded.features, encoded.weights, encoded.bias)
        angles = circuit.angles(*(array.astype(float) for array in points)).reshape(len(encoded), -1)
        found, last = np.zeros(angles.shape), angles.shape[1]
        for gate, own in reversed(list(plain.gates_with_angles(circuit, angles))):
            last -= own.shape[1]
            back = np.swapaxes(gate_matrices(gate, own).conj(), -1, -2)
            states = plain.applied(states, back, gate.qubits)
            for place in range(own.shape[1]):
                moved = [own.copy(), own.copy()]
                moved[0][:, place] += np.pi
                moved[1][:, place] -= np.pi
                # Entries are of the form a + b cos(θ/2) + c sin(θ/2).
                slope = (gate_matrices(gate, moved[0]) - gate_matrices(gate, moved[1])) / 4
                turned = plain.applied(states, slope, gate.qubits)
                found[:, last + place] = 2 * np.sum(adjoint.conj() * turned, axis=1).real
            adjoint = plain.applied(adjoint, back, gate.qubits)
        return found

    def hamming_distributions(self, samples: PlainStates, centroids: PlainStates) -> FloatArray:
        points = (centroids.features, centroids.weights, centroids.bias)
        angles = self.feature_map.angles(*(array.astype(np.float64) for array in points))
        return plain.hamming_distributions(self.feature_map, samples.states, angles)

    def expectations(self, encoded: PlainStates, observables: Sequence[int | Sequence[int]]) -> FloatArray:
        return np.asarray(np.clip(np.abs(encoded.states) ** 2 @ self.z_signs(observables).T, -1, 1), self.dtype)

    def z_signs(self, observables: Sequence[int | Sequence[int]]) -> FloatArray:
        n, indices = self.feature_map.n_qubits, np.arange(self.feature_map.dimension)
        signs = np.ones((len(observables), len(indices)))
        for place, qubits in enumerate(observables):
            for qubit in np.atleast_1d(qubits):
                signs[place] *= 1 - 2 * (indices >> (n - 1 - qubit) & 1)
        return signs

    def statevectors(self, encoded: PlainStates) -> NDArray[Any]:
        return encoded.states
