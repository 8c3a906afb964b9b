"""All RZ between two layers of RY as one diagonal, and the derivatives by their angles.

RZ(ω) of a layer and RZ(φ) of the next meet across the CNOT ring. The ring maps bits b to prefix parities
y_q = b_0 ⊕ … ⊕ b_q (and bit 0 to y_{n-1} ⊕ b_0), so in the earlier layer's basis both are diagonal:

    T(b) = exp(-i/2 Σ_q [ω_q s(b_q) + φ_q s(b'_q)]),   s(0) = 1, s(1) = -1,   b'_q = y_q,  b'_0 = y_{n-1} ⊕ b_0

T is the product of a table over the first ``h`` bits and one over the others, which knows the first bit and the parity
of the former. Both tables together are about as long as the square root of the state.
"""

from typing import Any

from numba import njit

from mcquack.simulators.compiled.lanes import fma, load, splat, store


@njit(nogil=True)
def parity(index: int) -> int:
    """0 or 1: number of one-bits modulo 2."""
    for shift in (16, 8, 4, 2, 1):
        index ^= index >> shift
    return index & 1


@njit(nogil=True)
def high_bits(n: int) -> int:
    """h: how many qubits the first table covers; it balances the lengths 2**h and 4 * 2**(n - h)."""
    return min(n, (n + 2) // 2)


@njit(nogil=True)
def _factor(phases: Any, qubit: int, bit: int, image: int) -> Any:
    """exp(-i/2 [ω s(bit) + φ s(image)]) of one qubit as (real, imaginary).

    ``phases`` has four rows for each qubit: cosine and sine of (ω + φ)/2, then of (ω - φ)/2.
    """
    row = 4 * qubit + 2 * (bit ^ image)
    cosine, sine = load(phases, row), load(phases, row + 1)
    return cosine, sine if bit else -sine


@njit(nogil=True)
def _times(left: Any, right: Any) -> Any:
    return fma(left[0], right[0], -(left[1] * right[1])), fma(left[0], right[1], left[1] * right[0])


@njit(nogil=True)
def _load_complex(array: Any, index: int) -> Any:
    return load(array, 2 * index), load(array, 2 * index + 1)


@njit(nogil=True)
def _store_complex(array: Any, index: int, value: Any) -> None:
    store(array, 2 * index, value[0])
    store(array, 2 * index + 1, value[1])


@njit(nogil=True)
def _extend(table: Any, start: int, length: int, phases: Any, qubit: int, before: int) -> None:
    """Doubles a table in place by one more qubit; ``before`` is the parity of the bits in front of the table."""
    for index in range(length - 1, -1, -1):
        value = _load_complex(table, start + index)
        entering = before ^ parity(index)
        for bit in range(2):
            factor = _factor(phases, qubit, bit, entering ^ bit)
            _store_complex(table, start + 2 * index + bit, _times(value, factor))


@njit(nogil=True)
def fill_tables(phases: Any, n: int, high_table: Any, low_table: Any) -> None:
    """T(b) = high_table[high bits] * low_table[first bit, parity of the high bits, low bits]."""
    h = high_bits(n)
    one = splat(phases.dtype.type(1)), splat(phases.dtype.type(0))
    _store_complex(high_table, 0, one)
    _store_complex(high_table, 1, one)
    for qubit in range(1, h):
        _extend(high_table, 0, 1 << qubit, phases, qubit, 0)
    n_low = 1 << (n - h)
    for first in range(2):
        for before in range(2):
            start = (2 * first + before) * n_low
            _store_complex(low_table, start, one)
            for qubit in range(h, n):
                _extend(low_table, start, 1 << (qubit - h), phases, qubit, before)
            for low in range(n_low):
                # A ring of one qubit is no ring: its bit keeps its value.
                image = first ^ before ^ parity(low) if n > 1 else first
                value = _times(_load_complex(low_table, start + low), _factor(phases, 0, first, image))
                _store_complex(low_table, start + low, value)


@njit(nogil=True)
def shift_phases(state: Any, rows: Any, n: int, high_table: Any, low_table: Any) -> None:
    """Multiplies the state by T."""
    h = high_bits(n)
    n_low = 1 << (n - h)
    for high in range(1 << h):
        factor = _load_complex(high_table, high)
        start = (2 * (high >> (h - 1)) + parity(high)) * n_low
        for low in range(n_low):
            shift = _times(factor, _load_complex(low_table, start + low))
            row = rows[high * n_low + low]
            _store_complex(state, row, _times(_load_complex(state, row), shift))


@njit(nogil=True)
def unshift_phases(state: Any, adjoint: Any, rows: Any, n: int, high_table: Any, low_table: Any, currents: Any) -> None:
    """Takes T back on both arrays and writes Im(conj(adjoint) * state) of every basis state to ``currents``."""
    h = high_bits(n)
    n_low = 1 << (n - h)
    for high in range(1 << h):
        factor = _load_complex(high_table, high)
        start = (2 * (high >> (h - 1)) + parity(high)) * n_low
        for low in range(n_low):
            shift = _times(factor, _load_complex(low_table, start + low))
            back = shift[0], -shift[1]
            index = high * n_low + low
            row = rows[index]
            psi, chi = _load_complex(state, row), _load_complex(adjoint, row)
            store(currents, index, fma(chi[0], psi[1], -(chi[1] * psi[0])))
            _store_complex(state, row, _times(psi, back))
            _store_complex(adjoint, row, _times(chi, back))


@njit(nogil=True)
def phase_slopes(currents: Any, n: int, before_ring: Any, after_ring: Any) -> None:
    """Derivatives by ω (signs of the bits) and by the next layer's φ (signs of their images), row q for qubit q.

    Folds ``currents`` bit by bit from the last qubit: each fold has half the length, so all 2n sums cost as much as
    a few passes.
    """
    dtype = currents.dtype.type
    zero = splat(dtype(0))
    for qubit in range(n - 1, 0, -1):
        plain, first_half, second_half = zero, zero, zero
        n_pairs = 1 << (qubit - 1)
        for pair in range(n_pairs):
            a, b = load(currents, 4 * pair), load(currents, 4 * pair + 1)
            c, d = load(currents, 4 * pair + 2), load(currents, 4 * pair + 3)
            store(currents, 2 * pair, a + b)
            store(currents, 2 * pair + 1, c + d)
            plain = plain + ((a - b) + (c - d))
            sign, difference = splat(dtype(1 - 2 * parity(pair))), (a - b) - (c - d)
            if 2 * pair < n_pairs or n_pairs == 1:
                first_half = fma(sign, difference, first_half)
            else:
                second_half = fma(sign, difference, second_half)
        store(before_ring, qubit, plain)
        store(after_ring, qubit, first_half + second_half)
        if qubit == n - 1:
            # b'_0 leaves out bit 0, whose sign tells the halves apart (two qubits: they share the one pair).
            store(after_ring, 0, first_half - second_half if n > 2 else plain)
    first = load(currents, 0) - load(currents, 1)
    store(before_ring, 0, first)
    if n == 1:
        store(after_ring, 0, first)
