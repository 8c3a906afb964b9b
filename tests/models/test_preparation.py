import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import Circuit, b, w, x
from mcquack.errors import InvalidInputError
from mcquack.models.preparation import check_reach, checked_sample_weight, scaled


@pytest.mark.parametrize(("given", "expected"), [(None, [1, 1, 1]), (2, [2, 2, 2]), ([0, 1, 3], [0, 1, 3])])
def test_weights_are_one_for_each_sample(given, expected):
    weights = checked_sample_weight(given, 3)
    assert weights.dtype == np.float64
    assert_array_equal(weights, expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"\(2,\).* 3 rows"),
        (np.ones((3, 2)), r"shape \(3, 2\)"),
        ([1, -0.5, 1], "-0.5"),
        ([0, 0, 0], "zero"),
        (0, "zero"),
    ],
)
def test_weights_that_count_nothing_are_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        checked_sample_weight(given, 3)


@pytest.mark.parametrize("given", [[1, np.nan, 1], [1, np.inf, 1], np.nan, ["a", "b", "c"], "heavy"])
def test_weights_are_finite_numbers(given):
    with pytest.raises(ValueError, match=r"NaN|infinity|convert|array"):
        checked_sample_weight(given, 3)


def test_features_are_cut_off_where_they_are_angles_and_not_where_they_are_amplitudes_alone() -> None:
    X = np.array([[1e12, 2e12]])
    alone = Circuit(1, 2, start="amplitudes").ry(0, b)
    assert_allclose(scaled(X, None, np.float32, alone), X, rtol=1e-6)
    check_reach(X, np.float32, alone)
    for circuit in (Circuit(1, 2, start="amplitudes").ry(0, w * x[0] + b), Circuit(1, 2).ry(0, x[0])):
        assert scaled(X, None, np.float32, circuit).max() < 1e6
        with pytest.raises(InvalidInputError, match="too large"):
            check_reach(X, np.float32, circuit)
