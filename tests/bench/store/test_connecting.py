import os
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mcquack.bench.store import Store
from mcquack.bench.store.connecting import _connect
from mcquack.errors import StoreError
from tests.bench.store.processes import hold, started
from tests.bench.store.values import done

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="modes of files mean less there")


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@contextmanager
def without_privileges():
    """The superuser may write everywhere, so they become another user for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder():
    """One that other users can look into, which those of pytest are not."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


def protect(folder):
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


def test_a_closed_store_is_a_single_file_beside_its_lock(path):
    with Store.open(path, create=True) as store:
        store.add(done(1))
        assert f"{path.name}-wal" in names(path.parent)
    assert set(names(path.parent)) <= {path.name, f"{path.name}.lock"}


def test_a_reader_leaves_nothing_behind_and_changes_nothing(path):
    with Store.open(path, create=True) as store:
        store.add(done(1))
    before = names(path.parent), path.read_bytes()
    with Store.open(path) as store:
        assert list(store.outcomes()) == [done(1)]
    assert (names(path.parent), path.read_bytes()) == before


def test_the_file_alone_has_all_rows_even_if_others_read_while_it_is_closed(path, tmp_path):
    store = Store.open(path, create=True)
    store.add(done(1))
    with Store.open(path) as reader:
        assert reader.counts().done == 1
        store.add(done(2))
        store.close()
        (tmp_path / "copy.sqlite").write_bytes(path.read_bytes())
        assert reader.counts().done == 2
    with Store.open(tmp_path / "copy.sqlite", write=True) as copy:
        assert copy.counts().done == 2
    Store.open(path, write=True).close()
    assert not path.with_name(f"{path.name}-wal").exists()


@pytest.mark.parametrize("name", ["with space", "a?mode=memory", "50%25", "ü#1", "'quoted\"", ":memory:"])
@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")
def test_any_name_of_a_file_will_do(tmp_path, name):
    with Store.open(tmp_path / name, create=True) as store:
        store.add(done(1))
    assert name in names(tmp_path)
    with Store.open(tmp_path / name) as store:
        assert list(store.outcomes()) == [done(1)]


def test_a_path_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store.open("store.sqlite", create=True) as store:
        store.add(done(1))
        assert store.path == Path("store.sqlite")
    monkeypatch.chdir(tmp_path.parent)
    with Store.open(f"{tmp_path.name}/store.sqlite") as store:
        assert list(store.outcomes()) == [done(1)]


@pytest.mark.skipif(sys.platform == "win32", reason="the same exists there under another name")
def test_a_disk_that_offers_no_log_is_written_with_more_care(path, monkeypatch):
    def connect(path, *, mode):
        return _connect(path, mode=f"{mode}&vfs=unix-none")  # knows no shared memory, which a log needs

    monkeypatch.setattr("mcquack.bench.store.connecting._connect", connect)
    with Store.open(path, create=True) as store:
        store.add(done(1))
        assert store._connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        with Store.open(path) as reader:
            assert list(reader.outcomes()) == [done(1)]


@needs_modes
class TestWhereNobodyMayWrite:
    def test_a_closed_store_is_read(self, open_folder):
        path = open_folder / "store.sqlite"
        with Store.open(path, create=True) as store:
            store.add(done(1))
        protect(open_folder)
        with without_privileges(), Store.open(path) as store:
            assert list(store.outcomes()) == [done(1)]

    @pytest.mark.parametrize("kept", [("-wal", "-shm"), ("-wal",)])
    def test_a_store_is_read_whose_writer_was_killed(self, open_folder, kept):
        path = open_folder / "store.sqlite"
        with started(hold, path) as (_, pipe):
            assert pipe.recv() == "open"
        for ending in {"-wal", "-shm"} - set(kept):  # as after a copy
            path.with_name(path.name + ending).unlink()
        protect(open_folder)
        with without_privileges(), Store.open(path) as store:
            assert list(store.outcomes()) == [done(1)]

    def test_a_store_is_read_whose_last_user_left_no_log(self, open_folder):
        path = open_folder / "store.sqlite"
        with Store.open(path, create=True) as store:
            store.add(done(1))
            store._connection.close()  # in the way that leaves the file in the mode with a log
            store._lock.release()
            store._lock = None
        assert not path.with_name(f"{path.name}-wal").exists()
        protect(open_folder)
        with without_privileges(), Store.open(path) as store:
            assert list(store.outcomes()) == [done(1)]

    def test_nothing_is_written(self, open_folder):
        path = open_folder / "store.sqlite"
        with Store.open(path, create=True) as store:
            store.add(done(1))
        protect(open_folder)
        with without_privileges(), pytest.raises(StoreError, match=r"allow writing to its folder.* safe"):
            Store.open(path, write=True)
        with without_privileges(), pytest.raises(StoreError, match="allow writing to its folder"):
            Store.open(open_folder / "new.sqlite", create=True)

    def test_a_file_that_is_read_only_is_read_but_not_written(self, open_folder):
        path = open_folder / "store.sqlite"
        with Store.open(path, create=True) as store:
            store.add(done(1))
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
        path.chmod(0o444)
        open_folder.chmod(0o777)
        with without_privileges():
            with Store.open(path) as store:
                assert list(store.outcomes()) == [done(1)]
            with pytest.raises(StoreError, match=r"read-only .* copy it to where you may write.* safe"):
                Store.open(path, write=True)

    def test_a_file_that_nobody_may_read_is_told_as_such(self, open_folder):
        path = open_folder / "store.sqlite"
        Store.open(path, create=True).close()
        path.chmod(0)
        with without_privileges(), pytest.raises(StoreError, match="cannot be opened"):
            Store.open(path)

    def test_a_folder_that_nobody_may_enter_is_told_as_such(self, open_folder):
        path = open_folder / "store.sqlite"
        Store.open(path, create=True).close()
        open_folder.chmod(0)
        with without_privileges(), pytest.raises(StoreError, match=str(path)):
            Store.open(path)
