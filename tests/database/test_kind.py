import sqlite3
from contextlib import closing

from mcquack.bench.rows import STORE
from mcquack.database import executing
from mcquack.hardware.jobs.ledger import LEDGER


def test_a_migration_executes_its_statements_in_their_order():
    with closing(sqlite3.connect(":memory:")) as connection:
        executing("CREATE TABLE a (b)", "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)")(connection)
        assert connection.execute("SELECT b FROM a").fetchall() == [(1,), (2,)]


def test_kinds_are_told_apart():
    assert STORE.application_id == int.from_bytes(b"mcqk", "big")
    assert LEDGER.application_id == int.from_bytes(b"mcqj", "big")
