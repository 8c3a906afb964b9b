"""How likely it is that no error happens at all, piece by piece, so that the logarithms of the pieces add up.

A gate with the average error e on d dimensions applies the right operation with the chance 1 - e (d + 1) / d, and some
Pauli error otherwise. A waiting qubit suffers Pauli errors at the rate 1/(4 T1) + 1/(2 T2), as its twirled relaxation
and dephasing are.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# With these a gate leaves nothing of its input, and reading is a toss of a coin; no error can be worse.
LARGEST_SX_ERROR = 0.5
LARGEST_TWO_QUBIT_ERROR = 0.75
LARGEST_READOUT_ERROR = 0.5


def coupler_log_success(errors: FloatArray, *, n_layers: int) -> FloatArray:
    """Of all CNOTs between two neighbours: one in each of the 2 (L - 1) rings."""
    log_success: FloatArray = 2 * (n_layers - 1) * np.log1p(-np.minimum(errors, LARGEST_TWO_QUBIT_ERROR) * 5 / 4)
    return log_success


def qubit_log_success(sx_errors: FloatArray, readout_errors: FloatArray, *, n_layers: int) -> FloatArray:
    """Of the pulses on a qubit, two in each of 2L - 1 rotations and one with each CNOT onto it, and of its readout."""
    n_pulses = 2 * (2 * n_layers - 1) + 2 * (n_layers - 1)
    pulses = n_pulses * np.log1p(-np.minimum(sx_errors, LARGEST_SX_ERROR) * 3 / 2)
    log_success: FloatArray = pulses + np.log1p(-np.minimum(readout_errors, LARGEST_READOUT_ERROR))
    return log_success


def idle_rates(t1_us: FloatArray, t2_us: FloatArray) -> FloatArray:
    """Errors in a microsecond of waiting; times that are infinite bring none."""
    rates: FloatArray = 1 / (4 * t1_us) + 1 / (2 * t2_us)
    return rates


def idle_steps(length: int, *, n_layers: int) -> FloatArray:
    """For how many CNOTs each qubit of a ring waits, by its place in it.

    The CNOTs of a ring follow one another, for each shares a qubit with the next, and so do the rings. A qubit waits
    from its first CNOT to the common readout, except while one of its own is run.
    """
    n_rings = 2 * (n_layers - 1)
    if length == 1 or n_rings == 0:
        return np.zeros(length)
    first = np.maximum(np.arange(length) - 1, 0)
    steps: FloatArray = (n_rings * (length - 2) - first).astype(np.float64)
    return steps
