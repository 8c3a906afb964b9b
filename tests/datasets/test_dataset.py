from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.datasets import Dataset, Part
from mcquack.datasets.dataset import part_masks, with_drawn_validation
from mcquack.errors import InvalidInputError
from mcquack.randomness import held_out


def dataset(*, dtype=np.float64, **changes):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 256, size=(12, 4)).astype(dtype), np.tile(["a", "b", "c"], 4)
    made = Dataset(
        name="letters",
        train=Part(X[:6], y[:6]),
        validation=Part(X[6:9], y[6:9]),
        test=Part(X[9:], y[9:]),
        labels=("a", "b", "c"),
        class_names=("A", "B", "C"),
        feature_names=tuple("wxyz"),
        origin="drawn here",
    )
    return replace(made, **changes)


def test_a_part_unpacks_into_samples_and_labels():
    X, y = dataset().train
    assert X.shape == (6, 4)
    assert y.shape == (6,)


def test_tells_its_sizes():
    letters = dataset(image_shape=(2, 2))
    assert (letters.n_features, letters.n_classes) == (4, 3)
    assert [*letters.parts] == ["train", "validation", "test"]
    assert letters.class_counts("train") == (2, 2, 2)
    assert str(letters) == repr(letters) == "letters: 4 features, 3 classes; 6 train, 3 validation, 3 test"
    assert [*dataset(validation=None).parts] == ["train", "test"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": Part(np.ones((2, 3)), np.array(["a", "b"]))}, r"test part .*'letters' .* \(2, 3\)"),
        ({"test": Part(np.ones((2, 4)), np.array(["a"]))}, r"2 samples .* \(1,\)"),
        ({"train": Part(np.ones((0, 4)), np.array([], dtype=str))}, "train part .*'letters' .*empty"),
        ({"test": Part(np.ones((1, 4)), np.array(["d"]))}, "label"),
        ({"class_names": ("A", "B")}, "without a name"),
        ({"image_shape": (3, 2)}, r"image_shape must be \(height, width\) of 4 pixels, got \(3, 2\)"),
        ({"image_shape": 4}, "image_shape must be"),
        ({"image_shape": (-2, -2)}, "image_shape must be"),
        ({"image_shape": (2.0, 2.0)}, "image_shape must be"),
    ],
)
def test_a_dataset_that_contradicts_itself_is_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        dataset(**changes)


@pytest.mark.parametrize(
    ("dtype", "scaled_dtype"), [(np.uint8, "f4"), (np.float32, "f4"), (np.int64, "f8"), (np.float64, "f8")]
)
def test_bytes_and_singles_are_single_precision_when_scaled_and_all_else_is_double(dtype, scaled_dtype):
    assert dataset(dtype=dtype).scaled().train.X.dtype == scaled_dtype


def test_scaling_maps_the_training_part_onto_the_range():
    X = dataset().scaled(to=(-1, 1)).train.X
    assert_allclose(X.min(axis=0), -1)
    assert_allclose(X.max(axis=0), 1)
    standard = dataset().scaled("standard").train.X
    assert_allclose(standard.mean(axis=0), 0, atol=1e-12)
    assert_allclose(standard.std(axis=0), 1)


@pytest.mark.parametrize("method", ["min-max", "standard"])
def test_scaling_sees_the_training_part_only(method):
    letters = dataset()
    wild = replace(letters, test=Part(1e6 * letters.test.X, letters.test.y), validation=None)
    assert_array_equal(letters.scaled(method).train.X, wild.scaled(method).train.X)
    assert wild.scaled(method).test.X.max() > 1000


def test_what_lies_beyond_the_range_is_clipped_on_request():
    letters = dataset()
    wild = replace(letters, test=Part(1e6 * letters.test.X, letters.test.y))
    assert wild.scaled(clip=True).test.X.max() == 1


def test_an_impossible_scaling_is_refused():
    with pytest.raises(InvalidInputError, match="'standard', got 'log'"):
        dataset().scaled("log")
    with pytest.raises(InvalidInputError, match=r"^to .* got \(1, 0\)"):
        dataset().scaled(to=(1, 0))


def test_a_part_that_is_not_there_cannot_be_counted():
    with pytest.raises(InvalidInputError, match=r"no test part; .*train, validation"):
        dataset(test=None).class_counts("test")


def test_the_fingerprint_is_that_of_the_numbers():
    letters = dataset()
    assert letters.fingerprint == dataset(name="others", origin="elsewhere").fingerprint
    X = letters.test.X.copy()
    X[0, 0] += 1
    assert replace(letters, test=Part(X, letters.test.y)).fingerprint != letters.fingerprint
    assert replace(letters, test=letters.validation).fingerprint != letters.fingerprint


def test_knows_when_validation_and_test_part_are_the_same():
    letters = dataset()
    assert not letters.validation_is_test
    assert replace(letters, test=letters.validation).validation_is_test
    assert replace(letters, test=Part(letters.validation.X.copy(), letters.validation.y.copy())).validation_is_test
    assert not replace(letters, validation=None).validation_is_test


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
    assert sorted([*drawn.train.X.ravel(), *drawn.parts["validation"].X.ravel()]) == X.ravel().tolist()
    assert drawn.test is test
    assert with_drawn_validation(dataset, fraction=0, seed=0).validation is None


@pytest.mark.parametrize("fraction", [-0.1, 1.0, 2, float("nan")])
def test_a_fraction_that_leaves_nothing_is_refused(fraction):
    with pytest.raises(InvalidInputError):
        held_out([0, 1], fraction=fraction, seed=0)
