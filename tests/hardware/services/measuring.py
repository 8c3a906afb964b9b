"""Circuits to send, and how to compare what comes back with what must."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.jobs.service import Angles, Bits
from mcquack.hardware.native import angle_sets
from tests.hardware.overlaps import overlap_probabilities

# Fixed seeds: a service is right if this holds once, and a wrong one misses it by far.
LEAST_P_VALUE = 1e-4


def flat_angles(circuits: OverlapCircuits) -> Angles:
    angles = angle_sets(circuits)
    return angles.reshape(-1, angles.shape[-1])


def bit_string_counts(bits: Bits, n_qubits: int) -> NDArray[np.int64]:
    """How often each circuit gave each bit string, (K, 2**n), qubit 0 the most significant bit of an index."""
    single = np.unpackbits(bits, axis=-1)[..., -n_qubits:][..., ::-1]
    indices = single @ (1 << np.arange(n_qubits)[::-1])
    return np.array([np.bincount(of_one, minlength=1 << n_qubits) for of_one in indices])


def least_p_value(bits: Bits, circuits: OverlapCircuits) -> float:
    """Of the bit strings of all circuits against their exact probabilities."""
    n_centroids = circuits.shape[1]
    counted = bit_string_counts(bits, circuits.n_qubits)
    found = []
    for place, counts in enumerate(counted):
        expected = overlap_probabilities(circuits, *divmod(place, n_centroids)) * counts.sum()
        found.append(pooled_p_value(counts, expected))
    return min(found)


def pooled_p_value(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """Rare outcomes count as one, as the test is for common ones."""
    common = expected >= 5
    assert counts[expected < 1e-9].sum() == 0
    both = [np.append(values[common], values[~common].sum()) for values in (counts, expected)]
    kept = both[1] > 1e-6
    if kept.sum() < 2:
        return 1.0
    return float(chisquare(both[0][kept], both[1][kept] * both[0][kept].sum() / both[1][kept].sum()).pvalue)
