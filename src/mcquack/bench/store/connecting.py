"""Connections to the file of a store: one that writes, or any number that read."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from mcquack.bench.store import schema
from mcquack.errors import StoreError

_SECONDS_TO_WAIT = 30.0  # for others to finish a transaction


def writing_connection(path: Path, *, create: bool) -> sqlite3.Connection:
    """To a store of the newest version; an older one is migrated, and with ``create`` a missing one is made."""
    connection = _connect(path, mode="rwc" if create else "rw")
    with _closed_on_error(connection):
        _prepare(connection, path, create=create)
    return connection


def reading_connection(path: Path) -> sqlite3.Connection:
    """To a store of the newest version; an older one is read into memory and migrated there."""
    connection = _readable(path)
    with _closed_on_error(connection):
        _refuse_others(connection, path)
        if schema.version(connection) == schema.newest_version():
            return connection
        copy = _copy_in_memory(connection)
    connection.close()
    with _closed_on_error(copy):
        schema.migrate(copy)
    return copy


def leave_one_file(connection: sqlite3.Connection) -> None:
    """Folds the log of a store into its file, so that this can be copied, and read where nobody may write."""
    connection.execute("PRAGMA busy_timeout = 0")
    # The log stays while others read, and rows stay in it if the disk is full; the next writer tries again.
    for statement in ("PRAGMA wal_checkpoint", "PRAGMA journal_mode = DELETE"):
        with suppress(sqlite3.OperationalError):
            connection.execute(statement).fetchall()


def _prepare(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if not create or path.stat().st_size > 0:  # only what has no content at all may be overwritten
        _refuse_others(connection, path)
    schema.migrate(connection)
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")
    # A log lets others read while one writes. With it, NORMAL keeps every transaction when the process is killed; a
    # power cut may cost the last few, never the file. Some network disks offer no log, and then every write waits.
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")


def _refuse_others(connection: sqlite3.Connection, path: Path) -> None:
    """Refuses files of other programs and of newer versions."""
    if not schema.is_store(connection):
        raise StoreError(
            f"{path} is no store of mcquack, and was left as it is; give the path of one that `mcquack bench run` made."
        )
    if (version := schema.version(connection)) > schema.newest_version():
        raise StoreError(
            f"the store {path} has version {version} and was written by a newer mcquack; this one knows versions up to "
            f"{schema.newest_version()}: upgrade mcquack, the rows are safe."
        )


def require_file(path: Path) -> None:
    """Refuses a path with no file."""
    if not path.is_file():
        raise StoreError(f"there is no store at {path}; `mcquack bench run` makes one.")


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    # Transactions begin and end where the code says so, hence no isolation level.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=_SECONDS_TO_WAIT, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _readable(path: Path) -> sqlite3.Connection:
    connection = _connect(path, mode="ro")
    try:
        with _closed_on_error(connection):
            schema.version(connection)
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
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.row_factory = sqlite3.Row
    with _closed_on_error(copy):
        connection.backup(copy)
    return copy
