import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip import mean_hamming, tolerant_kernel, tolerant_kernels

counted = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 9)), elements=st.integers(0, 100)
).map(lambda counts: counts + (counts.sum(axis=-1, keepdims=True) == 0))


@given(counts=counted)
def test_more_tolerance_never_lowers_the_kernel_and_all_of_it_makes_one(counts):
    kernels = tolerant_kernels(counts)
    assert kernels.shape == counts.shape
    assert np.all(np.diff(kernels, axis=-1) >= 0)
    assert_array_equal(kernels[..., -1], 1)


@given(counts=counted)
def test_no_tolerance_is_the_share_of_zeros(counts):
    assert_array_equal(tolerant_kernel(counts, 0), counts[..., 0] / counts.sum(axis=-1))


@given(counts=counted)
def test_counts_and_their_shares_have_the_same_kernel(counts):
    shares = counts / counts.sum(axis=-1, keepdims=True)
    for tolerance in range(counts.shape[-1]):
        assert_allclose(tolerant_kernel(shares, tolerance), tolerant_kernel(counts, tolerance), rtol=0, atol=1e-14)
    assert_allclose(mean_hamming(shares), mean_hamming(counts), rtol=1e-12)


def test_mean_weights_are_sums_over_tolerances():
    """Σ_k k P(k) = Σ_b (1 - k^b)."""
    counts = np.array([[3, 0, 1, 4], [0, 0, 0, 2]])
    assert_allclose(mean_hamming(counts), (1 - tolerant_kernels(counts)).sum(axis=-1))


@pytest.mark.parametrize("tolerance", [-1, 4, 1.0, True, None])
def test_a_tolerance_is_a_possible_number_of_flips(tolerance):
    with pytest.raises(InvalidInputError, match="tolerance must be a whole number from 0 to the number of qubits 3"):
        tolerant_kernel(np.ones((2, 2, 4)), tolerance)


@pytest.mark.parametrize("weights", [[1, -1], [np.nan, 1], [np.inf, 1], [True, False], ["a", "b"], [0, 0], [], 3])
def test_what_counts_no_ones_is_refused(weights):
    with pytest.raises(InvalidInputError, match="weights"):
        tolerant_kernels(weights)
