"""Bit strings drawn from R₁†(c) ENT† G ENT R₁(x)|0…0⟩ with Paulis around G, qubit after qubit.

With the parities w of the ring before G and w' of the one after it, as in the ring engine, the amplitude of the bits s
is a sum over w and w' of products over the qubits: a_q[w_q ⊕ w_{q-1}] G_q[w'_q, w_q] B_q[s_q, w'_q ⊕ w'_{q-1}] with
a = R₁(x)|0⟩, B = R₁†(c) and G = R₂†(c) R₂(x). The rings close: the last parities τ and τ' reach the first qubit, where
G has the entry [w'_0 ⊕ τ', w_0 ⊕ τ]. So the bits drawn so far leave 16 numbers, for w, w', τ and τ'.

The chance of the next bit needs the sum over all later ones: the environment, between an amplitude and a conjugated one
with the parities v, v', σ and σ'. That sum keeps w' ⊕ v' = τ' ⊕ σ', and forgets w' and τ' beside that. Where the primed
parities are equal G drops out, since it is unitary, and one environment serves all shots; where they differ it is the
observable G† X G that counts, which Paulis around G turn. A state has weight one among all later bits, so that the
chance of a 0 says that of a 1, too.

Shots lie side by side in the lanes of a register. A state has the rows (16, 2), at the index w + 2w' + 4τ + 8τ', real
and imaginary part. An environment is a Hermitian matrix M between (w, τ) and (v, σ), kept as the 16 rows of the real
one Re M + Im M, at the index w + 2τ + 4v + 8σ; its product entry by entry with a Hermitian C is then
Re C ∘ R + Im C ∘ Rᵀ, as in the ring's distributions.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.hermitian import prepend, state_weight
from mcquack.simulators.compiled.lanes import fma, load, splat, store
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.ring.rotations import LANES, times

_CERTAIN = 40.0  # exp(-40) is less than any random number can tell from 0
_PAIR = 3  # the kind of an error of two qubits; those of one have the kinds 0, 1 and 2: before, within and after
_GATE, _TURNED = 8, 4  # numbers of a turned gate, and of the observable that it makes
_CLOSED = (0, 5, 10, 15)  # where w = τ and w' = τ'


class Workspace(NamedTuple):
    """Memory that the shots of one circuit are drawn in."""

    starts: NDArray[np.complex128]  # (n, 2): a = R₁(x)|0⟩
    backs: NDArray[np.complex128]  # (n, 2, 2): B = R₁†(c)
    turned: FloatArray  # (n, 16, 12): G and G† X G under every pair of Paulis, at x + 2z + 4x' + 8z'
    paulis: NDArray[np.uint8]  # (n, 8)
    frames: NDArray[np.uint8]  # (2, n, 2): of one shot
    bits: NDArray[np.uint8]  # (n, 8)
    equal: FloatArray  # (n - 1, 16, 8): environments
    unequal: FloatArray  # (n - 1, 16, 8)
    taken: FloatArray  # (12, 8): the turned gates of one qubit
    closing: FloatArray  # (12, 8): those of the last qubit
    state: FloatArray  # (16, 2, 8)
    mixed: FloatArray  # (16, 2, 8)
    branch: FloatArray  # (16, 2, 8)
    coefficients: FloatArray  # (4, 8): the row of B that belongs to the bits
    chances: FloatArray  # (2, 8)


def workspace(n_qubits: int) -> Workspace:
    """Memory for circuits of this width."""
    environment, state = (n_qubits - 1, 16, LANES), (16, 2, LANES)
    numbers = _GATE + _TURNED
    shapes = (environment, environment, (numbers, LANES), (numbers, LANES), state, state, state, (4, LANES), (2, LANES))
    return Workspace(
        np.empty((n_qubits, 2), np.complex128),
        np.empty((n_qubits, 2, 2), np.complex128),
        np.empty((n_qubits, 16, numbers)),
        np.zeros((n_qubits, LANES), np.uint8),
        np.empty((2, n_qubits, 2), np.uint8),
        np.empty((n_qubits, LANES), np.uint8),
        *(aligned_zeros(shape, np.float64) for shape in shapes),
    )


# Paulis that errors leave behind, drawn and pushed through CNOTs to one end of their ring.
#
# A Pauli is kept as two bits (x, z), for X^x Z^z up to a phase that no measurement sees. CNOTs turn Paulis into Paulis,
# so that whatever happens inside a ring may as well have happened at its end. Errors are rare: in place of a coin for
# each place where one could be, the distance to the next error is drawn. It is the place where the sum of all
# -log(1 - chance) passes the last one's by an exponential number.


class RingErrors(NamedTuple):
    """Where errors may be in and around a ring, in the order of time, and how likely they are."""

    moments: IntArray  # (P,): how many CNOTs came before
    kinds: IntArray  # (P,)
    qubits: IntArray  # (P,): that of the error, or the control of the pair
    clock: FloatArray  # (P,): running sums of -log(1 - chance)
    bounds: FloatArray  # (3, n, 3): chances of X, of X or Y, of any of the three


def ring_errors(bounds: FloatArray, pair_chances: FloatArray) -> RingErrors:
    """From the errors before the ring, of each qubit between its two CNOTs, and after the ring, and those of CNOTs."""
    qubits = np.arange(len(pair_chances))
    within = np.maximum(qubits, 1)  # the first qubit waits from the first CNOT to the last
    moments = np.concatenate([0 * qubits, within, 0 * qubits + len(qubits), qubits + 1])
    chances = np.concatenate([*bounds[..., 2], pair_chances])
    order = np.argsort(moments, kind="stable")
    kinds = np.repeat(np.arange(_PAIR + 1), len(qubits))
    return RingErrors(
        moments[order], kinds[order], np.tile(qubits, _PAIR + 1)[order], clock_of(chances[order]), bounds.copy()
    )


def clock_of(chances: FloatArray) -> FloatArray:
    """Running sums of -log(1 - chance)."""
    with np.errstate(divide="ignore"):
        passed: FloatArray = np.cumsum(np.minimum(-np.log1p(-chances), _CERTAIN))
    return passed


@njit(nogil=True)
def next_error(generator, clock, place):
    """The first place behind this one where an error happens, or how many there are if none does; -1 is the start."""
    if clock.shape[0] == 0 or place == clock.shape[0] - 1:
        return int(clock.shape[0])
    passed = (clock[place] if place >= 0 else 0.0) - np.log1p(-generator.random())
    low, high = place + 1, clock.shape[0]
    while low < high:
        middle = (low + high) // 2
        if clock[middle] > passed:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True)
def push_through_cnot(frame, control, target):
    """CNOT P CNOT for the Pauli P with the bits ``frame`` (n, 2)."""
    frame[target, 0] ^= frame[control, 0]
    frame[control, 1] ^= frame[target, 1]


@njit(nogil=True)
def _add_pauli(generator, bounds, of_qubit):
    """``bounds`` are the chances of X, of X or Y, and of any of the three, of which it is one."""
    draw = generator.random() * bounds[2]
    of_qubit[0] ^= draw < bounds[1]
    of_qubit[1] ^= draw >= bounds[0]


@njit(nogil=True)
def _add_pair_of_paulis(generator, one, other):
    """Any of the fifteen that are not the identity, all equally likely."""
    which = 1 + min(int(15 * generator.random()), 14)
    one[0] ^= which & 1
    one[1] ^= which >> 1 & 1
    other[0] ^= which >> 2 & 1
    other[1] ^= which >> 3 & 1


@njit(nogil=True)
def draw_ring(generator, errors, frame):
    """One draw of all errors in and around a ring, as the Pauli ``frame`` (n, 2) at its end."""
    n_qubits = frame.shape[0]
    frame[:] = 0
    place = next_error(generator, errors.clock, -1)
    for moment in range(n_qubits + 1):
        if moment > 0:
            push_through_cnot(frame, moment - 1, moment % n_qubits)
        while place < errors.moments.shape[0] and errors.moments[place] == moment:
            kind, qubit = errors.kinds[place], errors.qubits[place]
            if kind == _PAIR:
                _add_pair_of_paulis(generator, frame[qubit], frame[(qubit + 1) % n_qubits])
            else:
                _add_pauli(generator, errors.bounds[kind, qubit], frame[qubit])
            place = next_error(generator, errors.clock, place)


# What the circuit of one sample and one centroid does to each qubit


@njit(nogil=True)
def _fill_factors(sample, centroid, work):
    """From the rotations (2, n, 2, 2) of both."""
    joint = np.empty((2, 2), dtype=np.complex128)
    for qubit in range(sample.shape[1]):
        for d in range(2):
            work.starts[qubit, d] = sample[0, qubit, d, 0]
            for s in range(2):
                work.backs[qubit, s, d] = np.conj(centroid[0, qubit, d, s])
                total = 0.0j
                for k in range(2):
                    total += np.conj(centroid[1, qubit, k, s]) * sample[1, qubit, k, d]
                joint[s, d] = total
        _fill_turned(joint, work.turned[qubit])


@njit(nogil=True)
def _fill_turned(joint, turned):
    """P' G P at w + 2w', and of P G† P' X P' G P the entries [0, 0], [1, 1] and both parts of [0, 1]."""
    along = 2 * (joint[0, 0] * np.conj(joint[1, 0])).real
    across = joint[0, 0] * np.conj(joint[1, 1]) + joint[1, 0] * np.conj(joint[0, 1])
    for pauli in range(16):
        x, z, x_after, z_after = pauli & 1, pauli >> 1 & 1, pauli >> 2 & 1, pauli >> 3
        for k in range(4):
            value = joint[k >> 1 ^ x_after, k & 1 ^ x]
            sign = -1.0 if (k & z) ^ (k >> 1 & z_after) else 1.0
            turned[pauli, 2 * k], turned[pauli, 2 * k + 1] = sign * value.real, sign * value.imag
        diagonal = -along if x ^ z_after else along
        turned[pauli, _GATE], turned[pauli, _GATE + 1] = diagonal, -diagonal
        turned[pauli, _GATE + 2] = -across.real if z ^ z_after else across.real
        turned[pauli, _GATE + 3] = -across.imag if z ^ z_after ^ x else across.imag


@njit(nogil=True)
def _take(turned, paulis, first, last, rows):
    """These numbers of the turned gate for the Paulis of each lane."""
    for lane in range(LANES):
        of_lane = turned[paulis[lane]]
        for number in range(first, last):
            rows[number, lane] = of_lane[number]


# Environments


@njit(nogil=True)
def _set_mixing(start, mixing):
    plus, minus = start[0] + start[1], start[0] - start[1]
    across = plus * np.conj(minus) / 4
    store(mixing, 0, splat((plus * np.conj(plus)).real / 4))
    store(mixing, 1, splat((minus * np.conj(minus)).real / 4))
    store(mixing, 2, splat(across.real))
    store(mixing, 3, splat(across.imag))


@njit(nogil=True)
def _last_environment(start, environment):
    """All that the last qubit adds: there the parities are τ and σ."""
    for k in range(16):
        ket, bra = start[(k ^ k >> 1) & 1], start[(k >> 2 ^ k >> 3) & 1]
        value = ket * np.conj(bra)
        store(environment, k, splat(value.real + value.imag))


@njit(nogil=True)
def _fill_equal(work):
    """For equal primed parities, where the sum over w' makes w and v equal; the same in every lane."""
    last = work.starts.shape[0] - 1
    for number in range(4):
        store(work.taken, number, splat(1.0 if number < 2 else 0.0))
    _last_environment(work.starts[last], work.equal[last - 1])
    for qubit in range(last - 1, 0, -1):
        _set_mixing(work.starts[qubit], work.coefficients)
        prepend(work.equal[qubit], work.taken, work.coefficients, work.equal[qubit - 1])


@njit(nogil=True)
def _fill_unequal(work):
    """For unequal primed parities, in each lane with its own Paulis."""
    last = work.starts.shape[0] - 1
    _last_environment(work.starts[last], work.unequal[last - 1])
    for qubit in range(last - 1, 0, -1):
        _take(work.turned[qubit], work.paulis[qubit], _GATE, _GATE + _TURNED, work.taken)
        _set_mixing(work.starts[qubit], work.coefficients)
        prepend(work.unequal[qubit], work.taken[_GATE:], work.coefficients, work.unequal[qubit - 1])


# States


@njit(nogil=True)
def _mix(v, out, bit, a, b, c, d):
    """Σ over the old values of one parity, with (a + ib) where it stays and (c + id) where it changes."""
    for low in range(16):
        if low & bit:
            continue
        i, j = 2 * low, 2 * (low | bit)
        p, q, r, s = load(v, i), load(v, i + 1), load(v, j), load(v, j + 1)
        store(out, i, fma(a, p, fma(-b, q, fma(c, r, -(d * s)))))
        store(out, i + 1, fma(a, q, fma(b, p, fma(c, s, d * r))))
        store(out, j, fma(a, r, fma(-b, s, fma(c, p, -(d * q)))))
        store(out, j + 1, fma(a, s, fma(b, r, fma(c, q, d * p))))


@njit(nogil=True)
def _splat_pair(pair):
    return splat(pair[0].real), splat(pair[0].imag), splat(pair[1].real), splat(pair[1].imag)


@njit(nogil=True)
def _loaded_pair(rows):
    return load(rows, 0), load(rows, 1), load(rows, 2), load(rows, 3)


@njit(nogil=True)
def _apply_gates(v, gates):
    """Multiplies by the turned G, in place."""
    for k in range(4):
        a, b = load(gates, 2 * k), load(gates, 2 * k + 1)
        for spectators in range(0, 16, 4):
            row = 2 * (k | spectators)
            real, imag = times(load(v, row), load(v, row + 1), a, b)
            store(v, row, real)
            store(v, row + 1, imag)


@njit(nogil=True)
def _begin(work):
    """All of the first qubit but B, with the G of the last one, which depends on τ and τ' alone."""
    a, b, c, d = _splat_pair(work.starts[0])
    for i in range(16):
        k, m = (i ^ i >> 2) & 3, i >> 2
        p, q = load(work.taken, 2 * k), load(work.taken, 2 * k + 1)
        real, imag = times(p, q, load(work.closing, 2 * m), load(work.closing, 2 * m + 1))
        if i & 1:
            real, imag = times(real, imag, c, d)
        else:
            real, imag = times(real, imag, a, b)
        store(work.mixed, 2 * i, real)
        store(work.mixed, 2 * i + 1, imag)


@njit(nogil=True)
def _begin_branch(v, out, a, b, c, d):
    """On the first qubit B sees the parity itself."""
    for i in range(16):
        real, imag = load(v, 2 * i), load(v, 2 * i + 1)
        if i & 2:
            real, imag = times(real, imag, c, d)
        else:
            real, imag = times(real, imag, a, b)
        store(out, 2 * i, real)
        store(out, 2 * i + 1, imag)


@njit(nogil=True)
def _closed_weight(v):
    """|Σ|² over the paths that close."""
    real, imag = splat(0.0), splat(0.0)
    for i in _CLOSED:
        real, imag = real + load(v, 2 * i), imag + load(v, 2 * i + 1)
    return fma(real, real, imag * imag)


@njit(nogil=True)
def _pick(generator, chances, back, count, bits, coefficients):
    """Draws the bit of each lane, and takes its row of B, so that the state will have weight one again."""
    for lane in range(LANES):
        zero = chances[0, lane]
        bit = 1 if lane < count and generator.random() >= zero else 0
        bits[lane] = bit
        weight = 1.0 - zero if bit else zero
        scale = 1.0 / np.sqrt(weight) if weight > 0.0 else 0.0
        for d in range(2):
            coefficients[2 * d, lane] = scale * back[bit, d].real
            coefficients[2 * d + 1, lane] = scale * back[bit, d].imag


@njit(nogil=True)
def _draw_last(generator, work, count):
    last = work.starts.shape[0] - 1
    _mix(work.state, work.mixed, 1, *_splat_pair(work.starts[last]))
    for bit in range(2):
        _mix(work.mixed, work.branch, 2, *_splat_pair(work.backs[last, bit]))
        store(work.chances, bit, _closed_weight(work.branch))
    for lane in range(count):
        zero, one = work.chances[0, lane], work.chances[1, lane]
        work.bits[last, lane] = generator.random() * (zero + one) >= zero if one > 0.0 else 0


@njit(nogil=True)
def _draw_bits(generator, work, count):
    last = work.starts.shape[0] - 1
    _take(work.turned[0], work.paulis[0], 0, _GATE, work.taken)
    _take(work.turned[last], work.paulis[last], 0, _GATE, work.closing)
    _begin(work)
    _begin_branch(work.mixed, work.branch, *_splat_pair(work.backs[0, 0]))
    store(work.chances, 0, state_weight(work.branch, work.equal[0], work.unequal[0]))
    _pick(generator, work.chances, work.backs[0], count, work.bits[0], work.coefficients)
    _begin_branch(work.mixed, work.state, *_loaded_pair(work.coefficients))
    for qubit in range(1, last):
        _take(work.turned[qubit], work.paulis[qubit], 0, _GATE, work.taken)
        _mix(work.state, work.mixed, 1, *_splat_pair(work.starts[qubit]))
        _mix(work.mixed, work.branch, 2, *_splat_pair(work.backs[qubit, 0]))
        _apply_gates(work.branch, work.taken)
        store(work.chances, 0, state_weight(work.branch, work.equal[qubit], work.unequal[qubit]))
        _pick(generator, work.chances, work.backs[qubit], count, work.bits[qubit], work.coefficients)
        _mix(work.mixed, work.state, 2, *_loaded_pair(work.coefficients))
        _apply_gates(work.state, work.taken)
    _draw_last(generator, work, count)


# Shots


@njit(nogil=True)
def _draw_paulis(generator, noise, work, count):
    frames = work.frames
    for lane in range(count):
        draw_ring(generator, noise.before, frames[0])
        draw_ring(generator, noise.after, frames[1])
        for qubit in range(frames.shape[1]):
            first, second = frames[0, qubit], frames[1, qubit]
            work.paulis[qubit, lane] = first[0] | first[1] << 1 | second[0] << 2 | second[1] << 3


@njit(nogil=True)
def _n_ones_read(generator, bits, clock):
    n_ones = 0
    for qubit in range(bits.shape[0]):
        n_ones += bits[qubit]
    qubit = next_error(generator, clock, -1)
    while qubit < bits.shape[0]:
        n_ones += 1 - 2 * int(bits[qubit])
        qubit = next_error(generator, clock, qubit)
    return n_ones


@entry
def count_weights(generator, sample, centroid, noise, shots, work, counts):
    """Adds every shot to ``counts`` (n+1), at its number of ones; rotations of both have the shape (2, n, 2, 2)."""
    _fill_factors(sample, centroid, work)
    _fill_equal(work)
    for first in range(0, shots, LANES):
        count = min(LANES, shots - first)
        _draw_paulis(generator, noise, work, count)
        _fill_unequal(work)
        _draw_bits(generator, work, count)
        for lane in range(count):
            counts[_n_ones_read(generator, work.bits[:, lane], noise.misread)] += 1
