"""All RZ between two layers of RY as one diagonal, and the derivatives by their angles.

RZ(ω) of a layer and RZ(φ) of the next meet across the CNOT ring. The ring maps bits b to prefix parities
y_q = b_0 ⊕ … ⊕ b_q (and bit 0 to y_{n-1} ⊕ b_0), so in the earlier layer's basis both are diagonal:

    T(b) = exp(-i/2 Σ_q [ω_q s(b_q) + φ_q s(b'_q)]),   s(0) = 1, s(1) = -1,   b'_q = y_q,  b'_0 = y_{n-1} ⊕ b_0

Given the bits before, b_q turns the sign of ω_q + s(y_{q-1}) φ_q (for the last qubit, of φ_0 s(y_{n-2} ⊕ b_0) too): one
more qubit multiplies what is known by a factor and by its conjugate. T is the product of a table over the first ``h``
bits and one over the others, which knows the first bit and the parity of the former. Both tables together are about as
long as the square root of the state.

All arrays are given as pointers.
"""

from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import (
    at,
    conjugate,
    constant,
    fma,
    load,
    load_complex,
    parity,
    store,
    store_complex,
    times,
    times_both,
)


@inner
def high_bits(n):
    """h: how many qubits the first table covers; it balances the lengths 2**h and 4 * 2**(n - h)."""
    return max(1, min(n - 1, (n + 2) // 2))


@inner
def set_factor(factors, n, qubit, omega, phi, first_phi):
    """Writes the factors of one qubit from exp(-i/2 ω), exp(-i/2 φ) and, for the last, exp(-i/2 φ_0).

    ``factors`` (2n + 1, 2, W) has one of qubit 0, two of the others by the parity before them, and four of the last, by
    that and by the first bit.
    """
    if qubit == 0:
        store_complex(factors, 0, omega if n > 1 else times(omega, phi))  # a ring of one qubit is no ring
        return
    even, odd = times_both(omega, phi)
    place = 2 * qubit - 1
    if qubit < n - 1:
        store_complex(factors, place, even)
        store_complex(factors, place + 1, odd)
        return
    even_zero, even_one = times_both(even, first_phi)
    odd_one, odd_zero = times_both(odd, first_phi)
    store_complex(factors, place, even_zero)
    store_complex(factors, place + 1, even_one)
    store_complex(factors, place + 2, odd_zero)
    store_complex(factors, place + 3, odd_one)


@inner
def _extend(table, start, length, factors, place, step, before):
    """Doubles a table in place by one more qubit, whose factor is at ``place``, or ``step`` further where the parity of
    the bits in front of it is odd; ``before`` is the parity in front of the table.
    """
    even = load_complex(factors, place + step * before)
    odd = load_complex(factors, place + step * (1 - before))
    for index in range(length - 1, -1, -1):
        zero, one = times_both(load_complex(table, start + index), odd if parity(index) else even)
        store_complex(table, start + 2 * index, zero)
        store_complex(table, start + 2 * index + 1, one)


@inner
def fill_tables(factors, n, scale, high_table, low_table):
    """scale · T(b) = high_table[high bits] * low_table[first bit, parity of the high bits, low bits]."""
    h = high_bits(n)
    first = load_complex(factors, 0)
    scaled = scale * first[0], scale * first[1]
    store_complex(high_table, 0, scaled)
    store_complex(high_table, 1, conjugate(scaled))
    for qubit in range(1, h):
        _extend(high_table, 0, 1 << qubit, factors, 2 * qubit - 1, 1, 0)
    one = constant(factors, 1), constant(factors, 0)
    n_low = 1 << (n - h)
    for combination in range(4):
        bit, before = combination >> 1, combination & 1
        start = combination * n_low
        store_complex(low_table, start, one)
        for qubit in range(h, n - 1):
            _extend(low_table, start, 1 << (qubit - h), factors, 2 * qubit - 1, 1, before)
        if n > 1:
            _extend(low_table, start, n_low >> 1, factors, 2 * n - 3 + bit, 2, before)


@inner
def shift_phases(state, rows, n, high_table, low_table, chunk, n_chunks):
    """Multiplies one of ``n_chunks`` equal parts of the state by T."""
    h = high_bits(n)
    n_low = 1 << (n - h)
    n_high = (1 << h) // n_chunks
    for high in range(chunk * n_high, (chunk + 1) * n_high):
        factor = load_complex(high_table, high)
        start = (2 * (high >> (h - 1)) + parity(high)) * n_low
        for low in range(n_low):
            shift = times(factor, load_complex(low_table, start + low))
            row = at(rows, high * n_low + low)
            store_complex(state, row, times(load_complex(state, row), shift))


@inner
def unshift_phases(state, adjoint, rows, n, high_table, low_table, chunk, n_chunks, currents):
    """Multiplies a part of both arrays by conj(T) and writes Im(conj(adjoint) * state) of it to ``currents``.

    The product is what a common phase of both leaves, so it is taken of what is stored: scaled, if the tables are.
    """
    h = high_bits(n)
    n_low = 1 << (n - h)
    n_high = (1 << h) // n_chunks
    for high in range(chunk * n_high, (chunk + 1) * n_high):
        factor = load_complex(high_table, high)
        start = (2 * (high >> (h - 1)) + parity(high)) * n_low
        for low in range(n_low):
            back = conjugate(times(factor, load_complex(low_table, start + low)))
            row = at(rows, high * n_low + low)
            psi, chi = times(load_complex(state, row), back), times(load_complex(adjoint, row), back)
            store(currents, (high - chunk * n_high) * n_low + low, fma(chi[0], psi[1], -(chi[1] * psi[0])))
            store_complex(state, row, psi)
            store_complex(adjoint, row, chi)


@inner
def _add(slopes, qubit, sign, total):
    store(slopes, qubit, fma(constant(slopes, sign), total, load(slopes, qubit)))


@inner
def _fold_pairs(currents, begin, end):
    """Adds neighbours, in place; returned are their differences' sum, and that with the signs of parities."""
    plain, signed = constant(currents, 0), constant(currents, 0)
    for pair in range(begin, end):
        a, b = load(currents, 4 * pair), load(currents, 4 * pair + 1)
        c, d = load(currents, 4 * pair + 2), load(currents, 4 * pair + 3)
        store(currents, 2 * pair, a + b)
        store(currents, 2 * pair + 1, c + d)
        left, right = a - b, c - d
        plain = plain + (left + right)
        signed = fma(constant(currents, 1 - 2 * parity(pair)), left - right, signed)
    return plain, signed


@inner
def _fold(currents, bits, first, sign, before_ring, after_ring):
    """Adds the sums of 2**bits currents with the signs of each bit, and of the parity up to it, to the rows from
    ``first`` on, and leaves the sum of all in the first current.

    Folds bit by bit from the last: each fold has half the length, so that all sums cost as much as a few passes.
    ``sign`` is that of the bits in front. Returned are the last bit's sums of parities where the first bit is 0, and
    where it is 1.
    """
    whole_first, whole_second = load(currents, 0), -load(currents, 1)
    for position in range(bits - 1, 0, -1):
        if position > 1:
            half = 1 << (position - 2)
            plain, first_half = _fold_pairs(currents, 0, half)
            more, second_half = _fold_pairs(currents, half, 2 * half)
            plain = plain + more
        else:
            first_half = load(currents, 0) - load(currents, 1)
            plain, both = _fold_pairs(currents, 0, 1)
            second_half = both - first_half
        _add(before_ring, first + position, 1, plain)
        _add(after_ring, first + position, sign, first_half + second_half)
        if position == bits - 1:
            whole_first, whole_second = first_half, second_half
    a, b = load(currents, 0), load(currents, 1)
    _add(before_ring, first, 1, a - b)
    _add(after_ring, first, sign, a - b)
    store(currents, 0, a + b)
    return whole_first, whole_second


@inner
def add_phase_slopes(currents, n, local, chunk, totals, by_omega, by_phi):
    """Adds the derivatives by ω (signs of the bits) and by the next layer's φ (signs of their images) of one chunk.

    A chunk is all basis states that have the bits of ``chunk`` before the last ``local`` ones; row q is of qubit q.
    The last chunk adds what the qubits before those get from the ``totals`` of all.
    """
    odd = parity(chunk)
    before, after = _fold(currents, local, n - local, 1 - 2 * odd, by_omega, by_phi)
    if local == n:
        # b'_0 leaves out bit 0, which the fold took for the parity up to itself.
        store(by_phi, 0, before - after if n > 1 else load(by_phi, 0))
        return
    _add(by_phi, 0, 1 - 2 * (odd ^ chunk >> (n - local - 1)), before + after)
    store(totals, chunk, load(currents, 0))
    if chunk == (1 << (n - local)) - 1:
        kept = load(by_phi, 0)
        _fold(totals, n - local, 0, 1, by_omega, by_phi)
        store(by_phi, 0, kept)
