import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.models.preparation import checked_sample_weight


@pytest.mark.parametrize(("given", "expected"), [(None, [1, 1, 1]), (2, [2, 2, 2]), ([0, 1, 3], [0, 1, 3])])
def test_weights_are_one_for_each_sample(given, expected):
    weights = checked_sample_weight(given, 3)
    assert weights.dtype == np.float64
    assert_array_equal(weights, expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"shape \(2,\); give one weight to each of 3 rows"),
        (np.ones((3, 2)), r"shape \(3, 2\)"),
        ([1, -0.5, 1], "must not be negative, got -0.5"),
        ([0, 0, 0], "all sample weights are zero"),
        (0, "all sample weights are zero"),
    ],
)
def test_weights_that_count_nothing_are_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        checked_sample_weight(given, 3)


@pytest.mark.parametrize("given", [[1, np.nan, 1], [1, np.inf, 1], np.nan, ["a", "b", "c"], "heavy"])
def test_weights_are_finite_numbers(given):
    with pytest.raises(ValueError, match=r"NaN|infinity|convert|array"):
        checked_sample_weight(given, 3)
