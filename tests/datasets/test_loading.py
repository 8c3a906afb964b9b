import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack import datasets
from mcquack.errors import InvalidInputError


@pytest.mark.parametrize("name", ["iris3", "manifold", "pm4_generated"])
def test_the_seed_decides_on_the_draw_and_nothing_else_does(name):
    assert datasets.load(name, seed=3).fingerprint == datasets.load(name, seed=3).fingerprint
    assert datasets.load(name, seed=3).fingerprint != datasets.load(name, seed=4).fingerprint


def test_other_sizes_keep_the_proportions_of_the_classes():
    larger = datasets.load("manifold", sizes=(2000, 100, 10))
    assert larger.class_counts("train") == (942, 1058)
    assert {part: len(y) for part, (_, y) in larger.parts.items()} == {"train": 2000, "validation": 100, "test": 10}
    assert datasets.load("manifold", sizes={"train": 9, "test": 5, "validation": 2}).class_counts("train") == (4, 5)


@pytest.mark.parametrize("arguments", [{"seed": 1}, {"sizes": (10, 10)}])
def test_a_fixed_dataset_takes_no_seed_and_no_sizes(arguments):
    with pytest.raises(InvalidInputError, match="linearly_separable_4 is one fixed dataset"):
        datasets.load("linearly_separable_4", **arguments)


@pytest.mark.parametrize("sizes", [(10,), (10, 0, 10), {"train": 10}, (1.5, 10, 10)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(InvalidInputError, match="sizes"):
        datasets.load("manifold", sizes=sizes)


@pytest.mark.parametrize("seed", [-1, 0.5, "0", True])
def test_an_impossible_seed_is_refused(seed):
    with pytest.raises(InvalidInputError, match="seed"):
        datasets.load("manifold", seed=seed)


def test_what_a_caller_does_to_a_dataset_stays_with_the_caller():
    first = datasets.load("two_curves_5")
    first.train.X[:] = 0
    first.train.y[:] = 0
    again = datasets.load("two_curves_5")
    assert np.ptp(again.train.X) > 1
    assert_array_equal(np.unique(again.train.y), [-1, 1])
