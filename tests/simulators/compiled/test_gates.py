"""The pieces of the gate engine that are functions of their own."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from mcquack.circuits.angles import FUNCTIONS
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.gates import _function, _function_slope, _walsh
from mcquack.simulators.compiled.lanes import lane_count, load, store
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import signed_cosine_sine


@entry
def _cosines_and_sines(angles: Any, cosines: Any, sines: Any) -> None:
    for row in range(angles.shape[0]):
        cosine, sine = signed_cosine_sine(load(angles, row))
        store(cosines, row, cosine)
        store(sines, row, sine)


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 4e-7), (np.float64, 5e-16)])
def test_cosine_and_sine_have_their_signs(dtype: Any, error: float) -> None:
    width = lane_count(dtype)
    angles, cosines, sines = (aligned_zeros((64, width), dtype) for _ in range(3))
    angles[:] = np.random.default_rng(0).uniform(-12, 12, angles.shape)
    angles.reshape(-1)[:5] = 0, np.pi, -np.pi, np.pi / 2, 3 * np.pi
    _cosines_and_sines(angles, cosines, sines)
    assert_allclose(cosines, np.cos(angles.astype(np.float64)), rtol=0, atol=4 * error)
    assert_allclose(sines, np.sin(angles.astype(np.float64)), rtol=0, atol=4 * error)


@pytest.mark.parametrize("bits", range(8))
def test_walsh_is_a_product_with_the_hadamard_matrix(bits: int) -> None:
    array = aligned_zeros((1 << bits, lane_count(np.float64)), np.float64)
    array[:] = np.random.default_rng(bits).normal(size=array.shape)
    expected = hadamard(1 << bits) @ array
    _walsh(array, bits)
    assert_allclose(array, expected, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_their_slopes_are_those_of_the_circuit(name: str) -> None:
    known, points = FUNCTIONS[name], np.array([-3.0, -1.0, -0.4, 0.0, 0.7, 1.0, 2.5])
    assert_allclose([_function(known.code, point) for point in points], known.value(points), atol=1e-15)
    assert_allclose([_function_slope(known.code, point) for point in points], known.slope(points), rtol=1e-12)
