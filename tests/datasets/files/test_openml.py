import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.datasets.files import DataFile, Patience, Source, places
from mcquack.errors import MissingDataError
from tests.datasets.files.http_server import Answer

ARFF = b"""% three pets
@RELATION pets
@ATTRIBUTE legs REAL
@ATTRIBUTE colour {grey, 'dark brown'}
@ATTRIBUTE kind {cat, dog}
@ATTRIBUTE 'chip number' INTEGER

@DATA
4, 'dark brown', dog, 17
3, ?, cat, 18
4, grey, cat, 19
"""


def arrays(path):
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


PETS = Source(title="pets", files=(DataFile(name="pets.npz", url="openml:7"),), read=arrays)


@pytest.fixture
def publish(server):
    """Makes a server answer as OpenML does, with one dataset of the number 7."""

    def publish(arff, **changes):
        facts = {
            "url": f"{server.base}/data/v1/download/70",
            "md5_checksum": hashlib.md5(arff).hexdigest(),
            "default_target_attribute": "kind",
            "row_id_attribute": "chip number",
        }
        answer = {"data_set_description": facts | changes}
        server.routes |= {"/api/v1/json/data/7": json.dumps(answer).encode(), "/data/v1/download/70": arff}

    publish(ARFF)
    return publish


@pytest.fixture
def here(publish, server):
    """Our places, with the server in the stead of OpenML."""
    return replace(places(), openml=server.base, patience=Patience(read_seconds=0.5, pauses=(0.001,)))


def test_a_dataset_of_openml_is_fetched_once_and_kept_as_arrays(here, server):
    for _ in range(2):
        found = here.find([PETS], wanted_for="pets")
        pets = found.read()
        assert_array_equal(pets["data"], [[4, 1], [3, np.nan], [4, 0]])
        assert pets["target"].tolist() == ["dog", "cat", "cat"]
        assert pets["feature_names"].tolist() == ["legs", "colour"]
        assert json.loads(str(pets["categories"])) == {"colour": ["grey", "dark brown"]}
    assert len(server.asked) == 2
    assert sorted(path.name for path in found.paths[0].parent.iterdir()) == ["pets.npz", "pets.npz.lock"]


def test_whole_numbers_of_a_byte_are_kept_as_bytes(here, publish):
    publish(ARFF.replace(b"?", b"grey"), default_target_attribute="legs", ignore_attribute=["kind"])
    pets = here.find([PETS], wanted_for="pets").read()
    assert pets["data"].dtype == np.uint8
    assert_array_equal(pets["data"], [[1], [0], [0]])
    assert pets["target"].tolist() == [4, 3, 4]


@pytest.mark.parametrize(
    ("arff", "changes", "named"),
    [
        (ARFF, {"md5_checksum": "0" * 32}, "md5:0000"),
        (ARFF, {"md5_checksum": "none"}, "md5:none"),
        (ARFF, {"default_target_attribute": "name"}, "'name'"),
        (ARFF, {"default_target_attribute": None}, "None"),
        (ARFF + b"2, grey, dog\n", {}, "3 cells"),
        (ARFF + b"2, blue, dog, 20\n", {}, "'blue'"),
        (ARFF.replace(b"@DATA", b""), {}, "no data"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing_behind(here, publish, server, arff, changes, named):
    publish(arff, **changes)
    with pytest.raises(MissingDataError, match=r"dataset 7 of openml\.org") as refused:
        here.find([PETS], wanted_for="pets")
    assert named in str(refused.value)
    publish(ARFF)
    assert here.find([PETS], wanted_for="pets").read()["target"].tolist() == ["dog", "cat", "cat"]


@pytest.mark.parametrize(
    ("answers", "named"), [([Answer(status=412)], "412"), ([Answer()] + [Answer(n_bytes=5, stalls=True)] * 2, "silent")]
)
def test_an_openml_that_fails_is_told_and_asked_again_the_next_time(here, server, answers, named):
    server.answers += answers
    with pytest.raises(MissingDataError, match=named):
        here.find([PETS], wanted_for="pets")
    n_asked = len(server.asked)
    assert here.find([PETS], wanted_for="pets").read()["target"].tolist() == ["dog", "cat", "cat"]
    n_whole = sum(answer == Answer() for answer in answers)
    assert len(server.asked) == n_asked + 2 - n_whole  # what came whole the first time is not asked for again
