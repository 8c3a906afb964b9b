"""Registers calculate what NumPy calculates, lane by lane and to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.randomness import stream
from mcquack.simulators.compiled.lanes import (
    lane_count,
    lane_sum,
    load,
    rounded,
    row_bytes,
    sizes,
    splat,
    square_root,
    store,
    where_below,
)
from mcquack.simulators.compiled.memory import aligned_zeros

FloatArray = NDArray[np.floating]
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@njit
def _calculate(rows: Any, scalar: Any) -> None:
    """Rows 2 … 8 from rows 0 and 1."""
    left, right = load(rows, 0), load(rows, 1)
    store(rows, 2, left + right)
    store(rows, 3, left - right)
    store(rows, 4, left * right)
    store(rows, 5, -left)
    store(rows, 6, splat(scalar))
    store(rows, 7, rounded(left))
    store(rows, 8, left * right + left)


@njit
def _row_sums(rows: Any, sums: Any) -> None:
    for row in range(rows.shape[0]):
        sums[row] = lane_sum(load(rows, row))


@njit
def _copy_rows(source: Any, target: Any, places: Any) -> None:
    for row in range(places.size):
        store(target, places[row], load(source, row))


@njit
def _choose(rows: Any) -> None:
    """Rows 2 … 4 from rows 0 and 1."""
    left, right = load(rows, 0), load(rows, 1)
    store(rows, 2, sizes(left))
    store(rows, 3, square_root(sizes(left)))
    store(rows, 4, where_below(left, right, left * right, -right))


def calculated(left: FloatArray, right: FloatArray, scalar: float) -> FloatArray:
    rows = aligned_zeros((9, lane_count(left.dtype)), left.dtype)
    rows[0], rows[1] = left, right
    _calculate(rows, left.dtype.type(scalar))
    return rows[2:]


def random_rows(n_rows: int, dtype: type[Any]) -> FloatArray:
    rows = aligned_zeros((n_rows, lane_count(dtype)), dtype)
    rows[:] = stream(0, "rows").normal(scale=100, size=rows.shape)
    return rows


def sum_by_halves(values: FloatArray) -> float:
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    return values[0]


@both_types
def test_a_row_is_a_register_of_the_processor(dtype: type[Any]) -> None:
    assert lane_count(dtype) * np.dtype(dtype).itemsize == row_bytes()
    assert row_bytes() in (32, 64)


@both_types
@given(data=st.data())
def test_arithmetic_is_that_of_numpy(dtype: type[Any], data: st.DataObject) -> None:
    width = lane_count(dtype)
    numbers = st.lists(st.floats(-(2.0**40), 2.0**40, width=32), min_size=width, max_size=width)
    left, right = (np.array(data.draw(numbers), dtype=dtype) for _ in range(2))
    total, difference, product, negative, _, whole, _ = calculated(left, right, 0)
    assert_array_equal(total, left + right)
    assert_array_equal(difference, left - right)
    assert_array_equal(product, left * right)
    assert_array_equal(negative, -left)
    assert_array_equal(whole, np.rint(left))


@both_types
def test_multiply_and_add_rounds_once_or_twice(dtype: type[Any]) -> None:
    left, right = random_rows(2, dtype)
    fused = calculated(left, right, 0)[6]
    assert_allclose(fused, left.astype(float) * right + left, rtol=4 * float(np.finfo(dtype).eps))


@both_types
def test_lanes_choose_each_for_itself(dtype: type[Any]) -> None:
    rows = random_rows(5, dtype)
    rows[1, ::2] = rows[0, ::2]  # neither is below the other
    rows[1, 1], rows[0, -1] = np.nan, np.nan
    left, right = rows[0].copy(), rows[1].copy()
    _choose(rows)
    assert_array_equal(rows[2], np.abs(left))
    assert_array_equal(rows[3], np.sqrt(np.abs(left)))
    assert_array_equal(rows[4], np.where(left < right, left * right, -right))


@both_types
def test_splat_fills_every_lane(dtype: type[Any]) -> None:
    left, right = random_rows(2, dtype)
    assert_array_equal(calculated(left, right, 0.1)[4], np.full(lane_count(dtype), 0.1, dtype=dtype))


@both_types
def test_lanes_are_summed_by_halves(dtype: type[Any]) -> None:
    """A fixed order: the sum is the same on every machine."""
    rows = random_rows(20, dtype)
    sums = np.empty(20, dtype=dtype)
    _row_sums(rows, sums)
    assert_array_equal(sums, [sum_by_halves(row) for row in rows])


@both_types
@pytest.mark.parametrize("shape", [(6,), (3, 2), (1, 3, 2)])
def test_rows_of_arrays_of_any_shape_are_numbered_in_memory_order(dtype: type[Any], shape: tuple[int, ...]) -> None:
    rows = random_rows(6, dtype)
    target = aligned_zeros((*shape, lane_count(dtype)), dtype)
    places = stream(0, "places").permutation(6)
    _copy_rows(rows.reshape(target.shape), target, places)
    assert_array_equal(target.reshape(rows.shape)[places], rows)


def test_registers_of_different_types_do_not_mix() -> None:
    @njit
    def mixed(single: Any, double: Any) -> None:
        store(single, 0, load(single, 0) + load(double, 0))

    arrays: list[FloatArray] = [aligned_zeros((1, lane_count(dtype)), dtype) for dtype in (np.float32, np.float64)]
    compile_and_run: Callable[..., None] = mixed
    with pytest.raises(Exception, match="lanes"):
        compile_and_run(*arrays)
