"""Overlaps ⟨0|U†(c) U(x)|0⟩ on a ring of qubits, contracted qubit after qubit, for a register of samples at a time.

A ring of CNOTs replaces the bits x_q by running parities: w₀ = x₀, w_q = x_q ⊕ w_{q-1}. Its output on qubit q is w_q,
and w₀ ⊕ w_{n-1} on the first. So a ring speaks to the next qubit through a single bit, and E rings of a sample and of a
centroid speak through 2E bits: the overlap is a sum over the paths of a chain with D = 4**E states. Bit l-1 of a state
is the parity in ring l of the sample, bit E + l-1 that of the centroid. A ring also closes: the last parities τ reach
back to the first qubit, so that the chain is walked for each of their D values, side by side.

Rotation l, which precedes ring l, has the entry R[x, y] with x = w_l(q) ⊕ w_l(q-1) and y = w_{l-1}(q). The rotations
after the last ring meet in G = R†(c) R(x). A rotation is [[α, -β*], [β, α*]], and G too.

An array of rotations has the rows (L, n, 4), which are Re α, Im α, Re β and Im β; those of a centroid are conjugated,
and the same in every lane. A chain has the rows (D, D, 2): state, τ, real and imaginary part. Rows are registers.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from mcquack.arrays import FloatArray
from mcquack.simulators.compiled.lanes import fma, lane_sum, load, peak, splat, store
from mcquack.simulators.compiled.memory import aligned_zeros, require_bytes
from mcquack.simulators.ring.rotations import LANES, times

_QUBITS_BETWEEN_SCALINGS = 8  # entries of rotations are at most 1, and eight of them are far from the smallest float
_LEAST_EXPONENT = -1000  # a power of two whose inverse is a float, too


class Workspace(NamedTuple):
    """Memory that the chains of one register of samples are walked in."""

    sample: FloatArray  # (L, n, 4, W)
    centroid: FloatArray  # (L, n, 4, W)
    joints: FloatArray  # (n, 4, W): G
    chain: FloatArray  # (n or 1, D, D, 2, W): after each qubit, up to the sizes taken out
    steps: FloatArray  # (2E, D, D, 2, W): within a qubit
    adjoint: FloatArray  # (D, D, 2, W)
    factors: FloatArray  # (1 + n // 8, W): what each scaling multiplied by
    total: FloatArray  # (3, W): overlaps, and the logarithms to the base 2 of what was taken out
    by_sample: FloatArray  # (L, n, 4, W)
    by_centroid: FloatArray  # (L, n, 4, W)
    by_joints: FloatArray  # (n, 4, W)


def workspace(n_layers: int, n_qubits: int, *, backward: bool) -> Workspace:
    """Memory for circuits of this size."""
    size, kept = 4 ** (n_layers - 1), n_qubits if backward else 1
    rotations, back = (n_layers, n_qubits, 4), (n_layers, n_qubits if backward else 0, 4)
    shapes = (
        rotations, rotations, (n_qubits, 4), (kept, size, size, 2),
        (2 * (n_layers - 1) if backward else 0, size, size, 2), (size, size, 2) if backward else (0,),
        (1 + n_qubits // _QUBITS_BETWEEN_SCALINGS,), (3,), back, back, back[1:],
    )  # fmt: skip
    n_bytes = 8 * LANES * sum(map(math.prod, shapes))
    require_bytes(n_bytes, f"a thread's work on {n_layers} layers of {n_qubits:,} qubits")
    return Workspace(*(aligned_zeros((*shape, LANES), np.float64) for shape in shapes))


# Rotations in registers


@njit(nogil=True)
def n_blocks(n_samples):
    """Into how many registers so many samples go; work is divided by these, never by thread."""
    return -(-n_samples // LANES)


@njit(nogil=True)
def gather_samples(rotations, first, rows):
    """The rotations (N, L, n, 2, 2) of W samples; lanes beyond the last get zeros."""
    for lane in range(LANES):
        for layer in range(rows.shape[0]):
            for qubit in range(rows.shape[1]):
                alpha, beta = 0.0j, 0.0j
                if first + lane < rotations.shape[0]:
                    rotation = rotations[first + lane, layer, qubit]
                    alpha, beta = rotation[0, 0], rotation[1, 0]
                rows[layer, qubit, 0, lane], rows[layer, qubit, 1, lane] = alpha.real, alpha.imag
                rows[layer, qubit, 2, lane], rows[layer, qubit, 3, lane] = beta.real, beta.imag


@njit(nogil=True)
def spread_centroid(rotations, rows):
    """The conjugated rotations (L, n, 2, 2) of one centroid, for every lane."""
    for layer in range(rows.shape[0]):
        for qubit in range(rows.shape[1]):
            alpha, beta = rotations[layer, qubit, 0, 0], rotations[layer, qubit, 1, 0]
            row = 4 * (layer * rows.shape[1] + qubit)
            store(rows, row, splat(alpha.real))
            store(rows, row + 1, splat(-alpha.imag))
            store(rows, row + 2, splat(beta.real))
            store(rows, row + 3, splat(-beta.imag))


@njit(nogil=True)
def _halves(rows, gate):
    return load(rows, 4 * gate), load(rows, 4 * gate + 1), load(rows, 4 * gate + 2), load(rows, 4 * gate + 3)


@njit(nogil=True)
def _column_of(rows, gate, column):
    """R[0, y] and R[1, y]."""
    a, b, c, d = _halves(rows, gate)
    if column:
        a, b, c, d = -c, d, a, -b
    return a, b, c, d


@njit(nogil=True)
def _entry_of(rows, gate, row, column):
    a, b, c, d = _column_of(rows, gate, column)
    if row:
        a, b = c, d
    return a, b


@njit(nogil=True)
def _add(rows, row, real, imag):
    store(rows, row, load(rows, row) + real)
    store(rows, row + 1, load(rows, row + 1) + imag)


@njit(nogil=True)
def _add_to_entry(by_rows, gate, row, column, real, imag):
    """Adds a derivative by R[x, y] to those by α and β, of which x = y = 1 is α*, and x = 0, y = 1 is -β*."""
    if column:
        imag = -imag
        if row == 0:
            real, imag = -real, -imag
    _add(by_rows, 4 * gate + 2 * (row ^ column), real, imag)


@njit(nogil=True)
def _add_products(by_rows, gate, row, column, a, b, c, d, e, f, g, h):
    """Adds (a + ib)(c + id) + (e + if)(g + ih) to the derivative by R[x, y]."""
    real = fma(a, c, fma(-b, d, fma(e, g, -(f * h))))
    _add_to_entry(by_rows, gate, row, column, real, fma(a, d, fma(b, c, fma(e, h, f * g))))


@njit(nogil=True)
def _fill_joints(work):
    """G = R†(c) R(x) for each qubit."""
    n_qubits = work.joints.shape[0]
    last = (work.sample.shape[0] - 1) * n_qubits
    for qubit in range(n_qubits):
        a, b, c, d = _halves(work.sample, last + qubit)
        p, q, r, s = _halves(work.centroid, last + qubit)
        store(work.joints, 4 * qubit, fma(p, a, fma(-q, b, fma(r, c, -(s * d)))))
        store(work.joints, 4 * qubit + 1, fma(p, b, fma(q, a, fma(r, d, s * c))))
        store(work.joints, 4 * qubit + 2, fma(p, c, fma(q, d, -fma(r, a, s * b))))
        store(work.joints, 4 * qubit + 3, fma(p, d, fma(-q, c, fma(s, a, -(r * b)))))


@njit(nogil=True)
def _pull_joints(work):
    """Adds the derivatives by the two factors of G."""
    n_qubits = work.joints.shape[0]
    last = (work.sample.shape[0] - 1) * n_qubits
    for qubit in range(n_qubits):
        gate = last + qubit
        a, b, c, d = _halves(work.sample, gate)
        p, q, r, s = _halves(work.centroid, gate)
        e, f, g, h = _halves(work.by_joints, qubit)
        _add_products(work.by_sample, gate, 0, 0, e, f, p, q, -g, -h, r, -s)
        _add_products(work.by_sample, gate, 1, 0, e, f, r, s, g, h, p, -q)
        _add_products(work.by_centroid, gate, 0, 0, e, f, a, b, g, -h, c, -d)
        _add_products(work.by_centroid, gate, 1, 0, e, f, c, d, -g, h, a, -b)


# The first qubit, where parities are the bits themselves, and the ring before has closed


@njit(nogil=True)
def _first_place(work, w, tau, bit):
    """Gate, row and column of the entry of a rotation that belongs to one bit of a state."""
    layer = bit % (work.sample.shape[0] - 1)
    return layer * work.sample.shape[1], w >> bit & 1, _column_at(w ^ tau, bit, layer)


@njit(nogil=True)
def _first_entry(work, w, tau, bit):
    rows = work.sample if bit < work.sample.shape[0] - 1 else work.centroid
    return _entry_of(rows, *_first_place(work, w, tau, bit))


@njit(nogil=True)
def _first_product(work, w, tau, left_out):
    real, imag = splat(1.0), splat(0.0)
    for bit in range(2 * (work.sample.shape[0] - 1)):
        if bit != left_out:
            real, imag = times(real, imag, *_first_entry(work, w, tau, bit))
    return real, imag


@njit(nogil=True)
def _joint_place(w, n_rings):
    """Row and column in G of a state."""
    return (w >> (2 * n_rings - 1) & 1, w >> (n_rings - 1) & 1) if n_rings else (0, 0)


@njit(nogil=True)
def _begin(work, v):
    n_rings, size = work.sample.shape[0] - 1, v.shape[0]
    for w in range(size):
        for tau in range(size):
            row, column = _joint_place(w ^ tau, n_rings)
            real, imag = times(*_first_product(work, w, tau, -1), *_entry_of(work.joints, 0, row, column))
            store(v, 2 * (w * size + tau), real)
            store(v, 2 * (w * size + tau) + 1, imag)


@njit(nogil=True)
def _unbegin(work):
    n_rings, u, size = work.sample.shape[0] - 1, work.adjoint, work.adjoint.shape[0]
    for w in range(size):
        for tau in range(size):
            row, column = _joint_place(w ^ tau, n_rings)
            at = 2 * (w * size + tau)
            real, imag = load(u, at), load(u, at + 1)
            _add_to_entry(work.by_joints, 0, row, column, *times(real, imag, *_first_product(work, w, tau, -1)))
            real, imag = times(real, imag, *_entry_of(work.joints, 0, row, column))
            for bit in range(2 * n_rings):
                by_rows = work.by_sample if bit < n_rings else work.by_centroid
                slopes = times(real, imag, *_first_product(work, w, tau, bit))
                _add_to_entry(by_rows, *_first_place(work, w, tau, bit), *slopes)


# Other qubits


@njit(nogil=True)
def _apply(v, low, high, out, m):
    """The 2 × 2 matrix m = (m₀₀, m₀₁, m₁₀, m₁₁), real and imaginary parts, on two states for every τ."""
    size = v.shape[0]
    for tau in range(size):
        i, j = 2 * (low * size + tau), 2 * (high * size + tau)
        a, b, c, d = load(v, i), load(v, i + 1), load(v, j), load(v, j + 1)
        store(out, i, fma(m[0], a, fma(-m[1], b, fma(m[2], c, -(m[3] * d)))))
        store(out, i + 1, fma(m[0], b, fma(m[1], a, fma(m[2], d, m[3] * c))))
        store(out, j, fma(m[4], a, fma(-m[5], b, fma(m[6], c, -(m[7] * d)))))
        store(out, j + 1, fma(m[4], b, fma(m[5], a, fma(m[6], d, m[7] * c))))


@njit(nogil=True)
def _mixing(rows, gate, column):
    """Of the old and the new value of a parity: R[old ⊕ new, y]."""
    a, b, c, d = _column_of(rows, gate, column)
    return a, b, c, d, c, d, a, b


@njit(nogil=True)
def _joined_mixing(rows, gate, column, joints, qubit, joint_column):
    """The same for the centroid's last parity, with G for its new value."""
    a, b, c, d = _column_of(rows, gate, column)
    p, q, r, s = _column_of(joints, qubit, joint_column)
    return times(p, q, a, b) + times(p, q, c, d) + times(r, s, c, d) + times(r, s, a, b)


@njit(nogil=True)
def _column_at(low, bit, layer):
    """The parity that the rotation before this ring finds in the ring before: none before the first."""
    return low >> (bit - 1) & 1 if layer else 0


@njit(nogil=True)
def _mix(v, out, rows, bit, layer, qubit):
    gate = layer * rows.shape[1] + qubit
    for low in range(v.shape[0]):
        if not low >> bit & 1:
            _apply(v, low, low | 1 << bit, out, _mixing(rows, gate, _column_at(low, bit, layer)))


@njit(nogil=True)
def _mix_and_join(v, out, work, qubit):
    """The last of all parities, and G."""
    n_rings, n_qubits = work.sample.shape[0] - 1, work.sample.shape[1]
    bit, layer = 2 * n_rings - 1, n_rings - 1
    gate = layer * n_qubits + qubit
    for low in range(1 << bit):
        column, joint_column = _column_at(low, bit, layer), low >> (n_rings - 1) & 1
        _apply(
            v, low, low | 1 << bit, out,
            _joined_mixing(work.centroid, gate, column, work.joints, qubit, joint_column),
        )  # fmt: skip


@njit(nogil=True)
def _step(before, after, work, qubit):
    """The chain one qubit further; ``after`` may be ``before`` itself."""
    n_rings = work.sample.shape[0] - 1
    if n_rings == 0:
        real, imag = times(load(before, 0), load(before, 1), *_entry_of(work.joints, qubit, 0, 0))
        store(after, 0, real)
        store(after, 1, imag)
        return
    here = before
    for step in range(2 * n_rings - 1):
        _mix(here, after, work.sample if step < n_rings else work.centroid, step, step % n_rings, qubit)
        here = after
    _mix_and_join(here, after, work, qubit)


@njit(nogil=True)
def _scale(v, factors, number, total):
    """Divides by a power of two near the largest entry of each lane; nothing is rounded."""
    top = splat(0.0)
    n_rows = 2 * v.shape[0] * v.shape[1]
    for row in range(n_rows):
        top = peak(top, load(v, row))
    store(factors, number, top)
    for lane in range(LANES):
        _, exponent = math.frexp(factors[number, lane])
        exponent = max(exponent, _LEAST_EXPONENT)
        factors[number, lane] = math.ldexp(1.0, -exponent)
        total[2, lane] += exponent
    _multiply(v, load(factors, number))


@njit(nogil=True)
def _multiply(v, factor):
    for row in range(2 * v.shape[0] * v.shape[1]):
        store(v, row, factor * load(v, row))


@njit(nogil=True)
def walk(work):
    """Leaves the overlaps of all lanes in ``work.total``, and in ``work.chain`` the way there if it has the room."""
    n_qubits, n_kept, size = work.sample.shape[1], work.chain.shape[0], work.chain.shape[1]
    _fill_joints(work)
    work.total[:] = 0.0
    here = work.chain[0]
    _begin(work, here)
    for qubit in range(1, n_qubits):
        there = work.chain[qubit % n_kept]
        _step(here, there, work, qubit)
        if qubit % _QUBITS_BETWEEN_SCALINGS == 0:
            _scale(there, work.factors, qubit // _QUBITS_BETWEEN_SCALINGS, work.total)
        here = there
    for tau in range(size):
        _add(work.total, 0, load(here, 2 * (tau * size + tau)), load(here, 2 * (tau * size + tau) + 1))


@njit(nogil=True)
def log_fidelity(total, lane):
    """log |⟨c|x⟩|² from what ``walk`` leaves."""
    size = total[0, lane] ** 2 + total[1, lane] ** 2
    return np.log(size) + 2 * np.log(2.0) * total[2, lane] if size > 0.0 else -np.inf


# The way back. The sizes that were taken out of the chain are taken out of the adjoint in the same places: then the two
# always multiply to the overlap that was found, and what is asked for, ∂ log ⟨c|x⟩, does not depend on them.


@njit(nogil=True)
def _unapply(u, v, low, high, m):
    """Moves the adjoint u before the matrix m on v; returns the derivatives by the entries of m."""
    size = v.shape[0]
    zero = splat(0.0)
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    for tau in range(size):
        i, j = 2 * (low * size + tau), 2 * (high * size + tau)
        a, b, c, d = load(v, i), load(v, i + 1), load(v, j), load(v, j + 1)
        e, f, g, h = load(u, i), load(u, i + 1), load(u, j), load(u, j + 1)
        s0, s1 = fma(e, a, fma(-f, b, s0)), fma(e, b, fma(f, a, s1))
        s2, s3 = fma(e, c, fma(-f, d, s2)), fma(e, d, fma(f, c, s3))
        s4, s5 = fma(g, a, fma(-h, b, s4)), fma(g, b, fma(h, a, s5))
        s6, s7 = fma(g, c, fma(-h, d, s6)), fma(g, d, fma(h, c, s7))
        store(u, i, fma(m[0], e, fma(-m[1], f, fma(m[4], g, -(m[5] * h)))))
        store(u, i + 1, fma(m[0], f, fma(m[1], e, fma(m[4], h, m[5] * g))))
        store(u, j, fma(m[2], e, fma(-m[3], f, fma(m[6], g, -(m[7] * h)))))
        store(u, j + 1, fma(m[2], f, fma(m[3], e, fma(m[6], h, m[7] * g))))
    return s0, s1, s2, s3, s4, s5, s6, s7


@njit(nogil=True)
def _unmix(u, v, rows, by_rows, bit, layer, qubit):
    gate = layer * rows.shape[1] + qubit
    for low in range(v.shape[0]):
        if not low >> bit & 1:
            column = _column_at(low, bit, layer)
            s = _unapply(u, v, low, low | 1 << bit, _mixing(rows, gate, column))
            _add_to_entry(by_rows, gate, 0, column, s[0] + s[6], s[1] + s[7])
            _add_to_entry(by_rows, gate, 1, column, s[2] + s[4], s[3] + s[5])


@njit(nogil=True)
def _unmix_and_join(v, work, qubit):
    n_rings, n_qubits = work.sample.shape[0] - 1, work.sample.shape[1]
    bit, layer = 2 * n_rings - 1, n_rings - 1
    gate = layer * n_qubits + qubit
    for low in range(1 << bit):
        column, at = _column_at(low, bit, layer), low >> (n_rings - 1) & 1
        a, b, c, d = _column_of(work.centroid, gate, column)
        p, q, r, t = _column_of(work.joints, qubit, at)
        m = _joined_mixing(work.centroid, gate, column, work.joints, qubit, at)
        s = _unapply(work.adjoint, v, low, low | 1 << bit, m)
        _add_products(work.by_joints, qubit, 0, at, s[0], s[1], a, b, s[2], s[3], c, d)
        _add_products(work.by_joints, qubit, 1, at, s[4], s[5], c, d, s[6], s[7], a, b)
        _add_products(work.by_centroid, gate, 0, column, s[0], s[1], p, q, s[6], s[7], r, t)
        _add_products(work.by_centroid, gate, 1, column, s[2], s[3], p, q, s[4], s[5], r, t)


@njit(nogil=True)
def _step_back(before, work, qubit):
    n_rings, u = work.sample.shape[0] - 1, work.adjoint
    if n_rings == 0:
        real, imag = load(u, 0), load(u, 1)
        _add_to_entry(work.by_joints, qubit, 0, 0, *times(real, imag, load(before, 0), load(before, 1)))
        real, imag = times(real, imag, *_entry_of(work.joints, qubit, 0, 0))
        store(u, 0, real)
        store(u, 1, imag)
        return
    here = before
    for step in range(2 * n_rings - 1):
        rows = work.sample if step < n_rings else work.centroid
        _mix(here, work.steps[step], rows, step, step % n_rings, qubit)
        here = work.steps[step]
    _unmix_and_join(here, work, qubit)
    for step in range(2 * n_rings - 2, -1, -1):
        here = work.steps[step - 1] if step else before
        rows = work.sample if step < n_rings else work.centroid
        by_rows = work.by_sample if step < n_rings else work.by_centroid
        _unmix(u, here, rows, by_rows, step, step % n_rings, qubit)


@njit(nogil=True)
def _set_adjoint(work, weights):
    """weights / ⟨c|x⟩ for every path that closes; nothing where the overlap vanishes."""
    u, total, size = work.adjoint, work.total, work.adjoint.shape[0]
    u[:] = 0.0
    for lane in range(LANES):
        power = total[0, lane] ** 2 + total[1, lane] ** 2
        share = weights[lane] / power if power > 0.0 else 0.0
        for tau in range(size):
            u[tau, tau, 0, lane] = share * total[0, lane]
            u[tau, tau, 1, lane] = -share * total[1, lane]


@njit(nogil=True)
def pull_back(work, weights):
    """Adds Re Σ weights · ∂ log⟨c|x⟩ by α and β of each lane's sample, and of the centroid's conjugated ones.

    ``work`` is what ``walk`` left, with room for the whole chain.
    """
    _set_adjoint(work, weights)
    work.by_joints[:] = 0.0
    for qubit in range(work.sample.shape[1] - 1, 0, -1):
        if qubit % _QUBITS_BETWEEN_SCALINGS == 0:
            _multiply(work.adjoint, load(work.factors, qubit // _QUBITS_BETWEEN_SCALINGS))
        _step_back(work.chain[qubit - 1], work, qubit)
    _unbegin(work)
    _pull_joints(work)


@njit(nogil=True)
def move_centroid_slopes(work, by_centroid):
    """Adds the sums over all lanes to the derivatives (L, n, 2) by the centroid's α and β."""
    for layer in range(by_centroid.shape[0]):
        for qubit in range(by_centroid.shape[1]):
            a, b, c, d = _halves(work.by_centroid, layer * by_centroid.shape[1] + qubit)
            by_centroid[layer, qubit, 0] += complex(lane_sum(a), -lane_sum(b))
            by_centroid[layer, qubit, 1] += complex(lane_sum(c), -lane_sum(d))


@njit(nogil=True)
def move_sample_slopes(work, first, by_samples):
    """Writes the derivatives (N, L, n, 2) by α and β of the samples in this register."""
    for lane in range(min(LANES, by_samples.shape[0] - first)):
        for layer in range(by_samples.shape[1]):
            for qubit in range(by_samples.shape[2]):
                rows = work.by_sample[layer, qubit]
                by_samples[first + lane, layer, qubit, 0] = complex(rows[0, lane], rows[1, lane])
                by_samples[first + lane, layer, qubit, 1] = complex(rows[2, lane], rows[3, lane])
