"""One overlap ⟨0|U†(c) U(x)|0⟩ on a ring of qubits, contracted qubit after qubit.

A ring of CNOTs replaces the bits x_q by running parities: w₀ = x₀, w_q = x_q ⊕ w_{q-1}. Its output on qubit q is w_q,
and w₀ ⊕ w_{n-1} on the first. So a ring speaks to the next qubit through a single bit, and E rings of a sample and of a
centroid speak through 2E bits: the overlap is a sum over the paths of a chain with D = 4**E states. Bit l-1 of a state
is the parity in ring l of the sample, bit E + l-1 that of the centroid. A ring also closes: the last parities τ reach
back to the first qubit, so that the chain is walked for each of their D values, side by side in the lanes of an array.

Rotation l, which precedes ring l, has the entry R[x, y] with x = w_l(q) ⊕ w_l(q-1) and y = w_{l-1}(q). The rotations
after the last ring meet in G = R†(c) R(x).
"""

from typing import Any

import numpy as np
from numba import njit

_QUBITS_BETWEEN_SCALINGS = 8  # entries of rotations are at most 1, and eight of them are far from the smallest float


@njit(nogil=True)
def join_last_rotations(sample: Any, centroid: Any, joints: Any) -> None:
    """G = R†(c) R(x) for each qubit."""
    last = sample.shape[0] - 1
    for q in range(sample.shape[1]):
        left, right = centroid[last, q], sample[last, q]
        for i in range(2):
            for j in range(2):
                joints[q, i, j] = np.conj(left[0, i]) * right[0, j] + np.conj(left[1, i]) * right[1, j]


@njit(nogil=True)
def pull_last_rotations(sample: Any, centroid: Any, by_joints: Any, by_sample: Any, by_centroid: Any) -> None:
    """Adds the derivatives by the two factors of G."""
    last = sample.shape[0] - 1
    for q in range(sample.shape[1]):
        left, right = centroid[last, q], sample[last, q]
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    by_sample[last, q, k, j] += by_joints[q, i, j] * np.conj(left[k, i])
                    by_centroid[last, q, k, i] += by_joints[q, i, j] * right[k, j]


@njit(nogil=True)
def _column(w: int, bit: int, layer: int) -> int:
    """The parity that the rotation before this ring finds in the ring before: none before the first."""
    return w >> (bit - 1) & 1 if layer else 0


@njit(nogil=True)
def _joint_entry(joint: Any, w: int, n_rings: int) -> Any:
    return joint[w >> (2 * n_rings - 1) & 1, w >> (n_rings - 1) & 1]


@njit(nogil=True)
def _mix(v: Any, out: Any, rotation: Any, bit: int, layer: int, conjugate: bool) -> None:
    """out[w] = Σ over the old values of one bit: R[old ⊕ new, y] v."""
    size, lanes = v.shape
    for low in range(size):
        if low >> bit & 1:
            continue
        high = low | 1 << bit
        column = _column(low, bit, layer)
        same, other = rotation[0, column], rotation[1, column]
        if conjugate:
            same, other = np.conj(same), np.conj(other)
        for lane in range(lanes):
            a, b = v[low, lane], v[high, lane]
            out[low, lane] = same * a + other * b
            out[high, lane] = other * a + same * b


@njit(nogil=True)
def _unmix(u: Any, v: Any, rotation: Any, by_rotation: Any, bit: int, layer: int, conjugate: bool, weight: Any) -> None:
    """Moves the adjoint u before the mixing of v, and adds the derivative by the rotation's entries."""
    size, lanes = v.shape
    for low in range(size):
        if low >> bit & 1:
            continue
        high = low | 1 << bit
        column = _column(low, bit, layer)
        same, other = rotation[0, column], rotation[1, column]
        if conjugate:
            same, other = np.conj(same), np.conj(other)
        by_same, by_other = 0.0j, 0.0j
        for lane in range(lanes):
            a, b, of_a, of_b = v[low, lane], v[high, lane], u[low, lane], u[high, lane]
            by_same += of_a * a + of_b * b
            by_other += of_a * b + of_b * a
            u[low, lane] = same * of_a + other * of_b
            u[high, lane] = other * of_a + same * of_b
        by_rotation[0, column] += weight * by_same
        by_rotation[1, column] += weight * by_other


@njit(nogil=True)
def _pass(before: Any, steps: Any, sample: Any, centroid: Any, qubit: int, n_rings: int) -> None:
    steps[0] = before
    for step in range(2 * n_rings):
        layer = step % n_rings
        rotations = sample if step < n_rings else centroid
        _mix(steps[step], steps[step + 1], rotations[layer, qubit], step, layer, step >= n_rings)


@njit(nogil=True)
def _join(v: Any, joint: Any, out: Any, n_rings: int) -> None:
    size, lanes = v.shape
    for w in range(size):
        factor = _joint_entry(joint, w, n_rings)
        for lane in range(lanes):
            out[w, lane] = factor * v[w, lane]


@njit(nogil=True)
def _unjoin(u: Any, v: Any, joint: Any, by_joint: Any, n_rings: int, weight: Any) -> None:
    size, lanes = v.shape
    for w in range(size):
        factor = _joint_entry(joint, w, n_rings)
        total = 0.0j
        for lane in range(lanes):
            total += u[w, lane] * v[w, lane]
            u[w, lane] *= factor
        by_joint[w >> (2 * n_rings - 1) & 1, w >> (n_rings - 1) & 1] += weight * total


@njit(nogil=True)
def _first_entry(rotations: Any, layer: int, w: int, tau: int, bit: int) -> Any:
    """On the first qubit the parities are the bits themselves, and the ring before has closed."""
    return rotations[layer, 0, w >> bit & 1, _column(w ^ tau, bit, layer)]


@njit(nogil=True)
def _first_product(sample: Any, centroid: Any, w: int, tau: int, n_rings: int, left_out: int) -> Any:
    value = 1.0 + 0.0j
    for layer in range(n_rings):
        if layer != left_out:
            value *= _first_entry(sample, layer, w, tau, layer)
        if n_rings + layer != left_out:
            value *= np.conj(_first_entry(centroid, layer, w, tau, n_rings + layer))
    return value


@njit(nogil=True)
def _begin(v: Any, sample: Any, centroid: Any, joint: Any, n_rings: int) -> None:
    for w in range(v.shape[0]):
        for tau in range(v.shape[1]):
            v[w, tau] = _joint_entry(joint, w ^ tau, n_rings) * _first_product(sample, centroid, w, tau, n_rings, -1)


@njit(nogil=True)
def _unbegin(
    u: Any, sample: Any, centroid: Any, joint: Any, by_sample: Any, by_centroid: Any, by_joint: Any, weight: Any
) -> None:
    n_rings = sample.shape[0] - 1
    for w in range(u.shape[0]):
        for tau in range(u.shape[1]):
            closed = w ^ tau
            pull = weight * u[w, tau]
            row, column = closed >> (2 * n_rings - 1) & 1, closed >> (n_rings - 1) & 1
            by_joint[row, column] += pull * _first_product(sample, centroid, w, tau, n_rings, -1)
            pull *= joint[row, column]
            for bit in range(2 * n_rings):
                layer = bit % n_rings
                by_rotations = by_sample if bit < n_rings else by_centroid
                rest = _first_product(sample, centroid, w, tau, n_rings, bit)
                by_rotations[layer, 0, w >> bit & 1, _column(closed, bit, layer)] += pull * rest


@njit(nogil=True)
def _scaled(v: Any) -> float:
    """Divides by the largest entry and returns its logarithm; minus infinity if all vanish."""
    top = 0.0
    for w in range(v.shape[0]):
        for lane in range(v.shape[1]):
            top = max(top, abs(v[w, lane].real), abs(v[w, lane].imag))
    if top == 0.0:
        return -np.inf
    factor = 1.0 / top
    for w in range(v.shape[0]):
        for lane in range(v.shape[1]):
            v[w, lane] *= factor
    return float(np.log(top))


@njit(nogil=True)
def _inner(u: Any, v: Any) -> Any:
    total = 0.0j
    for w in range(v.shape[0]):
        for lane in range(v.shape[1]):
            total += u[w, lane] * v[w, lane]
    return total


@njit(nogil=True)
def _product_overlap(joints: Any) -> Any:
    """Without a ring every qubit is by itself."""
    value, scale = 1.0 + 0.0j, 0.0
    for q in range(joints.shape[0]):
        value *= joints[q, 0, 0]
        size = abs(value)
        if size == 0.0:
            return value, -np.inf
        value /= size
        scale += np.log(size)
    return value, scale


@njit(nogil=True)
def overlap(sample: Any, centroid: Any, joints: Any, chain: Any, steps: Any) -> Any:
    """(⟨c|x⟩ / exp(s), s) for some s. ``chain`` (n, D, D) keeps the chain after each qubit, up to its size."""
    n_rings, n_qubits = sample.shape[0] - 1, sample.shape[1]
    if n_rings == 0:
        return _product_overlap(joints)
    _begin(chain[0], sample, centroid, joints[0], n_rings)
    scale = 0.0
    for qubit in range(1, n_qubits):
        _pass(chain[qubit - 1], steps, sample, centroid, qubit, n_rings)
        _join(steps[2 * n_rings], joints[qubit], chain[qubit], n_rings)
        if qubit % _QUBITS_BETWEEN_SCALINGS == 0:
            scale += _scaled(chain[qubit])
    total = 0.0j
    for tau in range(chain.shape[1]):
        total += chain[n_qubits - 1, tau, tau]
    return total, scale


@njit(nogil=True)
def log_fidelity(value: Any, scale: float) -> float:
    """log |⟨c|x⟩|² from what ``overlap`` gives."""
    return 2 * (np.log(abs(value)) + scale) if abs(value) > 0 else -np.inf


@njit(nogil=True)
def pull_overlap(
    sample: Any,
    centroid: Any,
    joints: Any,
    chain: Any,
    steps: Any,
    u: Any,
    weight: float,
    by_sample: Any,
    by_centroid: Any,
    by_joints: Any,
) -> None:
    """Adds weight · ∂ log⟨c|x⟩ by the entries of the sample's rotations, of the centroid's conjugated ones, and of G.

    ``chain`` is what ``overlap`` left. The sizes that were taken out of it, and are taken out of the adjoint u, cancel:
    each qubit divides by the overlap as it sees it.
    """
    n_rings, n_qubits = sample.shape[0] - 1, sample.shape[1]
    if n_rings == 0:
        for q in range(n_qubits):
            by_joints[q, 0, 0] += weight / joints[q, 0, 0]
        return
    u[:] = 0.0
    for tau in range(u.shape[0]):
        u[tau, tau] = 1.0
    for qubit in range(n_qubits - 1, 0, -1):
        _pass(chain[qubit - 1], steps, sample, centroid, qubit, n_rings)
        after = steps[2 * n_rings + 1]
        _join(steps[2 * n_rings], joints[qubit], after, n_rings)
        share = weight / _inner(u, after)
        _unjoin(u, steps[2 * n_rings], joints[qubit], by_joints[qubit], n_rings, share)
        for step in range(2 * n_rings - 1, -1, -1):
            layer = step % n_rings
            conjugate = step >= n_rings
            rotation = centroid[layer, qubit] if conjugate else sample[layer, qubit]
            by_rotation = by_centroid[layer, qubit] if conjugate else by_sample[layer, qubit]
            _unmix(u, steps[step], rotation, by_rotation, step, layer, conjugate, share)
        if qubit % _QUBITS_BETWEEN_SCALINGS == 0:
            _scaled(u)
    share = weight / _inner(u, chain[0])
    _unbegin(u, sample, centroid, joints[0], by_sample, by_centroid, by_joints[0], share)
