"""One file and whoever uses it."""

import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mcquack.database.connecting import (
    leave_one_file,
    memory_connection,
    reading_connection,
    require_file,
    writing_connection,
)
from mcquack.database.faults import explained
from mcquack.database.kind import FileKind
from mcquack.database.writer_lock import acquired_lock
from mcquack.errors import StoreError

if TYPE_CHECKING:
    from filelock import BaseFileLock


class Database:
    """What files of all kinds share; a class for one kind names it and says what its rows mean.

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
        """To read or to write; ``create`` is to write, and to make the file if there is none."""
        place = Path(path)
        with explained(cls._kind, place):
            if not create:
                require_file(cls._kind, place)
            if not (write or create):
                return cls(place, reading_connection(cls._kind, place))
            place.parent.mkdir(parents=True, exist_ok=True)
            lock = acquired_lock(cls._kind, place)
            try:
                return cls(place, writing_connection(cls._kind, place, create=create), lock=lock)
            except BaseException:
                lock.release()
                raise

    @classmethod
    def _opened_in_memory(cls) -> Self:
        """One without a file, that ends with the process; threads may share it if they take turns."""
        return cls(None, memory_connection(cls._kind))

    def close(self) -> None:
        """Ends the use of the file; one that was written is a single file then, but for its lock."""
        lock, self._lock = self._lock, None
        try:
            if lock is not None:
                leave_one_file(self._connection)
            self._connection.close()
        finally:
            if lock is not None:
                lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        return "in memory" if self.path is None else str(self.path)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing, and as safe when it ends as the kind promises."""
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
        except (ValueError, TypeError, LookupError, zlib.error) as error:
            raise StoreError(
                f"a row of the {self._kind.noun} {self} cannot be read ({error}): it was damaged, or written by "
                f"another version of mcquack; use that version, or a copy of the {self._kind.noun}."
            ) from error
