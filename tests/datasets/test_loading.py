import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack import datasets
from mcquack.errors import InvalidInputError, UnknownDatasetError


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


@pytest.mark.parametrize(("name", "hint"), [("two_curves_diff_4", "two_curves"), ("pm2", "plus_minus")])
def test_a_fixed_dataset_names_the_generator_of_its_kind_if_there_is_one(name, hint):
    with pytest.raises(InvalidInputError, match=rf"sizes; mcquack\.datasets\.synthetic\.{hint} makes more of its kind"):
        datasets.load(name, seed=1)
    with pytest.raises(InvalidInputError, match=r"mnist_pca_3 is one fixed dataset, without seed or sizes\.$"):
        datasets.load("mnist_pca_3", seed=1)


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("iris3", (90, 30, 20), "the same samples, so their sizes must be equal, got 30 and 20"),
        ("iris3", (2, 5, 5), "iris3: 2 training samples leave a class without any; ask for at least 3"),
        ("pm4_generated", (3, 4, 4), "3 training samples leave a class without any; ask for at least 4"),
        ("iris3", (200, 10, 10), "75 samples of class 'versicolor' are needed, but the source has 50, .* about 140"),
    ],
)
def test_sizes_beyond_reach_are_refused_with_what_is_possible(name, sizes, message):
    with pytest.raises(InvalidInputError, match=message):
        datasets.load(name, sizes=sizes)


def test_signs_are_shared_out_among_the_classes():
    drawn = datasets.load("pm4_generated", sizes=(101, 7, 2))
    assert sorted(drawn.class_counts("train")) == [25, 25, 25, 26]
    assert sum(drawn.class_counts("validation")) == 7
    assert sum(drawn.class_counts("test")) == 2


@pytest.mark.parametrize("sizes", [(10,), (10, 0, 10), {"train": 10}, (1.5, 10, 10), 100, "123"])
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


@pytest.mark.parametrize("name", [["iris3"], None, 3])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(UnknownDatasetError, match="no dataset is named"):
        datasets.load(name)


def test_threads_that_load_first_do_not_import_at_once():
    """Imports in circles from two sides at once leave a thread with half a module."""
    code = """
import sys, threading, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("sklearn"):
            importers.append(threading.get_ident())
            time.sleep(0.001)

importers, failures = [], []
sys.meta_path.insert(0, Slow())
from mcquack import datasets

def load(name):
    barrier.wait()
    try:
        datasets.load(name)
    except BaseException as failure:
        failures.append(failure)

names = ("iris3", "two_curves_3", "manifold", "linearly_separable_3")
barrier = threading.Barrier(len(names))
threads = [threading.Thread(target=load, args=[name]) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
turns = sum(a != b for a, b in zip(importers, importers[1:]))
print(len(failures), turns < len(names), len(importers) > 10)
"""
    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert finished.stdout.split() == ["0", "True", "True"]
