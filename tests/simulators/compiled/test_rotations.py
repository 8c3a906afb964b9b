"""RY on all qubits, in place on amplitudes that lie anywhere, against matrices."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.entangler import linear_table, stored_rows
from mcquack.randomness import stream
from mcquack.simulators.compiled.lanes import lane_count, pointer, splat
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import fill_rows, rotate, share_turn, unrotate

ComplexArray = NDArray[np.complexfloating[Any, Any]]
WIDTH = lane_count(np.float64)
every_size = pytest.mark.parametrize("n_qubits", range(1, 12))


@njit
def _rotate(state: Any, rows: Any, masks: Any, rotations: Any) -> None:
    rotate(pointer(state), pointer(rows), pointer(masks), pointer(rotations), len(masks), 0)


@njit
def _unrotate(state: Any, adjoint: Any, rows: Any, masks: Any, rotations: Any, slopes: Any) -> None:
    unrotate(
        pointer(state), pointer(adjoint), pointer(rows), pointer(masks), pointer(rotations), pointer(slopes),
        splat(1.0), True, len(masks), 0,
    )  # fmt: skip


@njit
def _slopes_only(state: Any, adjoint: Any, rows: Any, masks: Any, rotations: Any, slopes: Any) -> None:
    unrotate(
        pointer(state), pointer(adjoint), pointer(rows), pointer(masks), pointer(rotations), pointer(slopes),
        splat(1.0), False, len(masks), 0,
    )  # fmt: skip


@njit
def _share(rotations: Any, scale: Any) -> Any:
    return share_turn(rotations, 0, scale)


@njit
def _fill(masks: Any, rows: Any) -> None:
    fill_rows(pointer(masks), len(masks), pointer(rows))


def random_block(n_qubits: int, name: str) -> FloatArray:
    block = aligned_zeros((1 << n_qubits, 2, WIDTH), np.float64)
    block[:] = stream(0, name).normal(size=block.shape)
    return block


def amplitudes(block: FloatArray) -> ComplexArray:
    return block[:, 0] + 1j * block[:, 1]


def random_rotations(n_qubits: int) -> FloatArray:
    half = stream(0, "half angles").uniform(-1.4, 1.4, size=(n_qubits, WIDTH))
    rotations = aligned_zeros((n_qubits, 2, WIDTH), np.float64)
    rotations[:, 0], rotations[:, 1] = np.cos(half), np.tan(half)
    return rotations


def places(n_qubits: int, layer: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    masks = stored_rows(n_qubits, layer)[layer].copy()
    return linear_table(masks), masks


def rotated(states: ComplexArray, rotations: FloatArray) -> ComplexArray:
    """RY ⊗ … ⊗ RY times each lane's amplitudes, (2**n, W)."""
    lanes = []
    for lane in range(WIDTH):
        gates = [c * np.array([[1, -t], [t, 1]]) for c, t in rotations[:, :, lane]]
        lanes.append(np.einsum("ij,j->i", reduce(np.kron, gates), states[:, lane]))
    return np.array(lanes).T


def after_y(states: ComplexArray, qubit: int) -> ComplexArray:
    """Pauli Y on one qubit of amplitudes (2**n, W)."""
    parts = states.reshape(1 << qubit, 2, -1, WIDTH)
    return np.stack([-1j * parts[:, 1], 1j * parts[:, 0]], axis=1).reshape(states.shape)


@every_size
@pytest.mark.parametrize("layer", [0, 1, 4])
def test_rotate_is_ry_on_every_qubit_wherever_the_amplitudes_lie(n_qubits: int, layer: int) -> None:
    (rows, masks), state, rotations = (
        places(n_qubits, layer),
        random_block(n_qubits, "state"),
        random_rotations(n_qubits),
    )
    before = amplitudes(state)[rows]
    _rotate(state, rows, masks, rotations)
    scale = rotations[:, 0].prod(axis=0)
    assert_allclose(scale * amplitudes(state)[rows], rotated(before, rotations), rtol=0, atol=1e-11)


@every_size
def test_unrotate_takes_the_gates_back(n_qubits: int) -> None:
    (rows, masks), rotations = places(n_qubits, 2), random_rotations(n_qubits)
    state, adjoint = random_block(n_qubits, "state"), random_block(n_qubits, "adjoint")
    starts = state.copy(), adjoint.copy()
    for block in (state, adjoint):
        _rotate(block, rows, masks, rotations)
    slopes = aligned_zeros((n_qubits, WIDTH), np.float64)
    _unrotate(state, adjoint, rows, masks, rotations, slopes)
    growth = 1 / rotations[:, 0].prod(axis=0) ** 2  # there and back, each without the scale
    for block, start in zip((state, adjoint), starts, strict=True):
        assert_allclose(block, growth * start, rtol=1e-9, atol=1e-11 * growth.max())


@every_size
@pytest.mark.parametrize("function", [_unrotate, _slopes_only], ids=["undo", "slopes only"])
def test_slopes_are_the_imaginary_parts_of_adjoint_y_state(n_qubits: int, function: Callable[..., None]) -> None:
    (rows, masks), rotations = places(n_qubits, 1), random_rotations(n_qubits)
    state, adjoint = random_block(n_qubits, "state"), random_block(n_qubits, "adjoint")
    psi, chi = amplitudes(state)[rows], amplitudes(adjoint)[rows]
    slopes = aligned_zeros((n_qubits, WIDTH), np.float64)
    function(state, adjoint, rows, masks, rotations, slopes)
    expected = [np.sum(chi.conj() * after_y(psi, qubit), axis=0).imag for qubit in range(n_qubits)]
    assert_allclose(slopes, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_turn_of_nearly_vanishing_cosines_is_shared_by_two(dtype: type) -> None:
    """Only in the lanes that need it; the two parts make the same turn, and the others rest in the second."""
    n_qubits, width = 5, lane_count(dtype)
    half = stream(0, "half angles").uniform(-1, 1, size=(n_qubits, width))
    half[:, 1] = np.pi / 2 - 1e-9
    half[2, 2] = np.pi / 2
    least = 1e-12 if dtype is np.float32 else 1e-100
    rotations, scale = aligned_zeros((2, n_qubits, 2, width), dtype), aligned_zeros((1, width), dtype)
    rotations[0, :, 0], rotations[0, :, 1] = np.cos(half), np.tan(half)
    rotations[0, 2, :, 2] = least, 1 / least
    alone = rotations.copy()
    assert _share(rotations, scale) == 2
    for lane in range(width):
        parts = [[c * np.array([[1, -t], [t, 1]]) for c, t in rotations[part, :, :, lane]] for part in range(2)]
        for qubit, (first, second) in enumerate(zip(*parts, strict=True)):
            c, s = np.cos(half[qubit, lane]), np.sin(half[qubit, lane])
            assert_allclose(second @ first, [[c, -s], [s, c]], rtol=0, atol=4 * float(np.finfo(dtype).eps))
    assert (np.abs(scale) > 1e-14).all()
    assert_allclose(scale[0], rotations[:, :, 0].prod(axis=(0, 1)), rtol=1e-5)
    others = [lane for lane in range(width) if lane not in (1, 2)]
    assert_array_equal(rotations[0][..., others], alone[0][..., others])
    assert_array_equal(rotations[1, :, 1][..., others], 0)


def test_an_ordinary_turn_is_one() -> None:
    rotations = aligned_zeros((2, 4, 2, WIDTH), np.float64)
    rotations[0] = random_rotations(4)
    scale = aligned_zeros((1, WIDTH), np.float64)
    assert _share(rotations, scale) == 1
    assert_allclose(scale[0], rotations[0, :, 0].prod(axis=0), rtol=1e-14)


@pytest.mark.parametrize("n_qubits", [1, 2, 3, 4, 8, 11])
def test_fill_rows_lists_where_every_basis_state_lies(n_qubits: int) -> None:
    for masks in stored_rows(n_qubits, 3):
        rows = np.full(1 << n_qubits, -1)
        _fill(masks.copy(), rows)
        assert_array_equal(rows, linear_table(masks))


def test_without_undo_the_arrays_stay_as_they_are() -> None:
    (rows, masks), rotations = places(5, 1), random_rotations(5)
    state, adjoint = random_block(5, "state"), random_block(5, "adjoint")
    starts = state.copy(), adjoint.copy()
    _slopes_only(state, adjoint, rows, masks, rotations, aligned_zeros((5, WIDTH), np.float64))
    assert_array_equal(state, starts[0])
    assert_array_equal(adjoint, starts[1])
