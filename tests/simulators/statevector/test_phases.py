"""All RZ between two layers of RY, as one diagonal, against the diagonal written out."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.entangler import linear_table, ring_permutation, stored_rows
from mcquack.randomness import stream
from mcquack.simulators.compiled.lanes import lane_count, load, parity, pointer
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.statevector.phases import (
    add_phase_slopes,
    fill_tables,
    high_bits,
    set_factor,
    shift_phases,
    unshift_phases,
)

ComplexArray = NDArray[np.complexfloating[Any, Any]]
WIDTH = lane_count(np.float64)
every_size = pytest.mark.parametrize("n_qubits", range(1, 12))


@njit
def _parity(index: int) -> Any:
    return parity(index)


@njit
def _fill(omega: Any, phi: Any, scale: Any, factors: Any, high_table: Any, low_table: Any) -> None:
    """From cosines and sines (n, 2, W) of half the angles, as exp(-i/2 θ)."""
    n, places = omega.shape[0], (pointer(factors), pointer(high_table), pointer(low_table))
    first_phi = load(phi, 0), load(phi, 1)
    for qubit in range(n):
        of_omega = load(omega, 2 * qubit), load(omega, 2 * qubit + 1)
        set_factor(places[0], n, qubit, of_omega, (load(phi, 2 * qubit), load(phi, 2 * qubit + 1)), first_phi)
    fill_tables(places[0], n, load(scale, 0), places[1], places[2])


@njit
def _shift(state: Any, rows: Any, n: int, high_table: Any, low_table: Any, n_chunks: int) -> None:
    for chunk in range(n_chunks):
        places = pointer(high_table), pointer(low_table)
        shift_phases(pointer(state), pointer(rows), n, places[0], places[1], chunk, n_chunks)


@njit
def _unshift(
    state: Any, adjoint: Any, rows: Any, n: int, high_table: Any, low_table: Any, currents: Any, n_chunks: int
) -> None:
    size = currents.shape[0] // n_chunks
    for chunk in range(n_chunks):
        unshift_phases(
            pointer(state), pointer(adjoint), pointer(rows), n, pointer(high_table), pointer(low_table),
            chunk, n_chunks, pointer(currents[chunk * size : (chunk + 1) * size]),
        )  # fmt: skip


@njit
def _slopes(currents: Any, n: int, local: int, totals: Any, by_omega: Any, by_phi: Any) -> None:
    for chunk in range(1 << (n - local)):
        own = pointer(currents[chunk << local : (chunk + 1) << local])
        add_phase_slopes(own, n, local, chunk, pointer(totals), pointer(by_omega), pointer(by_phi))


class Between(NamedTuple):
    """Angles ω before and φ after a ring, (n, W), and the tables made of them."""

    omega: FloatArray
    phi: FloatArray
    high_table: FloatArray
    low_table: FloatArray


def phase_rows(angles: FloatArray) -> FloatArray:
    rows = aligned_zeros((len(angles), 2, WIDTH), np.float64)
    rows[:, 0], rows[:, 1] = np.cos(angles / 2), -np.sin(angles / 2)
    return rows


def between(n_qubits: int, scale: float = 1.0) -> Between:
    omega, phi = stream(0, "angles").normal(scale=3, size=(2, n_qubits, WIDTH))
    n_high = high_bits(n_qubits)
    factors = aligned_zeros((2 * n_qubits + 1, 2, WIDTH), np.float64)
    high_table = aligned_zeros((max(2, 1 << n_high), 2, WIDTH), np.float64)
    low_table = aligned_zeros((4 << (n_qubits - n_high), 2, WIDTH), np.float64)
    scales = aligned_zeros((1, WIDTH), np.float64)
    scales[:] = scale
    _fill(phase_rows(omega), phase_rows(phi), scales, factors, high_table, low_table)
    return Between(omega, phi, high_table, low_table)


def signs(n_qubits: int) -> FloatArray:
    """s(b_q) for every basis state and qubit: 1 for a zero, -1 for a one."""
    index = np.arange(1 << n_qubits)[:, None]
    return 1.0 - 2 * (index >> np.arange(n_qubits - 1, -1, -1) & 1)


def diagonal(omega: FloatArray, phi: FloatArray) -> ComplexArray:
    """exp(-i/2 Σ_q [ω_q s(b_q) + φ_q s(b'_q)]) with b' the image of b under the ring, shape (2**n, W)."""
    n_qubits = len(omega)
    before = signs(n_qubits)
    after = before[ring_permutation(n_qubits)]
    angle = np.einsum("bq,qw->bw", before, omega) + np.einsum("bq,qw->bw", after, phi)
    return np.exp(-0.5j * angle)


def random_block(n_qubits: int, name: str) -> FloatArray:
    block = aligned_zeros((1 << n_qubits, 2, WIDTH), np.float64)
    block[:] = stream(0, name).normal(size=block.shape)
    return block


def amplitudes(block: FloatArray) -> ComplexArray:
    return block[:, 0] + 1j * block[:, 1]


def rows_of(n_qubits: int, layer: int) -> NDArray[np.int64]:
    return linear_table(stored_rows(n_qubits, layer)[layer])


@pytest.mark.parametrize("index", [0, 1, 2, 3, 7, 8, 0b1011, 2**20 - 1, 2**30])
def test_parity_counts_one_bits(index: int) -> None:
    assert _parity(index) == index.bit_count() % 2


def chunkings(n_qubits: int) -> set[int]:
    return {1, 1 << (n_qubits // 2), 1 << max(0, n_qubits - 8)}


@every_size
@pytest.mark.parametrize("layer", [0, 1, 4])
def test_shift_phases_multiplies_by_the_diagonal_and_the_scale(n_qubits: int, layer: int) -> None:
    for n_chunks in chunkings(n_qubits):
        tables, rows, state = between(n_qubits, 0.3), rows_of(n_qubits, layer), random_block(n_qubits, "state")
        before = amplitudes(state)[rows]
        _shift(state, rows, n_qubits, tables.high_table, tables.low_table, n_chunks)
        expected = 0.3 * diagonal(tables.omega, tables.phi) * before
        assert_allclose(amplitudes(state)[rows], expected, rtol=0, atol=1e-13)


@every_size
def test_unshift_phases_takes_it_back_on_both_arrays(n_qubits: int) -> None:
    for n_chunks in chunkings(n_qubits):
        tables, rows = between(n_qubits), rows_of(n_qubits, 2)
        state, adjoint = random_block(n_qubits, "state"), random_block(n_qubits, "adjoint")
        starts = state.copy(), adjoint.copy()
        currents = aligned_zeros((1 << n_qubits, WIDTH), np.float64)
        for block in (state, adjoint):
            _shift(block, rows, n_qubits, tables.high_table, tables.low_table, 1)
        _unshift(state, adjoint, rows, n_qubits, tables.high_table, tables.low_table, currents, n_chunks)
        for block, start in zip((state, adjoint), starts, strict=True):
            assert_allclose(block, start, rtol=0, atol=1e-13)
        expected = (amplitudes(starts[1]).conj() * amplitudes(starts[0])).imag[rows]
        assert_allclose(currents, expected, rtol=0, atol=1e-12)


@every_size
def test_phase_slopes_sum_the_currents_with_the_signs_of_bits_and_images(n_qubits: int) -> None:
    before = signs(n_qubits)
    for local in {n_qubits, max(1, n_qubits - 1), (n_qubits + 1) // 2}:
        currents = aligned_zeros((1 << n_qubits, WIDTH), np.float64)
        currents[:] = stream(0, "currents").normal(size=currents.shape)
        start = currents.copy()
        by_omega, by_phi = (aligned_zeros((n_qubits, WIDTH), np.float64) for _ in range(2))
        totals = aligned_zeros((1 << (n_qubits - local), WIDTH), np.float64)
        _slopes(currents, n_qubits, local, totals, by_omega, by_phi)
        assert_allclose(by_omega, np.einsum("bq,bw->qw", before, start), rtol=0, atol=1e-12)
        after = before[ring_permutation(n_qubits)]
        assert_allclose(by_phi, np.einsum("bq,bw->qw", after, start), rtol=0, atol=1e-12)


def test_the_tables_are_about_as_long_as_the_square_root_of_the_state() -> None:
    for n_qubits in range(1, 21):
        n_high = high_bits(n_qubits)
        assert 1 <= n_high <= n_qubits
        assert (1 << n_high) + (4 << (n_qubits - n_high)) <= 6 * 2 ** (n_qubits / 2)


def test_lanes_do_not_mix() -> None:
    tables, rows, state = between(4), rows_of(4, 0), random_block(4, "state")
    state[..., 3] = 0
    _shift(state, rows, 4, tables.high_table, tables.low_table, 1)
    assert_array_equal(state[..., 3], 0)
    assert state[..., 2].any()
