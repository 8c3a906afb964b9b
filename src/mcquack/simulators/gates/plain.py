"""Distributions of numbers of ones for any circuit, in plain NumPy: whole statevectors go back through its gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import ComplexArray, Gate, gate_matrices
from mcquack.simulators.statevector.hamming import counted_ones


def gates_with_angles(circuit: Circuit, angles: FloatArray) -> Iterator[tuple[Gate, FloatArray]]:
    """Each gate with its own of the angles (N, …), shape (N, k)."""
    flat, first = angles.reshape(len(angles), circuit.n_angles), 0
    for gate in circuit.gates:
        yield gate, flat[:, first : first + len(gate.angles)]
        first += len(gate.angles)


def applied(states: ComplexArray, matrices: ComplexArray, qubits: tuple[int, ...]) -> ComplexArray:
    """Matrices (N, D, D) or (D, D) on one or two qubits of states (N, 2**n); no matrix product wakes threads."""
    n_qubits = states.shape[1].bit_length() - 1
    axes = [1 + qubit for qubit in qubits]
    moved = np.moveaxis(states.reshape(len(states), *(2,) * n_qubits), axes, range(1, 1 + len(axes)))
    parts = moved.reshape(len(states), 1 << len(qubits), -1)
    mixed = np.einsum("...ij,...jk->...ik", matrices, parts)
    return np.ascontiguousarray(
        np.moveaxis(mixed.reshape(moved.shape), range(1, 1 + len(axes)), axes).reshape(states.shape)
    )


def hamming_distributions(circuit: Circuit, states: NDArray[Any], angles: FloatArray) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m)|x_i⟩, shape (N, M, n + 1) and double precision.

    ``states`` (N, 2**n) are those of the samples, ``angles`` (M, …) those of the centroids' circuits.
    """

    def undone(some: ComplexArray, column: int) -> ComplexArray:
        for gate, own in reversed(list(gates_with_angles(circuit, angles[column : column + 1]))):
            some = applied(some, gate_matrices(gate, own[0]).conj().T, gate.qubits)
        return some

    return counted_ones(states, len(angles), undone)
