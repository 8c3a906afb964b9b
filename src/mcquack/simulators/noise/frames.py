"""Paulis that errors leave behind, drawn place by place and pushed through CNOTs to one end of their ring.

A Pauli is kept as two bits (x, z), for X^x Z^z up to a phase that no measurement sees. CNOTs turn Paulis into Paulis,
so that whatever happens inside a ring may as well have happened at its end.
"""

from typing import Any

from numba import njit


@njit(nogil=True)
def push_through_cnot(frame: Any, control: int, target: int) -> None:
    """CNOT P CNOT for the Pauli P with the bits ``frame`` (n, 2)."""
    frame[target, 0] ^= frame[control, 0]
    frame[control, 1] ^= frame[target, 1]


@njit(nogil=True)
def _add_pauli(generator: Any, bounds: Any, of_qubit: Any) -> None:
    """``bounds`` are the chances of X, of X or Y, and of any of the three."""
    draw = generator.random()
    of_qubit[0] ^= draw < bounds[1]
    of_qubit[1] ^= bounds[0] <= draw < bounds[2]


@njit(nogil=True)
def _add_pair_of_paulis(generator: Any, chance: float, one: Any, other: Any) -> None:
    """Any of the fifteen that are not the identity, all equally likely."""
    draw = generator.random()
    if draw < chance:
        which = 1 + min(int(15 * draw / chance), 14)
        one[0] ^= which & 1
        one[1] ^= which >> 1 & 1
        other[0] ^= which >> 2 & 1
        other[1] ^= which >> 3 & 1


@njit(nogil=True)
def draw_ring(generator: Any, bounds: Any, pair_chances: Any, frame: Any) -> None:
    """One draw of all errors in and around a ring, as the Pauli ``frame`` (n, 2) at its end.

    ``bounds`` (3, n, 3) holds the errors before the ring, of each qubit between its two CNOTs, and after the ring.
    """
    n_qubits = frame.shape[0]
    frame[:] = 0
    for qubit in range(n_qubits):
        _add_pauli(generator, bounds[0, qubit], frame[qubit])
    for control in range(n_qubits):
        target = (control + 1) % n_qubits
        push_through_cnot(frame, control, target)
        _add_pair_of_paulis(generator, pair_chances[control], frame[control], frame[target])
        if control == 0:
            _add_pauli(generator, bounds[1, 0], frame[0])
        if target != 0:
            _add_pauli(generator, bounds[1, target], frame[target])
    for qubit in range(n_qubits):
        _add_pauli(generator, bounds[2, qubit], frame[qubit])
