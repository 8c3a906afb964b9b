"""What the errors of SQLite and of the system mean to whoever uses a file."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mcquack.database.kind import FileKind, Meaning
from mcquack.errors import McQuackError, StoreError

_NOTHING_IS_SAFE = ("NOTADB", "CORRUPT")


@contextmanager
def explained(kind: FileKind, place: object) -> Iterator[None]:
    """Turns errors into one that says which file, what happened, what is safe and what to do."""
    try:
        yield
    except McQuackError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise StoreError(_explanation(error, kind, place=place)) from error


def _explanation(error: sqlite3.Error | OSError, kind: FileKind, *, place: object) -> str:
    name = _name(error)
    otherwise = ("something unexpected happened", f"if {kind.maker} made it, report a bug")
    what, help_ = _meanings(kind).get(name, otherwise)
    safe = "" if name in _NOTHING_IS_SAFE else f" {kind.safe}."
    return f"the {kind.noun} {place} cannot be used, {what} ({error}): {help_}.{safe}"


def _meanings(kind: FileKind) -> Mapping[str, Meaning]:
    """By the name of SQLite's code, without its details."""
    return {
        "FULL": ("the disk is full", f"make room and {kind.try_again}"),
        "READONLY": ("it or its folder is read-only", "allow writing to both, or copy it to where you may write"),
        "PERM": ("you may not use it", "allow access to it and to its folder"),
        "CANTOPEN": ("it cannot be opened", "check that it is a file and that you may use it and its folder"),
        "IOERR": ("the disk reports an error", f"check the disk and its free space, then {kind.try_again}"),
        "NOTADB": ("it is no SQLite file", f"give the path of one that {kind.maker} made"),
        "CORRUPT": ("it is damaged", "use a copy, or save what can be read: sqlite3 FILE .recover | sqlite3 NEW_FILE"),
        "BUSY": ("another program holds it", f"close that program and {kind.try_again}"),
        **kind.meanings,
    }


def _name(error: sqlite3.Error | OSError) -> str:
    """IOERR for SQLITE_IOERR_WRITE: what follows it asks for nothing else."""
    if isinstance(error, PermissionError):
        return "PERM"
    if isinstance(error, OSError):
        return "IOERR"
    return getattr(error, "sqlite_errorname", "SQLITE_ERROR").split("_")[1]
