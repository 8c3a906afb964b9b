"""Rotations that are computed a register at a time are those of the mathematics, and so are derivatives by angles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.circuits.rotations import rotation_matrices
from mcquack.randomness import stream
from mcquack.simulators.ring.rotations import angle_slopes, halves, rotations_of
from tests.oracles import gradient

seeds = st.integers(0, 2**32 - 1)


def random_angles(seed: int, *shape: int, reach: float = 10.0) -> FloatArray:
    return stream(seed, "angles").uniform(-reach, reach, size=(*shape, 3))


def random_complex(seed: int, *shape: int) -> ComplexArray:
    rng = stream(seed, "entries")
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@given(seed=seeds, reach=st.sampled_from([1e-3, 3.0, 100.0, 1e5]))
def test_rotations_are_the_matrices_up_to_a_sign(seed: int, reach: float) -> None:
    angles = random_angles(seed, 19, reach=reach)
    found, expected = rotations_of(angles), rotation_matrices(angles)
    sign = np.sign(np.sum(found.conj() * expected, axis=(-2, -1)).real)
    # Angles beyond a few turns have lost digits before anything is computed.
    assert_allclose(sign[:, None, None] * found, expected, rtol=0, atol=1e-15 * max(1.0, reach))


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 0, 4), (8,), (3, 3, 2)])
def test_every_shape_of_angles_is_taken(shape: tuple[int, ...]) -> None:
    angles = random_angles(0, *shape)
    rotations = rotations_of(angles)
    assert rotations.shape == (*shape, 2, 2)
    assert angle_slopes(angles, rotations, halves(rotations)).shape == (*shape, 3)
    for place in np.ndindex(shape):
        assert_allclose(rotations[place], rotations_of(angles[place]), rtol=0, atol=0)


@given(seed=seeds)
def test_slopes_are_the_derivatives_by_the_angles(seed: int) -> None:
    angles, by_entries = random_angles(seed, 2, reach=1.5), random_complex(seed, 2, 2, 2)
    rotations = rotation_matrices(angles)
    expected = gradient(lambda moved: float(np.sum(by_entries * rotation_matrices(moved)).real), angles)
    assert_allclose(angle_slopes(angles, rotations, halves(by_entries)), expected, rtol=0, atol=1e-9)


@given(seed=seeds, exponent=st.integers(-200, 200))
def test_slopes_are_linear_in_the_derivatives_by_the_entries(seed: int, exponent: int) -> None:
    """Also for the sizes that tiny fidelities bring along."""
    factor = 10.0**exponent
    angles, by_halves = random_angles(seed, 3), random_complex(seed, 3, 2)
    rotations = rotations_of(angles)
    expected = factor * angle_slopes(angles, rotations, by_halves)
    assert_allclose(angle_slopes(angles, rotations, factor * by_halves), expected, rtol=1e-12, atol=1e-13 * factor)
