import random
import sys
import time

import pytest

from mcquack.bench.store import Store
from tests.bench.store.processes import add_without_end, change_half
from tests.bench.store.values import done
from tests.database.processes import started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing there ends a process as SIGKILL does")


def acknowledged(pipe):
    """What the process told before its end."""
    told = []
    try:
        while True:
            told.append(pipe.recv())
    except (EOFError, ConnectionResetError):
        return told


def kill_after(path, *, first, n_acknowledged, seconds):
    """The seeds that a process told to have added, before it was killed so long after so many of them."""
    with started(add_without_end, path, first) as (process, pipe):
        assert pipe.recv() == "ready"
        told = [pipe.recv() for _ in range(n_acknowledged)]
        time.sleep(seconds)
        process.kill()
        process.join()
        return told + acknowledged(pipe)


def seeds_found(path, *, write):
    """Those of all tasks in a store that is as it should be."""
    with Store.open(path, write=write) as store:
        assert [tuple(row) for row in store._connection.execute("PRAGMA integrity_check")] == [("ok",)]
        found = list(store.outcomes())
    assert all(outcome == done(outcome.task.seed) for outcome in found)
    return {outcome.task.seed for outcome in found}


@pytest.mark.parametrize("n_kills", [10, pytest.param(60, marks=pytest.mark.campaign)])
def test_a_writer_killed_at_any_moment_loses_nothing_that_it_told_of(path, n_kills):
    moments = random.Random(5)
    first = 0
    for _ in range(n_kills):
        n_acknowledged, seconds = moments.choice([0, 0, 1, 2, 3, 7]), moments.uniform(0, 0.02)
        told = kill_after(path, first=first, n_acknowledged=n_acknowledged, seconds=seconds)
        n_told = first + len(told)
        assert told == list(range(first, n_told))
        if n_told == 0:  # it may have been killed before it made the store
            continue
        found = seeds_found(path, write=moments.random() < 0.3)
        assert found in (set(range(n_told)), set(range(n_told + 1)))  # the last was added, but not told any more
        first = len(found)
    assert first > n_kills


@pytest.mark.parametrize("n_kills", [5, pytest.param(20, marks=pytest.mark.campaign)])
def test_a_writer_killed_while_it_makes_the_store_leaves_none_or_a_whole_one(tmp_path, n_kills):
    moments = random.Random(6)
    for number in range(n_kills):
        path = tmp_path / f"{number}.sqlite"
        told = kill_after(path, first=0, n_acknowledged=0, seconds=moments.uniform(0, 0.02))
        with Store.open(path, create=True) as store:
            assert len(list(store.outcomes())) - len(told) in (0, 1)
            store.add(done(99))


def test_what_a_killed_program_left_half_done_is_not_read(path):
    with Store.open(path, create=True) as store:
        for seed in range(50):
            store.add(done(seed))
    with started(change_half, path) as (_, pipe):
        assert pipe.recv() == "half done"
    journal = path.with_name(f"{path.name}-journal")
    left = (path.read_bytes(), journal.read_bytes())
    assert seeds_found(path, write=False) == set(range(50))
    assert (path.read_bytes(), journal.read_bytes()) == left
    assert seeds_found(path, write=True) == set(range(50))
    assert not journal.exists()
