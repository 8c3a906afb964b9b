"""Whatever a server does in whatever order, a download ends with the right file or with a typed error."""

import random
from dataclasses import replace

import pytest

from mcquack.datasets.download import download
from mcquack.errors import DataFileError, DownloadError
from tests.campaigns import rounds
from tests.datasets.files.http_server import CONTENT, Answer
from tests.datasets.files.test_download import PATIENCE, SHORT, data_file, left_overs

CUT = Answer(n_bytes=SHORT)
OTHER = CONTENT[::-1]
# What a server can do; those that keep silent are in the tests of single downloads, as each of them takes its time.
BEHAVIOURS = {
    "right": Answer(),
    "without length": Answer(says_length=False),
    "without tag": Answer(etag=None),
    "weak tag": Answer(etag='W/"first"'),
    "dated": Answer(etag=None, modified="Mon, 05 Feb 2024 10:00:00 GMT"),
    "cut": CUT,
    "cut at once": Answer(n_bytes=0),
    "cut at the end": Answer(n_bytes=len(CONTENT) - 1),
    "cut without length": replace(CUT, says_length=False),
    "cut without tag": replace(CUT, etag=None),
    "cut with weak tag": replace(CUT, etag='W/"first"'),
    "cut, of another version": replace(CUT, content=OTHER, etag='"old"'),
    "ignores ranges": Answer(heeds_range=False),
    "ignores versions": Answer(heeds_version=False),
    "shifted": Answer(shift=1),
    "another file": Answer(content=OTHER),
    "another file, same tag, in parts": replace(CUT, content=OTHER),
    "too short": Answer(content=CONTENT[:-1], says_length=False),
    "too long": Answer(content=CONTENT + b"!", says_length=False),
    "announces too much": Answer(content=CONTENT + b"!" * 1000),
    "empty": Answer(content=b""),
    "not found": Answer(status=404),
    "forbidden": Answer(status=403),
    "too many requests": Answer(status=429),
    "refuses ranges": Answer(status=416),
    "broken": Answer(status=500),
    "busy": Answer(status=503),
    "redirects": Answer(location="/elsewhere"),
    "redirects to itself": Answer(location="/file.bin"),
}


@pytest.mark.parametrize("n_downloads", rounds(30, short=200, full=1_000))
def test_a_download_ends_with_the_right_file_or_a_typed_error(server, tmp_path, n_downloads, tally):
    chance, n_arrived = random.Random(n_downloads), 0
    for number in range(n_downloads):
        target = tmp_path / str(number) / "file.bin"
        names = [chance.choice(list(BEHAVIOURS)) for _ in range(chance.randint(1, 5))]
        server.answers[:] = [BEHAVIOURS[name] for name in names]
        for _ in range(1 + len(names)):  # asked again, as the message says, until the server has nothing else to do
            try:
                download(data_file(server), to=target, patience=PATIENCE)
            except (DownloadError, DataFileError) as error:
                told = str(error)
            else:
                break
            assert server.url in told, names
            assert not target.exists(), names
        assert target.read_bytes() == CONTENT, names
        assert left_overs(target) == [], names
        n_arrived += 1
    tally(f"downloads from a server with {len(BEHAVIOURS)} behaviours", n_downloads, arrived=n_arrived, wrong=0)
