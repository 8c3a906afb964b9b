import csv
import hashlib
import json
import os
import re
import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mcquack as package
from mcquack.cli import datasets as verbs
from mcquack.cli.datasets import loaded
from mcquack.datasets import Description, describe, descriptions, from_arrays, load, names, register, registry
from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.own import load_csv, load_parquet
from mcquack.errors import SubstitutedDataWarning
from tests.datasets.files.http_server import CONTENT, Answer, serving


@pytest.fixture
def datasets(mcquack):
    """Runs one of the verbs."""
    return lambda verb, *arguments: mcquack("datasets", verb, *arguments)


@pytest.fixture
def server(monkeypatch):
    """A server on this machine, and leave to ask it."""
    monkeypatch.delenv("MCQUACK_OFFLINE")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")
    with serving() as script:
        yield script


@pytest.fixture
def registered(monkeypatch):
    """Registers datasets for the length of a test."""
    monkeypatch.setattr(registry, "registered", {})

    def add(name, *sources, dataset=None):
        data = dataset or from_arrays([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
        description = Description(
            name=name,
            title=name.title(),
            task="telling a from b",
            class_names=data.class_names,
            n_features=data.n_features,
            image_shape=data.image_shape,
            sizes={part: len(samples.y) for part, samples in data.parts.items()},
            sources=sources,
        )
        register(description)(lambda _request: data)
        return description

    return add


@pytest.fixture
def source():
    """Makes a source of one file, which the server gives for any address."""

    def make(name="file.bin", *, url=None, homepage=""):
        checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
        file = DataFile(name=name, folder="some", checksum=checksum, n_bytes=len(CONTENT), url=url)
        return Source(title=f"all of {name}", files=(file,), read=str, homepage=homepage)

    return make


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "mnst10"],
        ["fetch", "iris3", "mnst10"],
        ["export", "mnst10", "--out", "d"],
        ["plot", "mnst10", "--out", "p"],
    ],
)
def test_a_name_that_nobody_knows_is_met_with_those_close_to_it(mcquack, arguments):
    outcome = mcquack("datasets", *arguments)
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith("mcquack: no dataset is named 'mnst10'; did you mean mnist10 or ")


def lines(outcome):
    assert outcome.code == 0
    return [line.split("\t") for line in outcome.out.splitlines()]


def test_elsewhere_than_on_a_terminal_every_dataset_is_a_line_to_cut(datasets):
    found = lines(datasets("list"))
    assert [fields[0] for fields in found] == list(names())
    assert {len(fields) for fields in found} == {10}
    assert ["iris3", "real-world", "iris", "4", "3", "105", "45", "45", "built in", "Species of iris flowers"] in found
    manifold = next(fields for fields in found if fields[0] == "manifold_124")
    assert manifold[5:8] == ["100", "0", "50"]


def test_suite_and_family_narrow_it_down(datasets):
    by_name = {fields[0]: fields[1:3] for fields in lines(datasets("list", "--suite", "extra"))}
    assert list(by_name) == list(names("extra"))
    assert [fields[0] for fields in lines(datasets("list", "--suite", "extra", "--family", "plus_minus"))] == [
        name for name, (_, family) in by_name.items() if family == "plus_minus"
    ]
    families = lines(datasets("list", "--family", "two_curves"))
    assert [fields[0] for fields in families] == [f"two_curves_{n}" for n in range(2, 21)]


def test_a_list_in_json_tells_the_same_to_programs(datasets):
    found = json.loads(datasets("list", "--json").out)
    assert [(facts["name"], facts["n_features"], facts["sizes"]) for facts in found] == [
        (known.name, known.n_features, dict(known.sizes)) for known in descriptions()
    ]
    assert {facts["where"] for facts in found} == {"built in", "download", "by hand"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--suite", "real_world"], "no suite is named 'real_world'; there are qml, real-world, extra"),
        (["--family", "two_curve"], "no family is named 'two_curve'; did you mean two_curves or two_curves_diff?"),
        (["--suite", "extra", "--family", "zzz"], "no family in extra is named 'zzz'; there are kdd, "),
        (["--data-dir", "nowhere"], "which does not exist"),
    ],
)
def test_a_typo_is_refused_with_what_there_is(datasets, options, told):
    outcome = datasets("list", *options)
    assert outcome.code == 1
    assert outcome.out == ""
    assert told in outcome.err


def test_where_the_files_are(datasets, registered, source, tmp_path):
    registered("open", source(url="http://127.0.0.1/file.bin"))
    registered("closed", source(homepage="https://example.org"))
    registered("own", dataset=None)

    def where():
        return {fields[0]: fields[8] for fields in lines(datasets("list", "--suite", "own", "--data-dir", tmp_path))}

    assert where() == {"open": "download", "closed": "by hand", "own": "built in"}
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "file.bin").touch()
    assert where() == {"open": "local", "closed": "local", "own": "built in"}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_terminal_is_too_narrow_for_names(terminal, width):
    shown = terminal("datasets", "list", "--suite", "qml", width=width)
    assert max(map(len, shown)) <= width
    assert [line.split()[0] for line in shown if re.match(r"[a-z_]+_\d", line)] == list(names("qml"))


def test_a_list_of_everything_fits_on_a_screen(terminal, registered):
    strangers = [f"stranger{number}" for number in range(6)]  # of no family
    for name in strangers:
        registered(name)
    shown = terminal("datasets", "list", width=120)
    assert len(shown) < 50
    assert [line.split()[0] for line in shown if line.startswith("stranger")] == strangers
    family = next(line for line in shown if line.startswith("two_curves_2…20"))
    assert family.split()[1:6] == ["2…20", "2", "240/–/60", "built", "in"]
    assert "Two curves of degree 5 in … dimensions" in family
    assert any(line.startswith("mnist10 ") for line in shown)
    assert not any(line.startswith("two_curves_10") for line in shown)


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("description", descriptions()[::7], ids=lambda description: description.name)
def test_all_that_is_known_is_told(datasets, description):
    text = words(datasets("show", description.name).out)
    for known in (description.title, description.task, description.citation, description.licence, *description.notes):
        assert words(known) in text
    assert f"features {description.n_features}" in text
    for name in description.class_names:
        assert name in text
    for source in description.sources:
        assert source.title in text
        for file in source.files:
            assert file.path in text
            assert file.checksum is None or file.checksum in text
            assert file.url is None or file.url.removeprefix("openml:") in text


def test_all_facts_in_json_are_told_to_programs(datasets):
    told = json.loads(datasets("show", "kdd10", "--json").out)
    assert told["paper_n_features"] == 43
    assert [sum(counts) for counts in told["class_counts"].values()] == list(told["sizes"].values())
    assert len(told["class_names"]) == told["n_classes"] == len(told["class_counts"]["test"])
    assert told["sources"][0]["files"][0]["checksum"].startswith("sha256:")
    assert told["paths"] == []


def test_what_differs_from_the_paper_and_the_counts_of_classes(datasets):
    text = datasets("show", "kdd10").out
    assert "features    42 (43 in the paper)" in text
    assert ["neptune", "110", "44", "40"] in [line.split() for line in text.splitlines()]
    assert "pictures of 16 × 16 pixels" in datasets("show", "pm4_generated").out
    assert "always the same" in datasets("show", "two_curves_4").out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "if you have it"),
        ({"homepage": "https://example.org/form"}, "by hand from https://example.org/form"),
        ({"url": "https://example.org/file.bin"}, "from https://example.org/file.bin"),
        ({"url": "openml:61"}, "from https://www.openml.org/d/61"),
    ],
)
def test_where_each_file_comes_from(datasets, registered, source, given, told):
    registered("remote", source(**given))
    lines = datasets("show", "remote").out.splitlines()
    file = next(number for number, line in enumerate(lines) if "some/file.bin, 300.0 kB, sha256:" in line)
    assert lines[file + 1].strip() == told


def test_the_files_on_this_machine_are_named_once_they_are_verified(datasets, registered, source, tmp_path):
    registered("remote", source())
    path = tmp_path / "some" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    told = datasets("show", "remote", "--data-dir", tmp_path)
    assert str(path) in told.out
    assert json.loads(datasets("show", "remote", "--data-dir", tmp_path, "--json").out)["paths"] == [str(path)]
    path.write_bytes(CONTENT[::-1])
    told = datasets("show", "remote", "--data-dir", tmp_path)
    assert told.code == 0
    assert "is not the file.bin that was expected" in words(told.out)


def test_files_arrive_once_and_are_there_from_then_on(datasets, registered, source, server, tmp_path):
    registered("remote", source(url=server.url))
    registered("sibling", source(url=server.url))
    outcome = datasets("fetch", "remote", "sibling", "iris3")
    assert outcome.code == 0
    arrived = next((tmp_path / "cache").rglob("file.bin"))
    assert arrived.read_bytes() == CONTENT
    assert outcome.out.splitlines() == [
        f"remote   downloaded, {arrived}",
        f"sibling  downloaded, {arrived}",
        "iris3    built in, needs no files",
    ]
    assert outcome.err == "Downloading remote (300.0 kB) …\n"
    again = datasets("fetch", "remote")
    assert again.out == f"remote  cached, {arrived}\n"
    assert again.err == ""
    assert len(server.asked) == 1


def test_files_of_the_user_are_verified_and_left_where_they_are(datasets, registered, source, tmp_path):
    registered("remote", source())
    path = tmp_path / "some" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    assert datasets("fetch", "remote", "--data-dir", tmp_path).out == f"remote  local, {path}\n"
    path.write_bytes(b"other")
    outcome = datasets("fetch", "remote", "--data-dir", tmp_path)
    assert outcome.code == 1
    assert f"{path} is not the file.bin that was expected" in outcome.err


def test_a_failure_costs_no_others_and_is_told_once(datasets, registered, source, server):
    registered("lost", source(url=server.url))
    registered("alike", source(url=server.url))
    registered("closed", source("form.zip", homepage="https://example.org/form"))
    registered("found", source("found.bin", url=f"{server.base}/found.bin"))
    server.answers.append(Answer(status=404))
    outcome = datasets("fetch", "--suite", "own")
    assert outcome.code == 1
    outcomes = dict(line.split(maxsplit=1) for line in outcome.out.splitlines())
    assert outcomes["lost"] == "failed"
    assert outcomes["alike"] == "failed, like lost"
    assert outcomes["closed"] == "failed"
    assert outcomes["found"].startswith("downloaded, ")
    assert outcome.err.count("404 Not Found") == 1
    assert "form.zip, by hand from https://example.org/form" in outcome.err
    assert outcome.err.endswith("mcquack: 3 of 4 could not be fetched: lost, alike, closed.\n")


def test_without_leave_to_download_nobody_is_asked(datasets, registered, source, server, monkeypatch):
    monkeypatch.setenv("MCQUACK_OFFLINE", "1")
    registered("remote", source(url=server.url))
    outcome = datasets("fetch", "remote")
    assert outcome.code == 1
    assert "Downloading" not in outcome.err
    assert "MCQUACK_OFFLINE=1 forbids" in outcome.err
    assert not server.asked


def test_an_interrupted_fetch_goes_on_where_it_stopped(datasets, registered, source, server, monkeypatch):
    def interrupted(_seconds):
        raise KeyboardInterrupt

    registered("remote", source(url=server.url))
    server.answers.append(Answer(n_bytes=100_000))
    with monkeypatch.context() as patch:
        patch.setattr("time.sleep", interrupted)
        stopped = datasets("fetch", "remote")
    assert stopped.code == 130
    assert stopped.err.splitlines()[-1].startswith("mcquack: interrupted; what has arrived is kept")
    assert datasets("fetch", "remote").code == 0
    assert server.ranges == [None, "bytes=100000-"]


@pytest.mark.parametrize("choice", [["--suite", "extra"], ["--all"]])
def test_many_at_once(datasets, data_dir, choice):
    outcome = datasets("fetch", *choice, "--data-dir", data_dir)
    assert outcome.code == 0
    assert outcome.err == ""
    assert {line.split()[1].strip(",") for line in outcome.out.splitlines()} == {"local", "built"}


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


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_nothing_is_replaced_unless_asked_and_then_before_anything_is_loaded(datasets, tmp_path, monkeypatch):
    def unwanted(*_, **__):
        raise AssertionError("loaded in spite of all")

    datasets("export", "iris3", "--out", tmp_path)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(verbs, "loaded", unwanted)
        outcome = datasets("export", "iris3", "--out", tmp_path, "--seed", 1)
        assert outcome.code == 1
        assert "train.csv exists already" in outcome.err
    assert contents(tmp_path) == before
    assert datasets("export", "iris3", "--out", tmp_path, "--seed", 1, "--force").code == 0
    assert contents(tmp_path).keys() == before.keys()
    assert contents(tmp_path)["train.csv"] != before["train.csv"]


@pytest.mark.parametrize(
    ("first", "others", "left"),
    [
        ("csv", (["two_curves_2"], ["iris3", "--format", "parquet"], ["iris3", "--format", "npz"]), "validation.csv"),
        ("npz", (["two_curves_2", "--format", "npz"], ["iris3"]), "iris3.npz"),
    ],
)
def test_files_of_two_datasets_do_not_mix(datasets, tmp_path, first, others, left):
    datasets("export", "iris3", "--out", tmp_path, "--format", first)
    before = contents(tmp_path)
    for other in others:
        outcome = datasets("export", *other, "--out", tmp_path, "--force")
        assert outcome.code == 1
        assert left in outcome.err
    assert contents(tmp_path) == before
    assert datasets("export", "iris3", "--out", tmp_path, "--format", first, "--force").code == 0


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
    monkeypatch.setattr("os.access", lambda _path, mode: mode != os.W_OK)
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
    assert expected.test is not None
    rows = np.loadtxt(tmp_path / "test.csv", delimiter=",", skiprows=1, dtype=np.uint8)
    assert_array_equal(rows[:, :-1], expected.test.X)
    assert_array_equal(rows[:, -1], expected.test.y)


MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml", "PNG": b"\x89PNG"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_suffix_is_the_format(datasets, tmp_path, suffix):
    path = tmp_path / f"iris.{suffix}"
    assert datasets("plot", "iris3", "--out", path).code == 0
    assert path.read_bytes().startswith(MAGIC[suffix])


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("p.jpg", "p.jpg must end in .png, .pdf, .svg"),
        ("p", "p must end in"),
        ("there.png", "there.png exists already"),
        ("none/p.png", "the folder none does not exist"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_loaded(datasets, tmp_path, monkeypatch, out, told):
    def unwanted(*_, **__):
        raise AssertionError("loaded in spite of all")

    monkeypatch.setattr(verbs, "loaded", unwanted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.png").touch()
    outcome = datasets("plot", "iris3", "--out", out)
    assert outcome.code == 1
    assert told in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["there.png"]


def test_a_picture_is_replaced_by_force(datasets, tmp_path):
    path = tmp_path / "p.png"
    path.touch()
    assert datasets("plot", "iris3", "--out", path, "--force").code == 0
    assert path.stat().st_size


def test_notes_are_for_stand_ins_and_other_warnings_stay_warnings(registered, capsys):
    description = Description(
        name="odd", title="Odd", task="t", class_names=("0", "1"), n_features=1, sizes={"train": 2}
    )

    @register(description)
    def _(_request):
        warnings.warn("something\n  else came", SubstitutedDataWarning, stacklevel=2)
        warnings.warn("take care", UserWarning, stacklevel=2)
        return from_arrays([[1.0], [2.0]], [0, 1])

    with pytest.warns(UserWarning, match="take care") as others:
        assert loaded("odd").name == "odd"
    assert len(others) == 1
    assert capsys.readouterr().err == "Note: something else came\n"
