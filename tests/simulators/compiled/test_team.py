"""Threads that run one compiled function together see each other's work, and stop together."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_array_equal

from mcquack.simulators.compiled import team
from mcquack.simulators.compiled.team import (
    STOP_ASKED,
    Team,
    all_done,
    available_threads,
    barrier,
    control,
    decide_to_stop,
    done,
    stop_barrier,
    stops,
    taken,
)

team_sizes = pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
either_way = pytest.mark.parametrize("patient", [True, False])


@njit(nogil=True)
def _sum_neighbours(cells: Any, rank: int, n_threads: int, work: Any, values: Any, n_rounds: int) -> None:
    """In every round each member replaces its value by the sum of all: wrong as soon as one is late or early."""
    for _ in range(n_rounds):
        total = 0
        for member in range(n_threads):
            total += values[member]
        barrier(cells, n_threads)
        values[rank] = (total + rank) % 1_000_003
        barrier(cells, n_threads)


@njit(nogil=True)
def _run_until_stopped(cells: Any, rank: int, n_threads: int, work: Any, rounds: Any) -> None:
    while True:
        rounds[rank] += 1
        barrier(cells, n_threads)
        if stop_barrier(cells, rank, n_threads):
            return


@njit(nogil=True)
def _stop_in_round(cells: Any, rank: int, n_threads: int, work: Any, rounds: Any, last: int) -> None:
    """The last member raises the flag itself, in the middle of a round."""
    while True:
        rounds[rank] += 1
        if rank == n_threads - 1 and rounds[rank] == last:
            cells[STOP_ASKED] = 1
        barrier(cells, n_threads)
        if stop_barrier(cells, rank, n_threads):
            return


@njit(nogil=True)
def _sum_before(cells: Any, rank: int, n_threads: int, work: Any, values: Any, times: Any) -> None:
    """Phase after phase, every entry becomes the sum of all of the phase before: wrong if one is begun too early."""
    n_phases, n_items = values.shape
    end = 0
    for phase in range(1, n_phases):
        start, end = end, end + n_items
        ticket = taken(cells, end)
        while ticket >= 0:
            total = 0
            for item in range(n_items):
                total += values[phase - 1, item]
            values[phase, ticket - start] = (total + ticket - start) % 1_000_003
            times[rank] += 1
            done(cells)
            ticket = taken(cells, end)
        all_done(cells, end)


@njit(nogil=True)
def _take_until_stopped(cells: Any, rank: int, n_threads: int, work: Any, phases: Any, last: int) -> None:
    end = 0
    while True:
        end += 1
        phases[rank] = end
        if taken(cells, end) >= 0:
            if end >= last:
                cells[STOP_ASKED] = 1
            decide_to_stop(cells, end)
            done(cells)
        all_done(cells, end)
        if stops(cells, end):
            return


def compiled(function: Any, *args: Any) -> None:
    """Compiles before the team starts, so that its members really run side by side."""
    function(control(), 0, 1, None, *args)


def sums_by_hand(n_members: int, n_rounds: int) -> list[int]:
    values = list(range(n_members))
    for _ in range(n_rounds):
        values = [(sum(values) + rank) % 1_000_003 for rank in range(n_members)]
    return values


def test_barrier_makes_every_write_visible_to_all() -> None:
    compiled(_sum_neighbours, np.zeros(1, dtype=np.int64), 1)
    for n_threads in (1, 2, 3, 5):
        for patient in (True, False):
            values = np.arange(n_threads)
            Team(n_threads, patient=patient).run(_sum_neighbours, [None] * n_threads, values, 300)
            assert_array_equal(values, sums_by_hand(n_threads, 300))


@team_sizes
@either_way
def test_every_member_has_its_own_rank_and_scratch(n_threads: int, patient: bool) -> None:
    seen: list[Sequence[Any]] = []

    def note(cells: Any, rank: int, size: int, work: str, shared: str) -> None:
        seen.append((rank, size, work, shared))

    team_of_threads = Team(n_threads, patient=patient)
    works = [f"scratch {rank}" for rank in range(n_threads)]
    for task in ("first", "second"):  # a team can be used again
        seen.clear()
        team_of_threads.run(note, works, task)
        assert sorted(seen, key=lambda call: call[0]) == [
            (rank, n_threads, works[rank], task) for rank in range(n_threads)
        ]


def test_the_caller_takes_a_share_of_short_work_only() -> None:
    threads: dict[bool, list[threading.Thread]] = {True: [], False: []}

    def note(cells: Any, rank: int, n_threads: int, work: Any, noted: list[threading.Thread]) -> None:
        noted.append(threading.current_thread())

    for patient, noted in threads.items():
        Team(3, patient=patient).run(note, [None] * 3, noted)
    assert threads[True].count(threading.current_thread()) == 1
    assert threading.current_thread() not in threads[False]


@team_sizes
@either_way
def test_an_exception_of_any_member_reaches_the_caller(n_threads: int, patient: bool) -> None:
    def fail(cells: Any, rank: int, size: int, work: Any, failing: int) -> None:
        if rank == failing:
            raise ArithmeticError(f"member {rank}")

    for failing in range(n_threads):
        with pytest.raises(ArithmeticError, match=f"member {failing}"):
            Team(n_threads, patient=patient).run(fail, [None] * n_threads, failing)


@team_sizes
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_stops_the_team(
    n_threads: int, interrupt: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a flag these members would run for ever."""
    _run_until_stopped(np.ones(4, dtype=np.int64), 0, 1, None, np.zeros(1, dtype=np.int64))
    rounds = np.zeros(n_threads, dtype=np.int64)
    waits = []

    def interrupted_once(members: Any) -> None:
        waits.append(members)
        if len(waits) > 1:
            wait(members)
            return
        while not rounds.all():
            pass
        raise interrupt

    monkeypatch.setattr(team, "wait", interrupted_once)
    with pytest.raises(interrupt):
        Team(n_threads, patient=False).run(_run_until_stopped, [None] * n_threads, rounds)
    assert len(waits) == 2, "the members have ended before the caller goes on"
    assert len(set(rounds)) == 1, "and all in the same round"


@pytest.mark.parametrize("last", [1, 2, 50])
def test_members_agree_on_the_round_in_which_to_stop(last: int) -> None:
    compiled(_stop_in_round, np.zeros(1, dtype=np.int64), 1)
    for n_threads in (1, 2, 3):
        rounds = np.zeros(n_threads, dtype=np.int64)
        Team(n_threads, patient=False).run(_stop_in_round, [None] * n_threads, rounds, last)
        assert len(set(rounds)) == 1
        assert rounds[0] == last


def test_threads_end_with_their_team() -> None:
    before = threading.active_count()
    team_of_threads = Team(3, patient=False)
    team_of_threads.run(lambda *_: None, [None] * 3)
    members = [thread for thread in threading.enumerate() if thread.name.startswith("mcquack")]
    assert members
    del team_of_threads
    gc.collect()
    for thread in members:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in members)
    assert threading.active_count() <= before


def test_threads_are_those_asked_for_or_numbas() -> None:
    assert available_threads(3) == 3
    assert available_threads(None) == numba.config.NUMBA_NUM_THREADS


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system lets no process choose its processors")
def test_the_number_of_processors_follows_what_the_process_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    before = available_threads(None)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert available_threads(None) == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert available_threads(None) == before


def test_nobody_waits_for_a_member_that_was_kept_from_arriving() -> None:
    def interrupted(cells: Any, rank: int, n_threads: int, work: Any) -> None:
        if rank == 0:
            raise KeyboardInterrupt
        barrier(cells, n_threads)

    with pytest.raises(KeyboardInterrupt):
        Team(3, patient=True).run(interrupted, [None] * 3)


# Tickets


def sums_phase_by_phase(n_phases: int, n_items: int) -> list[int]:
    values = list(range(n_items))
    for _ in range(1, n_phases):
        values = [(sum(values) + item) % 1_000_003 for item in range(n_items)]
    return values


@team_sizes
@either_way
@pytest.mark.parametrize("n_items", [1, 2, 7])
def test_all_work_of_a_phase_is_done_once_and_before_the_next(n_threads: int, patient: bool, n_items: int) -> None:
    values, times = np.zeros((500, n_items), np.int64), np.zeros(n_threads, np.int64)
    values[0] = np.arange(n_items)
    compiled(_sum_before, values.copy(), times.copy())
    Team(n_threads, patient=patient).run(_sum_before, [None] * n_threads, values, times)
    assert values[-1].tolist() == sums_phase_by_phase(500, n_items)
    assert times.sum() == 499 * n_items


def test_nobody_waits_for_a_member_that_has_not_come() -> None:
    values, times, cells = np.zeros((50, 4), np.int64), np.zeros(2, np.int64), control()
    values[0] = np.arange(4)
    _sum_before(cells, 0, 2, None, values, times)
    found = values.copy()
    _sum_before(cells, 1, 2, None, values, times)  # it comes when all is done
    assert_array_equal(values, found)
    assert values[-1].tolist() == sums_phase_by_phase(50, 4)
    assert times.tolist() == [49 * 4, 0]


@team_sizes
@either_way
@pytest.mark.parametrize("last", [1, 2, 77])
def test_all_members_stop_after_the_same_phase(n_threads: int, patient: bool, last: int) -> None:
    phases = np.zeros(n_threads, np.int64)
    compiled(_take_until_stopped, phases.copy(), 1)
    Team(n_threads, patient=patient).run(_take_until_stopped, [None] * n_threads, phases, last)
    assert phases.tolist() == [last] * n_threads


# Forks

_FORKED = """
import os, sys, threading
import numpy as np
from mcquack import McQuackClassifier
from mcquack.models import VariationalEnsembleClassifier
from mcquack.simulators import StatevectorEngine

rng = np.random.default_rng(0)
X, y = rng.uniform(size=(64, 4)), np.arange(64) % 2
kind = {"mcquack": McQuackClassifier, "variational": VariationalEnsembleClassifier}[sys.argv[1]]
model = kind(9, 4, epochs=3, engine=StatevectorEngine(n_threads=2), random_state=0)
epochs = model.fit_iter(X, y)
next(epochs)
assert threading.active_count() > 1, "two threads should have had work"
child = os.fork()
list(epochs)
np.save(sys.argv[2 if child else 3], model.weights_)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.parametrize("kind", ["mcquack", "variational"])
def test_training_goes_on_on_both_sides_of_a_fork(kind: str, tmp_path: Path) -> None:
    """The child has none of the threads, and is neither kept waiting by that nor changed."""
    files = [tmp_path / name for name in ("parent.npy", "child.npy")]
    script = [sys.executable, "-c", _FORKED, kind, *map(str, files)]
    subprocess.run(script, check=True, timeout=300)
    assert_array_equal(*(np.load(file) for file in files))
