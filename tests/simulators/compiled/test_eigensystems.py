"""Eigensystems of W matrices side by side against their definition, and against LAPACK."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.simulators.compiled.eigensystems import eigensystems
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned, aligned_zeros

WIDTH = lane_count(np.float64)


def found(matrices):
    """Eigenvalues (W, D) and eigenvectors (W, D, D) of as many matrices as a register has lanes."""
    size = matrices.shape[1]
    values, vectors = aligned_zeros((size, WIDTH), np.float64), aligned_zeros((size, size, WIDTH), np.float64)
    work = aligned_zeros((5, size, WIDTH), np.float64)
    eigensystems(aligned(np.moveaxis(matrices, 0, 2).copy()), values, vectors, work)
    return values.T, np.moveaxis(vectors, 2, 0)


def symmetric(size: int, seed: int = 0):
    draws = np.random.default_rng(seed).normal(size=(WIDTH, size, size))
    return draws + np.swapaxes(draws, 1, 2)


def assert_eigensystems(matrices) -> None:
    values, vectors = found(matrices)
    size = matrices.shape[1]
    scales = np.abs(matrices).max(axis=(1, 2), keepdims=True)
    identity = np.broadcast_to(np.eye(size), vectors.shape)
    assert_allclose(np.swapaxes(vectors, 1, 2) @ vectors, identity, rtol=0, atol=1e-14 * size)
    rebuilt = (vectors * values[:, None]) @ np.swapaxes(vectors, 1, 2)
    assert (np.abs(rebuilt - matrices) <= 1e-14 * size * scales + 1e-39).all()
    expected = np.linalg.eigvalsh(matrices)
    assert (np.abs(np.sort(values) - expected) <= 1e-14 * size * scales[..., 0] + 1e-39).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 16, 31, 32, 64])
def test_matrices_are_rebuilt_from_orthogonal_vectors(size: int) -> None:
    assert_eigensystems(symmetric(size))


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e-41, 1e-39, 1e-20, 1e20, 1e60])
def test_small_and_large_numbers_are_taken_alike(scale: float) -> None:
    assert_eigensystems(scale * symmetric(8))


def test_special_matrices() -> None:
    size = 16
    zeros = np.zeros((WIDTH, size, size))
    diagonal = zeros + np.diag(np.arange(size) % 3 - 1.0)
    lowest = np.ones((WIDTH, size, size))  # one eigenvalue, and fifteen that are zero
    blocks = symmetric(size) * (np.arange(size)[:, None] // 5 == np.arange(size) // 5)
    graded = symmetric(size) * 10.0 ** -(np.arange(size)[:, None] + np.arange(size))
    backwards = graded[:, ::-1, ::-1].copy()
    chain = zeros + np.eye(size, k=1) + np.eye(size, k=-1)
    nearly = diagonal + 1e-30 * symmetric(size)
    faint = diagonal + 1e-45 * symmetric(size)
    for matrices in (zeros, zeros + np.eye(size), diagonal, lowest, blocks, graded, backwards, chain, nearly, faint):
        assert_eigensystems(matrices)


def test_a_matrix_has_the_same_bits_beside_any_other() -> None:
    matrices, others = symmetric(16), symmetric(16, seed=1)
    others[WIDTH // 2] = matrices[0]
    others[0], others[1], others[-1] = 0, np.eye(16), np.nan
    for alone, beside in zip(found(matrices), found(others), strict=True):
        assert_array_equal(alone[0], beside[WIDTH // 2])


def test_what_is_no_number_stays_none() -> None:
    values, _ = found(np.full((WIDTH, 8, 8), np.nan))
    assert np.isnan(values).all()
