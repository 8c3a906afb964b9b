import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mcquack.datasets.real_world.drawing import Pool, apportioned, classes_of, drawn
from mcquack.errors import DataFileError, InvalidInputError


def numbered_pool(labels):
    """Each sample is its own number, so that it can be recognised."""
    return Pool(X=np.arange(len(labels))[:, None], y=np.asarray(labels), feature_names=("number",))


def draw(groups, **settings):
    return {"name": "x", "class_names": tuple("ABC"), "groups": groups, "seed": 0, **settings}


@given(n_samples=st.integers(1, 5000), weights=st.lists(st.integers(1, 1000), min_size=2, max_size=12))
def test_apportioned_counts_add_up_and_none_is_off_by_one_sample(n_samples, weights):
    counts = np.array(apportioned(n_samples, weights))
    assert counts.sum() == n_samples
    assert np.all(np.abs(counts - n_samples * np.array(weights) / sum(weights)) < 1)


@given(weights=st.lists(st.integers(1, 1000), min_size=2, max_size=12))
def test_apportioned_counts_of_the_whole_are_the_weights(weights):
    assert apportioned(sum(weights), weights) == tuple(weights)


@given(
    train=st.tuples(*[st.integers(1, 9)] * 3),
    test=st.tuples(*[st.integers(1, 9)] * 3),
    n_more=st.integers(0, 5),
    seed=st.integers(0, 1000),
)
def test_a_draw_has_the_counts_asked_for_and_no_sample_twice(train, test, n_more, seed):
    sizes = [a + b + n_more for a, b in zip(train, test, strict=True)]
    pool = numbered_pool(np.repeat(["a", "b", "c"], sizes))
    groups = (("a",), ("b",), ("c",))
    parts = drawn(pool, **draw(groups, counts={"train": train, "test": test}, seed=seed))
    assert tuple(np.bincount(parts["train"].y, minlength=3)) == train
    assert tuple(np.bincount(parts["test"].y, minlength=3)) == test
    numbers = np.concatenate([part.X[:, 0] for part in parts.values()])
    assert len(np.unique(numbers)) == len(numbers)
    labels = np.concatenate([part.y for part in parts.values()])
    assert_array_equal(classes_of(pool.y, groups)[numbers], labels)


def test_a_draw_is_shuffled_and_depends_on_seed_and_name():
    pool = numbered_pool(np.tile([0, 1], 200))
    groups, counts = ((0,), (1,)), {"train": (100, 100)}

    def rows(name, seed, **more):
        return drawn(pool, **draw(groups, counts=counts, name=name, seed=seed, **more))["train"].X[:, 0].tolist()

    assert rows("x", 0) == rows("x", 0)
    assert rows("x", 0) != rows("x", 1)
    assert rows("x", 0) != rows("y", 0)
    assert rows("x", 0) == rows("y", 0, drawn_as="x")
    assert np.any(np.diff(np.array(rows("x", 0)[:20]) % 2))


def test_more_samples_for_training_leave_the_others_of_a_class_in_place():
    pool = numbered_pool(np.zeros(50, dtype=int))
    small, large = (drawn(pool, **draw(((0,),), counts={"train": (n,)}))["train"].X for n in (10, 20))
    assert set(small[:, 0]) < set(large[:, 0])


def test_the_group_without_labels_takes_the_rest_and_no_group_takes_what_is_left_out():
    y = np.array(["a", "b", "c", "b"])
    assert_array_equal(classes_of(y, (("b",), None)), [1, 0, 1, 0])
    assert_array_equal(classes_of(y, (("b",), ("c",))), [-1, 0, 1, 0])


def test_a_source_with_too_few_samples_is_refused():
    counts = {"train": (2, 3, 0), "test": (1, 2, 0)}
    with pytest.raises(InvalidInputError, match=r"5 samples .*'B' .* 2, .*3 samples"):
        drawn(numbered_pool([0, 0, 0, 1, 1]), **draw(((0,), (1,), (2,)), counts=counts))


@given(seed=st.integers(0, 1000))
def test_samples_that_are_the_same_are_drawn_once(seed):
    X = np.array([[0.0, 1], [-0.0, 2], [1, 1], [1, 2], [2, 1]])
    pool = Pool(X=X, y=np.array([0, 1, 0, 0, 1]), feature_names=("a", "b"), n_identifying=1)
    parts = drawn(pool, **draw(((0,), (1,)), counts={"train": (2, 0), "test": (0, 1)}, seed=seed))
    assert sorted(parts["train"].X[:, 0]) == [0, 1]
    assert parts["test"].X[:, 0] == [2]


def test_repeats_are_kept_only_on_request():
    pool = Pool(X=np.zeros((4, 1)), y=np.zeros(4), feature_names=("a",))
    counts = {"train": (4,)}
    assert len(drawn(pool, **draw(((0,),), counts=counts, keeps_repeats=True))["train"].y) == 4
    with pytest.raises(InvalidInputError, match="the source has 1"):
        drawn(pool, **draw(((0,),), counts=counts))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 2)), np.zeros(3), "1 features"),
        (np.zeros((3, 1)), np.zeros(2), "one label"),
        (np.zeros((3, 1)), np.zeros((3, 1)), "one label"),
        (np.array([[1.0], [np.inf]]), np.zeros(2), "missing or infinite"),
        (np.array([[1.0], [np.nan]]), np.zeros(2), "missing or infinite"),
    ],
)
def test_what_is_no_pool_of_samples_is_refused(X, y, message):
    with pytest.raises(DataFileError, match=message):
        Pool(X=X, y=y, feature_names=("a",))
