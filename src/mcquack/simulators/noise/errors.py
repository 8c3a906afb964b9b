"""Paulis that errors leave behind, drawn and pushed through CNOTs to one end of their ring.

A Pauli is kept as two bits (x, z), for X^x Z^z up to a phase that no measurement sees. CNOTs turn Paulis into Paulis,
so that whatever happens inside a ring may as well have happened at its end.

Errors are rare. In place of a coin for each place where one could be, the distance to the next error is drawn: the
place where the sum of all -log(1 - chance) passes the last one's by an exponential number.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mcquack.arrays import FloatArray, IntArray

_CERTAIN = 40.0  # exp(-40) is less than any random number can tell from 0
_PAIR = 3  # the kind of an error of two qubits; those of one have the kinds 0, 1 and 2: before, within and after


class RingErrors(NamedTuple):
    """Where errors may be in and around a ring, in the order of time, and how likely they are."""

    moments: IntArray  # (P,): how many CNOTs came before
    kinds: IntArray  # (P,)
    qubits: IntArray  # (P,): that of the error, or the control of the pair
    clock: FloatArray  # (P,): running sums of -log(1 - chance)
    bounds: FloatArray  # (3, n, 3): chances of X, of X or Y, of any of the three


def ring_errors(bounds: FloatArray, pair_chances: FloatArray) -> RingErrors:
    """From the errors before the ring, of each qubit between its two CNOTs, and after the ring, and those of CNOTs."""
    qubits = np.arange(len(pair_chances))
    within = np.maximum(qubits, 1)  # the first qubit waits from the first CNOT to the last
    moments = np.concatenate([0 * qubits, within, 0 * qubits + len(qubits), qubits + 1])
    chances = np.concatenate([*bounds[..., 2], pair_chances])
    order = np.argsort(moments, kind="stable")
    kinds = np.repeat(np.arange(_PAIR + 1), len(qubits))
    return RingErrors(
        moments[order], kinds[order], np.tile(qubits, _PAIR + 1)[order], clock_of(chances[order]), bounds.copy()
    )


def clock_of(chances: FloatArray) -> FloatArray:
    """Running sums of -log(1 - chance)."""
    with np.errstate(divide="ignore"):
        passed: FloatArray = np.cumsum(np.minimum(-np.log1p(-chances), _CERTAIN))
    return passed


@njit(nogil=True)
def next_error(generator: Any, clock: Any, place: int) -> int:
    """The first place behind this one where an error happens, or how many there are if none does; -1 is the start."""
    if clock.shape[0] == 0 or place == clock.shape[0] - 1:
        return int(clock.shape[0])
    passed = (clock[place] if place >= 0 else 0.0) - np.log1p(-generator.random())
    low, high = place + 1, clock.shape[0]
    while low < high:
        middle = (low + high) // 2
        if clock[middle] > passed:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True)
def push_through_cnot(frame: Any, control: int, target: int) -> None:
    """CNOT P CNOT for the Pauli P with the bits ``frame`` (n, 2)."""
    frame[target, 0] ^= frame[control, 0]
    frame[control, 1] ^= frame[target, 1]


@njit(nogil=True)
def _add_pauli(generator: Any, bounds: Any, of_qubit: Any) -> None:
    """``bounds`` are the chances of X, of X or Y, and of any of the three, of which it is one."""
    draw = generator.random() * bounds[2]
    of_qubit[0] ^= draw < bounds[1]
    of_qubit[1] ^= draw >= bounds[0]


@njit(nogil=True)
def _add_pair_of_paulis(generator: Any, one: Any, other: Any) -> None:
    """Any of the fifteen that are not the identity, all equally likely."""
    which = 1 + min(int(15 * generator.random()), 14)
    one[0] ^= which & 1
    one[1] ^= which >> 1 & 1
    other[0] ^= which >> 2 & 1
    other[1] ^= which >> 3 & 1


@njit(nogil=True)
def draw_ring(generator: Any, errors: Any, frame: Any) -> None:
    """One draw of all errors in and around a ring, as the Pauli ``frame`` (n, 2) at its end."""
    n_qubits = frame.shape[0]
    frame[:] = 0
    place = next_error(generator, errors.clock, -1)
    for moment in range(n_qubits + 1):
        if moment > 0:
            push_through_cnot(frame, moment - 1, moment % n_qubits)
        while place < errors.moments.shape[0] and errors.moments[place] == moment:
            kind, qubit = errors.kinds[place], errors.qubits[place]
            if kind == _PAIR:
                _add_pair_of_paulis(generator, frame[qubit], frame[(qubit + 1) % n_qubits])
            else:
                _add_pauli(generator, errors.bounds[kind, qubit], frame[qubit])
            place = next_error(generator, errors.clock, place)
