"""How often k ones are found when U†(c) U(x)|0…0⟩ is measured, from whole statevectors and in plain NumPy."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import ComplexArray, FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.entangler import ring_permutation
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import Gate, gate_matrices
from mcquack.circuits.rotations import rotation_matrices

AMPLITUDES_AT_ONCE = 1 << 20  # 16 MiB, and as much again for what each gate makes of them


def hamming_distributions(
    circuit: Circuit, states: NDArray[Any], angles: FloatArray, *, by_layers: bool, at_once: int = AMPLITUDES_AT_ONCE
) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m)|x_i⟩, shape (N, M, n + 1) and double precision.

    ``states`` (N, 2**n) are those of the samples, ``angles`` (M, …) those of the centroids' circuits. ``by_layers``
    undoes whole layers of the paper's feature map, whose rings are permutations, in the place of gates.
    """
    undone: Callable[[ComplexArray, int], ComplexArray]
    if by_layers and isinstance(circuit, FeatureMap):
        undone = partial(_layers_undone, circuit, ring_permutation(circuit.n_qubits), rotation_matrices(angles))
    else:
        undone = partial(_gates_undone, circuit, angles)
    n_qubits = circuit.n_qubits
    # Basis states ordered by their number of ones, and where each number begins.
    ones = np.bitwise_count(np.arange(1 << n_qubits))
    order = np.argsort(ones, kind="stable")
    starts = np.searchsorted(ones[order], np.arange(n_qubits + 1))
    found = np.empty((len(states), len(angles), n_qubits + 1))
    size = max(1, at_once >> n_qubits)
    for first in range(0, len(states), size):
        rows = slice(first, first + size)
        for column in range(len(angles)):
            behind = undone(states[rows].astype(np.complex128), column)
            found[rows, column] = np.add.reduceat(np.abs(behind[:, order]) ** 2, starts, axis=1)
    # States in single precision have a norm of almost 1.
    return found / found.sum(axis=-1, keepdims=True)


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


def _gates_undone(circuit: Circuit, angles: FloatArray, states: ComplexArray, column: int) -> ComplexArray:
    for gate, own in reversed(list(gates_with_angles(circuit, angles[column : column + 1]))):
        states = applied(states, gate_matrices(gate, own[0]).conj().T, gate.qubits)
    return states


def _layers_undone(
    circuit: FeatureMap, ring: IntArray, rotations: ComplexArray, states: ComplexArray, column: int
) -> ComplexArray:
    """The same for the paper's feature map, whose rings are permutations."""
    for layer in range(circuit.n_layers - 1, -1, -1):
        if layer + 1 < circuit.n_layers or circuit.final_entangler:
            states = states[:, ring]
        for qubit, rotation in enumerate(rotations[column, layer]):
            states = _rotated(states, rotation.conj().T, qubit)
    return states


def _rotated(states: ComplexArray, rotation: ComplexArray, qubit: int) -> ComplexArray:
    """One gate; no matrix product, as BLAS would wake threads for it."""
    parts = states.reshape(len(states), 1 << qubit, 2, -1)
    rotated = np.empty_like(parts)
    for row in (0, 1):
        rotated[:, :, row] = rotation[row, 0] * parts[:, :, 0] + rotation[row, 1] * parts[:, :, 1]
    return rotated.reshape(states.shape)
