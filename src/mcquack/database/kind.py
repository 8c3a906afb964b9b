"""What tells one kind of file from another: its tables, and what to say of it."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Migration = Callable[[sqlite3.Connection], None]
Meaning = tuple[str, str]  # what happened to a file, and what to do


@dataclass(frozen=True, kw_only=True)
class FileKind:
    """Files that mcquack makes, reads and recognizes as its own.

    Args:
        application_id: Tells them from all other SQLite files.
        migrations: The one at position v leads from version v to version v + 1; those that were released never change.
        synchronous: How writes wait for the disk. With ``NORMAL`` a power cut may cost the last few, never the file,
            and a process that is killed loses nothing; with ``FULL`` no power cut loses any.
        noun: What one of them is called.
        maker: What makes one, as the subject of a sentence.
        safe: The sentence, without its dot, that tells whoever meets an error what is not lost.
        try_again: How to go on after an error.
        writing: What another process does with the file that it holds, as a verb.
        stopping: How to end that process, and what it leaves.
        meanings: By names of SQLite's codes, where more than the usual ones can occur.
    """

    application_id: int
    migrations: tuple[Migration, ...]
    synchronous: Literal["OFF", "NORMAL", "FULL"]
    noun: str
    maker: str
    safe: str = "What it holds is safe"
    try_again: str = "do the same again"
    writing: str = "writing"
    stopping: str = "stop it"
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    @property
    def newest_version(self) -> int:
        """The version that this mcquack writes."""
        return len(self.migrations)


def executing(*statements: str) -> Migration:
    """The migration that is these statements."""

    def execute(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return execute
