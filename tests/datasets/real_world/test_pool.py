import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mcquack.datasets.real_world.pool import Pool, apportioned, classes_of, drawn
from mcquack.errors import DataFileError


def numbered_pool(labels):
    """Each sample is its own number, so that it can be recognised."""
    return Pool(X=np.arange(len(labels))[:, None], y=np.asarray(labels), feature_names=("number",))


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
    parts = drawn(pool, groups, counts={"train": train, "test": test}, name="x", seed=seed)
    assert tuple(np.bincount(parts["train"].y, minlength=3)) == train
    assert tuple(np.bincount(parts["test"].y, minlength=3)) == test
    numbers = np.concatenate([part.X[:, 0] for part in parts.values()])
    assert len(np.unique(numbers)) == len(numbers)
    labels = np.concatenate([part.y for part in parts.values()])
    assert_array_equal(classes_of(pool.y, groups)[numbers], labels)


def test_a_draw_is_shuffled_and_depends_on_seed_and_name():
    pool = numbered_pool(np.tile([0, 1], 200))
    arguments = {"groups": ((0,), (1,)), "counts": {"train": (100, 100)}}

    def rows(name, seed):
        return drawn(pool, **arguments, name=name, seed=seed)["train"].X[:, 0].tolist()

    assert rows("x", 0) == rows("x", 0)
    assert rows("x", 0) != rows("x", 1)
    assert rows("x", 0) != rows("y", 0)
    assert np.any(np.diff(drawn(pool, **arguments, name="x", seed=0)["train"].y[:20]))


def test_more_samples_for_training_leave_the_others_of_a_class_in_place():
    pool = numbered_pool(np.zeros(50, dtype=int))
    small, large = (drawn(pool, ((0,),), counts={"train": (n,)}, name="x", seed=0)["train"].X for n in (10, 20))
    assert set(small[:, 0]) < set(large[:, 0])


def test_the_group_without_labels_takes_the_rest_and_no_group_takes_what_is_left_out():
    y = np.array(["a", "b", "c", "b"])
    assert_array_equal(classes_of(y, (("b",), None)), [1, 0, 1, 0])
    assert_array_equal(classes_of(y, (("b",), ("c",))), [-1, 0, 1, 0])


def test_a_source_with_too_few_samples_is_refused():
    with pytest.raises(DataFileError, match="5 samples of class 1 are asked for, but the source has 2"):
        drawn(numbered_pool([0, 0, 0, 1, 1]), ((0,), (1,)), counts={"train": (2, 3), "test": (1, 2)}, name="x", seed=0)
