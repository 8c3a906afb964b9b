import json

import pytest

from mcquack.datasets import descriptions
from tests.datasets.files.http_server import CONTENT


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


def test_json_tells_the_same_to_programs(datasets):
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
        ({"url": "openml:61"}, "fetched by scikit-learn from https://www.openml.org/d/61"),
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
