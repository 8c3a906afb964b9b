import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mcquack.bench.rows import STORE, RunRecord
from mcquack.bench.store import Store
from mcquack.errors import StoreBusyError, StoreError
from tests.bench.store.values import ENVIRONMENT, choice, done, failed

# One for each version that was ever released; they never change.
GOLDEN = sorted(Path(__file__).parent.glob("store_version_*.sql"))


def query(path, text):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def tables(path):
    found = query(path, "SELECT name, coalesce(sql, '') FROM sqlite_master ORDER BY name")
    return {name: " ".join(sql.split()) for name, sql in found}


def content(store):
    return list(store.outcomes()), store.choices(), store.runs()


@pytest.fixture(params=GOLDEN, ids=lambda golden: golden.stem)
def released(request, path):
    """A store as a released version wrote it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(request.param.read_text(encoding="utf-8"))
    return path


EXPECTED = (
    sorted([done(0), failed(1)], key=lambda outcome: outcome.task.id),
    {("iris3", "svc"): choice(0, 1)},
    (
        RunRecord(
            number=1,
            command="mcquack bench run real-world",
            suite={"name": "real-world"},
            environment=ENVIRONMENT,
            started="2026-01-02T03:04:04+00:00",
            ended="2026-01-02T03:04:06+00:00",
            how="done",
        ),
    ),
)


def test_there_is_a_golden_store_of_every_version():
    assert [golden.stem for golden in GOLDEN] == [f"store_version_{v + 1}" for v in range(STORE.newest_version)]


@pytest.mark.parametrize("write", [False, True])
def test_stores_of_all_versions_are_read(released, write):
    with Store.open(released, write=write) as store:
        assert content(store) == EXPECTED


def test_a_migrated_store_has_the_tables_of_a_new_one(released, tmp_path):
    Store.open(released, write=True).close()
    Store.open(tmp_path / "new.sqlite", create=True).close()
    assert tables(released) == tables(tmp_path / "new.sqlite")


@pytest.mark.parametrize("fields", [{}, {"write": True}, {"create": True}])
class TestWhatIsRefused:
    def test_a_store_of_a_newer_version(self, path, store, fields):
        store.add(done())
        store.close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {STORE.newest_version + 1}")
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"upgrade mcquack\. What it holds already is safe"):
            Store.open(path, **fields)
        assert path.read_bytes() == before

    def test_a_database_of_another_program(self, path, fields):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE outcomes (id)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"no store of mcquack.* that `mcquack bench run` made"):
            Store.open(path, **fields)
        assert path.read_bytes() == before


def test_a_second_writer_is_refused_and_a_reader_is_not(path, store):
    store.add(done())
    with pytest.raises(StoreBusyError, match=r"another process is writing the store .* Reading is possible"):
        Store.open(path, write=True)
    with Store.open(path) as reader:
        assert list(reader.outcomes()) == [done()]


def test_a_write_does_not_wait_for_the_disk(store):
    assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 1
    assert store._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("write", [False, True])
def test_a_store_is_made_only_where_that_was_asked_for(path, write):
    with pytest.raises(StoreError, match=r"no store at .*; `mcquack bench run` makes one"):
        Store.open(path, write=write)
    assert list(path.parent.iterdir()) == []


def test_a_store_is_made_together_with_its_folder(tmp_path):
    path = tmp_path / "new" / "folder" / "store.sqlite"
    with Store.open(path, create=True) as store:
        store.add(done())
    with Store.open(path, create=True) as store:
        assert list(store.outcomes()) == [done()]
