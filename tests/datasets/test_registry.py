import pickle
import re
import subprocess
import sys
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_circles

from mcquack import datasets
from mcquack.datasets import registry
from mcquack.datasets.files import places
from mcquack.errors import InvalidInputError, UnknownDatasetError

FAMILIES = (
    "hidden_manifold",
    "hidden_manifold_diff",
    "hyperplanes_diff",
    "linearly_separable",
    "mnist_pca",
    "two_curves",
    "two_curves_diff",
)
REAL_WORLD = (
    *("census", "covert", "doh"),
    *("emnist", "emnist10", "emnist4", "fmnist", "fmnist10", "fmnist5"),
    *("iris3", "kdd", "kdd10", "kdd4"),
    *("mnist", "mnist10", "mnist4", "manifold", "pm2", "pm4", "url"),
)


@pytest.fixture
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})


def test_all_datasets_of_the_paper_are_there():
    assert sorted(datasets.names("qml")) == sorted(f"{family}_{n}" for family in FAMILIES for n in range(2, 21))
    assert datasets.names("real-world") == REAL_WORLD


@pytest.mark.parametrize("description", datasets.descriptions(), ids=lambda description: description.name)
def test_every_dataset_can_be_cited_and_found(description):
    assert re.search(r"\(\d{4}\)|MNIST database", description.citation)
    assert description.licence
    assert description.homepage.startswith("https://")
    assert description.task
    assert description.n_classes >= 2
    for source in description.sources:
        assert source.is_downloadable or source.homepage or source.files[0].checksum
        for file in source.files:
            assert file.checksum is None or re.fullmatch(r"sha256:\w{64}|md5:\w{32}|git:\w{40}", file.checksum)


def test_a_feature_less_or_more_than_in_the_paper_is_explained():
    for description in datasets.descriptions("real-world"):
        assert description.paper_n_features == description.n_features or description.notes


@pytest.mark.usefixtures("_own_registry")
def test_a_new_dataset_takes_a_description_and_a_function():
    @datasets.register(
        datasets.Description(
            name="rings",
            title="Rings",
            task="Two rings in a plane",
            class_names=("outer", "inner"),
            n_features=2,
            sizes={"train": 80, "test": 20},
        )
    )
    def rings(request):
        X, y = make_circles(100, random_state=request.seed)
        return datasets.from_arrays(X, y, test=0.2, seed=request.seed, class_names=("outer", "inner"))

    loaded = datasets.load("rings", seed=1)
    assert loaded.name == "rings"
    assert loaded.class_counts("test") == (10, 10)
    assert datasets.describe("rings").suite == "own"
    assert datasets.names("own") == ("rings",)


def described(**changes):
    """A description of four pictures of two classes."""
    squares = {"name": "squares", "title": "Squares", "task": "None", "class_names": ("0", "1")}
    return datasets.Description(**{**squares, "n_features": 4, "sizes": {"train": 4}, **changes})


SQUARES = datasets.from_arrays(np.ones((4, 2, 2)), [0, 1, 0, 1])


@pytest.mark.usefixtures("_own_registry")
@pytest.mark.parametrize(
    ("changes", "built", "sizes", "message"),
    [
        ({"n_features": 3}, SQUARES, None, "squares: 3 features .* 4 came"),
        ({"class_names": ("no", "yes")}, SQUARES, None, r"\('no', 'yes'\) .* \('0', '1'\) came"),
        ({}, SQUARES, None, r"None .*, \(2, 2\) came"),
        ({"image_shape": (2, 2), "class_counts": {"train": (1, 3)}}, SQUARES, None, "class counts .*; mend"),
        ({"image_shape": (2, 2), "sizes": {"train": 5}}, SQUARES, None, r"{'train': 5} .*{'train': 4} came; mend"),
        ({"image_shape": (2, 2)}, SQUARES, (2,), r"{'train': 2} .*{'train': 4} .*leave sizes"),
        ({}, (np.ones((4, 4)), [0, 1, 0, 1]), None, "Dataset, but tuple"),
    ],
)
def test_whatever_differs_from_the_description_or_from_what_was_asked_for_is_told(changes, built, sizes, message):
    datasets.register(described(**changes))(lambda request: built)
    with pytest.raises(InvalidInputError, match=message):
        datasets.load("squares", sizes=sizes)


@pytest.mark.usefixtures("_own_registry")
def test_a_dataset_of_yours_can_be_registered_again_and_one_of_ours_cannot():
    description = described(name="mine", n_features=1, sizes={"train": 2})
    for value in (1.0, 2.0):
        made = datasets.from_arrays([[0.0], [value]], [0, 1])
        datasets.register(description)(partial(lambda made, request: made, made))
        assert datasets.load("mine").train.X.max() == value
    with pytest.raises(InvalidInputError, match=r"'iris3' .*another name"):
        datasets.register(replace(description, name="iris3"))


@pytest.mark.parametrize("description", datasets.descriptions()[::9], ids=lambda description: description.name)
def test_a_description_is_a_value(description):
    request = datasets.Request(description=description, seed=0, sizes=description.sizes, places=places())
    for twin in (deepcopy(description), pickle.loads(pickle.dumps(request)).description):
        assert twin == description
        assert hash(twin) == hash(description)
    assert asdict(description)["sizes"] == description.sizes
    for source in description.sources:
        assert pickle.loads(pickle.dumps(source)).read is not None
    with pytest.raises(TypeError):
        description.sizes["train"] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Two Words"}, "lower-case letters"),
        ({"n_features": 0}, "n_features of x .*at least 1"),
        ({"sizes": {"train": 0}}, "train size .*at least 1"),
        ({"sizes": {"train": 5.0}}, "train size .*at least 1"),
        ({"image_shape": (2, 2)}, "image_shape must be"),
        ({"sizes": {"test": 5}}, "must name train"),
        ({"sizes": {"train": 5, "holdout": 5}}, "must name train"),
        ({"class_counts": {"train": (2, 2)}}, "not add up"),
        ({"class_counts": {"train": (2, 2, 1)}}, "not add up"),
    ],
)
def test_a_wrong_description_is_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        described(**{"name": "x", "n_features": 1, "sizes": {"train": 5}, **changes})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mnist11", "mnist10"),
        ("MNIST10", "mnist10"),
        ("zzz", "list"),
        (["iris3"], "iris3"),
        (None, "None"),
        (3, "list"),
    ],
)
def test_an_unknown_name_is_answered_with_close_ones(name, hint):
    with pytest.raises(UnknownDatasetError, match=hint):
        datasets.load(name)


def test_an_unknown_suite_is_answered_with_the_known_ones():
    with pytest.raises(InvalidInputError, match="qml, real-world, extra"):
        datasets.names("qlm")


def test_no_two_sources_of_a_dataset_are_called_the_same():
    for description in datasets.descriptions():
        titles = [source.title for source in description.sources]
        assert len(set(titles)) == len(titles)


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
    with pytest.raises(InvalidInputError, match="linearly_separable_4 is one"):
        datasets.load("linearly_separable_4", **arguments)


@pytest.mark.parametrize(("name", "hint"), [("two_curves_diff_4", "two_curves"), ("pm2", "plus_minus")])
def test_a_fixed_dataset_names_the_generator_of_its_kind_if_there_is_one(name, hint):
    with pytest.raises(InvalidInputError, match=rf"sizes; mcquack\.datasets\.synthetic\.{hint} makes more"):
        datasets.load(name, seed=1)
    with pytest.raises(InvalidInputError, match=r"mnist_pca_3 .*seed or sizes\.$"):
        datasets.load("mnist_pca_3", seed=1)


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("iris3", (90, 30, 20), "30 and 20"),
        ("iris3", (2, 5, 5), "2 training samples .*at least 3"),
        ("pm4_generated", (3, 4, 4), "3 training samples .*at least 4"),
        ("iris3", (200, 10, 10), "75 samples .*'versicolor' .* 50, .* 140"),
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


@pytest.mark.parametrize("name", ["iris3", "manifold"])
def test_a_draw_is_a_dataset_of_its_own_that_is_always_the_same(name):
    drawn, expected = datasets.load(f"{name}@3"), datasets.load(name, seed=3)
    assert drawn.name == f"{name}@3"
    for part, (X, y) in expected.parts.items():
        assert np.array_equal(drawn.parts[part].X, X)
        assert np.array_equal(drawn.parts[part].y, y)
    known = datasets.describe(f"{name}@3")
    assert (known.name, known.family, known.is_seeded) == (f"{name}@3", datasets.describe(name).family, False)
    with pytest.raises(InvalidInputError, match="fixed"):
        datasets.load(f"{name}@3", seed=1)


@pytest.mark.parametrize("name", ["iris3@", "iris3@-1", "iris3@x", "iris3@1@2", "iris4@1", "pm2@1", "two_curves_4@0"])
def test_what_is_no_draw_is_refused(name):
    with pytest.raises(UnknownDatasetError):
        datasets.describe(name)
    with pytest.raises(UnknownDatasetError):
        datasets.load(name)


def test_no_dataset_of_yours_is_called_as_a_draw_of_another():
    with pytest.raises(InvalidInputError, match="draw"):
        datasets.register(described(name="mine@1"))
