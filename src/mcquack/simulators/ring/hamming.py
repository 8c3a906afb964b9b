"""P(k), how often k ones are found when U†(c) U(x)|0…0⟩ is measured, contracted qubit after qubit on a ring.

For two layers of rotations the amplitude of the outcome s is

    φ[s] = Σ over w, w' of Π_q a_q[w_q ⊕ w_{q-1}] · G_q[w'_q, w_q] · B_q[s_q, w'_q ⊕ w'_{q-1}],

with a = R₁(x)|0⟩, G = R₂†(c) R₂(x), B = R₁†(c), and the running parities w of the sample's ring and w' of the
centroid's. On the first qubit a and B see the parities themselves, and G sees both of them changed by the last ones:
the ring closes. So the state (w, w') of a qubit has four values, and |φ|², where every parity stands once more for the
conjugate, is a chain of Hermitian 4 × 4 matrices. A step multiplies it entry by entry with f f†, as the difference of
the parities has the amplitudes f = a ⊗ B_s, or with g g† for g = G. Between the two stands a Walsh-Hadamard transform
H, which turns the sum over differences into a product. With hats on factors that are transformed too,

    Σ_k z^k P(k) = Tr [H ĝ₀] [H g_{n-1}] [H f̂_{n-1}(z)] ⋯ [H g₁] [H f̂₁(z)] [H f₀(z)],

where f(z) is f f† for s = 0 plus z times f f† for s = 1. The coefficients of z are kept themselves, not values at roots
of unity: qubit q needs only q + 2 of them, all are real, and the smallest probabilities keep their digits. A Hermitian
matrix M is kept as the real one R = Re M + Im M, which H transforms alike; its entrywise product with C is
Re C ∘ R + Im C ∘ Rᵀ. The trace runs over the 16 unit matrices of this form, the roots of as many chains, eight of them
side by side in the lanes of a register.

An array of a polynomial has the shape (tiles, 16, 8): coefficient k in tile k + 1, between tiles of zeros, the entry
R[ket, bra] in row ket + 4 bra.

Values alone are found from both ends: one half of the factors walks forward on the unit matrices, the other half, all
of it transposed, back on them, and where they meet polynomials of half the length are multiplied.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.hermitian import N_ENTRIES, add_inner, advance
from mcquack.simulators.compiled.lanes import fma, lane_sum, load, splat, store
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.team import stop_asked
from mcquack.simulators.ring.chain import n_blocks
from mcquack.simulators.ring.rotations import LANES

MAX_LAYERS = 2
Run = Callable[..., None]
_FLOPS_PER_STEP = 8000  # of both registers of roots, for one coefficient and one qubit
JOINT = 2  # place of g among the factors of a qubit, after f for the outcomes 0 and 1
# The way back walks so many qubits forward again, rather than find all it needs in memory that no cache holds.
QUBITS_BETWEEN_MARKS = 8


class Workspace(NamedTuple):
    """Memory that the chains of one pair are worked out in."""

    marks: FloatArray  # (marks, n + 3, 16, 8): the chain after every so many qubits
    turns: FloatArray  # (2, n + 3, 16, 8): the chain after other qubits, in turn
    again: FloatArray  # (qubits, n + 3, 16, 8): the chain after all qubits up to the next mark
    between: FloatArray  # (qubits, n + 3, 16, 8): the chain within these qubits
    unit: FloatArray  # (4, 16, 8): the roots
    adjoint: FloatArray  # (n + 3, 16, 8)
    sums: FloatArray  # (3, 2, 16, 8): derivatives by the tables of one qubit, lane by lane
    back: FloatArray  # (2, n + 3, 16, 8): the transposed chain, in turn
    met: FloatArray  # (n + 1, 8): the distribution, lane by lane


def workspace(n_qubits: int, *, backward: bool) -> Workspace:
    """Memory for circuits of this width."""
    n_marks = 1 + (n_qubits - 1) // QUBITS_BETWEEN_MARKS if backward else 1
    n_kept = QUBITS_BETWEEN_MARKS if backward else 0
    leading = ((n_marks, n_qubits + 3), (2, n_qubits + 3), (n_kept, n_qubits + 3), (n_kept, n_qubits + 3))
    shapes = (*leading, (4,), (n_qubits + 3,), (3, 2), (0 if backward else 2, n_qubits + 3))
    tiles = [aligned_zeros((*shape, N_ENTRIES, LANES), np.float64) for shape in shapes]
    return Workspace._make([*tiles, aligned_zeros((n_qubits + 1, LANES), np.float64)])


# Factors and tables: what each qubit multiplies its chain by


@njit(nogil=True)
def join_last_rotations(sample, centroid, joints):
    """G = R†(c) R(x) for each qubit."""
    last = sample.shape[0] - 1
    for q in range(sample.shape[1]):
        left, right = centroid[last, q], sample[last, q]
        for i in range(2):
            for j in range(2):
                joints[q, i, j] = np.conj(left[0, i]) * right[0, j] + np.conj(left[1, i]) * right[1, j]


@njit(nogil=True)
def pull_last_rotations(sample, centroid, by_joints, by_sample, by_centroid):
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
def _transform(factor):
    """H over one index of f f†; each takes half of the 1/16 in H⁻¹ = H / 16."""
    p, q, r, s = factor[0] + factor[1], factor[0] - factor[1], factor[2] + factor[3], factor[2] - factor[3]
    factor[0], factor[1], factor[2], factor[3] = (p + r) / 4, (q + s) / 4, (p - r) / 4, (q - s) / 4


@njit(nogil=True)
def _transform_hatted(factors):
    _transform(factors[0, JOINT])
    for qubit in range(1, factors.shape[0]):
        _transform(factors[qubit, 0])
        _transform(factors[qubit, 1])


@njit(nogil=True)
def fill_factors(sample, centroid, joints, factors):
    """f and g of every qubit, shape (n, 3, 4)."""
    for q in range(joints.shape[0]):
        for state in range(4):
            w, v = state & 1, state >> 1
            factors[q, JOINT, state] = joints[q, v, w]
            for s in range(2):
                factors[q, s, state] = sample[0, q, w, 0] * np.conj(centroid[0, q, v, s])
    _transform_hatted(factors)


@njit(nogil=True)
def pull_factors(sample, centroid, by_factors, by_sample, by_centroid, by_joints):
    """Adds the derivatives by the sample's first rotations, by the centroid's conjugated ones, and by G."""
    _transform_hatted(by_factors)  # H is its own transpose
    for q in range(by_joints.shape[0]):
        for state in range(4):
            w, v = state & 1, state >> 1
            by_joints[q, v, w] += by_factors[q, JOINT, state]
            for s in range(2):
                by_sample[0, q, w, 0] += by_factors[q, s, state] * np.conj(centroid[0, q, v, s])
                by_centroid[0, q, v, s] += by_factors[q, s, state] * sample[0, q, w, 0]


@njit(nogil=True)
def fill_tables(factors, tables):
    """Re and Im of every f f†, shape (n, 3, 2, 16); of two transposed entries only that with ket ≥ bra."""
    for q in range(factors.shape[0]):
        for kind in range(3):
            for bra in range(4):
                for ket in range(bra, 4):
                    value = factors[q, kind, ket] * np.conj(factors[q, kind, bra])
                    tables[q, kind, 0, ket + 4 * bra] = value.real
                    tables[q, kind, 1, ket + 4 * bra] = value.imag


@njit(nogil=True)
def pull_tables(factors, by_tables, by_factors):
    """The derivatives by the factors. Those by diagonal entries come doubled, and |f|² has f twice."""
    by_factors[:] = 0.0
    for q in range(factors.shape[0]):
        for kind in range(3):
            for bra in range(4):
                for ket in range(bra, 4):
                    entry = ket + 4 * bra
                    slope = by_tables[q, kind, 0, entry] - 1j * by_tables[q, kind, 1, entry]
                    by_factors[q, kind, ket] += slope * np.conj(factors[q, kind, bra])
                    if ket != bra:
                        by_factors[q, kind, bra] += np.conj(slope * factors[q, kind, ket])


@njit(nogil=True)
def _fill_all(sample, centroid, joints, factors, tables):
    join_last_rotations(sample, centroid, joints)
    fill_factors(sample, centroid, joints, factors)
    fill_tables(factors, tables)


# Steps of a chain, tile by tile


@njit(nogil=True)
def _hadamard(v, tile):
    """H in place: two passes of two bits."""
    for stride in (1, 4):
        for group in range(4):
            row = N_ENTRIES * tile + 4 // stride * group
            a, b, c, d = load(v, row), load(v, row + stride), load(v, row + 2 * stride), load(v, row + 3 * stride)
            p, q, r, s = a + b, a - b, c + d, c - d
            store(v, row, p + r)
            store(v, row + stride, q + s)
            store(v, row + 2 * stride, p - r)
            store(v, row + 3 * stride, q - s)


@njit(nogil=True)
def _join(v, tile, table, sign):
    """Multiplies by g g† in place; the sign -1 gives the adjoint."""
    for bra in range(4):
        for ket in range(bra, 4):
            real, imag = splat(table[0, ket + 4 * bra]), splat(sign * table[1, ket + 4 * bra])
            here, there = N_ENTRIES * tile + ket + 4 * bra, N_ENTRIES * tile + bra + 4 * ket
            a, b = load(v, here), load(v, there)
            store(v, here, fma(real, a, imag * b))
            store(v, there, fma(real, b, -(imag * a)))


@njit(nogil=True)
def _weigh(v, tile, neighbour, tables, sign, out):
    """Multiplies by f(z): the tile by its constant part, the neighbour by the factor of z."""
    for bra in range(4):
        for ket in range(bra, 4):
            entry, mirrored = ket + 4 * bra, bra + 4 * ket
            real, imag = splat(tables[0, 0, entry]), splat(sign * tables[0, 1, entry])
            real_z, imag_z = splat(tables[1, 0, entry]), splat(sign * tables[1, 1, entry])
            a, b = load(v, N_ENTRIES * tile + entry), load(v, N_ENTRIES * tile + mirrored)
            c, d = load(v, N_ENTRIES * neighbour + entry), load(v, N_ENTRIES * neighbour + mirrored)
            store(out, N_ENTRIES * tile + entry, fma(real, a, imag * b) + fma(real_z, c, imag_z * d))
            store(out, N_ENTRIES * tile + mirrored, fma(real, b, real_z * d) - fma(imag, a, imag_z * c))


@njit(nogil=True)
def _add_slopes(u, tile, v, source, sums, kind):
    """Adds the derivatives by the table that took v to the place of its adjoint u."""
    for bra in range(4):
        for ket in range(bra, 4):
            entry, mirrored = ket + 4 * bra, bra + 4 * ket
            real, imag = 2 * N_ENTRIES * kind + entry, 2 * N_ENTRIES * kind + N_ENTRIES + entry
            of_a, of_b = load(u, N_ENTRIES * tile + entry), load(u, N_ENTRIES * tile + mirrored)
            a, b = load(v, N_ENTRIES * source + entry), load(v, N_ENTRIES * source + mirrored)
            store(sums, real, fma(of_a, a, fma(of_b, b, load(sums, real))))
            store(sums, imag, fma(of_a, b, fma(-of_b, a, load(sums, imag))))


@njit(nogil=True)
def _move_sums(sums, by_tables):
    for kind in range(3):
        for part in range(2):
            for bra in range(4):
                for ket in range(bra, 4):
                    row = N_ENTRIES * (2 * kind + part) + ket + 4 * bra
                    by_tables[kind, part, ket + 4 * bra] += lane_sum(load(sums, row))
    sums[:] = 0.0


# Whole chains


@njit(nogil=True)
def _step(before, n_tiles, tables, joint, after, between):
    """One qubit further, to so many coefficients; ``between`` is None if nothing within the step is to be kept."""
    for tile in range(1, n_tiles + 1):
        advance(before, tile, tables, joint, after, between)
    after[0] = 0.0
    after[n_tiles + 1] = 0.0


@njit(nogil=True)
def _begin(group, tables, unit, first):
    _set_unit(group, unit)
    for tile in range(1, 3):
        _weigh(unit, tile, tile - 1, tables, 1.0, first)
        _hadamard(first, tile)
    first[0] = 0.0
    first[3] = 0.0


@njit(nogil=True)
def _after(qubit, spacing, work):
    return work.marks[qubit // spacing] if qubit % spacing == 0 else work.turns[qubit % 2]


@njit(nogil=True)
def _walk(group, tables, n_qubits, spacing, work):
    """The chain after so many qubits."""
    here = _after(0, spacing, work)
    _begin(group, tables[0], work.unit, here)
    for qubit in range(1, n_qubits):
        there = _after(qubit, spacing, work)
        _step(here, qubit + 2, tables[qubit], tables[qubit, JOINT], there, None)
        here = there
    return here


@njit(nogil=True)
def _set_unit(group, unit):
    unit[:] = 0.0
    for lane in range(LANES):
        unit[1, LANES * group + lane, lane] = 1.0


@njit(nogil=True)
def _walk_back(group, tables, n_qubits, work):
    """The transposed chain from the end to where ``n_qubits`` are left, for conjugated tables."""
    last = tables.shape[0] - 1
    here, there = work.back[0], work.back[1]
    _set_unit(group, here[:4])
    _hadamard(here, 1)
    for qubit in (0, last):
        _join(here, 1, tables[qubit, JOINT], 1.0)
        _hadamard(here, 1)
    for qubit in range(last, n_qubits, -1):
        _step(here, last - qubit + 2, tables[qubit], tables[qubit - 1, JOINT], there, None)
        here, there = there, here
    for tile in range(1, last - n_qubits + 3):
        _weigh(here, tile, tile - 1, tables[n_qubits], 1.0, there)
    return there


@njit(nogil=True)
def add_distribution(tables, work, found):
    """Adds P(k) to ``found`` (n + 1)."""
    n_qubits = tables.shape[0]
    half = (n_qubits + 1) // 2
    conjugated = tables.copy()
    conjugated[:, :, 1] *= -1.0
    for k in range(n_qubits + 1):
        store(work.met, k, splat(0.0))
    for group in range(N_ENTRIES // LANES):
        v = _walk(group, tables, half, n_qubits, work)
        u = _walk_back(group, conjugated, half, work)
        for j in range(n_qubits - half + 1):
            for i in range(half + 1):
                store(work.met, i + j, add_inner(u, j + 1, v, i + 1, load(work.met, i + j)))
    for k in range(n_qubits + 1):
        found[k] += lane_sum(load(work.met, k))


@njit(nogil=True)
def _close_back(group, slopes, tables, last, work):
    u = work.adjoint
    for tile in range(1, slopes.shape[0] + 1):
        u[tile] = 0.0
        for lane in range(LANES):
            u[tile, LANES * group + lane, lane] = slopes[tile - 1]
        _hadamard(u, tile)
        _add_slopes(u, tile, last, tile, work.sums, JOINT)
        _join(u, tile, tables[JOINT], -1.0)


@njit(nogil=True)
def _step_back(qubit, tables, before, between, work):
    u = work.adjoint
    for tile in range(1, qubit + 3):
        _hadamard(u, tile)
        _add_slopes(u, tile, between, tile, work.sums, JOINT)
        _join(u, tile, tables[JOINT], -1.0)
        _hadamard(u, tile)
        _add_slopes(u, tile, before, tile, work.sums, 0)
        _add_slopes(u, tile, before, tile - 1, work.sums, 1)
        if tile > 1:
            _weigh(u, tile - 1, tile, tables, -1.0, u)


@njit(nogil=True)
def _begin_back(work):
    for tile in range(1, 3):
        _hadamard(work.adjoint, tile)
        _add_slopes(work.adjoint, tile, work.unit, tile, work.sums, 0)
        _add_slopes(work.adjoint, tile, work.unit, tile - 1, work.sums, 1)


@njit(nogil=True)
def _back_to_mark(mark, tables, work, by_tables):
    """Walks on from a mark once more, and then the adjoint back to it."""
    first = mark * QUBITS_BETWEEN_MARKS + 1
    end = min(first + QUBITS_BETWEEN_MARKS, tables.shape[0])
    for qubit in range(first, end):
        before = work.marks[mark] if qubit == first else work.again[qubit - first - 1]
        _step(
            before, qubit + 2, tables[qubit], tables[qubit, JOINT],
            work.again[qubit - first], work.between[qubit - first],
        )  # fmt: skip
    for qubit in range(end - 1, first - 1, -1):
        before = work.marks[mark] if qubit == first else work.again[qubit - first - 1]
        _step_back(qubit, tables[qubit], before, work.between[qubit - first], work)
        _move_sums(work.sums, by_tables[qubit])


@njit(nogil=True)
def pull_distribution(tables, slopes, work, by_tables):
    """Adds the derivatives of Σ slopes[k] P(k) by the tables."""
    for group in range(N_ENTRIES // LANES):
        last = _walk(group, tables, tables.shape[0], QUBITS_BETWEEN_MARKS, work)
        _close_back(group, slopes, tables[0], last, work)
        _move_sums(work.sums, by_tables[0])
        for mark in range(work.marks.shape[0] - 1, -1, -1):
            _back_to_mark(mark, tables, work, by_tables)
        _begin_back(work)
        _move_sums(work.sums, by_tables[0])


# All pairs of samples and centroids


@entry
def _distributions(cells, rank, n_threads, work, samples, centroids, found):
    n_qubits, n_centroids = samples.shape[2], centroids.shape[0]
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    factors = np.empty((n_qubits, 3, 4), dtype=np.complex128)
    tables = np.zeros((n_qubits, 3, 2, 16))
    for pair in range(rank, samples.shape[0] * n_centroids, n_threads):
        if stop_asked(cells):
            return
        row, column = pair // n_centroids, pair % n_centroids
        _fill_all(samples[row], centroids[column], joints, factors, tables)
        add_distribution(tables, work, found[row, column])


@entry
def _pull(cells, rank, n_threads, work, samples, centroids, slopes, by_samples, by_centroids):
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
            _fill_all(sample, centroid, joints, factors, tables)
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
