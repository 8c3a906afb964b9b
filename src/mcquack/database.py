"""SQLite files of mcquack's own, as stores and ledgers: how they are told apart, opened, written and explained."""

import gzip
import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from mcquack.errors import McQuackError, StoreBusyError, StoreError
from mcquack.files import check_regular

if TYPE_CHECKING:
    from filelock import BaseFileLock


Migration = Callable[[sqlite3.Connection], None]
Meaning = tuple[str, str]  # what happened to a file, and what to do

_COMPRESSED = ".gz"  # how the names of compressed files end, which gzip refuses to decompress otherwise


@dataclass(frozen=True, kw_only=True)
class FileKind:
    """Files that mcquack makes, reads and recognizes as its own, and the words in which errors speak of them."""

    application_id: int  # tells them from all other SQLite files
    migrations: tuple[Migration, ...]  # at position v from version v to v + 1; those that were released never change
    # How writes wait for the disk. With NORMAL a power cut may cost the last few, never the file, and a process that is
    # killed loses nothing; with FULL no power cut loses any.
    synchronous: Literal["OFF", "NORMAL", "FULL"]
    noun: str
    maker: str  # what makes one, as the subject of a sentence
    safe: str = "What it holds is safe"  # the sentence, without its dot, that tells what an error does not lose
    try_again: str = "do the same again"
    writing: str = "writing"  # what another process does with the file that it holds
    stopping: str = "stop it"
    seconds_to_wait: float = 30.0  # for others to finish a transaction
    # What happened and what to do, by names of SQLite's codes, where more than the usual ones can occur.
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    @property
    def newest_version(self) -> int:
        return len(self.migrations)


def executing(*statements: str) -> Migration:
    """The migration that is these statements."""

    def execute(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return execute


@contextmanager
def explained(kind: FileKind, place: object) -> Iterator[None]:
    """Turns errors of SQLite and of the system into one that says which file, what happened, and what to do."""
    try:
        yield
    except McQuackError:
        raise
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, OSError):
            name = "PERM" if isinstance(error, PermissionError) else "IOERR"
        else:  # without its details, as IOERR for SQLITE_IOERR_WRITE, which asks for nothing else
            name = getattr(error, "sqlite_errorname", "SQLITE_ERROR").split("_")[1]
        meanings: Mapping[str, Meaning] = {
            "FULL": ("the disk is full", f"make room and {kind.try_again}"),
            "READONLY": ("it or its folder is read-only", "allow writing to both, or copy it to where you may write"),
            "PERM": ("you may not use it", "allow access to it and to its folder"),
            "CANTOPEN": ("it cannot be opened", "check that it is a file and that you may use it and its folder"),
            "IOERR": ("the disk reports an error", f"check the disk and its free space, then {kind.try_again}"),
            "NOTADB": ("it is no SQLite file", f"give the path of one that {kind.maker} made"),
            "CORRUPT": (
                "it is damaged",
                "use a copy, or save what can be read: sqlite3 FILE .recover | sqlite3 NEW_FILE",
            ),
            "BUSY": ("another program holds it", f"close that program and {kind.try_again}"),
            **kind.meanings,
        }
        otherwise = ("something unexpected happened", f"if {kind.maker} made it, report a bug")
        what, help_ = meanings.get(name, otherwise)
        safe = "" if name in ("NOTADB", "CORRUPT") else f" {kind.safe}."
        raise StoreError(f"the {kind.noun} {place} cannot be used, {what} ({error}): {help_}.{safe}") from error


class Database:
    """An open file of one kind; a subclass for that kind names it as ``_kind`` and says what its rows mean.

    Whatever a call has written is there when it returns, even if the process is killed right after. One process writes
    at a time, and any number read meanwhile. A file is used by the thread that opened it.
    """

    _kind: ClassVar[FileKind]

    def __init__(
        self, path: Path | None, connection: sqlite3.Connection, *, lock: "BaseFileLock | None" = None
    ) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock  # held by the one that writes

    @classmethod
    def _opened(cls, path: str | PathLike[str], *, write: bool, create: bool) -> Self:
        place = Path(path)
        with explained(cls._kind, place):
            if place.exists():
                maker = f"give the path of one that {cls._kind.maker} made."
                check_regular(place, what=f"a {cls._kind.noun}", error=StoreError, hint=maker)
            elif not create:
                raise StoreError(f"there is no {cls._kind.noun} at {place}; {cls._kind.maker} makes one.")
            if not (write or create):
                return cls(place, _reading_connection(cls._kind, place))
            if place.suffix == _COMPRESSED or (place.exists() and _is_compressed(place)):
                raise StoreError(
                    f"the {cls._kind.noun} {place} is compressed, and can only be read: to write, decompress it first, "
                    f"as with gunzip --keep, and use the file without {_COMPRESSED}."
                )
            place.parent.mkdir(parents=True, exist_ok=True)
            lock = _acquired_lock(cls._kind, place)
            try:
                return cls(place, _writing_connection(cls._kind, place, create=create), lock=lock)
            except BaseException:
                lock.release()
                raise

    @classmethod
    def _opened_in_memory(cls) -> Self:
        """One without a file, that ends with the process; threads may share it if they take turns."""
        connection = _connect(cls._kind, ":memory:", check_same_thread=False)
        with _closed_on_error(connection):
            _migrate(cls._kind, connection)
            connection.execute("PRAGMA foreign_keys = ON")
        return cls(None, connection)

    def close(self) -> None:
        """Ends the use of the file; one that was written is a single file then, but for its lock."""
        lock, self._lock = self._lock, None
        try:
            if lock is not None:
                # The log is folded into the file, so that it can be copied, and read where nobody may write. It stays
                # while others read, and rows stay in it if the disk is full; the next writer tries again.
                self._connection.execute("PRAGMA busy_timeout = 0")
                for statement in ("PRAGMA wal_checkpoint", "PRAGMA journal_mode = DELETE"):
                    with suppress(sqlite3.OperationalError):
                        self._connection.execute(statement).fetchall()
            self._connection.close()
        finally:
            if lock is not None:
                lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return "in memory" if self.path is None else str(self.path)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._lock is None and self.path is not None:
            how = f"{type(self).__name__}.open(…, write=True)"
            raise StoreError(f"the {self._kind.noun} {self} is not open to be written: use {how}.")
        with explained(self._kind, self):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have ended it
                    self._connection.execute("ROLLBACK")
                raise

    def _rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[sqlite3.Row]:
        with explained(self._kind, self):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _readable_content(self) -> Iterator[None]:
        """For what is made of rows, to tell which file they came from if they make no sense."""
        try:
            yield
        except StoreError:
            raise
        except (
            ValueError,
            TypeError,
            LookupError,
            ArithmeticError,
            AttributeError,
            RecursionError,
            zlib.error,
        ) as error:
            raise StoreError(
                f"a row of the {self._kind.noun} {self} cannot be read ({error}): it was damaged, or written by "
                f"another version of mcquack; use that version, or a copy of the {self._kind.noun}."
            ) from error


def stored_fields(text: Any) -> dict[str, Any]:
    """The fields in the JSON of a row, which anybody may have written; ValueError where it is something else."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"it holds a {type(found).__name__} where fields were expected")
    return found


def inflated(content: Any, *, limit: int) -> bytes:
    """What zlib made ``content`` of; ValueError beyond ``limit`` bytes, of which a few kilobytes may grow."""
    stream = zlib.decompressobj()
    found = stream.decompress(content, limit)
    if stream.unconsumed_tail:
        raise ValueError(f"it grows to more than {limit:,} bytes")
    if not stream.eof:
        raise ValueError("it is cut off")
    return found


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(kind: FileKind, connection: sqlite3.Connection) -> None:
    if _version(connection) == kind.newest_version:
        return
    for step in kind.migrations[_version(connection) :]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {kind.application_id}")
    connection.execute(f"PRAGMA user_version = {kind.newest_version}")


def _writing_connection(kind: FileKind, path: Path, *, create: bool) -> sqlite3.Connection:
    connection = _connect(kind, path, mode="rwc" if create else "rw")
    with _closed_on_error(connection):
        connection.execute("BEGIN IMMEDIATE")
        if not create or path.stat().st_size > 0:  # only what has no content at all may be overwritten
            _refuse_others(kind, connection, path=path, create=create)
        _migrate(kind, connection)
        connection.execute("COMMIT")
        connection.execute("PRAGMA foreign_keys = ON")
        # A log lets others read while one writes. Some network disks offer none; NORMAL could cost the file there.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute(f"PRAGMA synchronous = {kind.synchronous if mode == 'wal' else 'FULL'}")
    return connection


def _reading_connection(kind: FileKind, path: Path) -> sqlite3.Connection:
    """A connection to a file of the newest version; an older one is read into memory and migrated there."""
    connection = _decompressed(kind, path) if _is_compressed(path) else _readable(kind, path)
    with _closed_on_error(connection):
        _refuse_others(kind, connection, path=path, create=False)
        if _version(connection) == kind.newest_version:
            return connection
    with closing(connection):
        copy = _copy_in_memory(kind, connection)
    with _closed_on_error(copy):
        _migrate(kind, copy)
    return copy


def _refuse_others(kind: FileKind, connection: sqlite3.Connection, *, path: Path, create: bool) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != kind.application_id:
        or_new = ", or one where there is no file yet" if create else ""
        raise StoreError(
            f"{path} is no {kind.noun} of mcquack, and was left as it is; give the path of one that {kind.maker} "
            f"made{or_new}."
        )
    if (found := _version(connection)) > kind.newest_version:
        raise StoreError(
            f"the {kind.noun} {path} has version {found} and was written by a newer mcquack; this one knows versions "
            f"up to {kind.newest_version}: upgrade mcquack. {kind.safe}."
        )


def _connect(
    kind: FileKind, place: Path | Literal[":memory:"], *, mode: str = "rw", **options: Any
) -> sqlite3.Connection:
    name = f"{place.absolute().as_uri()}?mode={mode}" if isinstance(place, Path) else place
    # Transactions begin and end where the code says so, hence no isolation level.
    connection: sqlite3.Connection = sqlite3.connect(
        name, uri=True, timeout=kind.seconds_to_wait, isolation_level=None, **options
    )
    connection.row_factory = sqlite3.Row
    return connection


def _readable(kind: FileKind, path: Path) -> sqlite3.Connection:
    """A connection, also where SQLite may not repair the file first, or note beside it who reads what."""
    connection = _connect(kind, path, mode="ro")
    try:
        with _closed_on_error(connection):
            _version(connection)
        return connection
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            raise
    # Where SQLite notes what a writer that was killed has left to do.
    logs = (path.with_name(f"{path.name}-{kind}") for kind in ("wal", "journal"))
    unfinished = [log for log in logs if log.exists() and log.stat().st_size > 0]
    if not unfinished:
        return _connect(kind, path, mode="ro&immutable=1")
    with TemporaryDirectory() as folder:
        for file in (path, *unfinished):
            shutil.copyfile(file, Path(folder) / file.name)
        with closing(_connect(kind, Path(folder) / path.name)) as connection:
            return _copy_in_memory(kind, connection)


def _is_compressed(path: Path) -> bool:
    """Whether the file is one of gzip, whatever its name."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _decompressed(kind: FileKind, path: Path) -> sqlite3.Connection:
    """The content of a file of gzip in memory, by way of a temporary file, which SQLite reads whatever its mode."""
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "decompressed"
        try:
            with gzip.open(path) as packed, plain.open("wb") as file:
                shutil.copyfileobj(packed, file)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise StoreError(
                f"the {kind.noun} {path} cannot be decompressed, it is damaged ({error}): use a copy."
            ) from error
        with closing(_connect(kind, plain)) as connection:
            return _copy_in_memory(kind, connection)


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _copy_in_memory(kind: FileKind, connection: sqlite3.Connection) -> sqlite3.Connection:
    copy = _connect(kind, ":memory:")
    with _closed_on_error(copy):
        connection.backup(copy)
    return copy


def _acquired_lock(kind: FileKind, path: Path) -> "BaseFileLock":
    from filelock import FileLock, Timeout

    # One file, one lock, whichever link leads to it. Whoever closes the file may be another thread.
    place = path.resolve()
    lock = FileLock(place.with_name(f"{place.name}.lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreBusyError(
            f"another process is {kind.writing} the {kind.noun} {path}; wait for it to end or {kind.stopping}, or use "
            f"another {kind.noun}. Reading is possible meanwhile."
        ) from error
    except (OSError, NotImplementedError) as error:
        raise StoreError(
            f"the {kind.noun} {path} cannot be written, as no lock can be made beside it ({error}): allow writing to "
            f"its folder, or use a {kind.noun} elsewhere. {kind.safe}."
        ) from error
    return lock
