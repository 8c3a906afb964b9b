"""Overlap circuits to test with, and what each must measure, gate by gate and without the code under test."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from mcquack.arrays import FloatArray as FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.randomness import stream
from tests.oracles import after_gate, after_ring, rot

ComplexArray = NDArray[np.complex128]


def ring_map(n_qubits: int, n_layers: int) -> FeatureMap:
    """The paper's feature map, of which overlap circuits have but these sizes."""
    return FeatureMap.of_angles(n_qubits=n_qubits, n_layers=n_layers)


def paper_overlaps(samples: Any, centroids: Any) -> OverlapCircuits:
    """Circuits of the paper's feature map with angles (N, L, n, 3) and (M, L, n, 3)."""
    n_layers, n_qubits = samples.shape[1:3]
    return OverlapCircuits(samples=samples, centroids=centroids, circuit=ring_map(n_qubits, n_layers))


def some_circuits(
    n_qubits: int, n_layers: int, *, n_samples: int = 2, n_centroids: int = 2, seed: int = 0, right_angles: bool = False
) -> OverlapCircuits:
    """Angles of a few turns; multiples of a quarter turn are where Euler angles are not unique."""
    draws = stream(seed, "overlaps", str(n_qubits), str(n_layers))

    def angles(count: int) -> FloatArray:
        drawn = draws.uniform(-9, 9, size=(count, n_layers, n_qubits, 3))
        return np.round(drawn) * np.pi / 2 if right_angles else drawn

    return paper_overlaps(angles(n_samples), angles(n_centroids))


def of_itself(circuits: OverlapCircuits) -> OverlapCircuits:
    """The circuits with x = c on the diagonal."""
    return paper_overlaps(circuits.samples, circuits.samples)


def overlap_circuits(*, max_qubits: int = 6) -> st.SearchStrategy[OverlapCircuits]:
    return st.builds(
        some_circuits,
        st.integers(1, max_qubits),
        st.integers(1, 3),
        seed=st.integers(0, 10**6),
        right_angles=st.booleans(),
    )


def overlap_unitary(circuits: OverlapCircuits, sample: int, centroid: int) -> ComplexArray:
    """U†(c) U(x), qubit 0 the most significant bit of an index."""
    after_sample, after_centroid = _columns(circuits.samples[sample]), _columns(circuits.centroids[centroid])
    return np.einsum("sk,tk->st", after_centroid.conj(), after_sample)


def overlap_probabilities(circuits: OverlapCircuits, sample: int, centroid: int) -> FloatArray:
    """Of every bit string, for the state |0…0⟩."""
    return np.asarray(np.abs(overlap_unitary(circuits, sample, centroid)[:, 0]) ** 2)


def _columns(angles: FloatArray) -> ComplexArray:
    """U|s⟩ for every basis state s, one in each row."""
    states = np.eye(1 << angles.shape[1], dtype=complex)
    for layer, of_layer in enumerate(angles):
        states = after_ring(states) if layer else states
        for qubit, of_gate in enumerate(of_layer):
            states = after_gate(states, rot(*of_gate[:, None]), qubit)
    return states
