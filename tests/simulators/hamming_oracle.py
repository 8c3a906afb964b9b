"""Distributions of Hamming weights gate by gate on whole statevectors, sharing nothing with the code under test."""

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from tests.oracles import after_gate, after_ring, angles, oracle_states, rot
from tests.problems import Problem


def oracle_weights(problem: Problem) -> FloatArray:
    """P[i, m, k] = Σ over basis states with k ones of |⟨s|U†(c_m) U(x_i)|0…0⟩|²."""
    feature_map = problem.feature_map
    states = oracle_states(feature_map, problem.X, weights=problem.weights, bias=problem.bias)
    n_ones = np.array([index.bit_count() for index in range(feature_map.dimension)])
    found = np.empty((len(problem.X), len(problem.centroids), feature_map.n_qubits + 1))
    for m, centroid in enumerate(problem.centroids):
        images = _images(feature_map, centroid, problem.weights, problem.bias)
        for i, state in enumerate(states):
            probabilities = np.abs(np.sum(images.conj() * state, axis=1)) ** 2
            found[i, m] = np.bincount(n_ones, probabilities, minlength=feature_map.n_qubits + 1)
    return found


def _images(
    feature_map: FeatureMap, centroid: FloatArray, weights: FloatArray, bias: FloatArray
) -> NDArray[np.complex128]:
    """U(c)|s⟩ in row s."""
    states = np.eye(feature_map.dimension, dtype=complex)
    for layer, of_layer in enumerate(angles(feature_map, centroid[None], weights=weights, bias=bias)):
        for qubit, of_gate in enumerate(of_layer):
            states = after_gate(states, rot(*of_gate), qubit)
        if layer + 1 < feature_map.n_layers or feature_map.final_entangler:
            states = after_ring(states)
    return states
