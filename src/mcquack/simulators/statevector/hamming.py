"""How often k ones are found when U†(c) U(x)|0…0⟩ is measured, from whole statevectors: for any number of layers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.entangler import ring_permutation
from mcquack.circuits.rotations import ComplexArray, rotation_matrices

_AMPLITUDES_AT_ONCE = 1 << 20  # 16 MiB, and as much again for what each gate makes of them


def hamming_distributions(states: NDArray[Any], angles: FloatArray, *, final_entangler: bool) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m)|x_i⟩, shape (N, M, n + 1) and double precision.

    ``states`` (N, 2**n) are those of the samples, ``angles`` (M, L, n, 3) those of the centroids' circuits.
    """
    ring, rotations = ring_permutation(angles.shape[2]), rotation_matrices(angles)

    def undone(some: ComplexArray, column: int) -> ComplexArray:
        return _undone(some, rotations[column], ring, final_entangler)

    return counted_ones(states, len(angles), undone)


def counted_ones(
    states: NDArray[Any], n_columns: int, undone: Callable[[ComplexArray, int], ComplexArray]
) -> FloatArray:
    """Probabilities (N, M, n + 1) of 0 to n ones in states (N, 2**n) behind what undoes the circuit of each column."""
    n_qubits = states.shape[1].bit_length() - 1
    # Basis states ordered by their number of ones, and where each number begins.
    ones = np.bitwise_count(np.arange(1 << n_qubits))
    order = np.argsort(ones, kind="stable")
    starts = np.searchsorted(ones[order], np.arange(n_qubits + 1))
    found = np.empty((len(states), n_columns, n_qubits + 1))
    size = max(1, _AMPLITUDES_AT_ONCE >> n_qubits)
    for first in range(0, len(states), size):
        rows = slice(first, first + size)
        for column in range(n_columns):
            behind = undone(states[rows].astype(np.complex128), column)
            found[rows, column] = np.add.reduceat(np.abs(behind[:, order]) ** 2, starts, axis=1)
    # States in single precision have a norm of almost 1.
    normalised: FloatArray = found / found.sum(axis=-1, keepdims=True)
    return normalised


def _undone(states: ComplexArray, rotations: ComplexArray, ring: NDArray[Any], final_entangler: bool) -> ComplexArray:
    n_layers = len(rotations)
    for layer in range(n_layers - 1, -1, -1):
        if layer + 1 < n_layers or final_entangler:
            states = states[:, ring]
        for qubit, rotation in enumerate(rotations[layer]):
            states = _rotated(states, rotation.conj().T, qubit)
    return states


def _rotated(states: ComplexArray, rotation: ComplexArray, qubit: int) -> ComplexArray:
    """One gate; no matrix product, as BLAS would wake threads for it."""
    parts = states.reshape(len(states), 1 << qubit, 2, -1)
    rotated = np.empty_like(parts)
    for row in (0, 1):
        rotated[:, :, row] = rotation[row, 0] * parts[:, :, 0] + rotation[row, 1] * parts[:, :, 1]
    return rotated.reshape(states.shape)
