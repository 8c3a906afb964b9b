"""Cosine and sine of a register are those of the mathematics, up to a sign that both share."""

import math
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.randomness import stream
from mcquack.simulators.compiled.lanes import lane_count, load, store
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import cosine_sine

FloatArray = NDArray[np.floating]
# Little more than one unit in the last place of numbers up to 1.
each_type = pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1.5e-7), (np.float64, 3e-16)])


@njit
def _evaluate(half_angles: Any, cosines: Any, sines: Any) -> None:
    for row in range(half_angles.shape[0]):
        cosine, sine = cosine_sine(load(half_angles, row))
        store(cosines, row, cosine)
        store(sines, row, sine)


def evaluated(half_angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    width = lane_count(half_angles.dtype)
    shape = -(-len(half_angles) // width), width
    rows, cosines, sines = (aligned_zeros(shape, half_angles.dtype) for _ in range(3))
    rows.reshape(-1)[: len(half_angles)] = half_angles
    _evaluate(rows, cosines, sines)
    return cosines.reshape(-1)[: len(half_angles)], sines.reshape(-1)[: len(half_angles)]


def exact(half_angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """In extended precision where there is one."""
    wide = half_angles.astype(np.longdouble)
    return np.cos(wide), np.sin(wide)


def error_up_to_sign(half_angles: FloatArray) -> float:
    cosines, sines = evaluated(half_angles)
    exact_cosines, exact_sines = exact(half_angles)
    sign = np.sign(cosines * exact_cosines + sines * exact_sines)
    return float(max(np.abs(sign * cosines - exact_cosines).max(), np.abs(sign * sines - exact_sines).max()))


@each_type
@pytest.mark.parametrize("reach", [1e-3, 1.6, 10.0, 1e3, 1e5])
def test_cosine_and_sine_are_exact_to_the_last_digits(dtype: type[Any], error: float, reach: float) -> None:
    drawn = stream(0, "half angles").uniform(-reach, reach, size=20_000).astype(dtype)
    assert error_up_to_sign(drawn) < error


@each_type
def test_quarter_turns_are_as_exact_as_the_rest(dtype: type[Any], error: float) -> None:
    """Around multiples of π/2 one of the two vanishes and the number of half turns changes."""
    corners = np.arange(-2000, 2001) * (math.pi / 2)
    for shift in (0, 1e-6, -1e-6):
        assert error_up_to_sign((corners + shift).astype(dtype)) < error


@each_type
def test_small_angles_keep_their_relative_accuracy(dtype: type[Any], error: float) -> None:
    tiny = np.geomspace(1e-20, 0.1, 1000).astype(dtype)
    cosines, sines = evaluated(tiny)
    exact_cosines, exact_sines = exact(tiny)
    assert_allclose(sines.astype(np.longdouble), exact_sines, rtol=2 * error)
    assert_allclose(cosines.astype(np.longdouble), exact_cosines, rtol=error)


@each_type
def test_squares_add_up_to_one(dtype: type[Any], error: float) -> None:
    """Gates stay unitary: a thousand layers do not wear the norm away."""
    cosines, sines = evaluated(stream(1, "half angles").uniform(-50, 50, size=20_000).astype(dtype))
    assert_allclose(cosines.astype(np.longdouble) ** 2 + sines.astype(np.longdouble) ** 2, 1, rtol=0, atol=2 * error)


@each_type
def test_zero_is_no_rotation(dtype: type[Any], error: float) -> None:
    cosines, sines = evaluated(np.zeros(1, dtype=dtype))
    assert cosines[0] == 1
    assert sines[0] == 0


def test_only_registers_have_it() -> None:
    with pytest.raises(NotImplementedError):
        cosine_sine(1.0)  # type: ignore[arg-type]
