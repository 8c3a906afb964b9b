"""Connections to a file: one that writes, or any number that read."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from mcquack.database.kind import FileKind
from mcquack.database.migrating import is_of, migrate, version
from mcquack.errors import StoreError

_SECONDS_TO_WAIT = 30.0  # for others to finish a transaction


def writing_connection(kind: FileKind, path: Path, *, create: bool) -> sqlite3.Connection:
    """To a file of the newest version; an older one is migrated, and with ``create`` a missing one is made."""
    connection = _connect(path, mode="rwc" if create else "rw")
    with _closed_on_error(connection):
        _prepare(kind, connection, path=path, create=create)
    return connection


def reading_connection(kind: FileKind, path: Path) -> sqlite3.Connection:
    """To a file of the newest version; an older one is read into memory and migrated there."""
    connection = _readable(path)
    with _closed_on_error(connection):
        _refuse_others(kind, connection, path=path, create=False)
        if version(connection) == kind.newest_version:
            return connection
        copy = _copy_in_memory(connection)
    connection.close()
    with _closed_on_error(copy):
        migrate(kind, copy)
    return copy


def memory_connection(kind: FileKind) -> sqlite3.Connection:
    """To tables that end with the process."""
    connection = _in_memory(check_same_thread=False)  # the caller lets one thread in at a time
    with _closed_on_error(connection):
        migrate(kind, connection)
        connection.execute("PRAGMA foreign_keys = ON")
    return connection


def require_file(kind: FileKind, path: Path) -> None:
    """Refuses a path with no file."""
    if not path.is_file():
        raise StoreError(f"there is no {kind.noun} at {path}; {kind.maker} makes one.")


def leave_one_file(connection: sqlite3.Connection) -> None:
    """Folds the log of a file into it, so that it can be copied, and read where nobody may write."""
    connection.execute("PRAGMA busy_timeout = 0")
    # The log stays while others read, and rows stay in it if the disk is full; the next writer tries again.
    for statement in ("PRAGMA wal_checkpoint", "PRAGMA journal_mode = DELETE"):
        with suppress(sqlite3.OperationalError):
            connection.execute(statement).fetchall()


def _prepare(kind: FileKind, connection: sqlite3.Connection, *, path: Path, create: bool) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if not create or path.stat().st_size > 0:  # only what has no content at all may be overwritten
        _refuse_others(kind, connection, path=path, create=create)
    migrate(kind, connection)
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")
    # A log lets others read while one writes. Some network disks offer none; NORMAL could cost the file there.
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute(f"PRAGMA synchronous = {kind.synchronous if mode == 'wal' else 'FULL'}")


def _refuse_others(kind: FileKind, connection: sqlite3.Connection, *, path: Path, create: bool) -> None:
    """Refuses files of other programs, of other kinds and of newer versions."""
    if not is_of(kind, connection):
        or_new = ", or one where there is no file yet" if create else ""
        raise StoreError(
            f"{path} is no {kind.noun} of mcquack, and was left as it is; give the path of one that {kind.maker} "
            f"made{or_new}."
        )
    if (found := version(connection)) > kind.newest_version:
        raise StoreError(
            f"the {kind.noun} {path} has version {found} and was written by a newer mcquack; this one knows versions "
            f"up to {kind.newest_version}: upgrade mcquack. {kind.safe}."
        )


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    # Transactions begin and end where the code says so, hence no isolation level.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=_SECONDS_TO_WAIT, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _in_memory(*, check_same_thread: bool = True) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=check_same_thread)
    connection.row_factory = sqlite3.Row
    return connection


def _readable(path: Path) -> sqlite3.Connection:
    connection = _connect(path, mode="ro")
    try:
        with _closed_on_error(connection):
            version(connection)
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            raise
        return _readable_without_writing(path)
    return connection


def _readable_without_writing(path: Path) -> sqlite3.Connection:
    """For a file that SQLite would have to repair first, or to note beside it who reads what."""
    unfinished = [log for log in _logs(path) if log.exists() and log.stat().st_size > 0]
    if not unfinished:
        return _connect(path, mode="ro&immutable=1")
    with TemporaryDirectory() as folder:
        for file in (path, *unfinished):
            shutil.copyfile(file, Path(folder) / file.name)
        with closing(_connect(Path(folder) / path.name, mode="rw")) as connection:
            return _copy_in_memory(connection)


def _logs(path: Path) -> tuple[Path, ...]:
    """Where SQLite notes what a writer that was killed has left to do."""
    return tuple(path.with_name(f"{path.name}-{kind}") for kind in ("wal", "journal"))


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _copy_in_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    copy = _in_memory()
    with _closed_on_error(copy):
        connection.backup(copy)
    return copy
