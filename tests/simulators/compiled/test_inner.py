"""Inner functions give what they would give alone, wherever they are called from."""

from typing import Any

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload
from numpy.testing import assert_array_equal

from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.inner import INNER, inner


@inner
def _doubled(values: Any, place: int) -> Any:
    """Twice a value."""
    return 2 * values[place]


@inner
def _add_doubled(values: Any, found: Any) -> None:
    for place in range(len(values)):
        found[place] += _doubled(values, place)


def _quadrupled(values: Any, place: int) -> Any:
    raise NotImplementedError("compiled code only")


@overload(_quadrupled, jit_options=INNER)
def _compiled_quadrupled(values, place):
    return lambda values, place: 2 * _doubled(values, place)


@entry
def _sixfold(values: Any, found: Any) -> None:
    _add_doubled(values, found)
    for place in range(len(values)):
        found[place] += _quadrupled(values, place)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_inner_functions_call_each_other_and_entries_call_them(dtype: type[Any]) -> None:
    values, found = np.arange(5, dtype=dtype), np.zeros(5, dtype=dtype)
    _sixfold(values, found)
    assert_array_equal(found, 6 * values)


def test_python_and_other_compiled_functions_may_call_an_inner_function() -> None:
    values = np.arange(3.0)
    assert _doubled(values, 2) == 4
    assert njit(lambda array: _doubled(array, 1))(values) == 2
    assert _doubled.py_func(values, 1) == 2
    assert _doubled.__doc__ == "Twice a value."


def test_an_inner_function_that_makes_an_array_is_refused() -> None:
    @inner
    def fresh(length: int) -> Any:
        return np.zeros(length)

    with pytest.raises(TypingError):
        njit(lambda length: fresh(length)[0])(3)


def test_a_number_in_the_code_makes_no_version_of_an_inner_function() -> None:
    seen = []

    @intrinsic
    def element(typingctx: Any, values: Any, place: Any) -> Any:
        seen.append(place)
        return values.dtype(values, types.int64), lambda context, builder, signature, args: context.get_constant(
            values.dtype, 1
        )

    @inner
    def value(values: Any, place: int) -> Any:
        return element(values, place)

    numbers = np.arange(3.0)
    assert njit(lambda array: value(array, 0) + value(array, 1) + value(array, len(array) - 1))(numbers) == 3
    assert set(seen) == {types.int64}
