"""Rotations as matrices: those of the paper, and unitary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.circuits.rotations import rotation_matrices
from mcquack.randomness import stream
from tests.oracles import rot

FloatArray = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)


def random_angles(seed: int, *shape: int) -> FloatArray:
    return stream(seed, "angles").uniform(-10, 10, size=(*shape, 3))


@given(seed=seeds)
def test_rotations_are_those_of_the_paper(seed: int) -> None:
    angles = random_angles(seed, 4)
    assert_allclose(rotation_matrices(angles), np.moveaxis(rot(*angles.T), -1, 0), rtol=0, atol=1e-15)


@given(seed=seeds)
def test_rotations_are_unitary_with_determinant_1(seed: int) -> None:
    R = rotation_matrices(random_angles(seed, 4))
    assert_allclose(np.einsum("qki,qkj->qij", R.conj(), R), np.broadcast_to(np.eye(2), (4, 2, 2)), rtol=0, atol=1e-15)
    assert_allclose(R[:, 0, 0] * R[:, 1, 1] - R[:, 0, 1] * R[:, 1, 0], 1, rtol=0, atol=1e-15)


def test_no_angles_are_no_rotation() -> None:
    assert_allclose(rotation_matrices(np.zeros(3)), np.eye(2), rtol=0, atol=0)


@given(seed=seeds)
def test_all_angles_turned_back_undo_the_rotation(seed: int) -> None:
    """Rot(φ, θ, ω)⁻¹ = Rot(-ω, -θ, -φ)."""
    angles = random_angles(seed, 3)
    undone = rotation_matrices(-angles[:, ::-1])
    assert_allclose(undone, np.swapaxes(rotation_matrices(angles), -1, -2).conj(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 0, 4)])
def test_every_shape_of_angles_is_taken(shape: tuple[int, ...]) -> None:
    angles = random_angles(0, *shape)
    matrices = rotation_matrices(angles)
    assert matrices.shape == (*shape, 2, 2)
    for place in np.ndindex(shape):
        assert_allclose(matrices[place], rotation_matrices(angles[place]), rtol=0, atol=0)
