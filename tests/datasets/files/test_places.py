import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from mcquack.datasets.files import DataFile, Extra, Patience, Places, Source, places
from mcquack.errors import DataFileError, InvalidInputError, MissingDataError
from tests.datasets.files.http_server import CONTENT, Answer

HOMEPAGE = "https://example.org/form"
PATIENCE = Patience(connect_seconds=10, read_seconds=10, pauses=())


def data_file(name, content, **more):
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return DataFile(name=name, folder="some/where", checksum=checksum, n_bytes=len(content), **more)


def contents(*paths):
    return [path.read_bytes() for path in paths]


def source(*files, title="a source"):
    return Source(title=title, files=files, read=contents, homepage=HOMEPAGE)


BY_HAND = source(data_file("one.txt", b"1"), data_file("two.txt", b"22"), title="two small files")
OTHER = source(data_file("three.txt", b"333"), title="another")


@pytest.fixture
def local(tmp_path):
    folder = tmp_path / "data"
    (folder / "some" / "where").mkdir(parents=True)
    return folder


@pytest.fixture
def here(local):
    return replace(places(local), patience=PATIENCE)


@pytest.fixture
def on_server(server):
    """A source of two files that the server has."""
    server.routes |= {"/a.bin": b"aaa"}
    return source(
        data_file("a.bin", b"aaa", url=f"{server.base}/a.bin"),
        data_file("file.bin", CONTENT, url=server.url),
        title="on a server",
    )


@pytest.mark.parametrize("folders", [("some/where", "some/where"), ("", ""), ("some/where", "")])
def test_local_files_are_found_in_their_folder_and_at_the_top(here, folders):
    paths = [here.data_dir / folder / file.name for folder, file in zip(folders, BY_HAND.files, strict=True)]
    for path, content in zip(paths, (b"1", b"22"), strict=True):
        path.write_bytes(content)
    found = here.find([OTHER, BY_HAND], wanted_for="toy")
    assert (found.source, found.place, list(found.paths)) == (BY_HAND, "local", paths)
    assert found.read() == [b"1", b"22"]
    assert here.status([OTHER, BY_HAND]) == "local"


def test_sources_are_taken_in_order(here):
    for name, content in (("one.txt", b"1"), ("two.txt", b"22"), ("three.txt", b"333")):
        (here.data_dir / name).write_bytes(content)
    assert here.find([OTHER, BY_HAND], wanted_for="toy").source is OTHER
    assert here.find([BY_HAND, OTHER], wanted_for="toy").source is BY_HAND


def test_places_are_asked_in_order_and_each_file_is_downloaded_once(here, on_server, server):
    assert here.status([on_server]) == "download"
    assert not here.cache_dir.exists()
    for _ in range(2):
        found = here.find([on_server], wanted_for="toy")
        assert (found.place, found.read()) == ("cache", [b"aaa", CONTENT])
    assert here.status([on_server]) == "cached"
    assert len(server.asked) == 2

    (here.data_dir / "three.txt").write_bytes(b"333")
    assert here.find([on_server, OTHER], wanted_for="toy").place == "local"


def test_what_is_cached_is_used_before_anything_is_downloaded(here, on_server, server):
    here.find([on_server], wanted_for="toy")
    preferred = source(replace(on_server.files[1], checksum=None, url=f"{server.base}/else"), title="preferred")
    assert here.find([preferred, on_server], wanted_for="toy").source is on_server
    assert len(server.asked) == 2


def test_only_the_files_that_lack_are_downloaded(here, on_server, server):
    server.answers += [Answer(), Answer(status=404)]
    with pytest.raises(MissingDataError, match="404"):
        here.find([on_server], wanted_for="toy")
    assert here.find([on_server], wanted_for="toy").read() == [b"aaa", CONTENT]
    assert [asked.path for asked in server.asked] == ["/a.bin", "/file.bin", "/file.bin"]


def test_the_next_source_serves_where_the_first_fails(here, on_server, server):
    server.answers += [Answer(status=404)]
    first = source(data_file("gone.bin", b"gone", url=f"{server.base}/gone.bin"))
    assert here.find([BY_HAND, first, on_server], wanted_for="toy").source is on_server


def test_files_of_one_name_do_not_meet_in_the_cache(here, server):
    server.routes |= {"/red/train.csv": b"red", "/blue/train.csv": b"blue"}
    files = [data_file("train.csv", c.encode(), url=f"{server.base}/{c}/train.csv") for c in ("red", "blue")]
    unproven = [replace(file, checksum=None, n_bytes=None, folder="") for file in files]
    for _ in range(2):
        read = [here.find([source(file)], wanted_for="toy").read() for file in (*files, *unproven)]
        assert read == [[b"red"], [b"blue"]] * 2
    assert len(server.asked) == 4


@pytest.mark.parametrize("content", [b"wrong", b"2x"])
def test_a_wrong_local_file_is_refused_and_never_passed_over(here, content):
    for name, text in (("one.txt", b"1"), ("two.txt", content), ("three.txt", b"333")):
        (here.data_dir / "some" / "where" / name).write_bytes(text)
    with pytest.raises(DataFileError, match=r"where.two\.txt is not .* instead of .* Replace it .* or move it"):
        here.find([BY_HAND, OTHER], wanted_for="toy")


@pytest.mark.parametrize("content", [b"wrong", b"2x"])
def test_at_the_top_a_file_counts_only_if_it_is_the_one_meant(here, content):
    for name, text in (("one.txt", b"1"), ("two.txt", content)):
        (here.data_dir / name).write_bytes(text)
    assert here.status([BY_HAND]) == "by hand"
    with pytest.raises(MissingDataError, match=r"Passed over, .*right name:\n  .*data.two\.txt: it.* instead of "):
        here.find([BY_HAND, OTHER], wanted_for="toy")
    (here.data_dir / "three.txt").write_bytes(b"333")
    assert here.find([BY_HAND, OTHER], wanted_for="toy").source is OTHER


def test_a_rotten_file_in_the_cache_is_downloaded_again_if_that_is_allowed(here, on_server, server, caplog):
    path = here.find([on_server], wanted_for="toy").paths[0]
    path.write_bytes(b"aab")
    with pytest.raises(DataFileError, match=r"a\.bin is broken: .*Delete it"):
        replace(here, download=False).find([on_server], wanted_for="toy")
    assert here.find([on_server], wanted_for="toy").read() == [b"aaa", CONTENT]
    assert [asked.path for asked in server.asked] == ["/a.bin", "/file.bin", "/a.bin"]
    assert "a.bin is broken, so it is downloaded again" in caplog.text


def whole(path):
    """Reads a file that must end in a full stop."""
    content = path.read_bytes()
    if not content.endswith(b"."):
        raise DataFileError(f"{path} is not whole")
    return content


@pytest.fixture
def unproven(server):
    """A source whose file nothing proves but that it can be read."""
    server.routes |= {"/text": b"all of it."}
    file = DataFile(name="text", magic=b"all", url=f"{server.base}/text")
    return Source(title="unproven", files=(file,), read=whole)


def test_a_file_in_the_cache_that_cannot_be_read_is_fetched_again_once(here, unproven, server):
    server.routes["/text"] = b"all of"
    with pytest.raises(DataFileError, match="is not whole"):
        here.read([unproven], wanted_for="toy")
    assert len(server.asked) == 2
    server.routes["/text"] = b"all of it."
    found, content = here.read([unproven], wanted_for="toy")
    assert (found.source, content) == (unproven, b"all of it.")
    assert len(server.asked) == 3


@pytest.mark.parametrize("broken", [b"all of", b"<html>"])
def test_without_a_server_a_broken_file_in_the_cache_is_as_good_as_none(here, unproven, broken):
    path = here.find([unproven], wanted_for="toy").paths[0]
    path.write_bytes(broken)
    with pytest.raises(MissingDataError, match="this machine"):
        replace(here, download=False).read([unproven], wanted_for="toy")
    path.unlink(missing_ok=True)
    (here.data_dir / "three.txt").write_bytes(b"333")
    assert replace(here, download=False).read([unproven, OTHER], wanted_for="toy")[1] == [b"333"]


def test_the_file_of_another_kind_that_a_server_sends_is_not_kept(here, unproven, server):
    server.routes["/text"] = b"<html>log in first.</html>"
    with pytest.raises(MissingDataError, match=r"b'<ht' .*b'all'") as missing:
        here.read([unproven], wanted_for="toy")
    assert missing.value.reason.startswith("the server's file is not the expected one")
    assert here.status([unproven]) == "download"


def test_who_reads_what_is_inside_a_file_need_not_know_its_name(here, server):
    def unreadable(*_):
        raise DataFileError("the table is empty")

    (here.data_dir / "three.txt").write_bytes(b"333")
    with pytest.raises(DataFileError, match=r"data.three\.txt: .*empty"):
        here.read([replace(OTHER, read=unreadable)], wanted_for="toy")


def test_a_broken_file_of_the_user_is_refused_and_stays(here, unproven, server):
    path = here.data_dir / "text"
    path.write_bytes(b"all of")
    with pytest.raises(DataFileError, match="is not whole"):
        here.read([unproven], wanted_for="toy")
    assert path.exists()
    assert not server.asked


def test_what_could_not_be_read_is_not_downloaded(here, on_server, server):
    extra = Extra(name="rare", module="no_such_module")
    told = 'no_such_module, which is not installed: pip install "mcquack[rare]"'
    with pytest.raises(MissingDataError, match="or install") as missing:
        here.read([replace(on_server, extra=extra)], wanted_for="toy")
    assert told in str(missing.value)
    assert told in missing.value.reason
    assert f'from {server.url}, once you pip install "mcquack[rare]"' in str(missing.value)
    assert not server.asked
    assert here.read([replace(on_server, extra=replace(extra, module="json"))], wanted_for="toy")


def test_a_cache_that_cannot_be_written_is_told(here, on_server):
    here.cache_dir.write_text("a file where the folder should be")
    with pytest.raises(MissingDataError, match=r"written .*MCQUACK_CACHE"):
        here.find([on_server], wanted_for="toy")


def test_whoever_lacks_files_learns_which_and_how_to_get_them(here, on_server, server):
    server.answers += [Answer(status=404)]
    openml = source(DataFile(name="toy.npz", url="openml:61"), title="at OpenML")
    assert openml.is_downloadable
    with pytest.raises(MissingDataError) as missing:
        replace(here, data_dir=None).find([BY_HAND, on_server], wanted_for="toy")
    assert (
        str(missing.value)
        == f"""\
toy needs files that are not on this machine, one of:
  two small files
    some/where/one.txt, by hand from {HOMEPAGE}
    some/where/two.txt, by hand from {HOMEPAGE}
  on a server
    some/where/a.bin, from {server.base}/a.bin
    some/where/file.bin, from {server.url}
They were looked for in {here.cache_dir}.
The download failed:
  {server.base}/a.bin could not be downloaded: the server answers 404 Not Found
What helps:
  put them into a folder, as listed or all at its top, and name it: MCQUACK_DATA=<folder>, --data-dir <folder> or \
load(…, data_dir=<folder>)
  or try again later"""
    )
    with pytest.raises(MissingDataError) as missing:
        replace(here, download=False).find([openml], wanted_for="toy")
    assert (
        str(missing.value)
        == f"""\
toy needs files that are not on this machine:
  at OpenML
    from https://www.openml.org/d/61
They were looked for in {here.data_dir} and {here.cache_dir}.
What helps:
  allow the download, which download=False forbids"""
    )


def test_the_variable_that_forbids_downloads_is_named(monkeypatch, on_server, server):
    monkeypatch.setenv("MCQUACK_OFFLINE", "1")
    with pytest.raises(MissingDataError, match="which MCQUACK_OFFLINE=1 forbids"):
        places().find([on_server], wanted_for="toy")
    with pytest.raises(MissingDataError) as missing:
        places().find([BY_HAND], wanted_for="toy")
    assert "download" not in str(missing.value)
    assert server.asked == []


def test_what_needs_no_files_has_no_place(here):
    assert here.status([]) == "built in"
    assert here.status([BY_HAND]) == "by hand"
    with pytest.raises(InvalidInputError, match=r"^toy"):
        here.find([], wanted_for="toy")


@pytest.mark.parametrize(
    ("said", "download"),
    [(None, True), ("", True), ("0", True), ("False", True), ("no", True), ("1", False), ("yes", False)],
)
def test_downloads_are_allowed_unless_forbidden(monkeypatch, said, download):
    if said is not None:
        monkeypatch.setenv("MCQUACK_OFFLINE", said)
    assert places().download is download
    assert places(download=True).download is True
    assert places(download=False).download is False


def test_places_come_from_arguments_or_else_from_variables(monkeypatch, tmp_path):
    cache = tmp_path / "cache"
    assert places() == Places(data_dir=None, cache_dir=cache, download=True)
    monkeypatch.setenv("MCQUACK_DATA", str(tmp_path))
    assert places().data_dir == tmp_path
    found = places(tmp_path / ".." / tmp_path.name).data_dir
    assert found is not None
    assert found.samefile(tmp_path)
    monkeypatch.delenv("MCQUACK_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "mcquack" in places().cache_dir.parts
    monkeypatch.setenv("MCQUACK_CACHE", "~/own")
    assert places("~").data_dir == Path.home()
    assert places().cache_dir == Path.home() / "own"
    assert not cache.exists()


def test_a_folder_that_does_not_exist_is_refused_with_who_named_it(monkeypatch, tmp_path):
    monkeypatch.setenv("MCQUACK_DATA", str(tmp_path / "none"))
    with pytest.raises(InvalidInputError, match=r"^MCQUACK_DATA .*none, .*not exist"):
        places()
    with pytest.raises(InvalidInputError, match=r"^data_dir .*nowhere, .*not exist"):
        places(tmp_path / "nowhere")
    assert places(tmp_path).data_dir == tmp_path


def test_a_folder_that_is_none_is_refused(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInputError, match=r"^data_dir .*is a file"):
        places(tmp_path / "file")
    with pytest.raises(InvalidInputError, match=r"^data_dir .*~nobody-at-all/x, but"):
        places("~nobody-at-all/x")
    monkeypatch.setenv("MCQUACK_CACHE", "~nobody-at-all/x")
    with pytest.raises(InvalidInputError, match=r"^MCQUACK_CACHE .*~nobody-at-all/x"):
        places()
