import os
import random
import sys
import time

import pytest

from mcquack.bench.store import Store
from mcquack.errors import StoreError
from tests.bench.store.processes import add_without_end, started
from tests.bench.store.values import done

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing there ends a process as SIGKILL does")

N_KILLS = 100


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
        told = [pipe.recv() for _ in range(n_acknowledged)]
        time.sleep(seconds)
        process.kill()
        process.join()
        return told + acknowledged(pipe)


def seeds_found(path, *, write):
    """Those of all tasks in a store that is as it should be; none if there is no store yet."""
    try:
        store = Store.open(path, write=write)
    except StoreError:
        if path.exists() and path.stat().st_size > 0 and not os.path.exists(f"{path}-journal"):
            raise
        return set()
    with store:
        assert [tuple(row) for row in store._connection.execute("PRAGMA integrity_check")] == [("ok",)]
        found = list(store.outcomes())
    assert all(outcome == done(outcome.task.seed) for outcome in found)
    return {outcome.task.seed for outcome in found}


def test_a_writer_killed_at_any_moment_loses_nothing_that_it_told_of(path):
    moments = random.Random(5)
    first = 0
    for _ in range(N_KILLS):
        n_acknowledged = moments.choice([0, 0, 1, 2, 3, 7])
        seconds = moments.uniform(0, 0.02)
        told = kill_after(path, first=first, n_acknowledged=n_acknowledged, seconds=seconds)
        n_told = first + len(told)
        assert told == list(range(first, n_told))
        found = seeds_found(path, write=moments.random() < 0.3)
        assert found in (set(range(n_told)), set(range(n_told + 1)))  # the last was added, but not told any more
        first = len(found)
    assert first > N_KILLS
