import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mcquack.bench.store import RunRecord, Store, schema
from mcquack.errors import StoreError
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
    assert [golden.stem for golden in GOLDEN] == [f"store_version_{v + 1}" for v in range(schema.newest_version())]


@pytest.mark.parametrize("write", [False, True])
def test_stores_of_all_versions_are_read(released, write):
    with Store.open(released, write=write) as store:
        assert content(store) == EXPECTED


def test_a_migrated_store_has_the_tables_of_a_new_one(released, tmp_path):
    Store.open(released, write=True).close()
    Store.open(tmp_path / "new.sqlite", create=True).close()
    assert tables(released) == tables(tmp_path / "new.sqlite")


def to_next_version(connection):
    connection.execute("ALTER TABLE outcomes ADD COLUMN note TEXT")
    connection.execute("UPDATE outcomes SET fingerprint = 'from a later version'")


@pytest.fixture
def later_version(store, monkeypatch):
    """Has a store of this version and turns the code into that of the next one."""
    store.add(done())
    store.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, to_next_version))


def test_an_older_store_is_migrated_when_it_is_opened_to_write(path, later_version):
    with Store.open(path, write=True) as store:
        assert list(store.outcomes()) == [done(fingerprint="from a later version")]
    assert query(path, "PRAGMA user_version") == [(2,)]
    assert query(path, "SELECT fingerprint, note FROM outcomes") == [("from a later version", None)]


def test_an_older_store_is_read_as_if_migrated_and_stays_as_it_is(path, later_version):
    before = path.read_bytes()
    with Store.open(path) as store:
        assert list(store.outcomes()) == [done(fingerprint="from a later version")]
    assert path.read_bytes() == before


@pytest.mark.parametrize("write", [False, True])
def test_a_migration_that_fails_changes_nothing(path, later_version, monkeypatch, write):
    def fail(connection):
        connection.execute("DELETE FROM outcomes")
        connection.execute("SELECT missing FROM runs")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, fail))
        with pytest.raises(StoreError, match="no such column"):
            Store.open(path, write=write)
    assert query(path, "PRAGMA user_version") == [(1,)]
    with Store.open(path, write=True) as store:
        assert [outcome.task for outcome in store.outcomes()] == [done().task]


@pytest.mark.parametrize("fields", [{}, {"write": True}, {"create": True}])
class TestWhatIsRefused:
    def test_a_store_of_a_newer_version(self, path, store, fields):
        store.add(done())
        store.close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {schema.newest_version() + 1}")
        before = path.read_bytes()
        with pytest.raises(StoreError, match="upgrade mcquack"):
            Store.open(path, **fields)
        assert path.read_bytes() == before

    def test_a_database_of_another_program(self, path, fields):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE outcomes (id)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match="no store of mcquack"):
            Store.open(path, **fields)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("text", [b"a", b"a,b\n1,2\n", b"a,b\n" * 1000, b"SQLite format 3\0"])
    def test_a_file_of_another_kind(self, path, text, fields):
        path.write_bytes(text)
        with pytest.raises(StoreError, match=str(path)):
            Store.open(path, **fields)
        assert path.read_bytes() == text

    def test_a_folder(self, path, fields):
        path.mkdir()
        with pytest.raises(StoreError, match=str(path)):
            Store.open(path, **fields)


@pytest.mark.parametrize("write", [False, True])
def test_a_store_is_made_only_where_that_was_asked_for(path, write):
    with pytest.raises(StoreError, match=r"no store at .* makes one"):
        Store.open(path, write=write)
    assert list(path.parent.iterdir()) == []


def test_a_store_is_made_together_with_its_folder(tmp_path):
    path = tmp_path / "new" / "folder" / "store.sqlite"
    with Store.open(path, create=True) as store:
        store.add(done())
    with Store.open(path, create=True) as store:
        assert list(store.outcomes()) == [done()]


def test_an_empty_file_becomes_a_store_only_if_one_is_to_be_made(path):
    path.touch()
    for fields in ({}, {"write": True}):
        with pytest.raises(StoreError, match="no store of mcquack"):
            Store.open(path, **fields)
    with Store.open(path, create=True) as store:
        store.add(done())
    with Store.open(path) as store:
        assert list(store.outcomes()) == [done()]
