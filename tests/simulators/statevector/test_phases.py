"""All RZ between two layers of RY, as one diagonal, against the diagonal written out."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.circuits.entangler import linear_table, ring_permutation, stored_rows
from mcquack.randomness import stream
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.statevector.phases import (
    fill_tables,
    high_bits,
    parity,
    phase_slopes,
    shift_phases,
    unshift_phases,
)

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
WIDTH = lane_count(np.float64)
every_size = pytest.mark.parametrize("n_qubits", range(1, 10))


class Between(NamedTuple):
    """Angles ω before and φ after a ring, (n, W), and the tables made of them."""

    omega: FloatArray
    phi: FloatArray
    high_table: FloatArray
    low_table: FloatArray


def between(n_qubits: int) -> Between:
    omega, phi = stream(0, "angles").normal(scale=3, size=(2, n_qubits, WIDTH))
    phases = aligned_zeros((n_qubits, 4, WIDTH), np.float64)
    for row, half in ((0, (omega + phi) / 2), (2, (omega - phi) / 2)):
        phases[:, row], phases[:, row + 1] = np.cos(half), np.sin(half)
    n_high = high_bits(n_qubits)
    high_table = aligned_zeros((max(2, 1 << n_high), 2, WIDTH), np.float64)
    low_table = aligned_zeros((4 << (n_qubits - n_high), 2, WIDTH), np.float64)
    fill_tables(phases, n_qubits, high_table, low_table)
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
    assert parity(index) == index.bit_count() % 2


@every_size
@pytest.mark.parametrize("layer", [0, 1, 4])
def test_shift_phases_multiplies_by_the_diagonal(n_qubits: int, layer: int) -> None:
    tables, rows, state = between(n_qubits), rows_of(n_qubits, layer), random_block(n_qubits, "state")
    before = amplitudes(state)[rows]
    shift_phases(state, rows, n_qubits, tables.high_table, tables.low_table)
    assert_allclose(amplitudes(state)[rows], diagonal(tables.omega, tables.phi) * before, rtol=0, atol=1e-13)


@every_size
def test_unshift_phases_takes_it_back_on_both_arrays(n_qubits: int) -> None:
    tables, rows = between(n_qubits), rows_of(n_qubits, 2)
    state, adjoint = random_block(n_qubits, "state"), random_block(n_qubits, "adjoint")
    starts = state.copy(), adjoint.copy()
    currents = aligned_zeros((1 << n_qubits, WIDTH), np.float64)
    for block in (state, adjoint):
        shift_phases(block, rows, n_qubits, tables.high_table, tables.low_table)
    unshift_phases(state, adjoint, rows, n_qubits, tables.high_table, tables.low_table, currents)
    for block, start in zip((state, adjoint), starts, strict=True):
        assert_allclose(block, start, rtol=0, atol=1e-13)
    expected = (amplitudes(starts[1]).conj() * amplitudes(starts[0])).imag[rows]
    assert_allclose(currents, expected, rtol=0, atol=1e-12)


@every_size
def test_phase_slopes_sum_the_currents_with_the_signs_of_bits_and_images(n_qubits: int) -> None:
    currents = aligned_zeros((1 << n_qubits, WIDTH), np.float64)
    currents[:] = stream(0, "currents").normal(size=currents.shape)
    start = currents.copy()
    before_ring, after_ring = (aligned_zeros((n_qubits, WIDTH), np.float64) for _ in range(2))
    phase_slopes(currents, n_qubits, before_ring, after_ring)
    before = signs(n_qubits)
    assert_allclose(before_ring, np.einsum("bq,bw->qw", before, start), rtol=0, atol=1e-12)
    assert_allclose(after_ring, np.einsum("bq,bw->qw", before[ring_permutation(n_qubits)], start), rtol=0, atol=1e-12)


def test_the_tables_are_about_as_long_as_the_square_root_of_the_state() -> None:
    for n_qubits in range(1, 21):
        n_high = high_bits(n_qubits)
        assert 1 <= n_high <= n_qubits
        assert (1 << n_high) + (4 << (n_qubits - n_high)) <= 6 * 2 ** (n_qubits / 2)


def test_lanes_do_not_mix() -> None:
    tables, rows, state = between(4), rows_of(4, 0), random_block(4, "state")
    state[..., 3] = 0
    shift_phases(state, rows, 4, tables.high_table, tables.low_table)
    assert_array_equal(state[..., 3], 0)
    assert state[..., 2].any()
