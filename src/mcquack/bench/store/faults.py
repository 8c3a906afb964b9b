"""What the errors of SQLite and of the system mean to whoever runs a benchmark."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcquack.errors import StoreError

_TRY_AGAIN = "run the same command again"
# By the name of SQLite's code, without its details: what happened, and what to do.
_MEANINGS = {
    "FULL": ("the disk is full", f"make room and {_TRY_AGAIN}"),
    "READONLY": ("it or its folder is read-only", "allow writing to both, or copy it to where you may write"),
    "PERM": ("you may not use it", "allow access to it and to its folder"),
    "CANTOPEN": ("it cannot be opened", "check that it is a file and that you may use it and its folder"),
    "IOERR": ("the disk reports an error", f"check the disk and its free space, then {_TRY_AGAIN}"),
    "NOTADB": ("it is no SQLite file", "give the path of one that `mcquack bench run` made"),
    "CORRUPT": ("it is damaged", "use a copy, or save what can be read: sqlite3 FILE .recover | sqlite3 NEW_FILE"),
    "BUSY": ("another program holds it", f"close that program and {_TRY_AGAIN}"),
}
_OTHERWISE = ("something unexpected happened", "if it is a file that `mcquack bench run` made, report a bug")
_NOTHING_IS_SAFE = ("NOTADB", "CORRUPT")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns errors into one that says which file, what happened, what is safe and what to do."""
    try:
        yield
    except StoreError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise StoreError(_explanation(error, path)) from error


def _explanation(error: sqlite3.Error | OSError, path: Path) -> str:
    name = _name(error)
    what, help_ = _MEANINGS.get(name, _OTHERWISE)
    safe = "" if name in _NOTHING_IS_SAFE else " What it holds already is safe."
    return f"the store {path} cannot be used, {what} ({error}): {help_}.{safe}"


def _name(error: sqlite3.Error | OSError) -> str:
    """IOERR for SQLITE_IOERR_WRITE: what follows it asks for nothing else."""
    if isinstance(error, PermissionError):
        return "PERM"
    if isinstance(error, OSError):
        return "IOERR"
    return getattr(error, "sqlite_errorname", "SQLITE_ERROR").split("_")[1]
