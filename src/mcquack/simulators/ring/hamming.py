"""How often k ones are found when U†(c) U(x)|0…0⟩ is measured: exact for any number of qubits, with derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.rotations import ComplexArray
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.ring.chain import join_last_rotations, pull_last_rotations
from mcquack.simulators.ring.hamming_chain import (
    add_distribution,
    fill_factors,
    fill_tables,
    pull_distribution,
    pull_factors,
    pull_tables,
    workspace,
)

MAX_LAYERS = 2
InBlocks = Callable[[int, Callable[[int, int, int], None]], None]


@entry
def _distributions(samples: Any, centroids: Any, first: int, last: int, work: Any, found: Any) -> None:
    n_qubits = samples.shape[2]
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    factors = np.empty((n_qubits, 3, 4), dtype=np.complex128)
    tables = np.zeros((n_qubits, 3, 2, 16))
    for row in range(first, last):
        for column in range(centroids.shape[0]):
            join_last_rotations(samples[row], centroids[column], joints)
            fill_factors(samples[row], centroids[column], joints, factors)
            fill_tables(factors, tables)
            add_distribution(tables, work, found[row, column])


@entry
def _pull(
    samples: Any, centroids: Any, slopes: Any, first: int, last: int, work: Any, by_samples: Any, by_centroids: Any
) -> None:
    n_qubits = samples.shape[2]
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    factors = np.empty((n_qubits, 3, 4), dtype=np.complex128)
    tables = np.zeros((n_qubits, 3, 2, 16))
    by_joints, by_factors, by_tables = np.empty_like(joints), np.empty_like(factors), np.empty_like(tables)
    for row in range(first, last):
        for column in range(centroids.shape[0]):
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
            pull_factors(sample, centroid, by_factors, by_samples[row], by_centroids[column], by_joints)
            pull_last_rotations(sample, centroid, by_joints, by_samples[row], by_centroids[column])


def hamming_distributions(samples: ComplexArray, centroids: ComplexArray, *, in_blocks: InBlocks) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m) U(x_i)|0…0⟩ (N, M, n + 1), for rotations of at most two layers."""
    n_qubits = samples.shape[2]
    found = np.zeros((len(samples), len(centroids), n_qubits + 1))
    left, right = _two_layers(samples), _two_layers(centroids)
    in_blocks(
        len(samples),
        lambda first, last, _: _distributions(left, right, first, last, workspace(n_qubits, backward=False), found),
    )
    return np.maximum(found, 0.0)


def pull_hamming(
    samples: ComplexArray, centroids: ComplexArray, slopes: FloatArray, *, n_blocks: int, in_blocks: InBlocks
) -> tuple[ComplexArray, ComplexArray]:
    """Derivatives of Σ slopes∘P by the entries of the rotations of every sample and of every centroid."""
    n_qubits, n_layers = samples.shape[2], samples.shape[1]
    left, right = _two_layers(samples), _two_layers(centroids)
    by_samples = np.zeros_like(left)
    by_centroids = np.zeros((n_blocks, *right.shape), dtype=np.complex128)
    in_blocks(
        len(samples),
        lambda first, last, block: _pull(
            left, right, slopes, first, last, workspace(n_qubits, backward=True), by_samples, by_centroids[block]
        ),
    )
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
