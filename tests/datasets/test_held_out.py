import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.datasets.held_out import held_out
from mcquack.errors import InvalidInputError


@given(
    y=st.lists(st.sampled_from("abcde"), min_size=1, max_size=60),
    fraction=st.floats(0, 0.99),
    seed=st.integers(0, 2**32),
)
def test_every_class_stays_in_training_and_the_share_is_right(y, fraction, seed):
    mask = held_out(y, fraction=fraction, seed=seed)
    assert set(np.array(y)[~mask]) == set(y)
    assert mask.sum() <= fraction * len(y) + 0.5
    assert mask.sum() >= fraction * len(y) - 0.5 - len(set(y))
    np.testing.assert_array_equal(mask, held_out(y, fraction=fraction, seed=seed))


def test_every_class_gives_its_share():
    y = np.repeat([0, 1, 2], [100, 50, 10])
    assert np.bincount(y[held_out(y, fraction=0.2, seed=0)]).tolist() == [20, 10, 2]


def test_another_seed_draws_other_samples():
    y = np.repeat([0, 1], 50)
    assert (held_out(y, fraction=0.2, seed=0) != held_out(y, fraction=0.2, seed=1)).any()


@pytest.mark.parametrize("fraction", [-0.1, 1.0, 2, float("nan")])
def test_a_fraction_that_leaves_nothing_is_refused(fraction):
    with pytest.raises(InvalidInputError):
        held_out([0, 1], fraction=fraction, seed=0)
