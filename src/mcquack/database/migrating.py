"""How the tables of a file become those of the newest version."""

import sqlite3

from mcquack.database.kind import FileKind


def version(connection: sqlite3.Connection) -> int:
    """That of the tables; 0 before there are any."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_of(kind: FileKind, connection: sqlite3.Connection) -> bool:
    """Whether mcquack made the file, and to be of this kind."""
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == kind.application_id)


def migrate(kind: FileKind, connection: sqlite3.Connection) -> None:
    """Brings the tables to the newest version, all steps or none; the caller holds a transaction."""
    missing = kind.migrations[version(connection) :]
    if not missing:
        return
    for step in missing:
        step(connection)
    connection.execute(f"PRAGMA application_id = {kind.application_id}")
    connection.execute(f"PRAGMA user_version = {kind.newest_version}")
