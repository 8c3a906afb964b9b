"""The feature map gate by gate on whole statevectors: plain, slow, and sharing nothing with the code under test."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray as FloatArray
from mcquack.circuits.feature_map import FeatureMap

ComplexArray = NDArray[np.complexfloating[Any, Any]]


def rot(phi: FloatArray, theta: FloatArray, omega: FloatArray) -> ComplexArray:
    """RZ(ω) RY(θ) RZ(φ) as the paper writes it out, for each sample: shape (2, 2, N)."""
    cosine, sine = np.cos(theta / 2), np.sin(theta / 2)
    return np.array(
        [
            [np.exp(-0.5j * (phi + omega)) * cosine, -np.exp(0.5j * (phi - omega)) * sine],
            [np.exp(-0.5j * (phi - omega)) * sine, np.exp(0.5j * (phi + omega)) * cosine],
        ]
    )


def after_gate(states: ComplexArray, gate: ComplexArray, qubit: int) -> ComplexArray:
    """States (N, 2**n), qubit 0 the most significant bit, after a gate (2, 2) or (2, 2, N) on one qubit.

    No matrix products: those of BLAS wake threads, which costs more than the sums on a busy machine.
    """
    parts = states.reshape(len(states), 1 << qubit, 2, -1)
    gate = gate.reshape(2, 2, -1, 1, 1)
    moved = [gate[row, 0] * parts[:, :, 0] + gate[row, 1] * parts[:, :, 1] for row in (0, 1)]
    return np.stack(moved, axis=2).reshape(states.shape)


def after_cnot(states: ComplexArray, control: int, target: int) -> ComplexArray:
    """Where the control is one, the target's amplitudes change places."""
    n_qubits = states.shape[1].bit_length() - 1
    tensor = states.reshape(len(states), *(2,) * n_qubits).copy()
    is_one = (slice(None),) * (1 + control) + (slice(1, 2),)
    tensor[is_one] = np.flip(tensor[is_one], axis=1 + target)
    return tensor.reshape(states.shape)


def after_ring(states: ComplexArray) -> ComplexArray:
    """CNOT 0→1, then 1→2, …, then n-1→0; no gate for a single qubit."""
    n_qubits = states.shape[1].bit_length() - 1
    for control in range(n_qubits if n_qubits > 1 else 0):
        states = after_cnot(states, control, (control + 1) % n_qubits)
    return states


def angles(feature_map: FeatureMap, X: FloatArray, *, weights: FloatArray, bias: FloatArray) -> FloatArray:
    """w·x + b for each gate, shape (L, n, 3, N), the features counted through gate by gate."""
    found = np.empty((*feature_map.parameter_shape, len(X)))
    for l, q, k in np.ndindex(feature_map.parameter_shape):
        gate = l * feature_map.n_qubits + q
        number = gate if feature_map.features_per_gate == 1 else 3 * gate + k
        found[l, q, k] = weights[l, q, k] * X[:, number % feature_map.n_features] + bias[l, q, k]
    return found


def oracle_states(feature_map: FeatureMap, X: FloatArray, *, weights: FloatArray, bias: FloatArray) -> ComplexArray:
    """U(x; w, b)|0…0⟩ for each sample."""
    states = np.zeros((len(X), 1 << feature_map.n_qubits), dtype=complex)
    states[:, 0] = 1
    for layer, of_layer in enumerate(angles(feature_map, X, weights=weights, bias=bias)):
        for qubit, of_gate in enumerate(of_layer):
            states = after_gate(states, rot(*of_gate), qubit)
        if layer + 1 < feature_map.n_layers or feature_map.final_entangler:
            states = after_ring(states)
    return states


def oracle_kernel(
    feature_map: FeatureMap, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray
) -> FloatArray:
    """|⟨c|x⟩|² for every pair."""
    left = oracle_states(feature_map, X, weights=weights, bias=bias)
    right = oracle_states(feature_map, centroids, weights=weights, bias=bias)
    return np.array([[abs(np.sum(c.conj() * x)) ** 2 for c in right] for x in left])


def slope(function: Callable[[FloatArray], float], at: FloatArray, direction: FloatArray) -> float:
    """Derivative along a direction by central differences of fourth order, good to about 1e-11 for smooth functions."""
    step = 1e-3 / max(1.0, float(np.abs(direction).max()))
    near = function(at + step * direction) - function(at - step * direction)
    far = function(at + 2 * step * direction) - function(at - 2 * step * direction)
    return (8 * near - far) / (12 * step)


def gradient(function: Callable[[FloatArray], float], at: FloatArray) -> FloatArray:
    """All partial derivatives by central differences."""
    slopes = np.empty_like(at)
    for entry in np.ndindex(at.shape):
        unit = np.zeros_like(at)
        unit[entry] = 1
        slopes[entry] = slope(function, at, unit)
    return slopes


def phase_aligned(states: ComplexArray, reference: ComplexArray) -> ComplexArray:
    """Each row turned by the common phase that brings it closest to its reference."""
    overlaps = np.sum(states.conj() * reference, axis=1, keepdims=True)
    return states * (overlaps / np.abs(overlaps))
