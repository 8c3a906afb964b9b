import pickle
import re
from copy import deepcopy
from dataclasses import asdict, replace

import numpy as np
import pytest
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
    monkeypatch.setattr(registry, "_own", {})


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


@pytest.mark.usefixtures("_own_registry")
def test_a_dataset_unlike_its_description_is_refused():
    description = datasets.Description(
        name="lie", title="Lie", task="None", class_names=("0", "1"), n_features=3, sizes={"train": 4}
    )
    datasets.register(description)(lambda request: datasets.from_arrays(np.ones((4, 2)), [0, 1, 0, 1]))
    with pytest.raises(InvalidInputError, match="lie: 3 features are described, 2 came"):
        datasets.load("lie")


SQUARES = datasets.from_arrays(np.ones((4, 2, 2)), [0, 1, 0, 1])


@pytest.mark.usefixtures("_own_registry")
@pytest.mark.parametrize(
    ("changes", "built", "message"),
    [
        ({"class_names": ("no", "yes")}, SQUARES, r"class names \('no', 'yes'\) are described, \('0', '1'\) came"),
        ({"image_shape": None}, SQUARES, r"image shape None is described, \(2, 2\) came"),
        ({"class_counts": {"train": (1, 3)}}, SQUARES, "class counts .* came; mend its description"),
        ({"sizes": {"train": 5}}, SQUARES, r"{'train': 5} samples are described, {'train': 4} came; mend"),
        ({}, (np.ones((4, 4)), [0, 1, 0, 1]), "squares: its builder must return a Dataset, but tuple came"),
    ],
)
def test_whatever_differs_from_the_description_is_told(changes, built, message):
    settings = {"class_names": ("0", "1"), "n_features": 4, "image_shape": (2, 2), "sizes": {"train": 4}}
    description = datasets.Description(name="squares", title="Squares", task="None", **{**settings, **changes})
    datasets.register(description)(lambda request: built)
    with pytest.raises(InvalidInputError, match=message):
        datasets.load("squares")


@pytest.mark.usefixtures("_own_registry")
def test_a_builder_that_does_not_heed_sizes_is_told_so():
    description = datasets.Description(
        name="squares", title="S", task="None", class_names=("0", "1"), n_features=4, image_shape=(2, 2),
        sizes={"train": 4},
    )  # fmt: skip
    datasets.register(description)(lambda request: SQUARES)
    with pytest.raises(InvalidInputError, match=r"{'train': 2} samples were asked for, {'train': 4} came.*leave sizes"):
        datasets.load("squares", sizes=(2,))


@pytest.mark.usefixtures("_own_registry")
def test_a_dataset_of_yours_can_be_registered_again_and_one_of_ours_cannot():
    description = datasets.Description(
        name="mine", title="Mine", task="None", class_names=("0", "1"), n_features=1, sizes={"train": 2}
    )
    for value in (1.0, 2.0):
        datasets.register(description)(lambda request, value=value: datasets.from_arrays([[0.0], [value]], [0, 1]))
        assert datasets.load("mine").train.X.max() == value
    with pytest.raises(InvalidInputError, match="'iris3' is a dataset of mcquack; choose another name"):
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
        ({"n_features": 0}, "n_features of x must be a whole number of at least 1"),
        ({"sizes": {"train": 0}}, "train size of x must be a whole number of at least 1"),
        ({"sizes": {"train": 5.0}}, "train size of x must be a whole number of at least 1"),
        ({"image_shape": (2, 2)}, "image_shape must be"),
        ({"sizes": {"test": 5}}, "must name train"),
        ({"sizes": {"train": 5, "holdout": 5}}, "must name train"),
        ({"class_counts": {"train": (2, 2)}}, "do not add up"),
        ({"class_counts": {"train": (2, 2, 1)}}, "do not add up"),
    ],
)
def test_a_wrong_description_is_refused(changes, message):
    settings = {"name": "x", "title": "x", "task": "x", "class_names": ("0", "1"), "n_features": 1}
    with pytest.raises(InvalidInputError, match=message):
        datasets.Description(**{**settings, "sizes": {"train": 5}, **changes})


@pytest.mark.parametrize(("name", "hint"), [("mnist11", "mnist10"), ("MNIST10", "mnist10"), ("zzz", "datasets list")])
def test_an_unknown_name_is_answered_with_close_ones(name, hint):
    with pytest.raises(UnknownDatasetError, match=hint):
        datasets.load(name)


def test_an_unknown_suite_is_answered_with_the_known_ones():
    with pytest.raises(InvalidInputError, match="there are qml, real-world, extra"):
        datasets.names("qlm")


def test_no_two_sources_of_a_dataset_are_called_the_same():
    for description in datasets.descriptions():
        titles = [source.title for source in description.sources]
        assert len(set(titles)) == len(titles)
