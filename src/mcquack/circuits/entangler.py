"""The CNOT ring q → q+1 mod n as a linear map on bit strings.

A ring of CNOTs only renames basis states, so simulators need no gates for it: an index does. Qubit 0 is the most
significant bit of an index.
"""

from functools import lru_cache

import numpy as np

from mcquack.arrays import IntArray


def ring_image(index: int, n_qubits: int) -> int:
    """The basis state that CNOT 0→1, 1→2, …, n-1→0 (in this order) make of basis state ``index``."""
    if n_qubits == 1:
        return index
    for control in range(n_qubits):
        target = (control + 1) % n_qubits
        if index >> (n_qubits - 1 - control) & 1:
            index ^= 1 << (n_qubits - 1 - target)
    return index


def ring_permutation(n_qubits: int) -> IntArray:
    """The images of all 2**n basis states; ``new_state[permutation] = old_state`` applies the ring to a statevector.

    >>> ring_permutation(2)
    array([0, 3, 1, 2])
    """
    return linear_table(np.array([ring_image(bit, n_qubits) for bit in unit_vectors(n_qubits)]))


def unit_vectors(n_qubits: int) -> list[int]:
    """The index of the basis state in which only qubit q is one, for q = 0 … n-1."""
    return [1 << (n_qubits - 1 - qubit) for qubit in range(n_qubits)]


def linear_table(columns: IntArray) -> IntArray:
    """All 2**n images of the XOR-linear map that sends the unit vector of qubit q to ``columns[q]``."""
    table = np.zeros(1, dtype=np.int64)
    for column in columns[::-1]:
        table = np.concatenate([table, table ^ column])
    return table


@lru_cache(maxsize=64)
def stored_rows(n_qubits: int, n_layers: int) -> IntArray:
    """Where a simulator that never moves amplitudes finds them: ``rows[l, q]`` holds qubit q's unit vector in layer l.

    After l rings the amplitude of ``index`` lies in the XOR of ``rows[l, q]`` over the one-bits q of ``index``;
    ``rows[n_layers]`` is the naming after the last ring. The array is read-only.
    """
    preimage = np.argsort(ring_permutation(n_qubits))
    rows = np.empty((n_layers + 1, n_qubits), dtype=np.int64)
    rows[0] = unit_vectors(n_qubits)
    for layer in range(n_layers):
        rows[layer + 1] = [
            np.bitwise_xor.reduce([rows[layer, q] for q in range(n_qubits) if preimage[unit] >> (n_qubits - 1 - q) & 1])
            for unit in unit_vectors(n_qubits)
        ]
    rows.setflags(write=False)
    return rows
