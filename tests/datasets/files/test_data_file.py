import gzip
import hashlib
import os
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack import datasets
from mcquack.datasets.data_file import DataFile, Source, checksum, flaw, flaw_unless_known
from mcquack.errors import InvalidInputError


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"name": ""}, "name must.* ''"),
        ({"name": "a/b.csv"}, "name must.*a/b.csv"),
        ({"name": ".."}, "name must.*'..'"),
        ({"folder": "/etc"}, "folder must.*/etc"),
        ({"folder": "a/../.."}, "folder must.*a/../.."),
        ({"checksum": "sha256:00"}, "checksum of a.csv .*sha256:, md5: or git:"),
        ({"checksum": "0" * 64}, "checksum of a.csv .*sha256:, md5: or git:"),
        ({"checksum": "md5:" + "A" * 32}, "checksum of a.csv .*sha256:, md5: or git:"),
        ({"url": "ftp://a/b"}, "url of a.csv .*ftp://a/b"),
        ({"url": "openml:iris"}, "url of a.csv .*openml:iris"),
    ],
)
def test_a_file_that_could_never_be_found_is_refused(changes, match):
    with pytest.raises(InvalidInputError, match=match):
        DataFile(**{"name": "a.csv", **changes})


def test_a_source_without_files_is_refused():
    with pytest.raises(InvalidInputError, match="at least one"):
        Source(title="nothing", files=(), read=print)


@pytest.mark.parametrize(
    ("content", "git"),
    [(b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"), (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a")],
)
def test_the_checksum_of_git_is_the_id_that_git_hash_object_prints(tmp_path, content, git):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert checksum(path, kind="git") == f"git:{git}"


@given(content=st.binary(max_size=50), other=st.binary(max_size=50), kind=st.sampled_from(["sha256", "md5", "git"]))
def test_a_file_is_flawless_if_and_only_if_it_is_the_one_meant(tmp_path_factory, content, other, kind):
    path = tmp_path_factory.getbasetemp() / "meant"
    path.write_bytes(content)
    by_checksum = DataFile(name="meant", checksum=checksum(path, kind=kind))
    by_size = DataFile(name="meant", n_bytes=len(content))
    path.write_bytes(other)
    assert (flaw(path, by_checksum) is None) == (content == other)
    assert (flaw(path, by_size) is None) == (len(content) == len(other))
    assert flaw(path, DataFile(name="meant")) is None


def test_a_file_of_another_kind_is_known_by_its_first_bytes(tmp_path):
    path = tmp_path / "file"
    file = DataFile(name="file", magic=b"\x89HDF")
    for content, problem in ((b"\x89HDF and more", None), (b"<html>", r"begins with b'<htm' instead"), (b"", "b''")):
        path.write_bytes(content)
        assert (problem or "None") in str(flaw(path, file))


def test_a_flaw_tells_what_was_expected_and_what_came(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"four")
    meant = f"md5:{'0' * 32}"
    came = f"md5:{hashlib.md5(b'four').hexdigest()}"
    assert flaw(path, DataFile(name="file", n_bytes=1_000, checksum=meant)) == "it has 4 bytes instead of 1,000"
    assert flaw(path, DataFile(name="file", n_bytes=4, checksum=meant)) == f"its checksum is {came} instead of {meant}"
    assert flaw(tmp_path / "none", DataFile(name="none")) == "it cannot be read (No such file or directory)"


def changed_unnoticed(path, content):
    """Gives a file another content of the same length, and the time it had."""
    status = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture
def large(tmp_path):
    """A right file, and how a file is verified that counts as large from its first byte on."""
    path = tmp_path / "large.bin"
    path.write_bytes(b"right")
    file = DataFile(name="large.bin", checksum=checksum(path, kind="md5"))
    return path, file, partial(flaw_unless_known, notes=tmp_path / "notes", large=1)


def test_a_large_file_that_was_found_right_is_not_read_again_unless_it_has_changed(large):
    path, file, verified = large
    assert verified(path, file) is None
    changed_unnoticed(path, b"wrong")
    assert verified(path, file) is None
    assert "md5:" in verified(path, replace(file, checksum=f"md5:{'0' * 32}"))
    os.utime(path, ns=(0, 0))
    for _ in range(2):  # a wrong file is never taken as known
        assert "md5:" in verified(path, file)


def test_notes_that_cannot_be_written_only_cost_time(large, tmp_path):
    path, file, verified = large
    (tmp_path / "notes").write_text("a file where the folder should be")
    assert verified(path, file) is None
    changed_unnoticed(path, b"wrong")
    assert "md5:" in verified(path, file)


def test_what_a_packed_file_holds_is_proven_beside_its_md5(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"content", mtime=0))
    md5, inner = checksum(path, kind="md5"), f"sha256:{hashlib.sha256(b'content').hexdigest()}"
    assert flaw(path, DataFile(name="file.gz", checksum=md5, unpacked=inner)) is None
    other = f"sha256:{'0' * 64}"
    told = flaw(path, DataFile(name="file.gz", checksum=md5, unpacked=other))
    assert told == f"the checksum of what it holds is {inner} instead of {other}"
    path.write_bytes(path.read_bytes()[:-4])
    cut = DataFile(name="file.gz", checksum=checksum(path, kind="md5"), unpacked=inner)
    assert "no whole gzip file" in str(flaw(path, cut))


SHA = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("fields", "proof", "transport"),
    [
        ({"checksum": SHA, "url": "https://a.org/b"}, "sha256", "https"),
        ({"checksum": "md5:" + "0" * 32, "url": "http://a.org/b"}, "md5, which can be forged", "http"),
        ({"checksum": "md5:" + "0" * 32, "unpacked": SHA}, "md5, and sha256 of what it holds", None),
        ({"url": "openml:554"}, "nothing", "https"),
        ({"magic": b"PK"}, "nothing but its first bytes", None),
    ],
)
def test_what_can_be_verified_and_how_it_comes_is_told(fields, proof, transport):
    file = DataFile(name="file", **fields)
    assert (file.proof, file.transport) == (proof, transport)


def test_nothing_that_comes_by_http_is_proven_by_less_than_sha256():
    files = {file for known in datasets.descriptions() for source in known.sources for file in source.files}
    plain = [file for file in files if file.transport == "http"]
    assert plain
    assert all("sha256" in file.proof for file in plain)
