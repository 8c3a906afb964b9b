"""How often k ones are found when U†(c) U(x)|0…0⟩ is measured: exact for any number of qubits, with derivatives."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Gradient, Wrt
from mcquack.simulators.ring.chain import join_last_rotations, pull_last_rotations
from mcquack.simulators.ring.engine import (
    ComplexArray,
    RingEngine,
    RotationRows,
    angle_slopes,
    checked_wrt,
    gradient_by_angles,
    n_blocks,
)
from mcquack.simulators.ring.hamming_chain import (
    add_distribution,
    fill_factors,
    fill_tables,
    pull_distribution,
    pull_factors,
    pull_tables,
    workspace,
)
from mcquack.simulators.statevector.entry import entry

MAX_LAYERS = 2


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
    samples: Any,
    centroids: Any,
    slopes: Any,
    first: int,
    last: int,
    work: Any,
    by_samples: Any,
    by_centroids: Any,
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


def hamming_distributions(engine: RingEngine, samples: RotationRows, centroids: RotationRows) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m) U(x_i)|0…0⟩, shape (N, M, n + 1), for at most two layers."""
    n_qubits = engine.feature_map.n_qubits
    if n_qubits == 1:
        fidelities = engine.fidelities(samples, centroids)
        return np.stack([fidelities, 1 - fidelities], axis=-1)
    _check_layers(engine.feature_map)
    found = np.zeros((len(samples), len(centroids), n_qubits + 1))
    left, right = _two_layers(samples), _two_layers(centroids)
    engine.in_blocks(
        len(samples),
        lambda first, last, _: _distributions(left, right, first, last, workspace(n_qubits, backward=False), found),
    )
    return np.maximum(found, 0.0)


def pull_hamming(
    engine: RingEngine, samples: RotationRows, centroids: RotationRows, cotangent: ArrayLike, *, wrt: Wrt
) -> Gradient:
    """Derivatives of Σ cotangent∘P by the embedding's weights and biases, or by the centroids' features."""
    n_qubits = engine.feature_map.n_qubits
    wrt = checked_wrt(wrt)
    slopes = _checked_slopes(cotangent, (len(samples), len(centroids), n_qubits + 1))
    if n_qubits == 1:
        return engine.pullback(samples, centroids, slopes[..., 0] - slopes[..., 1], wrt=wrt)
    _check_layers(engine.feature_map)
    left, right = _two_layers(samples), _two_layers(centroids)
    by_samples = np.zeros_like(left)
    by_centroids = np.zeros((n_blocks(len(samples)), *right.shape), dtype=np.complex128)
    engine.in_blocks(
        len(samples),
        lambda first, last, block: _pull(
            left, right, slopes, first, last, workspace(n_qubits, backward=True), by_samples, by_centroids[block]
        ),
    )
    n_layers = engine.feature_map.n_layers
    return gradient_by_angles(
        engine.feature_map,
        samples,
        centroids,
        of_samples=angle_slopes(samples.angles, by_samples[:, :n_layers]),
        of_centroids=angle_slopes(centroids.angles, by_centroids.sum(axis=0)[:, :n_layers].conj()),
        wrt=wrt,
    )


def _check_layers(feature_map: FeatureMap) -> None:
    n_layers = feature_map.n_layers
    if n_layers > MAX_LAYERS:
        raise InvalidInputError(
            f"the distribution of Hamming weights takes feature maps of at most {MAX_LAYERS} layers, and this one has "
            f"{n_layers}: each pair would need {256 ** (n_layers - 2):,} times the work. Use more qubits or fewer "
            "repetitions, or for at most 20 qubits the statevector engine."
        )


def _checked_slopes(cotangent: ArrayLike, shape: tuple[int, int, int]) -> FloatArray:
    slopes = np.require(cotangent, np.float64, ["C", "W"])
    if slopes.shape != shape:
        raise InvalidInputError(f"cotangent must have the shape {shape} of the distributions, got {slopes.shape}.")
    return slopes


def _two_layers(rows: RotationRows) -> ComplexArray:
    """A layer of its own is two, of which the second does nothing: the ring between them cancels, too."""
    if rows.rotations.shape[1] == MAX_LAYERS:
        return rows.rotations
    nothing = np.broadcast_to(np.eye(2, dtype=np.complex128), rows.rotations.shape)
    return np.concatenate([rows.rotations, nothing], axis=1)
