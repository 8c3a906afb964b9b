"""The tables of a store, and how those of an older version become those of this one."""

import sqlite3
from collections.abc import Callable

# "mcqk": tells a store from any other SQLite file.
APPLICATION_ID = 0x6D63716B

_FIRST_TABLES = (
    "CREATE TABLE environments (id TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    # What filters and counts has a column; the rest of a task is in its JSON, the one place it is read from.
    """
    CREATE TABLE outcomes (
        id TEXT PRIMARY KEY,
        dataset TEXT NOT NULL,
        model TEXT NOT NULL,
        phase TEXT NOT NULL CHECK (phase IN ('search', 'final')),
        failed INTEGER NOT NULL CHECK (failed = (error IS NOT NULL)),
        task TEXT NOT NULL,
        environment TEXT NOT NULL REFERENCES environments (id),
        scores TEXT NOT NULL,
        seconds TEXT NOT NULL,
        n_parameters INTEGER,
        fingerprint TEXT NOT NULL,
        error TEXT,
        finished_at TEXT NOT NULL
    )
    """,
    # Counting and listing ids read this index alone.
    "CREATE INDEX outcomes_by_phase ON outcomes (phase, failed, id)",
    # Apart, so that whoever reads scores only does not pass over curves and kernels.
    """
    CREATE TABLE details (
        id TEXT PRIMARY KEY REFERENCES outcomes (id) ON DELETE CASCADE,
        content BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE choices (
        dataset TEXT NOT NULL,
        model TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (dataset, model)
    )
    """,
    """
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        command TEXT NOT NULL,
        suite TEXT NOT NULL,
        environment TEXT NOT NULL REFERENCES environments (id),
        started TEXT NOT NULL,
        ended TEXT,
        how TEXT CHECK (how IN ('done', 'interrupted', 'failed'))
    )
    """,
)


def _create_first_tables(connection: sqlite3.Connection) -> None:
    for statement in _FIRST_TABLES:
        connection.execute(statement)


# The migration at position v leads from version v to version v + 1; those that were released never change.
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create_first_tables,)


def newest_version() -> int:
    """The version that this mcquack writes."""
    return len(MIGRATIONS)


def version(connection: sqlite3.Connection) -> int:
    """That of the tables; 0 before there are any."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_store(connection: sqlite3.Connection) -> bool:
    """Whether mcquack made the file."""
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the tables to the newest version, all steps or none; the caller holds a transaction."""
    missing = MIGRATIONS[version(connection) :]
    if not missing:
        return
    for step in missing:
        step(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {newest_version()}")
