"""How entangled the states of a circuit are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.errors import InvalidInputError
from mcquack.simulators.statevector import StatevectorEngine

FloatArray = NDArray[np.float64]
_ROWS_AT_ONCE = 64  # as many states of 14 qubits as fit into a few megabytes


@dataclass(frozen=True, kw_only=True)
class Entanglement:
    """Meyer and Wallach's Q of a circuit's states: 0 for product states, 1 for GHZ states, ``haar`` for random ones."""

    mean: float
    std: float
    n_states: int
    haar: float


def meyer_wallach(states: ArrayLike) -> FloatArray:
    """Q = 2 (1 - mean over qubits of Tr ρ_q²) of every row of amplitudes (N, 2**n), from 0 to 1."""
    rows = np.atleast_2d(np.asarray(states))
    n_qubits = rows.shape[1].bit_length() - 1
    if rows.ndim != 2 or rows.shape[1] != 1 << n_qubits or n_qubits < 1:
        raise InvalidInputError(f"expected rows of 2**n amplitudes, got an array of shape {np.shape(states)}.")
    if not np.allclose(np.linalg.norm(rows, axis=1), 1, rtol=0, atol=1e-3):
        raise InvalidInputError("states must have the norm 1; divide each row by its norm.")
    purities = np.zeros((n_qubits, len(rows)))
    for qubit in range(n_qubits):
        halves = rows.reshape(len(rows), 1 << qubit, 2, -1)
        zero, one = halves[:, :, 0].reshape(len(rows), -1), halves[:, :, 1].reshape(len(rows), -1)
        of_zero, of_one = np.linalg.norm(zero, axis=1) ** 2, np.linalg.norm(one, axis=1) ** 2
        coherence = np.abs(np.einsum("nd,nd->n", zero.conj(), one)) ** 2
        purities[qubit] = of_zero**2 + of_one**2 + 2 * coherence
    return np.asarray(np.clip(2 * (1 - purities.mean(axis=0)), 0, 1))


def haar_entanglement(n_qubits: int) -> float:
    """Mean of Q over Haar-random states, (2**n - 2) / (2**n + 1)."""
    return (2.0**n_qubits - 2) / (2.0**n_qubits + 1)


def entanglement(engine: StatevectorEngine, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> Entanglement:
    """Of the states that the samples have under the feature map with these parameters."""
    rows = np.asarray(X)
    if len(rows) == 0:
        raise InvalidInputError("there are no samples whose states could be entangled; pass one or more.")
    found = np.concatenate(
        [
            meyer_wallach(engine.statevectors(engine.encode(rows[start : start + _ROWS_AT_ONCE], weights, bias)))
            for start in range(0, len(rows), _ROWS_AT_ONCE)
        ]
    )
    return Entanglement(
        mean=float(found.mean()),
        std=float(found.std()),
        n_states=len(found),
        haar=haar_entanglement(engine.feature_map.n_qubits),
    )
