"""How often k ones are found when U†(c) U(x)|0…0⟩ is measured: exact for any number of qubits, with derivatives."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.rotations import ComplexArray
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.team import stop_asked
from mcquack.simulators.ring.chain import n_blocks
from mcquack.simulators.ring.hamming_chain import (
    add_distribution,
    fill_factors,
    fill_tables,
    join_last_rotations,
    pull_distribution,
    pull_factors,
    pull_last_rotations,
    pull_tables,
    workspace,
)
from mcquack.simulators.ring.rotations import LANES

MAX_LAYERS = 2
Run = Callable[..., None]
_FLOPS_PER_STEP = 8000  # of both registers of roots, for one coefficient and one qubit


@entry
def _distributions(cells: Any, rank: int, n_threads: int, work: Any, samples: Any, centroids: Any, found: Any) -> None:
    n_qubits, n_centroids = samples.shape[2], centroids.shape[0]
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    factors = np.empty((n_qubits, 3, 4), dtype=np.complex128)
    tables = np.zeros((n_qubits, 3, 2, 16))
    for pair in range(rank, samples.shape[0] * n_centroids, n_threads):
        if stop_asked(cells):
            return
        row, column = pair // n_centroids, pair % n_centroids
        join_last_rotations(samples[row], centroids[column], joints)
        fill_factors(samples[row], centroids[column], joints, factors)
        fill_tables(factors, tables)
        add_distribution(tables, work, found[row, column])


@entry
def _pull(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    samples: Any,
    centroids: Any,
    slopes: Any,
    by_samples: Any,
    by_centroids: Any,
) -> None:
    n_qubits, n_centroids = samples.shape[2], centroids.shape[0]
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    factors = np.empty((n_qubits, 3, 4), dtype=np.complex128)
    tables = np.zeros((n_qubits, 3, 2, 16))
    by_joints, by_factors, by_tables = np.empty_like(joints), np.empty_like(factors), np.empty_like(tables)
    for block in range(rank, by_centroids.shape[0], n_threads):
        for pair in range(block * LANES * n_centroids, min((block + 1) * LANES, samples.shape[0]) * n_centroids):
            row, column = pair // n_centroids, pair % n_centroids
            if stop_asked(cells):
                return
            if not np.any(slopes[row, column]):
                continue
            sample, centroid = samples[row], centroids[column]
            join_last_rotations(sample, centroid, joints)
            fill_factors(sample, centroid, joints, factors)
            fill_tables(factors, tables)
            by_tables[:] = 0.0
            by_joints[:] = 0.0
            pull_distribution(tables, slopes[row, column], work, by_tables)
            pull_tables(factors, by_tables, by_factors)
            pull_factors(sample, centroid, by_factors, by_samples[row], by_centroids[block, column], by_joints)
            pull_last_rotations(sample, centroid, by_joints, by_samples[row], by_centroids[block, column])


def hamming_distributions(samples: ComplexArray, centroids: ComplexArray, *, run: Run) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m) U(x_i)|0…0⟩ (N, M, n + 1), for rotations of at most two layers."""
    n_qubits = samples.shape[2]
    found = np.zeros((len(samples), len(centroids), n_qubits + 1))
    flops = _FLOPS_PER_STEP * found.size * n_qubits / 4
    left, right = _two_layers(samples), _two_layers(centroids)
    run(_distributions, flops, partial(workspace, n_qubits, backward=False), left, right, found)
    return np.maximum(found, 0.0)


def pull_hamming(
    samples: ComplexArray, centroids: ComplexArray, slopes: FloatArray, *, run: Run
) -> tuple[ComplexArray, ComplexArray]:
    """Derivatives of Σ slopes∘P by the entries of the rotations of every sample and of every centroid."""
    n_qubits, n_layers = samples.shape[2], samples.shape[1]
    left, right = _two_layers(samples), _two_layers(centroids)
    by_samples = np.zeros_like(left)
    by_centroids = np.zeros((n_blocks(len(samples)), *right.shape), dtype=np.complex128)
    flops = 4 * _FLOPS_PER_STEP * slopes.size * n_qubits / 2
    make = partial(workspace, n_qubits, backward=True)
    run(_pull, flops, make, left, right, slopes, by_samples, by_centroids)
    return by_samples[:, :n_layers], by_centroids.sum(axis=0)[:, :n_layers].conj()


def check_layers(feature_map: FeatureMap) -> None:
    """Refuses circuits whose distributions would take too long."""
    n_layers = feature_map.n_layers
    if n_layers > MAX_LAYERS:
        raise InvalidInputError(
            f"the distribution of Hamming weights takes feature maps of at most {MAX_LAYERS} layers, and this one has "
            f"{n_layers}: each pair would need {256 ** (n_layers - 2):,} times the work. Use more qubits or fewer "
            "repetitions, or for at most 20 qubits the statevector engine."
        )


def _two_layers(rotations: ComplexArray) -> ComplexArray:
    """A layer of its own is two, of which the second does nothing: the ring between them cancels, too."""
    if rotations.shape[1] == MAX_LAYERS:
        return rotations
    nothing = np.broadcast_to(np.eye(2, dtype=np.complex128), rotations.shape)
    return np.concatenate([rotations, nothing], axis=1)
