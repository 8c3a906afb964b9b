import hashlib
import json
from dataclasses import replace
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import _openml

from mcquack.datasets.files import DataFile, Patience, Source, places
from mcquack.errors import MissingDataError
from tests.datasets.files.http_server import Answer

ARFF = b"""@RELATION pets
@ATTRIBUTE legs REAL
@ATTRIBUTE colour {grey, 'dark brown'}
@ATTRIBUTE kind {cat, dog}
@DATA
4, 'dark brown', dog
3, ?, cat
4, grey, cat
"""
COLUMNS = (("legs", "numeric"), ("colour", "nominal"), ("kind", "nominal"))


def arrays(path):
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


PETS = Source(title="pets", files=(DataFile(name="pets.npz", url="openml:7"),), read=arrays)


@pytest.fixture
def openml(server, monkeypatch):
    """A server that answers as OpenML does, with one dataset of the number 7."""
    features = [
        {
            "index": str(index),
            "name": name,
            "data_type": kind,
            "is_target": "true" if name == "kind" else "false",
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for index, (name, kind) in enumerate(COLUMNS)
    ]
    description = {
        "id": "7",
        "file_id": "70",
        "name": "pets",
        "version": "1",
        "status": "active",
        "format": "ARFF",
        "description": "three pets",
        "url": "https://www.openml.org/data/v1/download/70",
        "md5_checksum": hashlib.md5(ARFF).hexdigest(),
    }
    answers = {
        "": {"data_set_description": description},
        "features/": {"data_features": {"feature": features}},
        "qualities/": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "3.0"}]}},
    }
    server.routes |= {f"/api/v1/json/data/{kind}7": json.dumps(answer).encode() for kind, answer in answers.items()}
    server.routes |= {"/data/v1/download/70": ARFF}

    def here(request):
        """The same path on this machine."""
        return urlopen(Request(server.base + urlsplit(request.full_url).path, headers=dict(request.header_items())))

    monkeypatch.setattr(_openml, "urlopen", here)
    return server


def test_a_dataset_of_openml_is_fetched_once_and_kept_as_arrays(openml):
    for _ in range(2):
        found = places().find([PETS], wanted_for="pets")
        pets = found.read()
        assert_array_equal(pets["data"], [[4, 1], [3, np.nan], [4, 0]])
        assert pets["target"].tolist() == ["dog", "cat", "cat"]
        assert pets["feature_names"].tolist() == ["legs", "colour"]
        assert json.loads(str(pets["categories"])) == {"colour": ["grey", "dark brown"]}
    assert len(openml.asked) == 4
    assert sorted(path.name for path in found.paths[0].parent.iterdir()) == ["pets.npz", "pets.npz.lock"]


def test_whole_numbers_of_a_byte_are_kept_as_bytes(openml):
    whole = ARFF.replace(b"?", b"grey")
    openml.routes["/data/v1/download/70"] = whole
    path = "/api/v1/json/data/7"
    openml.routes[path] = openml.routes[path].replace(
        hashlib.md5(ARFF).hexdigest().encode(), hashlib.md5(whole).hexdigest().encode()
    )
    data = places().find([PETS], wanted_for="pets").read()["data"]
    assert data.dtype == np.uint8
    assert_array_equal(data, [[4, 1], [3, 0], [4, 0]])


def test_a_wrong_answer_of_openml_is_refused(openml):
    openml.routes["/data/v1/download/70"] = ARFF + b"2, grey, dog\n"
    with pytest.raises(MissingDataError, match=r"dataset 7 of openml\.org cannot be used: .*md5"):
        places().find([PETS], wanted_for="pets")


@pytest.mark.parametrize(
    ("answers", "match"),
    [
        ([Answer(status=412)], r"dataset 7 of openml\.org cannot be used: .*not found"),
        ([Answer()] + [Answer(n_bytes=5, stalls=True)] * 2, r"dataset 7 of openml\.org could not be .*: timed out"),
    ],
)
def test_an_openml_that_fails_is_told_and_asked_again_the_next_time(openml, answers, match):
    openml.answers += answers
    with pytest.raises(MissingDataError, match=match):
        replace(places(), patience=Patience(read_seconds=0.5)).find([PETS], wanted_for="pets")
    n_asked = len(openml.asked)
    assert places().find([PETS], wanted_for="pets").read()["target"].tolist() == ["dog", "cat", "cat"]
    n_whole = sum(answer == Answer() for answer in answers)
    assert len(openml.asked) == n_asked + 4 - n_whole  # what came whole the first time is not asked for again
