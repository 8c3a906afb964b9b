import errno
import gzip
import hashlib
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcquack.datasets import download as downloading
from mcquack.datasets.data_file import DataFile
from mcquack.datasets.download import Partial, Patience, download
from mcquack.errors import DataFileError, DownloadError
from tests.datasets.files.http_server import CONTENT, Answer

SHORT = 100_000
CUT = Answer(n_bytes=SHORT)
REST = f"bytes={SHORT}-"
PATIENCE = Patience(connect_seconds=10, read_seconds=10, pauses=(0.001,) * 2)
HASTE = replace(PATIENCE, read_seconds=0.5)


def data_file(server, **changes):
    file = DataFile(
        name="file.bin",
        checksum=f"sha256:{hashlib.sha256(CONTENT).hexdigest()}",
        n_bytes=len(CONTENT),
        url=server.url,
    )
    return replace(file, **changes)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "file.bin"


def left_overs(target):
    return sorted(path.name for path in target.parent.iterdir() if path.name not in (target.name, "file.bin.lock"))


TROUBLES = {
    "as it should be": ([], [None]),
    "without its length": ([Answer(says_length=False)], [None]),
    "cut once": ([CUT], [None, REST]),
    "cut once, dated instead of tagged": (
        [replace(CUT, etag=None, modified="Mon, 05 Feb 2024 10:00:00 GMT")],
        [None, REST],
    ),
    "cut once, without its length": ([replace(CUT, says_length=False)], [None, REST]),
    "cut twice": ([CUT, CUT], [None, REST, f"bytes={2 * SHORT}-"]),
    "cut, then the range is ignored": ([CUT, Answer(heeds_range=False)], [None, REST]),
    "cut, then the range is refused": ([CUT, Answer(status=416)], [None, REST, None]),
    "cut, then a shifted part": ([CUT, Answer(shift=1)], [None, REST, None]),
    "cut while nothing tells versions apart": ([replace(CUT, etag=None)], [None, None]),
    "cut while a tag is no promise of equal bytes": ([replace(CUT, etag='W/"first"')], [None, None]),
    "changed after the cut": ([replace(CUT, content=CONTENT[::-1], etag='"old"')], [None, REST]),
    "changed after the cut, and the server does not notice": (
        [replace(CUT, content=CONTENT[::-1], etag='"old"'), Answer(heeds_version=False)],
        [None, REST, None],
    ),
    "busy twice": ([Answer(status=503)] * 2, [None] * 3),
    "redirected in a chain": ([Answer(location="/b"), Answer(location="/c")], [None] * 3),
}


@pytest.mark.parametrize(("answers", "ranges"), TROUBLES.values(), ids=TROUBLES)
def test_a_file_arrives_whole_whatever_the_server_does_meanwhile(server, target, answers, ranges):
    server.answers += answers
    download(data_file(server), to=target, patience=PATIENCE)
    assert target.read_bytes() == CONTENT
    assert left_overs(target) == []
    assert server.ranges == ranges


def test_a_stalled_transfer_ends_and_goes_on_where_it_stopped(server, target):
    server.answers += [Answer(n_bytes=SHORT, stalls=True)]
    download(data_file(server), to=target, patience=replace(HASTE, pauses=(0.001,) * 9))
    assert target.read_bytes() == CONTENT
    assert server.ranges[1] is not None


@pytest.mark.parametrize(
    ("answer", "error", "match", "n_asked"),
    [
        (Answer(status=404), DownloadError, "answers 404 Not Found", 1),
        (Answer(status=403), DownloadError, "answers 403 Forbidden", 1),
        (Answer(status=503), DownloadError, "3 attempts: .* 503", 3),
        (Answer(location="/file.bin"), DownloadError, "redirects", 31),
        (replace(CUT, heeds_range=False), DownloadError, r"100,000 of 300,000 bytes|IncompleteRead", 3),
        (replace(CUT, says_length=False, heeds_range=False), DownloadError, "100,000 of 300,000 bytes", 3),
        (Answer(n_bytes=0, stalls=True), DownloadError, "silent", 3),
        (Answer(content=CONTENT[::-1]), DataFileError, "sha256:.* instead of sha256:", 1),
        # Refused by the announced length: the content itself never comes.
        (Answer(content=CONTENT[:-1], n_bytes=0, stalls=True), DataFileError, "299,999 bytes instead of 300,000", 1),
        (Answer(content=CONTENT[:-1], says_length=False), DownloadError, "299,999 of 300,000", 3),
        (Answer(content=CONTENT + b"!", says_length=False), DataFileError, "more than 300,000", 1),
        # What never ends is not waited for.
        (Answer(content=CONTENT * 4, says_length=False), DataFileError, "more than 300,000", 1),
    ],
)
def test_what_cannot_be_had_is_refused_and_takes_no_place(server, target, answer, error, match, n_asked):
    server.answers += [answer] * 50
    with pytest.raises(error, match=match) as refused:
        download(data_file(server), to=target, patience=HASTE if answer.stalls else PATIENCE)
    assert server.url in str(refused.value)
    assert not target.exists()
    assert len(server.asked) == n_asked
    assert left_overs(target) == [] or error is DownloadError  # what came may be continued, unless it was wrong


def test_a_file_whose_size_nobody_knows_has_a_largest_one(server, target):
    server.answers += [Answer(says_length=False)]
    file = data_file(server, n_bytes=None, checksum=None)
    with pytest.raises(DataFileError, match="more than 250,000"):
        download(file, to=target, patience=replace(PATIENCE, most_bytes=250_000))
    assert left_overs(target) == []
    download(file, to=target, patience=replace(PATIENCE, most_bytes=300_000))
    assert target.read_bytes() == CONTENT


def test_a_download_ends_with_its_time_although_bytes_still_come_and_what_came_is_kept(server, target, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(downloading, "time", SimpleNamespace(monotonic=count().__next__))
        with pytest.raises(DownloadError, match="takes longer"):
            download(data_file(server), to=target, patience=replace(PATIENCE, most_seconds=2))
    assert len(server.asked) == 1  # no further attempt
    assert 0 < target.with_name("file.bin.partial").stat().st_size < len(CONTENT)
    download(data_file(server), to=target, patience=PATIENCE)
    assert target.read_bytes() == CONTENT


def test_a_server_that_is_not_there_is_told_after_a_few_attempts(target):
    file = DataFile(name="file.bin", url="http://127.0.0.1:9/file.bin")
    with pytest.raises(DownloadError, match=r"in 3 attempts: .*(refused|10061)"):
        download(file, to=target, patience=PATIENCE)


def test_an_interrupted_download_is_continued_the_next_time(server, target, monkeypatch):
    @contextmanager
    def interrupted(name):
        def shown(n_bytes, total):
            if n_bytes >= SHORT:
                raise KeyboardInterrupt

        yield shown

    with monkeypatch.context() as patch:
        patch.setattr(downloading, "progress", interrupted)
        with pytest.raises(KeyboardInterrupt):
            download(data_file(server), to=target, patience=PATIENCE)
    assert not target.exists()
    assert left_overs(target) == ["file.bin.partial", "file.bin.partial.json"]
    n_kept = (target.parent / "file.bin.partial").stat().st_size
    assert SHORT <= n_kept < len(CONTENT)

    download(data_file(server), to=target, patience=PATIENCE)
    assert server.ranges == [None, f"bytes={n_kept}-"]
    assert target.read_bytes() == CONTENT
    assert left_overs(target) == []


@pytest.mark.parametrize(
    ("url", "version", "ranges"),
    [
        ("/file.bin", '"first"', [REST, None]),  # asked for, found wrong in sum, begun anew
        ("/file.bin", None, [None]),
        ("/other.bin", '"first"', [None]),
    ],
)
def test_a_wrong_beginning_of_a_former_run_does_no_harm(server, target, url, version, ranges):
    target.parent.mkdir()
    partial = Partial(target.with_name("file.bin.partial"))
    partial.begin(server.base + url, version=version)
    partial.path.write_bytes(bytes(SHORT))
    download(data_file(server), to=target, patience=PATIENCE)
    assert target.read_bytes() == CONTENT
    assert server.ranges == ranges


def test_a_broken_note_is_no_note(server, target):
    target.parent.mkdir()
    partial = Partial(target.with_name("file.bin.partial"))
    partial.path.write_bytes(bytes(SHORT))
    for note in ("", "[]", "{}", '{"url": 1}'):
        partial.note.write_text(note, encoding="utf-8")
        assert partial.request_for_the_rest(server.url) == {}


def test_a_packed_file_stays_as_it_is_even_if_the_server_calls_its_packing_a_way_of_transport(server, target):
    packed = gzip.compress(CONTENT, mtime=0)
    server.answers += [Answer(content=packed, encoding="gzip")]
    file = data_file(server, n_bytes=len(packed), checksum=f"md5:{hashlib.md5(packed).hexdigest()}")
    download(file, to=target, patience=PATIENCE)
    assert target.read_bytes() == packed
    assert server.asked[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("is_right", [True, False])
def test_a_download_is_checked_against_the_id_that_git_gives_it(server, target, is_right):
    git = "git:" + hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
    file = data_file(server, checksum=git if is_right else "git:" + "0" * 40)
    if is_right:
        download(file, to=target, patience=PATIENCE)
        assert target.read_bytes() == CONTENT
    else:
        with pytest.raises(DataFileError, match=git):
            download(file, to=target, patience=PATIENCE)


@pytest.mark.parametrize("checksum", [None, "git:" + hashlib.sha1(b"blob 300000\0" + CONTENT).hexdigest()])
def test_a_broken_file_is_replaced_and_a_right_one_kept(server, target, checksum, caplog):
    target.parent.mkdir()
    target.write_bytes(b"rotten")
    for _ in range(2):
        download(data_file(server, checksum=checksum), to=target, patience=PATIENCE)
    assert target.read_bytes() == CONTENT
    assert len(server.asked) == 1
    assert "file.bin is broken, so it is downloaded again: it has 6 bytes" in caplog.text


def test_threads_that_want_one_file_download_it_once(server, target):
    with ThreadPoolExecutor(4) as threads:
        wanted = [threads.submit(download, data_file(server), to=target, patience=PATIENCE) for _ in range(4)]
    assert [future.result() for future in wanted] == [None] * 4
    assert len(server.asked) == 1
    assert target.read_bytes() == CONTENT


def test_processes_that_want_one_file_download_it_once(server, target):
    script = f"""
from pathlib import Path
from mcquack.datasets.data_file import DataFile
from mcquack.datasets.download import download
from mcquack.datasets.download import Patience
download({data_file(server)!r}, to=Path({str(target)!r}), patience=Patience())
"""
    processes = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert len(server.asked) == 1
    assert target.read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=r"cache.file\.bin .*MCQUACK_CACHE"):
        download(data_file(server), to=tmp_path / "cache" / "file.bin", patience=PATIENCE)
    assert server.asked == []


class SmallDisk:
    """A file on a disk with little room."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()

    def write(self, chunk):
        if self.stream.tell() >= SHORT:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.stream.write(chunk)


def test_a_full_disk_is_told_and_what_came_is_kept(server, target, monkeypatch):
    opened = Path.open

    def on_a_small_disk(path, mode="r", **more):
        stream = opened(path, mode, **more)
        return SmallDisk(stream) if mode == "ab" else stream

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", on_a_small_disk)
        with pytest.raises(DownloadError, match="space left"):
            download(data_file(server), to=target, patience=PATIENCE)
    assert not target.exists()
    download(data_file(server), to=target, patience=PATIENCE)
    assert target.read_bytes() == CONTENT
    assert server.ranges[1] is not None


def test_without_a_terminal_one_line_is_logged_and_nothing_shown(server, target, capfd, caplog):
    caplog.set_level(logging.INFO, logger="mcquack")
    download(data_file(server, checksum=None), to=target, patience=PATIENCE)
    ours = [record.getMessage() for record in caplog.records if record.name == "mcquack"]
    assert ours == [f"downloading file.bin from {server.url} to {target}"]
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_a_bar_is_shown_on_stderr(server, target, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    download(data_file(server), to=target, patience=PATIENCE)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "file.bin" in shown.err
    assert "300.0/300.0 kB" in shown.err
