"""Bits that were measured, as counts of ones."""

import numpy as np
from numpy.typing import NDArray

from mcquack.errors import StoreError
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.service import Bits

IntArray = NDArray[np.int64]


def weight_histograms(bits: Bits, *, n_qubits: int) -> IntArray:
    """How many of the shots (K, shots, bytes) of each circuit have k ones, shape (K, n + 1)."""
    weights = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
    # One pass over all circuits: each has n + 1 bins of its own.
    weights += np.arange(len(weights))[:, None] * (n_qubits + 1)
    return np.bincount(weights.ravel(), minlength=len(weights) * (n_qubits + 1)).reshape(-1, n_qubits + 1)


def stored_counts(ledger: Ledger, measurement_id: str) -> IntArray:
    """The weight counts of a measurement that is complete, shape (N, M, n + 1)."""
    summary = ledger.summary(measurement_id)
    if not summary.is_complete:
        raise StoreError(
            f"only {summary.n_measured} of {summary.n_circuits} circuits of measurement {measurement_id} are in the "
            f"ledger {ledger}: resume it first."
        )
    counts = np.empty((summary.n_circuits, summary.n_qubits + 1), dtype=np.int64)
    for circuits, bits in ledger.bits(measurement_id):
        counts[circuits.start : circuits.stop] = weight_histograms(bits, n_qubits=summary.n_qubits)
    return counts.reshape(*summary.shape, summary.n_qubits + 1)
