import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mcquack.database import explained
from mcquack.errors import DeviceError, McQuackError, StoreBusyError, StoreError
from tests.database.notebook import NOTEBOOK, Notebook

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


def test_a_program_that_holds_the_file_is_told_of(path, monkeypatch):
    monkeypatch.setattr("mcquack.database._SECONDS_TO_WAIT", 0.05)
    Notebook.open(path, create=True).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for write in (False, True):
            with pytest.raises(StoreError, match=r"another program holds it .*close that program"):
                Notebook.open(path, write=write)
    with Notebook.open(path, write=True) as notebook:
        notebook.add("1")
