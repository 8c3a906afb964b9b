"""Overlaps of samples with centroids and their way back, on blocks of W samples.

``columns`` holds the centroids' amplitudes one after the other, shape (M, 2**n, 2): the factor that all lanes share.
"""

from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import (
    at,
    constant,
    fma,
    lane_sum,
    load,
    load_complex,
    pointer,
    splat,
    store,
    store_complex,
)

_SUMMED_AT_ONCE = 64


@inner
def fill_columns(states, base, columns):
    """Copy the centroids out of their lanes, the first of which is row ``base``."""
    width = states.shape[3]
    for centroid in range(columns.shape[0]):
        state, lane = states[(base + centroid) // width], (base + centroid) % width
        for index in range(columns.shape[1]):
            columns[centroid, index, 0] = state[index, 0, lane]
            columns[centroid, index, 1] = state[index, 1, lane]


@inner
def overlap_block(state, columns, overlaps):
    """⟨c_m|x⟩ for one block: real and imaginary row of each centroid."""
    size, psi, points = columns.shape[1], pointer(state), pointer(columns)
    zero = constant(psi, 0)
    for centroid in range(columns.shape[0]):
        real, imag = zero, zero
        # Sums of a few amplitudes at a time: in one long sum, those that come late lose their last digits.
        for start in range(0, size, _SUMMED_AT_ONCE):
            # Four sums, so that an addition need not wait for the one before it.
            rr, ii, ri, ir = zero, zero, zero, zero
            for index in range(start, min(start + _SUMMED_AT_ONCE, size)):
                place = 2 * (centroid * size + index)
                c_real, c_imag = splat(at(points, place)), splat(at(points, place + 1))
                x_real, x_imag = load_complex(psi, index)
                rr = fma(c_real, x_real, rr)
                ii = fma(c_imag, x_imag, ii)
                ri = fma(c_real, x_imag, ri)
                ir = fma(c_imag, x_real, ir)
            real, imag = real + (rr + ii), imag + (ri - ir)
        store_complex(overlaps, centroid, (real, imag))


@inner
def kernel_rows(overlaps, kernel):
    """Squared moduli of one block's overlaps, as rows (W, M) of the kernel."""
    for centroid in range(kernel.shape[1]):
        for lane in range(kernel.shape[0]):
            real, imag = overlaps[centroid, 0, lane], overlaps[centroid, 1, lane]
            kernel[lane, centroid] = real * real + imag * imag


@inner
def pull_overlaps(overlaps, cotangent, pulls):
    """Overlaps times the derivative by the kernel entry: how much of each centroid a sample's adjoint holds."""
    for centroid in range(overlaps.shape[0]):
        for part in range(2):
            for lane in range(overlaps.shape[2]):
                pulls[centroid, part, lane] = cotangent[lane, centroid] * overlaps[centroid, part, lane]


@inner
def sample_adjoint(pulls, columns, adjoint):
    """λ = Σ_m pull_m |c_m⟩ for one block."""
    zero = splat(adjoint.dtype.type(0))
    for index in range(columns.shape[1]):
        real, imag = zero, zero
        for centroid in range(columns.shape[0]):
            c_real, c_imag = splat(columns[centroid, index, 0]), splat(columns[centroid, index, 1])
            p_real, p_imag = load(pulls, 2 * centroid), load(pulls, 2 * centroid + 1)
            real = fma(-c_imag, p_imag, fma(c_real, p_real, real))
            imag = fma(c_imag, p_real, fma(c_real, p_imag, imag))
        store(adjoint, 2 * index, real)
        store(adjoint, 2 * index + 1, imag)


@inner
def centroid_adjoints(states, pulls, n_blocks, adjoints, n_centroids, first, last):
    """λ_m = Σ_i conj(pull_im) |x_i⟩ into the lane of centroid m, for the amplitudes ``first`` to ``last``."""
    width = states.shape[3]
    zero = splat(states.dtype.type(0))
    for centroid in range(n_centroids):
        adjoint, lane = adjoints[centroid // width], centroid % width
        for index in range(first, last):
            real, imag = zero, zero
            for block in range(n_blocks):
                p_real, p_imag = load(pulls[block], 2 * centroid), load(pulls[block], 2 * centroid + 1)
                s_real, s_imag = load(states[block], 2 * index), load(states[block], 2 * index + 1)
                real = fma(p_imag, s_imag, fma(p_real, s_real, real))
                imag = fma(-p_imag, s_real, fma(p_real, s_imag, imag))
            adjoint[index, 0, lane] = lane_sum(real)
            adjoint[index, 1, lane] = lane_sum(imag)


# Expectation values of Pauli Z on blocks of W samples, and their way back. ``signs`` (Q, 2**n) holds the eigenvalue
# ±1 of each observable for every stored row of a state.


@inner
def expectation_block(state, signs, expectations):
    """⟨ψ|O_q|ψ⟩ of every lane into row q."""
    zero = splat(state.dtype.type(0))
    for observable in range(signs.shape[0]):
        # Two sums, so that an addition need not wait for the one before it.
        reals, imaginaries = zero, zero
        for row in range(state.shape[0]):
            sign = splat(signs[observable, row])
            real, imag = load(state, 2 * row), load(state, 2 * row + 1)
            reals = fma(sign * real, real, reals)
            imaginaries = fma(sign * imag, imag, imaginaries)
        store(expectations, observable, reals + imaginaries)


@inner
def observable_adjoint(state, signs, cotangent, adjoint):
    """λ = Σ_q cotangent_q O_q |ψ⟩ for one block; ``cotangent`` (Q, W) differs from lane to lane."""
    zero = splat(state.dtype.type(0))
    for row in range(state.shape[0]):
        factor = zero
        for observable in range(signs.shape[0]):
            factor = fma(splat(signs[observable, row]), load(cotangent, observable), factor)
        store(adjoint, 2 * row, factor * load(state, 2 * row))
        store(adjoint, 2 * row + 1, factor * load(state, 2 * row + 1))
