import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis import gradient_means, size_means
from mcquack.studies.trainability.observation import GradientStatistics, Observation


def test_means_are_those_of_the_values_of_each_size_in_rising_order():
    means = size_means([4, 2, 4, 2, 8], [1.0, 3.0, 2.0, 5.0, 0.25])
    assert_allclose(means.sizes, [2, 4, 8])
    assert_allclose(means.values, [4, 1.5, 0.25])
    assert means.counts.tolist() == [2, 2, 1]


def test_logarithms_reach_where_numbers_do_not():
    means = size_means([2, 2, 3], [-2000.0, -2000.0 + math.log(3), -4000.0], logarithmic=True)
    assert_allclose(means.logs, [-2000 + math.log(2), -4000])


def test_the_scale_of_the_values_changes_only_the_logarithms():
    values = np.random.default_rng(0).lognormal(size=30)
    sizes = np.repeat(np.arange(2, 12), 3)
    one, other = size_means(sizes, values), size_means(sizes, 7e-9 * values)
    assert_allclose(other.logs, one.logs + math.log(7e-9))
    assert_allclose(other.variances, one.variances)


def test_a_size_with_more_seeds_is_better_known():
    values = np.random.default_rng(1).lognormal(sigma=0.3, size=12)
    means = size_means([2] * 2 + [3] * 8 + [4] * 2, values)
    assert_allclose(means.variances[0], 4 * means.variances[1])
    low, high = means.errors
    assert (low < means.values).all()
    assert (means.values < high).all()


def test_values_that_vanished_are_left_out_and_counted():
    means = size_means([2, 2, 3], [1.0, 0.0, 0.0])
    assert means.sizes.tolist() == [2]
    assert means.n_vanished == 2


def test_gradient_means_are_mean_squares_even_where_squares_underflow():
    statistics = GradientStatistics(mean=0, std=1e-200, mean_abs=1e-200, norm=4e-200, n=16)
    observation = Observation(
        model="mcquack", seed=0, settings={"n_qubits": 9}, fidelity_gradients={"bias": statistics}
    )
    without = Observation(model="mcquack", seed=0, settings={"n_qubits": 9})
    means = gradient_means([observation, without], "bias", of="fidelity_gradients")
    assert_allclose(means.logs, [2 * math.log(1e-200)])
    assert len(gradient_means([observation], "bias")) == 0


@pytest.mark.parametrize(
    ("sizes", "values"), [([2, 3], [1.0]), ([0, 3], [1.0, 1.0]), ([2, 3], [1.0, -1.0]), ([2, 3], [1.0, math.nan])]
)
def test_what_has_no_logarithm_is_refused(sizes, values):
    with pytest.raises(InvalidInputError):
        size_means(sizes, values)
