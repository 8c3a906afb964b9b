import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from mcquack.database import executing
from mcquack.errors import StoreError
from tests.database.notebook import NOTEBOOK, Notebook

NEXT = executing("ALTER TABLE notes ADD COLUMN page INTEGER", "UPDATE notes SET text = 'from a later version'")
FAILING = executing("DELETE FROM notes", "SELECT missing FROM notes")


def query(path, text):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def of_migrations(*more):
    return replace(NOTEBOOK, migrations=(*NOTEBOOK.migrations, *more))


@pytest.fixture
def later_version(notebook, monkeypatch):
    """Has a notebook of this version and turns the code into that of the next one."""
    notebook.add("1")
    notebook.close()
    monkeypatch.setattr(Notebook, "_kind", of_migrations(NEXT))


def test_an_older_file_is_migrated_when_it_is_opened_to_write(path, later_version):
    with Notebook.open(path, write=True) as notebook:
        assert notebook.texts() == ["from a later version"]
    assert query(path, "PRAGMA user_version") == [(2,)]
    assert query(path, "SELECT text, page FROM notes") == [("from a later version", None)]


def test_an_older_file_is_read_as_if_migrated_and_stays_as_it_is(path, later_version):
    before = path.read_bytes()
    with Notebook.open(path) as notebook:
        assert notebook.texts() == ["from a later version"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("write", [False, True])
def test_a_migration_that_fails_changes_nothing(path, later_version, monkeypatch, write):
    with monkeypatch.context() as patched:
        patched.setattr(Notebook, "_kind", of_migrations(NEXT, FAILING))
        with pytest.raises(StoreError, match="no such column"):
            Notebook.open(path, write=write)
    assert query(path, "PRAGMA user_version") == [(1,)]
    assert query(path, "SELECT text FROM notes") == [("1",)]
    with Notebook.open(path, write=True) as notebook:
        assert len(notebook.texts()) == 1


def test_a_new_file_goes_through_all_versions(path, monkeypatch):
    monkeypatch.setattr(Notebook, "_kind", of_migrations(NEXT))
    with Notebook.open(path, create=True) as notebook, Notebook.in_memory() as other:
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
        with pytest.raises(StoreError, match=r"version 2 .* up to 1: upgrade mcquack\. What it holds is safe\."):
            Notebook.open(path, **fields)
        assert path.read_bytes() == before

    def test_a_database_of_another_program(self, path, fields):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE notes (text)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"no notebook of mcquack.* give the path of one that a test made") as told:
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
    with pytest.raises(StoreError, match=r"no notebook at .*; a test makes one"):
        Notebook.open(path, write=write)
    assert list(path.parent.iterdir()) == []


def test_an_empty_file_is_used_only_if_one_is_to_be_made(path):
    path.touch()
    for fields in ({}, {"write": True}):
        with pytest.raises(StoreError, match="no notebook of mcquack"):
            Notebook.open(path, **fields)
    with Notebook.open(path, create=True) as notebook:
        notebook.add("1")
    with Notebook.open(path) as notebook:
        assert notebook.texts() == ["1"]
