import subprocess
import sys
from pathlib import Path

import pytest

from mcquack.bench.store import Store
from mcquack.errors import StoreError
from tests.bench.store.values import choice, done, failed

LARGE = {"history": {"loss": [seed / 7 for seed in range(20_000)]}}


def pages(store, n):
    store._connection.execute(f"PRAGMA max_page_count = {n}")


def test_a_full_disk_is_told_and_costs_only_what_had_no_room(path, store):
    for seed in range(20):
        store.add(done(seed))
    store.choose(choice(1))
    pages(store, 1)  # SQLite takes the present size for the least one
    for _ in range(2):
        with pytest.raises(StoreError, match=r"disk is full .*make room and run the same command again.* safe") as told:
            store.add(done(99, details=LARGE))
        assert str(path) in str(told.value)
    with pytest.raises(StoreError, match="disk is full"):
        store.add(failed(98, error="x" * 100_000))
    assert len(store.finished_ids()) == 20
    pages(store, 100_000)
    store.add(done(99, details=LARGE))
    store.close()
    with Store.open(path) as reader:
        assert {outcome.task.seed for outcome in reader.outcomes()} == {*range(20), 99}
        assert reader.choices() == {("iris3", "svc"): choice(1)}


WRITE_UNTIL_REFUSED = """
import resource, sys
from itertools import count
from mcquack.bench.store import Store
from mcquack.errors import StoreError
from tests.bench.store.values import done

with Store.open(sys.argv[1], create=True) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    try:
        for seed in count():
            store.add(done(seed, fingerprint="x" * 5_000))
            sys.stdout.write(f"{seed}\\n")
    except StoreError as error:
        sys.stdout.write(str(error))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
def test_a_disk_that_refuses_to_write_is_told_and_costs_no_row(path):
    done_by_child = subprocess.run(
        [sys.executable, "-c", WRITE_UNTIL_REFUSED, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    *told, error = done_by_child.stdout.splitlines()
    assert "the disk reports an error" in error or "the disk is full" in error
    assert "safe" in error
    with Store.open(path, write=True) as store:
        assert {outcome.task.seed for outcome in store.outcomes()} == set(map(int, told))
        assert len(told) > 5
        store.add(done(len(told)))


def test_a_damaged_file_is_told_as_such(path):
    with Store.open(path, create=True) as store:
        for seed in range(50):
            store.add(done(seed, details=LARGE))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * len(content[4096:])
    path.write_bytes(content)
    with Store.open(path) as store, pytest.raises(StoreError, match=r"is damaged .*\.recover") as told:
        list(store.outcomes())
    assert "safe" not in str(told.value)
