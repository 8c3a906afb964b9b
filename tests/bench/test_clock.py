"""A clock that jumps, back and forth and by years, changes no row, no choice and no measurement."""

import random
from contextlib import closing
from datetime import datetime, timedelta

import numpy as np
import pytest

from mcquack.bench import task as tasks
from mcquack.bench.runner import run
from mcquack.bench.store import RunRecord
from mcquack.cli.app import exit_code
from mcquack.hardware.jobs import ledger as ledgers
from mcquack.hardware.jobs.ledger import Ledger, stored_counts
from mcquack.hardware.jobs.running import follow, noted
from tests.bench.doubles import NOWHERE, ScriptedExecutor, cell, new_store, rows, scored
from tests.campaigns import rounds
from tests.hardware.doubles import FakeService, circuits_of, hasty

CELLS = (cell("a"), cell("b", search="random:2"))


@pytest.fixture
def jumping(monkeypatch):
    """Makes the clock jump by up to ten years whenever it is read, and counts how often."""
    chance, read = random.Random(0), []

    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            read.append(tz)
            return datetime(2025, 1, 1, tzinfo=tz) + timedelta(seconds=chance.uniform(-3e8, 3e8))

    for module in (tasks, ledgers):
        monkeypatch.setattr(module, "datetime", Jumping)
    return read


def dated(task):
    """The outcome of a task with the time of its end."""
    found = scored(task)
    return type(found)(**{**vars(found), "finished_at": tasks.now()})


def run_through(store, seed):
    executor = ScriptedExecutor(seed=seed, evaluate=dated)
    record = RunRecord(command="test", suite={}, environment=NOWHERE, started=tasks.now())
    with executor.waited_for(), store.recorded(record):
        list(run(CELLS, store, executor))
    return rows(store), store.choices()


@pytest.mark.parametrize("n_rounds", rounds(2, short=10, full=40))
def test_rows_choices_and_measurements_are_those_of_a_steady_clock(n_rounds, jumping, tmp_path, tally):
    with new_store() as store:
        expected = run_through(store, 0)
    counts = None
    for number in range(n_rounds):
        with new_store() as store:
            assert run_through(store, number) == expected
            assert exit_code(["bench", "status", str(store.path)]) == 0
        with closing(Ledger.open(tmp_path / f"{number}.sqlite", write=True)) as ledger:
            service = FakeService(polls=1)
            measurement = noted(ledger, service, circuits_of(3, 2), shots=8)
            list(follow(ledger, service, measurement, waiting=hasty()[0]))
            found = stored_counts(ledger, measurement.id)
        counts = found if counts is None else counts
        np.testing.assert_array_equal(found, counts)
    assert jumping
    tally("jumps of the clock", len(jumping), rows_changed=0)
