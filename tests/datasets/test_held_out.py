import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.datasets import Dataset, Part
from mcquack.datasets.dataset import held_out, part_masks, with_drawn_validation
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


SHARES = st.floats(0, 0.99)


@given(
    y=st.lists(st.sampled_from("abc"), min_size=1, max_size=60),
    shares=st.tuples(SHARES, SHARES).filter(lambda shares: sum(shares) < 1),
    seed=st.integers(0, 2**32),
)
def test_every_sample_is_in_one_part_and_every_class_in_training(y, shares, seed):
    y, (validation, test) = np.array(y), shares
    masks = part_masks(y, validation=validation, test=test, seed=seed)
    assert np.all(np.sum([*masks.values()], axis=0) == 1)
    assert set(y[masks["train"]]) == set(y)
    assert masks["test"].sum() <= test * len(y) + 0.5


def test_shares_are_of_the_whole_and_a_test_part_alone_changes_no_validation_draw():
    y = np.repeat([0, 1], [400, 600])
    masks = part_masks(y, validation=0.2, test=0.3, seed=1)
    assert {part: np.bincount(y[mask]).tolist() for part, mask in masks.items()} == {
        "train": [200, 300],
        "validation": [80, 120],
        "test": [120, 180],
    }
    alone = part_masks(y, validation=0.2, test=0, seed=1)
    np.testing.assert_array_equal(alone["validation"], held_out(y, fraction=0.2, seed=1))


@pytest.mark.parametrize(
    "wrong", [{"validation": -0.1}, {"test": 1.0}, {"validation": 0.5, "test": 0.5}, {"test": "half"}, {"seed": -1}]
)
def test_shares_that_leave_nothing_to_train_on_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        part_masks(np.array([0, 1]), **{"validation": 0.0, "test": 0.0, "seed": 0, **wrong})


def test_a_validation_part_is_drawn_from_the_training_part():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    test = Part(X[:2] - 100, y[9:11])
    dataset = Dataset(
        name="d", train=Part(X, y), validation=test, test=test, labels=(0, 1), class_names=("0", "1"),
        feature_names=("x",), origin="here",
    )  # fmt: skip
    drawn = with_drawn_validation(dataset, fraction=0.2, seed=0)
    assert drawn.class_counts("validation") == (2, 2)
    assert sorted([*drawn.train.X.ravel(), *drawn.validation.X.ravel()]) == X.ravel().tolist()
    assert drawn.test is test
    assert with_drawn_validation(dataset, fraction=0, seed=0).validation is None


@pytest.mark.parametrize("fraction", [-0.1, 1.0, 2, float("nan")])
def test_a_fraction_that_leaves_nothing_is_refused(fraction):
    with pytest.raises(InvalidInputError):
        held_out([0, 1], fraction=fraction, seed=0)
