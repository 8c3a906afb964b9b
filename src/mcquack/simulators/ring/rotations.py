"""Rotations from their angles, and derivatives by angles from those by rotations, many gates in one register.

Rot(φ, θ, ω) = [[α, -β*], [β, α*]] with α = exp(-i(φ+ω)/2) cos θ/2 and β = exp(-i(φ-ω)/2) sin θ/2. A sign that is common
to both is a phase of the whole circuit, which nothing here depends on.
"""

import numpy as np
from numba import njit

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.lanes import fma, lane_count, load, splat, store
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import cosine_sine

LANES = lane_count(np.float64)


@njit(nogil=True)
def times(a, b, c, d):
    """(a + ib)(c + id), as its two parts."""
    return fma(a, c, -(b * d)), fma(a, d, b * c)


@njit(nogil=True)
def _phase(work, row):
    """exp(i·angle/2) for the angles in one row, up to a sign."""
    return cosine_sine(splat(0.5) * load(work, row))


@entry
def _fill_rotations(angles, work, rotations):
    for first in range(0, angles.shape[0], LANES):
        count = min(LANES, angles.shape[0] - first)
        for lane in range(count):
            for kind in range(3):
                work[kind, lane] = angles[first + lane, kind]
        cosine, sine = _phase(work, 1)
        p, q = _phase(work, 0)
        r, s = _phase(work, 2)
        sum_r, sum_i = times(p, q, r, s)
        difference_r, difference_i = times(p, q, r, -s)
        store(work, 0, cosine * sum_r)
        store(work, 1, cosine * sum_i)
        store(work, 2, sine * difference_r)
        store(work, 3, sine * difference_i)
        for lane in range(count):
            alpha = complex(work[0, lane], -work[1, lane])
            beta = complex(work[2, lane], -work[3, lane])
            rotations[first + lane, 0, 0], rotations[first + lane, 0, 1] = alpha, -np.conj(beta)
            rotations[first + lane, 1, 0], rotations[first + lane, 1, 1] = beta, np.conj(alpha)


@entry
def _fill_slopes(angles, rotations, by_halves, work, slopes):
    for first in range(0, angles.shape[0], LANES):
        count = min(LANES, angles.shape[0] - first)
        for lane in range(count):
            work[0, lane] = angles[first + lane, 0]
        p, q = _phase(work, 0)
        back_r, back_i = times(p, -q, p, -q)
        store(work, 0, back_r)
        store(work, 1, back_i)
        for lane in range(count):
            alpha, beta = rotations[first + lane, 0, 0], rotations[first + lane, 1, 0]
            by_alpha, by_beta = by_halves[first + lane, 0], by_halves[first + lane, 1]
            along, across = by_alpha * alpha, by_beta * beta
            turned = by_beta * np.conj(alpha) - by_alpha * np.conj(beta)
            slopes[first + lane, 0] = 0.5 * (along.imag + across.imag)
            slopes[first + lane, 1] = 0.5 * (work[0, lane] * turned.real - work[1, lane] * turned.imag)
            slopes[first + lane, 2] = 0.5 * (along.imag - across.imag)


def rotations_of(angles: FloatArray) -> ComplexArray:
    """Rot(φ, θ, ω) of angles (…, 3), each up to a sign: shape (…, 2, 2)."""
    rotations = np.empty((*angles.shape[:-1], 2, 2), dtype=np.complex128)
    _fill_rotations(_flat(angles), aligned_zeros((4, LANES), np.float64), rotations.reshape(-1, 2, 2))
    return rotations


def angle_slopes(angles: FloatArray, rotations: ComplexArray, by_halves: ComplexArray) -> FloatArray:
    """Derivatives by angles (…, 3) of what changes by Re(by_halves[…, 0] dα + by_halves[…, 1] dβ)."""
    slopes = np.empty(angles.shape)
    work = aligned_zeros((2, LANES), np.float64)
    _fill_slopes(_flat(angles), rotations.reshape(-1, 2, 2), by_halves.reshape(-1, 2), work, slopes.reshape(-1, 3))
    return slopes


def halves(by_entries: ComplexArray) -> ComplexArray:
    """Derivatives by α and β (…, 2), from those by all entries of a rotation (…, 2, 2)."""
    by_alpha = by_entries[..., 0, 0] + by_entries[..., 1, 1].conj()
    return np.stack([by_alpha, by_entries[..., 1, 0] - by_entries[..., 0, 1].conj()], axis=-1)


def _flat(angles: FloatArray) -> FloatArray:
    return np.ascontiguousarray(angles, dtype=np.float64).reshape(-1, 3)
