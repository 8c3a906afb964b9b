import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mcquack.database import _connect
from mcquack.errors import StoreError
from tests.database.notebook import Notebook
from tests.database.permissions import protect, without_privileges
from tests.database.processes import hold, started

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="modes of files mean less there")


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def open_folder():
    """One that other users can look into, which those of pytest are not."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


def test_a_closed_notebook_is_a_single_file_beside_its_lock(path):
    with Notebook.open(path, create=True) as notebook:
        notebook.add("1")
        assert f"{path.name}-wal" in names(path.parent)
    assert set(names(path.parent)) <= {path.name, f"{path.name}.lock"}


def test_a_reader_leaves_nothing_behind_and_changes_nothing(path):
    with Notebook.open(path, create=True) as notebook:
        notebook.add("1")
    before = names(path.parent), path.read_bytes()
    with Notebook.open(path) as notebook:
        assert notebook.texts() == ["1"]
    assert (names(path.parent), path.read_bytes()) == before


def test_the_file_alone_has_all_rows_even_if_others_read_while_it_is_closed(path, tmp_path):
    notebook = Notebook.open(path, create=True)
    notebook.add("1")
    with Notebook.open(path) as reader:
        assert len(reader.texts()) == 1
        notebook.add("2")
        notebook.close()
        (tmp_path / "copy.sqlite").write_bytes(path.read_bytes())
        assert len(reader.texts()) == 2
    with Notebook.open(tmp_path / "copy.sqlite", write=True) as copy:
        assert len(copy.texts()) == 2
    Notebook.open(path, write=True).close()
    assert not path.with_name(f"{path.name}-wal").exists()


@pytest.mark.parametrize("name", ["with space", "a?mode=memory", "50%25", "ü#1", "'quoted\"", ":memory:"])
@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")
def test_any_name_of_a_file_will_do(tmp_path, name):
    with Notebook.open(tmp_path / name, create=True) as notebook:
        notebook.add("1")
    assert name in names(tmp_path)
    with Notebook.open(tmp_path / name) as notebook:
        assert notebook.texts() == ["1"]


def test_a_path_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Notebook.open("notebook.sqlite", create=True) as notebook:
        notebook.add("1")
        assert notebook.path == Path("notebook.sqlite")
    monkeypatch.chdir(tmp_path.parent)
    with Notebook.open(f"{tmp_path.name}/notebook.sqlite") as notebook:
        assert notebook.texts() == ["1"]


@pytest.mark.skipif(sys.platform == "win32", reason="the same exists there under another name")
def test_a_disk_that_offers_no_log_is_written_with_more_care(path, monkeypatch):
    def connect(path, *, mode):
        return _connect(path, mode=f"{mode}&vfs=unix-none")  # knows no shared memory, which a log needs

    monkeypatch.setattr("mcquack.database._connect", connect)
    with Notebook.open(path, create=True) as notebook:
        notebook.add("1")
        assert notebook._connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert notebook._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        with Notebook.open(path) as reader:
            assert reader.texts() == ["1"]


@needs_modes
class TestWhereNobodyMayWrite:
    def test_a_closed_notebook_is_read(self, open_folder):
        path = open_folder / "notebook.sqlite"
        with Notebook.open(path, create=True) as notebook:
            notebook.add("1")
        protect(open_folder)
        with without_privileges(), Notebook.open(path) as notebook:
            assert notebook.texts() == ["1"]

    @pytest.mark.parametrize("kept", [("-wal", "-shm"), ("-wal",)])
    def test_a_notebook_is_read_whose_writer_was_killed(self, open_folder, kept):
        path = open_folder / "notebook.sqlite"
        with started(hold, path) as (_, pipe):
            assert pipe.recv() == "open"
        for ending in {"-wal", "-shm"} - set(kept):  # as after a copy
            path.with_name(path.name + ending).unlink()
        protect(open_folder)
        with without_privileges(), Notebook.open(path) as notebook:
            assert notebook.texts() == ["1"]

    def test_a_notebook_is_read_whose_last_user_left_no_log(self, open_folder):
        path = open_folder / "notebook.sqlite"
        with Notebook.open(path, create=True) as notebook:
            notebook.add("1")
            notebook._connection.close()  # in the way that leaves the file in the mode with a log
            notebook._lock.release()
            notebook._lock = None
        assert not path.with_name(f"{path.name}-wal").exists()
        protect(open_folder)
        with without_privileges(), Notebook.open(path) as notebook:
            assert notebook.texts() == ["1"]

    def test_nothing_is_written(self, open_folder):
        path = open_folder / "notebook.sqlite"
        with Notebook.open(path, create=True) as notebook:
            notebook.add("1")
        protect(open_folder)
        with without_privileges(), pytest.raises(StoreError, match=r"allow writing to its folder.* safe"):
            Notebook.open(path, write=True)
        with without_privileges(), pytest.raises(StoreError, match="allow writing to its folder"):
            Notebook.open(open_folder / "new.sqlite", create=True)

    def test_a_file_that_is_read_only_is_read_but_not_written(self, open_folder):
        path = open_folder / "notebook.sqlite"
        with Notebook.open(path, create=True) as notebook:
            notebook.add("1")
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
        path.chmod(0o444)
        open_folder.chmod(0o777)
        with without_privileges():
            with Notebook.open(path) as notebook:
                assert notebook.texts() == ["1"]
            with pytest.raises(StoreError, match=r"read-only .* copy it to where you may write.* safe"):
                Notebook.open(path, write=True)

    def test_a_file_that_nobody_may_read_is_told_as_such(self, open_folder):
        path = open_folder / "notebook.sqlite"
        Notebook.open(path, create=True).close()
        path.chmod(0)
        with without_privileges(), pytest.raises(StoreError, match="cannot be opened"):
            Notebook.open(path)

    def test_a_folder_that_nobody_may_enter_is_told_as_such(self, open_folder):
        path = open_folder / "notebook.sqlite"
        Notebook.open(path, create=True).close()
        open_folder.chmod(0)
        with without_privileges(), pytest.raises(StoreError, match=str(path)):
            Notebook.open(path)
