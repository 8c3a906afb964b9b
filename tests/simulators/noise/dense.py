"""A device with rotations and CZ as a density matrix: plain, slow, and sharing nothing with the code under test."""

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PAULIS = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
HADAMARD = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
UNIT = np.eye(2)


def operator(n_qubits: int, parts: dict[int, Array]) -> Array:
    return reduce(lambda left, right: np.kron(left, right), [parts.get(qubit, UNIT) for qubit in range(n_qubits)])


def controlled_z(n_qubits: int, one: int, other: int) -> Array:
    both = operator(n_qubits, {one: np.diag([0, 1]), other: np.diag([0, 1])})
    return np.eye(2**n_qubits) - 2 * both


class NoisyDevice:
    """All qubits in |0⟩; errors are average gate errors, times are in units of one's choice."""

    def __init__(self, n_qubits: int) -> None:
        self.n_qubits = n_qubits
        self.state = np.zeros((2**n_qubits, 2**n_qubits), dtype=complex)
        self.state[0, 0] = 1

    def apply(self, unitary: Array) -> None:
        self.state = unitary @ self.state @ unitary.conj().T

    def rotate(self, qubit: int, unitary: Array) -> None:
        self.apply(operator(self.n_qubits, {qubit: unitary}))

    def depolarise(self, qubits: list[int], error: float) -> None:
        """Towards the mixture of all Paulis, which is what full loss makes of a state."""
        dimension = 2 ** len(qubits)
        lost = error * dimension / (dimension - 1)
        mixed: Array = self.state
        for qubit in qubits:
            turns = [operator(self.n_qubits, {qubit: pauli}) for pauli in PAULIS]
            mixed = np.sum([turn @ mixed @ turn.conj().T for turn in turns], axis=0) / 4
        self.state = (1 - lost) * self.state + lost * mixed

    def wait(self, qubit: int, time: float, *, t1: float, t2: float) -> None:
        """Relaxation and dephasing, between random Paulis and their inverse."""
        decay = 1 - np.exp(-time / t1)
        flip = max(0, (1 - np.exp(-time / t2) / np.sqrt(1 - decay)) / 2)  # t2 = 2 t1 may round to below 0
        damping = [np.diag([1, np.sqrt(1 - decay)]), np.array([[0, np.sqrt(decay)], [0, 0]])]
        dephasing = [np.sqrt(1 - flip) * UNIT, np.sqrt(flip) * PAULIS[3]]
        kraus = [P @ D @ K @ P / 2 for P in PAULIS for D in dephasing for K in damping]
        wide = [operator(self.n_qubits, {qubit: K}) for K in kraus]
        self.state = np.sum([K @ self.state @ K.conj().T for K in wide], axis=0)

    def weights(self, readout_errors: Array) -> Array:
        """P(k ones are read)."""
        chances = np.diag(self.state).real.reshape((2,) * self.n_qubits)
        for qubit, error in enumerate(readout_errors):
            chances = (1 - error) * chances + error * np.flip(chances, axis=qubit)
        ones = np.indices((2,) * self.n_qubits).sum(axis=0)
        return np.bincount(ones.ravel(), chances.ravel())


def device_weights(sample: Array, centroid: Array, rates: dict[str, Array]) -> Array:
    """P(k ones) of U†(c) U(x) for rotations (2, n, 2, 2), with CNOTs made of CZ and Hadamards, all equally long."""
    n_qubits = sample.shape[1]
    device = NoisyDevice(n_qubits)
    step = rates["sx_us"][0] + rates["two_qubit_us"][0]
    back = centroid.conj().swapaxes(-1, -2)

    def pulses(qubit: int, n_pulses: int, unitary: Array) -> None:
        device.rotate(qubit, unitary)
        for _ in range(n_pulses):
            device.depolarise([qubit], rates["sx_error"][qubit])

    def wait(qubit: int, n_steps: int) -> None:
        device.wait(qubit, n_steps * step, t1=rates["t1_us"][qubit], t2=rates["t2_us"][qubit])

    def ring(controls: list[int]) -> None:
        seen = set()
        for control in controls:
            pair = [control, (control + 1) % n_qubits]
            for qubit in pair:
                if qubit in seen:
                    wait(qubit, n_qubits - 2 if qubit == 0 else 0)
                    pulses(qubit, 1, HADAMARD)
                seen.add(qubit)
            device.apply(controlled_z(n_qubits, *pair))
            device.depolarise(pair, rates["two_qubit_error"][control])

    # A target's CZ stands between Hadamards: for qubit 0 that is the last of the ring, for the others their first.
    inner = [HADAMARD if qubit == 0 else UNIT for qubit in range(n_qubits)]
    outer = [UNIT if qubit == 0 else HADAMARD for qubit in range(n_qubits)]
    for qubit in range(n_qubits):
        pulses(qubit, 2, outer[qubit] @ sample[0, qubit])
    ring(list(range(n_qubits)))
    for qubit in range(n_qubits):
        wait(qubit, 0 if qubit == 0 else 2 * (n_qubits - 1 - qubit))
        pulses(qubit, 2, inner[qubit] @ back[1, qubit] @ sample[1, qubit] @ inner[qubit])
    ring(list(range(n_qubits))[::-1])
    for qubit in range(n_qubits):
        wait(qubit, max(qubit - 1, 0))
        pulses(qubit, 2, back[0, qubit] @ outer[qubit])
    return device.weights(rates["readout_error"])
