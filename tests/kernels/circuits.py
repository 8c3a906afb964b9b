"""Random circuits, and their states by dense matrices: plain, slow, and sharing nothing with an engine."""

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits import Circuit, arctan, b, ring, w, x
from mcquack.circuits.gates import gate_matrices
from mcquack.randomness import stream

FloatArray = NDArray[np.float64]


def random_circuit(seed: int, *, n_qubits: int = 3, n_features: int = 3) -> Circuit:
    """Some gates of all sorts on random qubits, with weights, biases, products of features and constants."""
    rng = stream(seed, "circuit")
    circuit = Circuit(n_qubits, n_features, start=("zeros", "amplitudes")[seed % 2]).h(range(n_qubits))
    for _ in range(4):
        for qubit in range(n_qubits):
            one, other = (x[int(feature)] for feature in rng.integers(n_features, size=2))
            kind = rng.integers(4)
            if kind == 0:
                circuit = circuit.rx(qubit, w * one + b)
            elif kind == 1:
                circuit = circuit.rot(qubit, w("shared") * one * other, b, 0.3)
            elif kind == 2:
                circuit = circuit.ry(qubit, arctan(one) + b).t(qubit)
            else:
                circuit = circuit.crz((qubit, (qubit + 1) % n_qubits), 2 * one)
        circuit = circuit.cnot(ring(n_qubits))
    return circuit


def parameters(circuit: Circuit, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = stream(seed, "parameters")
    return rng.normal(size=circuit.weights_shape), rng.normal(size=circuit.bias_shape)


def dense_states(circuit: Circuit, X: FloatArray, weights: FloatArray, bias: FloatArray) -> NDArray[np.complex128]:
    """U(x)|start⟩ of every sample, one after the other, by matrices of the full dimension."""
    found = np.zeros((len(X), circuit.dimension), dtype=np.complex128)
    for row, sample in enumerate(X):
        state = np.zeros(circuit.dimension, dtype=np.complex128)
        if circuit.start == "amplitudes":
            state[: len(sample)] = sample / np.linalg.norm(sample)
        else:
            state[0] = 1
        angles = list(circuit.angles(sample[None], weights, bias).reshape(-1))
        for gate in circuit.gates:
            own, angles = angles[: len(gate.angles)], angles[len(gate.angles) :]
            state = _full(gate_matrices(gate, np.array(own)), gate.qubits, circuit.n_qubits) @ state
        found[row] = state
    return found


def _full(matrix: NDArray[np.complex128], qubits: tuple[int, ...], n_qubits: int) -> NDArray[np.complex128]:
    size = 1 << n_qubits
    found = np.zeros((size, size), dtype=np.complex128)
    shifts = [n_qubits - 1 - qubit for qubit in qubits]
    for column in range(size):
        inside = sum((column >> shift & 1) << place for place, shift in enumerate(reversed(shifts)))
        rest = column & ~sum(1 << shift for shift in shifts)
        for value in range(1 << len(qubits)):
            row = rest | sum((value >> place & 1) << shift for place, shift in enumerate(reversed(shifts)))
            found[row, column] = matrix[value, inside]
    return found
