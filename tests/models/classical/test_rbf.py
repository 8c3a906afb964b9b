"""The kernel against scikit-learn's, also far from the origin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel as sklearn_rbf_kernel

from mcquack.models.classical.base import gamma_of_width, rbf_kernel, squared_distances
from mcquack.randomness import stream


@given(seed=st.integers(0, 99), n=st.integers(1, 9), m=st.integers(1, 9), d=st.integers(1, 9))
def test_kernel_is_scikit_learns(seed: int, n: int, m: int, d: int) -> None:
    X, points = stream(seed, "X").normal(size=(n, d)), stream(seed, "points").normal(size=(m, d))
    assert_allclose(rbf_kernel(X, points, 0.7), sklearn_rbf_kernel(X, points, gamma=0.7), rtol=1e-12)
    assert_allclose(squared_distances(X, points), ((X[:, None] - points) ** 2).sum(axis=2), atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_an_offset_costs_no_digits(offset: float) -> None:
    X = stream(0, "X").integers(-8, 9, size=(20, 3)) / 8  # whole eighths, so that adding the offset is exact
    assert_allclose(squared_distances(X + offset, X[:5] + offset), squared_distances(X, X[:5]), atol=1e-7)


def test_width_is_the_standard_deviation_of_the_bell() -> None:
    assert gamma_of_width(10) == 1 / 200
    assert_allclose(rbf_kernel(np.array([[3.0]]), np.array([[0.0]]), gamma_of_width(3)), np.exp(-0.5))
