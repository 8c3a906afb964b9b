import csv
import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mcquack as package
from mcquack.cli import datasets as export_module
from mcquack.datasets import describe, from_arrays, load
from mcquack.datasets.own import load_csv, load_parquet


def tables(folder, suffix):
    """The parts as they are read by us."""
    read = load_csv if suffix == "csv" else load_parquet
    return {path.stem: read(path, target="label").train for path in folder.glob(f"*.{suffix}")}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["iris3", "two_curves_diff_3", "manifold_124", "pm2_generated"])
def test_tables_hold_what_load_gives(datasets, tmp_path, name, format):
    assert datasets("export", name, "--out", tmp_path / "new" / "folder", "--format", format).code == 0
    expected = load(name)
    found = tables(tmp_path / "new" / "folder", format)
    assert found.keys() == expected.parts.keys()
    for part, (X, y) in expected.parts.items():
        assert_array_equal(found[part].X.astype(X.dtype), X)
        assert_array_equal(found[part].y.astype(y.dtype), y)


def test_a_table_begins_with_the_names_of_its_columns(datasets, tmp_path):
    datasets("export", "iris3", "--out", tmp_path)
    header = (tmp_path / "train.csv").read_text().splitlines()[0]
    assert header == "sepal_length,sepal_width,petal_length,petal_width,label"


def test_one_file_of_arrays(datasets, tmp_path):
    assert datasets("export", "iris3", "--out", tmp_path, "--format", "npz", "--seed", 2).code == 0
    expected = load("iris3", seed=2)
    with np.load(tmp_path / "iris3.npz", allow_pickle=False) as file:
        for part, (X, y) in expected.parts.items():
            assert_array_equal(file[f"X_{part}"], X)
            assert_array_equal(file[f"y_{part}"], y)
        assert tuple(file["labels"]) == expected.labels
        assert tuple(file["class_names"]) == expected.class_names
        assert tuple(file["feature_names"]) == expected.feature_names


def test_about_tells_where_it_comes_from(datasets, tmp_path):
    datasets("export", "iris3", "--out", tmp_path, "--seed", 7, "--sizes", "30,15,15")
    about = json.loads((tmp_path / "about.json").read_text())
    assert about["name"] == "iris3"
    assert about["seed"] == 7
    assert about["sizes"] == {"train": 30, "validation": 15, "test": 15}
    assert about["classes"] == {"0": "setosa", "1": "versicolor", "2": "virginica"}
    assert about["fingerprint"] == load("iris3", seed=7, sizes=(30, 15, 15)).fingerprint
    assert about["mcquack"] == package.__version__
    assert "Fisher" in about["citation"]
    assert about["licence"]
    datasets("export", "two_curves_2", "--out", tmp_path / "fixed")
    assert json.loads((tmp_path / "fixed" / "about.json").read_text())["seed"] is None


@pytest.mark.parametrize("scale", ["min-max", "standard"])
def test_scales_come_from_the_training_part(datasets, tmp_path, scale):
    datasets("export", "two_curves_3", "--out", tmp_path, "--scale", scale)
    expected = load("two_curves_3").scaled(scale)
    for part, found in tables(tmp_path, "csv").items():
        assert_allclose(found.X, expected.parts[part].X, rtol=1e-15)


@pytest.fixture
def pictures(registered):
    """Bytes, and labels that are text."""
    X = np.random.default_rng(0).integers(0, 256, (8, 3, 3), dtype=np.uint8)
    data = from_arrays(X, ["on, or", "off"] * 4, test=0.25)
    registered("lamps", dataset=data)
    return data


def test_pictures_are_whole_numbers_and_labels_may_be_text(datasets, pictures, tmp_path):
    for format in ("csv", "parquet", "npz"):
        assert datasets("export", "lamps", "--out", tmp_path / format, "--format", format).code == 0
    with (tmp_path / "csv" / "train.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [list(map(int, row[:-1])) for row in rows] == pictures.train.X.tolist()
    assert [row[-1] for row in rows] == pictures.train.y.tolist()
    assert set(map(str, pq.read_schema(tmp_path / "parquet" / "train.parquet").types)) == {"uint8", "string"}
    with np.load(tmp_path / "npz" / "lamps.npz", allow_pickle=False) as file:
        assert file["X_train"].dtype == np.uint8
        assert file["y_test"].tolist() == pictures.test.y.tolist()
        assert file["labels"].tolist() == ["off", "on, or"]


def test_what_is_exported_can_be_trained_on(datasets, mcquack, tmp_path):
    datasets("export", "iris3", "--out", tmp_path)
    model = tmp_path / "m.mcq"
    fast = ("--epochs", 2, "--qubits", 2)
    assert mcquack("fit", tmp_path / "train.csv", "--target", "label", "--out", model, *fast).code == 0
    predicted = mcquack("predict", model, tmp_path / "test.csv")
    assert predicted.code == 0
    assert {row["prediction"] for row in predicted.rows} <= {"0", "1", "2"}


def test_a_model_of_the_dataset_reads_what_is_exported(datasets, mcquack, tmp_path):
    datasets("export", "iris3", "--out", tmp_path)
    assert mcquack("fit", "iris3", "--out", tmp_path / "m.mcq", "--epochs", 2, "--qubits", 2).code == 0
    assert mcquack("predict", tmp_path / "m.mcq", tmp_path / "test.csv").code == 0


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_nothing_is_replaced_unless_asked_and_then_before_anything_is_loaded(datasets, tmp_path, monkeypatch):
    def unwanted(*_, **__):
        raise AssertionError("loaded in spite of all")

    datasets("export", "iris3", "--out", tmp_path)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(export_module, "loaded", unwanted)
        outcome = datasets("export", "iris3", "--out", tmp_path, "--seed", 1)
        assert outcome.code == 1
        assert "train.csv exists already" in outcome.err
    assert contents(tmp_path) == before
    assert datasets("export", "iris3", "--out", tmp_path, "--seed", 1, "--force").code == 0
    assert contents(tmp_path).keys() == before.keys()
    assert contents(tmp_path)["train.csv"] != before["train.csv"]


def test_parts_of_two_datasets_do_not_mix(datasets, tmp_path):
    datasets("export", "iris3", "--out", tmp_path)
    before = contents(tmp_path)
    for other in (["two_curves_2"], ["iris3", "--format", "parquet"], ["iris3", "--format", "npz"]):
        outcome = datasets("export", *other, "--out", tmp_path, "--force")
        assert outcome.code == 1
        assert "validation.csv" in outcome.err
    assert contents(tmp_path) == before


def test_arrays_of_two_datasets_do_not_mix(datasets, tmp_path):
    datasets("export", "iris3", "--out", tmp_path, "--format", "npz")
    before = contents(tmp_path)
    for other in (["two_curves_2", "--format", "npz"], ["iris3"]):
        outcome = datasets("export", *other, "--out", tmp_path, "--force")
        assert outcome.code == 1
        assert "holds iris3.npz, which would not belong to the new files" in outcome.err
    assert contents(tmp_path) == before
    assert datasets("export", "iris3", "--out", tmp_path, "--format", "npz", "--force").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["iris3", "--out", "file"], "file is a file; name a folder with --out."),
        (["iris3", "--out", "file/below"], "file is a file; name a folder with --out."),
        (["iris3", "--out", "new", "--sizes", "30,15"], "one number for each of train, validation, test"),
        (["iris3", "--out", "new", "--sizes", "30,0,15"], "whole number of at least 1"),
        (["two_curves_2", "--out", "new", "--seed", "1"], "is one fixed dataset"),
        (["url", "--out", "new"], "url needs files that are not on this machine"),
        (["named", "--out", "new"], "a feature of named is named 'label'"),
    ],
)
def test_what_cannot_be_done_is_told_and_leaves_nothing(datasets, registered, tmp_path, monkeypatch, options, told):
    registered("named", dataset=from_arrays([[1.0], [2.0]], [0, 1], feature_names=["label"]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    outcome = datasets("export", *options)
    assert outcome.code == 1
    assert told in outcome.err
    assert outcome.err.startswith("mcquack: ")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("out", ["new", "."])
def test_a_folder_that_cannot_be_written_to_is_refused(datasets, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(export_module.os, "access", lambda _path, mode: mode != export_module.os.W_OK)
    outcome = datasets("export", "iris3", "--out", out)
    assert outcome.code == 1
    assert outcome.err == f"mcquack: no permission to write in the folder: {tmp_path}\n"
    assert not list(tmp_path.iterdir())


def test_data_that_takes_the_place_of_other_data_is_told_in_a_note(datasets, tmp_path):
    outcome = datasets("export", "pm2", "--out", tmp_path)
    assert outcome.code == 0
    assert re.match(r"Note: pm2 is drawn here in the manner of the original pictures[^\n]*\nIn ", outcome.err)
    about = json.loads((tmp_path / "about.json").read_text())
    drawn = describe("pm2_generated")
    assert (about["name"], about["licence"], about["notes"]) == ("pm2", drawn.licence, list(drawn.notes))
    assert load("pm2_generated", seed=about["seed"]).fingerprint == about["fingerprint"]


def test_published_pictures_are_whole_numbers(datasets, tmp_path, data_dir):
    assert datasets("export", "mnist10", "--out", tmp_path, "--data-dir", data_dir).code == 0
    expected = load("mnist10", data_dir=data_dir)
    rows = np.loadtxt(tmp_path / "test.csv", delimiter=",", skiprows=1, dtype=np.uint8)
    assert_array_equal(rows[:, :-1], expected.test.X)
    assert_array_equal(rows[:, -1], expected.test.y)
