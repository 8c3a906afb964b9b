"""Bit strings drawn from R₁†(c) ENT† G ENT R₁(x)|0…0⟩ with Paulis around G, qubit after qubit.

With the parities w of the ring before G and w' of the one after it, as in the ring engine, the amplitude of the bits s
is a sum over w and w' of products over the qubits: a_q[w_q ⊕ w_{q-1}] G_q[w'_q, w_q] B_q[s_q, w'_q ⊕ w'_{q-1}] with
a = R₁(x)|0⟩, B = R₁†(c) and G = R₂†(c) R₂(x). The rings close: the last parities τ and τ' reach the first qubit, where
G has the entry [w'_0 ⊕ τ', w_0 ⊕ τ]. So the bits drawn so far leave 16 numbers, for w, w', τ and τ'.

The chance of the next bit needs the sum over all later ones: the environment, between an amplitude and a conjugated one
with the parities v, v', σ and σ'. That sum keeps w' ⊕ v' = τ' ⊕ σ', and forgets w' and τ' beside that. Where the primed
parities are equal G drops out, since it is unitary, and one environment serves all shots; where they differ it is the
observable G† X G that counts, which Paulis around G turn.

Shots lie side by side in the lanes of the last axis; complex numbers are pairs on the first.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mcquack.simulators.compiled.entry import entry

# Paulis that errors leave behind, drawn place by place and pushed through CNOTs to one end of their ring. A Pauli is
# kept as two bits (x, z), for X^x Z^z up to a phase that no measurement sees. CNOTs turn Paulis into Paulis, so that
# whatever happens inside a ring may as well have happened at its end.


@njit(nogil=True)
def push_through_cnot(frame: Any, control: int, target: int) -> None:
    """CNOT P CNOT for the Pauli P with the bits ``frame`` (n, 2)."""
    frame[target, 0] ^= frame[control, 0]
    frame[control, 1] ^= frame[target, 1]


@njit(nogil=True)
def _add_pauli(generator: Any, bounds: Any, of_qubit: Any) -> None:
    """``bounds`` are the chances of X, of X or Y, and of any of the three."""
    draw = generator.random()
    of_qubit[0] ^= draw < bounds[1]
    of_qubit[1] ^= bounds[0] <= draw < bounds[2]


@njit(nogil=True)
def _add_pair_of_paulis(generator: Any, chance: float, one: Any, other: Any) -> None:
    """Any of the fifteen that are not the identity, all equally likely."""
    draw = generator.random()
    if draw < chance:
        which = 1 + min(int(15 * draw / chance), 14)
        one[0] ^= which & 1
        one[1] ^= which >> 1 & 1
        other[0] ^= which >> 2 & 1
        other[1] ^= which >> 3 & 1


@njit(nogil=True)
def draw_ring(generator: Any, bounds: Any, pair_chances: Any, frame: Any) -> None:
    """One draw of all errors in and around a ring, as the Pauli ``frame`` (n, 2) at its end.

    ``bounds`` (3, n, 3) holds the errors before the ring, of each qubit between its two CNOTs, and after the ring.
    """
    n_qubits = frame.shape[0]
    frame[:] = 0
    for qubit in range(n_qubits):
        _add_pauli(generator, bounds[0, qubit], frame[qubit])
    for control in range(n_qubits):
        target = (control + 1) % n_qubits
        push_through_cnot(frame, control, target)
        _add_pair_of_paulis(generator, pair_chances[control], frame[control], frame[target])
        if control == 0:
            _add_pauli(generator, bounds[1, 0], frame[0])
        if target != 0:
            _add_pauli(generator, bounds[1, target], frame[target])
    for qubit in range(n_qubits):
        _add_pauli(generator, bounds[2, qubit], frame[qubit])


LANES = 16
_W_TAU = (0, 1, 4, 5)  # where w and τ alone are set, among the bits w, w', τ, τ' of an index
_PRIMED = 0b1010  # w' and τ'


class Factors(NamedTuple):
    """What the circuit of one sample and one centroid does to each qubit, for rings of CNOTs in between."""

    starts: NDArray[np.complex128]  # (n, 2): a = R₁(x)|0⟩
    backs: NDArray[np.complex128]  # (n, 2, 2): B = R₁†(c)
    joints: NDArray[np.complex128]  # (n, 2, 2): G = R₂†(c) R₂(x)
    observables: NDArray[np.complex128]  # (n, 2, 2): Σ over w' of G[w', w] G*[w' ⊕ 1, v], at [w, v]


def factors_of(sample: NDArray[np.complex128], centroid: NDArray[np.complex128]) -> Factors:
    """From the rotations (2, n, 2, 2) of both."""
    back = np.swapaxes(centroid, -1, -2).conj()
    joints = np.einsum("qij,qjk->qik", back[1], sample[1])
    observables = np.einsum("qkw,qkv->qwv", joints, joints[:, ::-1].conj())
    return Factors(*map(np.ascontiguousarray, (sample[0, :, :, 0], back[0], joints, observables)))


@njit(nogil=True)
def _mix(v: Any, out: Any, bit: int, same: Any, other: Any) -> None:
    for i in range(16):
        j = i ^ 1 << bit
        for lane in range(LANES):
            a, b, c, d = v[0, i, lane], v[1, i, lane], v[0, j, lane], v[1, j, lane]
            out[0, i, lane] = same.real * a - same.imag * b + other.real * c - other.imag * d
            out[1, i, lane] = same.real * b + same.imag * a + other.real * d + other.imag * c


@njit(nogil=True)
def _times(v: Any, factors: Any, out: Any) -> None:
    for i in range(16):
        for lane in range(LANES):
            a, b = v[0, i, lane], v[1, i, lane]
            c, d = factors[0, i & 3, lane], factors[1, i & 3, lane]
            out[0, i, lane] = a * c - b * d
            out[1, i, lane] = a * d + b * c


@njit(nogil=True)
def _gate(joint: Any, frames: Any, gate: Any) -> None:
    """P' G P in each lane, at the index w + 2w'."""
    for lane in range(LANES):
        x, z, x_after, z_after = frames[0, lane], frames[1, lane], frames[2, lane], frames[3, lane]
        for k in range(4):
            w, w_after = k & 1, k >> 1
            value = joint[w_after ^ x_after, w ^ x]
            if (w & z) ^ (w_after & z_after):
                value = -value
            gate[0, k, lane], gate[1, k, lane] = value.real, value.imag


@njit(nogil=True)
def _turned_observable(observable: Any, frames: Any, turned: Any) -> None:
    """P G† P' X P' G P in each lane, at the index w + 2v."""
    for lane in range(LANES):
        x, z, z_after = frames[0, lane], frames[1, lane], frames[3, lane]
        for k in range(4):
            w, v = k & 1, k >> 1
            value = observable[w ^ x, v ^ x]
            if (z & (w ^ v)) ^ z_after:
                value = -value
            turned[0, k, lane], turned[1, k, lane] = value.real, value.imag


@njit(nogil=True)
def _last_environment(a: Any, environment: Any) -> None:
    """All that the last qubit adds: there the parities are τ and σ."""
    for i in range(16):
        w, v, tau, sigma = i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3
        value = a[w ^ tau] * np.conj(a[v ^ sigma])
        environment[0, i, :], environment[1, i, :] = value.real, value.imag


@njit(nogil=True)
def _prepend(a: Any, factors: Any, work: Any, later: Any, environment: Any) -> None:
    """The environment one qubit earlier, at the index w + 2v + 4τ + 8σ."""
    _times(later, factors, work[0])
    _mix(work[0], work[1], 0, a[0], a[1])
    _mix(work[1], environment, 1, np.conj(a[0]), np.conj(a[1]))


@njit(nogil=True)
def _fill_equal(starts: Any, environments: Any) -> None:
    """For equal primed parities, where the sum over w' makes w and v equal; the same in every lane."""
    equal, work = np.zeros((2, 4, LANES)), np.empty((2, 2, 16, LANES))
    equal[0, 0, :] = 1.0
    equal[0, 3, :] = 1.0
    last = starts.shape[0] - 1
    _last_environment(starts[last], environments[last - 1])
    for qubit in range(last - 1, 0, -1):
        _prepend(starts[qubit], equal, work, environments[qubit], environments[qubit - 1])


@njit(nogil=True)
def _fill_unequal(factors: Any, frames: Any, environments: Any) -> None:
    """For unequal primed parities, in each lane with its own Paulis."""
    turned, work = np.empty((2, 4, LANES)), np.empty((2, 2, 16, LANES))
    starts = factors.starts
    last = starts.shape[0] - 1
    _last_environment(starts[last], environments[last - 1])
    for qubit in range(last - 1, 0, -1):
        _turned_observable(factors.observables[qubit], frames[qubit], turned)
        _prepend(starts[qubit], turned, work, environments[qubit], environments[qubit - 1])


@njit(nogil=True)
def _add_weight(v: Any, environment: Any, turned: int, weight: Any) -> None:
    """Adds Σ v v* E with the primed bits of the conjugated factor ``turned``; E is Hermitian, so half of it does."""
    for row in range(4):  # w + 2τ
        for column in range(row + 1):
            i, j = _W_TAU[row], _W_TAU[column]
            k = (row & 1) | (column & 1) << 1 | (row & 2) << 1 | (column & 2) << 2
            times = 1.0 if row == column else 2.0
            for lane in range(LANES):
                real, imag = 0.0, 0.0
                for primed in (0, 2, 8, 10):
                    a, b = v[0, i | primed, lane], v[1, i | primed, lane]
                    c, d = v[0, j | (primed ^ turned), lane], v[1, j | (primed ^ turned), lane]
                    real += a * c + b * d
                    imag += b * c - a * d
                weight[lane] += times * (real * environment[0, k, lane] - imag * environment[1, k, lane])


@njit(nogil=True)
def _weigh(branches: Any, equal: Any, unequal: Any, weights: Any) -> None:
    for bit in range(2):
        weights[bit] = 0.0
        _add_weight(branches[bit], equal, 0, weights[bit])
        _add_weight(branches[bit], unequal, _PRIMED, weights[bit])


@njit(nogil=True)
def _begin(start: Any, back: Any, first: Any, last: Any, v: Any) -> None:
    """The amplitude after the first qubit, with the G of the last one, which depends on τ and τ' alone."""
    for i in range(16):
        factor = start[i & 1] * back[i >> 1 & 1]
        k, m = (i ^ i >> 2) & 3, i >> 2
        for lane in range(LANES):
            a = first[0, k, lane] * last[0, m, lane] - first[1, k, lane] * last[1, m, lane]
            b = first[0, k, lane] * last[1, m, lane] + first[1, k, lane] * last[0, m, lane]
            v[0, i, lane] = factor.real * a - factor.imag * b
            v[1, i, lane] = factor.real * b + factor.imag * a


@njit(nogil=True)
def _closed_weight(v: Any, weight: Any) -> None:
    """|Σ|² over the paths that close: w = τ and w' = τ'."""
    for lane in range(LANES):
        real, imag = 0.0, 0.0
        for i in (0, 5, 10, 15):
            real += v[0, i, lane]
            imag += v[1, i, lane]
        weight[lane] = real * real + imag * imag


@njit(nogil=True)
def _pick(generator: Any, weights: Any, branches: Any, v: Any, bits: Any) -> None:
    """Draws the bit of each lane, and keeps its branch at unit weight."""
    for lane in range(LANES):
        zero, one = max(weights[0, lane], 0.0), max(weights[1, lane], 0.0)
        bit = 1 if one > 0.0 and generator.random() * (zero + one) >= zero else 0
        bits[lane] = bit
        scale = 1.0 / np.sqrt(one if bit else zero)
        for i in range(16):
            v[0, i, lane] = scale * branches[bit, 0, i, lane]
            v[1, i, lane] = scale * branches[bit, 1, i, lane]


@njit(nogil=True)
def _draw_bits(generator: Any, factors: Any, frames: Any, equal: Any, unequal: Any, bits: Any) -> None:
    starts, backs, joints = factors.starts, factors.backs, factors.joints
    last = starts.shape[0] - 1
    gate, closing = np.empty((2, 4, LANES)), np.empty((2, 4, LANES))
    v, mixed, work = np.empty((2, 16, LANES)), np.empty((2, 16, LANES)), np.empty((2, 16, LANES))
    branches, weights = np.empty((2, 2, 16, LANES)), np.empty((2, LANES))
    _gate(joints[0], frames[0], gate)
    _gate(joints[last], frames[last], closing)
    for bit in range(2):
        _begin(starts[0], backs[0, bit], gate, closing, branches[bit])
    _weigh(branches, equal[0], unequal[0], weights)
    _pick(generator, weights, branches, v, bits[0])
    for qubit in range(1, last):
        _gate(joints[qubit], frames[qubit], gate)
        _mix(v, mixed, 0, starts[qubit, 0], starts[qubit, 1])
        for bit in range(2):
            _mix(mixed, work, 1, backs[qubit, bit, 0], backs[qubit, bit, 1])
            _times(work, gate, branches[bit])
        _weigh(branches, equal[qubit], unequal[qubit], weights)
        _pick(generator, weights, branches, v, bits[qubit])
    _mix(v, mixed, 0, starts[last, 0], starts[last, 1])
    for bit in range(2):
        _mix(mixed, branches[bit], 1, backs[last, bit, 0], backs[last, bit, 1])
        _closed_weight(branches[bit], weights[bit])
    _pick(generator, weights, branches, v, bits[last])


@njit(nogil=True)
def _n_ones_read(generator: Any, bits: Any, flip_chances: Any) -> int:
    n_ones = 0
    for qubit in range(bits.shape[0]):
        n_ones += bits[qubit] ^ (generator.random() < flip_chances[qubit])
    return n_ones


@entry
def count_weights(generator: Any, factors: Any, noise: Any, shots: int, counts: Any) -> None:
    """Adds every shot to ``counts`` (n+1), at its number of ones."""
    n_qubits = factors.starts.shape[0]
    equal, unequal = np.empty((n_qubits - 1, 2, 16, LANES)), np.empty((n_qubits - 1, 2, 16, LANES))
    frames = np.empty((n_qubits, 4, LANES), dtype=np.uint8)
    bits = np.empty((n_qubits, LANES), dtype=np.uint8)
    _fill_equal(factors.starts, equal)
    for first in range(0, shots, LANES):
        for lane in range(LANES):
            draw_ring(generator, noise.pauli_bounds[0], noise.pair_chances, frames[:, :2, lane])
            draw_ring(generator, noise.pauli_bounds[1], noise.pair_chances, frames[:, 2:, lane])
        _fill_unequal(factors, frames, unequal)
        _draw_bits(generator, factors, frames, equal, unequal, bits)
        for lane in range(min(LANES, shots - first)):
            counts[_n_ones_read(generator, bits[:, lane], noise.flip_chances)] += 1
