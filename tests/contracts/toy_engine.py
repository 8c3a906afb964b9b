"""An engine as somebody else would write it: one class, whole statevectors in NumPy, derivatives by shifted angles."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.circuits.rotations import rotation_matrices
from mcquack.simulators import AngleRows, Engine, Gradient, Wrt, angle_rows
from mcquack.simulators.engine import checked_cotangent, checked_wrt, gradient_by_angles, paper_map

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class DenseRows(AngleRows):
    """Data points with the angles of their circuits and their amplitudes."""

    states: NDArray[np.complex128]


class ToyEngine(Engine[DenseRows]):
    """Knows nothing but the feature map and its angles."""

    name = "toy"
    most_qubits = 10

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> DenseRows:
        rows = angle_rows(self.feature_map, X, weights, bias)
        return DenseRows(rows.features, rows.weights, rows.bias, rows.angles, self._states(rows.angles))

    def _states(self, angles: FloatArray) -> NDArray[np.complex128]:
        circuit = paper_map(self, self.feature_map)
        n_qubits, n_layers = circuit.n_qubits, circuit.n_layers
        gates = rotation_matrices(angles)
        states: NDArray[np.complex128] = np.zeros((len(angles), 1 << n_qubits), dtype=np.complex128)
        states[:, 0] = 1
        states = states.reshape(len(angles), *(2,) * n_qubits)
        for layer in range(n_layers):
            for qubit in range(n_qubits):
                turned = np.moveaxis(states, 1 + qubit, -1)
                gate = gates[:, layer, qubit].reshape(-1, *(1,) * (n_qubits - 1), 2, 2)
                states = np.moveaxis(np.sum(gate * turned[..., None, :], axis=-1), -1, 1 + qubit)
            if n_qubits > 1 and (layer + 1 < n_layers or circuit.final_entangler):
                for qubit in range(n_qubits):
                    states = _after_cnot(states, 1 + qubit, 1 + (qubit + 1) % n_qubits)
        return states.reshape(len(states), -1)

    def fidelities(self, samples: DenseRows, centroids: DenseRows) -> FloatArray:
        overlaps = np.sum(samples.states[:, None] * centroids.states[None].conj(), axis=-1)
        return np.minimum(np.abs(overlaps) ** 2, 1.0)

    def pullback(self, samples: DenseRows, centroids: DenseRows, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        slopes = checked_cotangent(cotangent, samples, centroids)
        return gradient_by_angles(
            self.feature_map,
            samples,
            centroids,
            of_samples=self._by_angles(samples, centroids, slopes),
            of_centroids=self._by_angles(centroids, samples, slopes.T),
            wrt=wrt,
        )

    def _by_angles(self, moved: DenseRows, others: DenseRows, slopes: FloatArray) -> FloatArray:
        """Half the difference of the kernels at ±π/2, for every angle of every data point."""
        found = np.zeros(moved.angles.shape)
        for place in np.ndindex(self.feature_map.angles_shape):
            kernels = []
            for turn in (np.pi / 2, -np.pi / 2):
                angles = moved.angles.copy()
                angles[(slice(None), *place)] += turn
                overlaps = np.sum(self._states(angles)[:, None] * others.states[None].conj(), axis=-1)
                kernels.append(np.abs(overlaps) ** 2)
            found[(slice(None), *place)] = np.sum(slopes * (kernels[0] - kernels[1]) / 2, axis=1)
        return found


def _after_cnot(states: NDArray[np.complex128], control: int, target: int) -> NDArray[np.complex128]:
    after = states.copy()
    where_one = (slice(None),) * control + (slice(1, 2),)
    after[where_one] = np.flip(states[where_one], axis=target)
    return after
