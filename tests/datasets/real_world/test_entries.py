import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack import datasets
from mcquack.errors import MissingDataError, MissingDependencyError, SubstitutedDataWarning

PARAMETERS = {
    "census": 136,
    "mnist10": 12_556,
    "manifold": 2_008,
    "pm4": 2_572,
    "url": 662,
}
NAMES = (*datasets.names("real-world"), *datasets.names("extra"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 7])
def test_every_draw_has_the_counts_of_its_description(name, seed, data_dir):
    description = datasets.describe(name)
    loaded = datasets.load(name, seed=seed if description.is_seeded else 0, data_dir=data_dir)
    for part, counts in (description.class_counts or {}).items():
        assert loaded.class_counts(part) == counts
    assert loaded.class_names == description.class_names
    assert loaded.image_shape == description.image_shape
    assert np.isfinite(loaded.train.X).all()
    assert loaded.train.X.dtype == (np.uint8 if description.image_shape == (28, 28) else loaded.train.X.dtype)


@pytest.mark.parametrize("name", datasets.names("real-world"))
def test_the_sizes_are_those_of_the_paper(name):
    sizes = {"iris3": (105, 45, 45), "pm2": (500, 100, 100), "pm4": (1000, 200, 200)}.get(name, (1000, 400, 400))
    assert tuple(datasets.describe(name).sizes.values()) == sizes


def test_the_ratios_are_those_of_the_paper():
    for name, ratio in {"census": 0.275, "doh": 0.241, "emnist10": 0.078, "kdd10": 0.089, "url": 0.496}.items():
        counts = (datasets.describe(name).class_counts or {})["train"]
        assert min(counts) / sum(counts) == pytest.approx(ratio, abs=5e-4)


@pytest.mark.parametrize(("name", "n_parameters"), PARAMETERS.items())
def test_the_features_give_the_parameter_counts_of_the_paper(name, n_parameters):
    known = datasets.describe(name)
    assert known.paper_n_features is not None
    n_layers = 3 * -(-known.paper_n_features // 6)
    assert 2 * 6 * n_layers + known.n_classes * known.paper_n_features == n_parameters


def test_three_datasets_have_fewer_parameters_as_loaded_than_in_the_paper():
    def n_parameters(n_features, n_classes):
        return 6 * 6 * -(-n_features // 6) + n_classes * n_features

    fewer = {}
    for known in map(datasets.describe, datasets.names("real-world")):
        loaded, papers = (n_parameters(d, known.n_classes) for d in (known.n_features, known.paper_n_features))
        if loaded != papers:
            fewer[known.name] = loaded, papers
    assert fewer == {"doh": (238, 282), "kdd10": (672, 718), "kdd4": (420, 460)}


@pytest.mark.parametrize("name", ["iris3", "pm2", "pm4"])
def test_where_the_paper_validates_on_the_test_part_the_dataset_says_so(name, data_dir):
    assert datasets.load(name, data_dir=data_dir).validation_is_test
    assert datasets.describe(name).validation_is_test


@pytest.mark.parametrize("name", ["kdd", "kdd10", "kdd4"])
def test_the_relatives_without_difficulty_have_the_same_rows(name, data_dir):
    paper, clean = datasets.load(name, data_dir=data_dir), datasets.load(f"{name}_41", data_dir=data_dir)
    assert paper.feature_names == (*clean.feature_names, "difficulty_level")
    for part in paper.parts:
        assert_array_equal(paper.parts[part].X[:, :41], clean.parts[part].X)
        assert_array_equal(paper.parts[part].y, clean.parts[part].y)


def test_nothing_that_gives_the_class_away_is_a_feature(data_dir):
    assert not {"SourceIP", "DestinationIP", "SourcePort", "DestinationPort", "TimeStamp"} & set(
        datasets.load("doh", data_dir=data_dir).feature_names
    )
    assert "label" not in datasets.load("kdd10", data_dir=data_dir).feature_names


def test_pictures_stand_upright(data_dir):
    """A one of MNIST and an I of EMNIST are taller than wide."""
    for name, label in (("mnist10", 1), ("emnist10", 8)):
        X, y = datasets.load(name, data_dir=data_dir).train
        ink = X[y == label].mean(axis=0).reshape(28, 28)
        rows, columns = (np.cumsum(ink.sum(axis=axis)) / ink.sum() for axis in (1, 0))
        height, width = (np.searchsorted(share, 0.9) - np.searchsorted(share, 0.1) for share in (rows, columns))
        assert height > width


@pytest.mark.parametrize("name", ["manifold", "manifold_124"])
def test_the_manifold_fills_its_range_and_nothing_leaves_it(name):
    loaded = datasets.load(name)
    assert loaded.n_features == 2 * 124
    assert (loaded.train.X.min(), loaded.train.X.max()) == (-1, 1)
    assert all(np.abs(part.X).max() <= 1 for part in loaded.parts.values())


def test_the_manifold_of_the_hardware_experiment_has_its_sizes():
    assert dict(datasets.describe("manifold_124").sizes) == {"train": 100, "test": 50}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "iris3"])
@pytest.mark.parametrize("seed", [0, 7])
def test_no_training_sample_is_a_test_sample(name, seed, data_dir):
    loaded = datasets.load(name, seed=seed if datasets.describe(name).is_seeded else 0, data_dir=data_dir)
    n_features = 41 if name.startswith("kdd") else None  # the same traffic is not another for being more difficult
    parts = dict(loaded.parts)
    if loaded.validation_is_test:
        parts["validation"] = parts["test"]
    distinct = {id(part): part.X[:, :n_features] for part in parts.values()}
    rows = np.vstack([*distinct.values()])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_flowers_with_the_same_measurements_are_kept():
    loaded = datasets.load("iris3")
    rows = np.vstack([loaded.parts[part].X for part in ("train", "test")])
    assert (len(rows), len(np.unique(rows, axis=0))) == (150, 149)
    assert any("same measurements" in note for note in datasets.describe("iris3").notes)


@pytest.mark.parametrize("name", ["pm2", "pm4"])
def test_signs_are_drawn_here_when_the_original_is_out_of_reach(name):
    with pytest.warns(SubstitutedDataWarning, match="original.*MCQUACK_OFFLINE=1") as told:
        drawn_here = datasets.load(name)
    assert told[0].filename == __file__  # the line above
    assert drawn_here.described_as == f"{name}_generated"
    assert drawn_here.fingerprint == datasets.load(f"{name}_generated").fingerprint
    assert "in the manner" in drawn_here.origin


@pytest.fixture
def without_h5py(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)


@pytest.mark.usefixtures("without_h5py")
def test_without_h5py_the_original_signs_are_not_downloaded_but_h5py_is_named(monkeypatch):
    monkeypatch.delenv("MCQUACK_OFFLINE")
    with pytest.warns(SubstitutedDataWarning, match=r'takes h5py, .* pip install "mcquack\[hdf5\]"'):
        datasets.load("pm2")


@pytest.mark.usefixtures("without_h5py")
def test_the_original_signs_are_never_passed_over_for_want_of_h5py(tmp_path):
    (tmp_path / "plus_minus").mkdir()
    (tmp_path / "plus_minus" / "PlusMinus_PlusMinus.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(MissingDependencyError, match=r"pip install .mcquack\[hdf5\]"):
        datasets.load("pm2", data_dir=tmp_path)


def test_signs_drawn_here_teach_a_classifier_the_original_ones(data_dir):
    from sklearn.svm import SVC

    with warnings.catch_warnings(action="error"):
        original = datasets.load("pm4", data_dir=data_dir)
    assert SVC().fit(*datasets.load("pm4_generated").train).score(*original.parts["test"]) > 0.95


def test_without_data_the_error_names_the_file_and_the_ways_to_get_it():
    with pytest.raises(MissingDataError, match="census") as caught:
        datasets.load("census")
    for word in ("census_adult.csv.gz", "adult.data", "MCQUACK_DATA", "https://archive.ics.uci.edu"):
        assert word in str(caught.value)
