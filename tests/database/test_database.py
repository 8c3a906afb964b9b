import gzip
import os
import re
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mcquack.bench.store import STORE
from mcquack.database import _connect, executing, explained
from mcquack.errors import DeviceError, McQuackError, StoreBusyError, StoreError
from mcquack.hardware.jobs.ledger import LEDGER
from tests.database.notebook import NOTEBOOK, Notebook
from tests.database.permissions import protect, without_privileges
from tests.database.processes import hold, started


def test_a_transaction_is_all_or_nothing(notebook):
    notebook.add("1")
    with pytest.raises(StoreError, match="NOT NULL"):
        notebook.add("2", None)
    assert notebook.texts() == ["1"]
    notebook.add("3")
    assert notebook.texts() == ["1", "3"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_transaction_that_is_broken_off_leaves_nothing(notebook, error):
    def texts():
        yield "1"
        raise error

    with pytest.raises(error), notebook._transaction() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", ([text] for text in texts()))
    assert notebook.texts() == []
    notebook.add("2")


def test_what_was_opened_to_read_is_not_written(path, notebook):
    with (
        Notebook.open(path) as reader,
        pytest.raises(StoreError, match="write=True"),
    ):
        reader.add("1")
    notebook.close()
    with pytest.raises(StoreError, match="write=True"):
        notebook.add("1")


def test_closing_twice_does_no_harm(path, notebook):
    notebook.close()
    notebook.close()
    with Notebook.open(path, write=True) as next_one:
        next_one.add("1")


def test_what_is_in_memory_is_written_and_shared_by_threads_that_take_turns():
    with Notebook.in_memory() as notebook, ThreadPoolExecutor(1) as other:
        notebook.add("1")
        other.submit(notebook.add, "2").result()
        assert notebook.texts() == ["1", "2"]
        assert str(notebook) == "in memory"
        assert notebook.path is None


def test_a_row_that_makes_no_sense_is_told_with_its_file(path, notebook):
    with pytest.raises(StoreError, match=r"cannot be read \(odd\)") as told, notebook._readable_content():
        raise ValueError("odd")
    assert f"a row of the notebook {path} " in str(told.value)


@pytest.fixture
def packed(path, notebook):
    """A compressed notebook with one text."""
    notebook.add("1")
    notebook.close()
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


@pytest.mark.parametrize("name", ["notebook.sqlite.gz", "notebook"])
def test_a_compressed_notebook_is_read_and_nothing_is_left_beside_it(packed, name, tmp_path):
    packed = packed.rename(tmp_path / name)
    before = names(tmp_path)
    with Notebook.open(packed) as notebook:
        assert notebook.texts() == ["1"]
        assert notebook.path == packed
        with pytest.raises(StoreError):
            notebook.add("2")
    assert names(tmp_path) == before


def test_a_compressed_notebook_of_an_older_version_is_read(packed):
    with LaterNotebook.open(packed) as notebook:
        assert notebook.texts() == ["from a later version"]


@pytest.mark.parametrize("fields", [{"write": True}, {"create": True}])
@pytest.mark.parametrize("name", ["notebook.sqlite.gz", "notebook", "new.sqlite.gz"])
def test_a_compressed_notebook_is_not_written_but_to_be_decompressed_first(packed, name, fields, tmp_path):
    if not name.startswith("new"):
        packed = packed.rename(tmp_path / name)
    before, content = names(tmp_path), packed.read_bytes()
    with pytest.raises(StoreError, match=r"gunzip|no notebook"):
        Notebook.open(tmp_path / name, **fields)
    assert (names(tmp_path), packed.read_bytes()) == (before, content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: content[:20] + b"\xff" * 20 + content[40:],
        lambda content: content[:-8] + bytes(8),
        lambda _: gzip.compress(b"no notebook"),
        lambda _: gzip.compress(b""),
    ],
    ids=["cut off", "damaged", "other checksum", "of a text", "of nothing"],
)
def test_a_compressed_file_that_is_no_notebook_is_refused_with_its_name(packed, damage):
    packed.write_bytes(damage(packed.read_bytes()))
    with pytest.raises(StoreError, match=re.escape(str(packed))):
        Notebook.open(packed)


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
    def connect(kind, path, *, mode):
        return _connect(kind, path, mode=f"{mode}&vfs=unix-none")  # knows no shared memory, which a log needs

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
        with without_privileges(), pytest.raises(StoreError, match="allow writing"):
            Notebook.open(path, write=True)
        with without_privileges(), pytest.raises(StoreError, match="allow writing"):
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
            with pytest.raises(StoreError, match=r"read-only .* copy it"):
                Notebook.open(path, write=True)

    def test_a_file_that_nobody_may_read_is_told_as_such(self, open_folder):
        path = open_folder / "notebook.sqlite"
        Notebook.open(path, create=True).close()
        path.chmod(0)
        with without_privileges(), pytest.raises(StoreError, match="allow access"):
            Notebook.open(path)

    def test_a_folder_that_nobody_may_enter_is_told_as_such(self, open_folder):
        path = open_folder / "notebook.sqlite"
        Notebook.open(path, create=True).close()
        open_folder.chmod(0)
        with without_privileges(), pytest.raises(StoreError, match=str(path)):
            Notebook.open(path)


PLACE = Path("a.sqlite")


def sqlite_error(name):
    error = sqlite3.OperationalError("details")
    error.sqlite_errorname = name
    return error


def told(error, kind=NOTEBOOK):
    with pytest.raises(StoreError) as caught, explained(kind, PLACE):
        raise error
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "what", "help_"),
    [
        ("SQLITE_FULL", "the disk is full", "make room and do the same again"),
        ("SQLITE_READONLY_DIRECTORY", "it or its folder is read-only", "copy it to where you may write"),
        ("SQLITE_PERM", "you may not use it", "allow access"),
        ("SQLITE_CANTOPEN", "it cannot be opened", "check that it is a file"),
        ("SQLITE_IOERR_WRITE", "the disk reports an error", "then do the same again"),
        ("SQLITE_NOTADB", "it is no SQLite file", "give the path of one that a test made"),
        ("SQLITE_CORRUPT", "it is damaged", "sqlite3 FILE .recover"),
        ("SQLITE_BUSY", "another program holds it", "close that program and do the same again"),
        ("SQLITE_MISUSE", "something unexpected happened", "if a test made it, report a bug"),
    ],
)
def test_an_error_says_which_file_what_happened_what_is_safe_and_what_to_do(name, what, help_):
    message = told(sqlite_error(name))
    assert message.startswith(f"the notebook a.sqlite cannot be used, {what} (details): ")
    assert help_ in message
    assert message.endswith(" What it holds is safe.") == (name not in ("SQLITE_NOTADB", "SQLITE_CORRUPT"))


def test_errors_of_the_system_are_explained_as_well():
    assert "allow access" in told(PermissionError("no"))
    assert "check the disk" in told(OSError("broken"))


def test_a_kind_has_words_of_its_own():
    kind = replace(
        NOTEBOOK, safe="All is well", try_again="write again", meanings={"TOOBIG": ("it is too long", "write less")}
    )
    assert told(sqlite_error("SQLITE_TOOBIG"), kind).endswith("it is too long (details): write less. All is well.")
    assert "make room and write again. All is well." in told(sqlite_error("SQLITE_FULL"), kind)


def test_an_error_keeps_its_cause_and_is_what_callers_expect():
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StoreError, match=r"no such table: a.*report a bug") as caught,
        explained(NOTEBOOK, PLACE),
    ):
        connection.execute("SELECT * FROM a")
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert isinstance(caught.value, McQuackError)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("error", [StoreBusyError("busy"), DeviceError("off"), ValueError("odd")])
def test_other_errors_stay_as_they_are(error):
    with pytest.raises(type(error)) as caught, explained(NOTEBOOK, PLACE):
        raise error
    assert caught.value is error


def test_a_program_that_holds_the_file_is_told_of(path):
    class Impatient(Notebook):
        _kind = replace(NOTEBOOK, seconds_to_wait=0.05)

    Notebook.open(path, create=True).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for write in (False, True):
            with pytest.raises(StoreError, match="close that program"):
                Impatient.open(path, write=write)
    with Notebook.open(path, write=True) as notebook:
        notebook.add("1")


def test_a_migration_executes_its_statements_in_their_order():
    with closing(sqlite3.connect(":memory:")) as connection:
        executing("CREATE TABLE a (b)", "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)")(connection)
        assert connection.execute("SELECT b FROM a").fetchall() == [(1,), (2,)]


def test_kinds_are_told_apart():
    assert STORE.application_id == int.from_bytes(b"mcqk", "big")
    assert LEDGER.application_id == int.from_bytes(b"mcqj", "big")


NEXT = executing("ALTER TABLE notes ADD COLUMN page INTEGER", "UPDATE notes SET text = 'from a later version'")
FAILING = executing("DELETE FROM notes", "SELECT missing FROM notes")


def query(path, text):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def of_migrations(*more):
    return replace(NOTEBOOK, migrations=(*NOTEBOOK.migrations, *more))


class LaterNotebook(Notebook):
    """The notebook of the next version."""

    _kind = of_migrations(NEXT)


class FailingNotebook(Notebook):
    """One whose second migration fails."""

    _kind = of_migrations(NEXT, FAILING)


@pytest.fixture
def of_this_version(path, notebook):
    """The path of a notebook of this version with one text."""
    notebook.add("1")
    notebook.close()
    return path


def test_an_older_file_is_migrated_when_it_is_opened_to_write(of_this_version):
    path = of_this_version
    with LaterNotebook.open(path, write=True) as notebook:
        assert notebook.texts() == ["from a later version"]
    assert query(path, "PRAGMA user_version") == [(2,)]
    assert query(path, "SELECT text, page FROM notes") == [("from a later version", None)]


def test_an_older_file_is_read_as_if_migrated_and_stays_as_it_is(of_this_version):
    path = of_this_version
    before = path.read_bytes()
    with LaterNotebook.open(path) as notebook:
        assert notebook.texts() == ["from a later version"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("write", [False, True])
def test_a_migration_that_fails_changes_nothing(of_this_version, write):
    path = of_this_version
    with pytest.raises(StoreError, match="no such column"):
        FailingNotebook.open(path, write=write)
    assert query(path, "PRAGMA user_version") == [(1,)]
    assert query(path, "SELECT text FROM notes") == [("1",)]
    with LaterNotebook.open(path, write=True) as notebook:
        assert len(notebook.texts()) == 1


def test_a_new_file_goes_through_all_versions(path):
    with LaterNotebook.open(path, create=True) as notebook, LaterNotebook.in_memory() as other:
        for one in (notebook, other):
            one._connection.execute("INSERT INTO notes (text, page) VALUES ('a', 1)")
            assert one.texts() == ["a"]


@pytest.mark.parametrize("fields", [{}, {"write": True}, {"create": True}])
class TestWhatIsRefused:
    def test_a_file_of_a_newer_version(self, path, notebook, fields):
        notebook.add("1")
        notebook.close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 2")
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"version 2 .* up to 1: "):
            Notebook.open(path, **fields)
        assert path.read_bytes() == before

    def test_a_database_of_another_program(self, path, fields):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE notes (text)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match=re.escape(str(path))) as told:
            Notebook.open(path, **fields)
        assert ("where there is no file yet" in str(told.value)) == ("create" in fields)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("text", [b"a", b"a,b\n1,2\n", b"a,b\n" * 1000, b"SQLite format 3\0"])
    def test_a_file_of_another_kind(self, path, text, fields):
        path.write_bytes(text)
        with pytest.raises(StoreError, match=str(path)):
            Notebook.open(path, **fields)
        assert path.read_bytes() == text

    def test_a_folder(self, path, fields):
        path.mkdir()
        with pytest.raises(StoreError, match=str(path)):
            Notebook.open(path, **fields)


@pytest.mark.parametrize("write", [False, True])
def test_a_file_is_made_only_where_that_was_asked_for(path, write):
    with pytest.raises(StoreError, match=str(path)):
        Notebook.open(path, write=write)
    assert list(path.parent.iterdir()) == []


def test_an_empty_file_is_used_only_if_one_is_to_be_made(path):
    path.touch()
    for fields in ({}, {"write": True}):
        with pytest.raises(StoreError, match=str(path)):
            Notebook.open(path, **fields)
    with Notebook.open(path, create=True) as notebook:
        notebook.add("1")
    with Notebook.open(path) as notebook:
        assert notebook.texts() == ["1"]


def test_a_second_writer_is_refused_while_the_first_one_writes(path):
    with started(hold, path) as (_, first):
        assert first.recv() == "open"
        with started(hold, path) as (_, second):
            assert second.recv().startswith("StoreBusyError: another process is writing")
        with Notebook.open(path) as reader:
            assert reader.texts() == ["1"]
        first.send("close")
        assert first.recv() == "closed"
        with Notebook.open(path, write=True) as notebook:
            notebook.add("2")
    with Notebook.open(path) as reader:
        assert len(reader.texts()) == 2


def test_a_writer_that_was_killed_holds_nothing(path):
    with started(hold, path) as (process, pipe):
        assert pipe.recv() == "open"
        process.kill()
        process.join()
        with Notebook.open(path, write=True) as notebook:
            assert notebook.texts() == ["1"]


def test_two_writers_within_one_process_are_refused_as_well(path, notebook):
    with pytest.raises(StoreBusyError, match="Reading is possible"):
        Notebook.open(path, write=True)
    notebook.add("1")


def test_a_notebook_is_the_same_under_another_name(path, notebook):
    link = path.with_name("link.sqlite")
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("links are not allowed here")
    with pytest.raises(StoreBusyError):
        Notebook.open(link, write=True)


def test_where_no_lock_can_be_made_nothing_is_written(path):
    path.with_name(f"{path.name}.lock").mkdir()
    with pytest.raises(StoreError, match="no lock"):
        Notebook.open(path, create=True)
    assert not path.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_folders_pipes_and_devices_are_refused_at_once_and_left_alone(kind, tmp_path):
    path = tmp_path / "notebook.sqlite"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    for options in ({}, {"write": True}, {"create": True}):
        with pytest.raises(StoreError, match=r"is a (folder|pipe|device), where a .* was expected"):
            Notebook.open(path, **options)
    assert [file.name for file in tmp_path.iterdir()] == ["notebook.sqlite"]
