"""The ring as a permutation does what its CNOTs do one after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from mcquack.circuits.entangler import linear_table, ring_image, ring_permutation, stored_rows, unit_vectors
from mcquack.randomness import stream

SIZES = range(1, 9)  # with up to 2 qubits, many wrong orders agree by accident


def after_cnot(state: NDArray[np.float64], control: int, target: int) -> NDArray[np.float64]:
    """The state after one CNOT, on an array with one axis of length 2 per qubit, qubit 0 first."""
    is_one = [slice(None)] * state.ndim
    is_one[control] = slice(1, 2)
    state = state.copy()
    state[tuple(is_one)] = np.flip(state[tuple(is_one)], axis=target)
    return state


def after_ring(state: NDArray[np.float64]) -> NDArray[np.float64]:
    n_qubits = len(state).bit_length() - 1
    tensor = state.reshape((2,) * n_qubits)
    for control in range(n_qubits if n_qubits > 1 else 0):
        tensor = after_cnot(tensor, control, (control + 1) % n_qubits)
    return tensor.reshape(-1)


def random_state(n_qubits: int) -> NDArray[np.float64]:
    return stream(0, "state", str(n_qubits)).normal(size=1 << n_qubits)


@pytest.mark.parametrize("n_qubits", SIZES)
def test_ring_permutation_applies_the_cnots_in_ascending_order(n_qubits: int) -> None:
    state = random_state(n_qubits)
    moved = np.empty_like(state)
    moved[ring_permutation(n_qubits)] = state
    assert_array_equal(moved, after_ring(state))


@pytest.mark.parametrize("n_qubits", SIZES)
def test_ring_permutation_is_a_linear_bijection_that_keeps_the_zero_state(n_qubits: int) -> None:
    permutation = ring_permutation(n_qubits)
    assert permutation.dtype == np.int64
    assert_array_equal(np.sort(permutation), np.arange(1 << n_qubits))
    assert permutation[0] == 0
    left, right = stream(1, "indices").integers(0, 1 << n_qubits, size=(2, 50))
    assert_array_equal(permutation[left ^ right], permutation[left] ^ permutation[right])
    assert_array_equal(permutation, [ring_image(index, n_qubits) for index in range(1 << n_qubits)])


def test_small_rings_by_hand() -> None:
    assert_array_equal(ring_permutation(1), [0, 1])  # no partner, no gate
    # |10⟩ → CNOT 0→1 → |11⟩ → CNOT 1→0 → |01⟩
    assert_array_equal(ring_permutation(2), [0b00, 0b11, 0b01, 0b10])
    assert ring_image(0b100, 3) == 0b011
    assert ring_image(0b001, 3) == 0b101


@given(n_qubits=st.integers(2, 200), data=st.data())
def test_ring_image_works_beyond_any_statevector(n_qubits: int, data: st.DataObject) -> None:
    """Qubit q > 0 becomes the parity of qubits 0 … q, and qubit 0 that of 1 … n-1."""
    bits = data.draw(st.lists(st.integers(0, 1), min_size=n_qubits, max_size=n_qubits))
    image = ring_image(int("".join(map(str, bits)), 2), n_qubits)
    parities = [sum(bits[: qubit + 1]) % 2 for qubit in range(n_qubits)]
    expected = [(bits[0] + parities[-1]) % 2, *parities[1:]]
    assert image == int("".join(map(str, expected)), 2)


@given(columns=st.lists(st.integers(0, 2**20), max_size=6))
def test_linear_table_is_the_xor_of_the_columns_of_the_one_bits(columns: list[int]) -> None:
    table = linear_table(np.array(columns, dtype=np.int64))
    assert len(table) == 1 << len(columns)
    for index, image in enumerate(table):
        ones = [column for column, unit in zip(columns, unit_vectors(len(columns)), strict=True) if index & unit]
        assert image == np.bitwise_xor.reduce([0, *ones])


def test_qubit_zero_is_the_most_significant_bit() -> None:
    assert unit_vectors(3) == [0b100, 0b010, 0b001]


@pytest.mark.parametrize("n_layers", [0, 1, 2, 9])
@pytest.mark.parametrize("n_qubits", SIZES)
def test_stored_rows_find_the_amplitudes_that_were_never_moved(n_qubits: int, n_layers: int) -> None:
    stored = random_state(n_qubits)
    rows = stored_rows(n_qubits, n_layers)
    assert rows.shape == (n_layers + 1, n_qubits)
    moved = stored
    for layer in range(n_layers + 1):
        assert_array_equal(stored[linear_table(rows[layer])], moved)
        moved = after_ring(moved)


@pytest.mark.parametrize("n_qubits", SIZES)
def test_stored_rows_of_more_layers_continue_those_of_fewer(n_qubits: int) -> None:
    assert_array_equal(stored_rows(n_qubits, 7)[:4], stored_rows(n_qubits, 3))
