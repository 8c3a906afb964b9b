import sqlite3
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.outcome import Environment
from mcquack.bench.rows import Counts, RunRecord, Tally
from mcquack.bench.store import Store
from mcquack.bench.task import VALIDATION
from mcquack.errors import InvalidInputError, StoreError
from tests.bench.store.values import ENVIRONMENT, choice, done, failed, outcomes


def by_id(found):
    return {outcome.task.id: outcome for outcome in found}


@given(written=st.lists(outcomes(), max_size=4, unique_by=lambda outcome: outcome.task.id))
def test_what_is_read_is_what_was_written(written):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        with Store.open(path, create=True) as store:
            for outcome in written:
                store.add(outcome)
        with Store.open(path) as store:
            assert by_id(store.outcomes()) == by_id(written)
            assert [store.outcome(outcome.task.id) for outcome in written] == written
            bare = [replace(outcome, details={}) for outcome in written]
            assert by_id(store.outcomes(details=False)) == by_id(bare)
            assert [store.outcome(outcome.task.id, details=False) for outcome in written] == bare
            assert store.failed_ids() == {outcome.task.id for outcome in written if outcome.failed}
            assert store.finished_ids() == {outcome.task.id for outcome in written if not outcome.failed}


def test_a_task_that_was_not_run_has_no_outcome(store):
    store.add(done(1))
    assert store.outcome(done(2).task.id) is None
    assert store.outcome("") is None


@pytest.mark.parametrize("later", [failed(error="later"), done()])
def test_a_failure_is_replaced_by_what_comes_later(store, later):
    store.add(failed(details={"history": {}}))
    store.add(later)
    assert list(store.outcomes()) == [later]


@pytest.mark.parametrize("later", [failed(), done(n_parameters=99, details={})])
def test_what_was_done_stays_as_it_is(store, later):
    store.add(done())
    store.add(later)
    assert list(store.outcomes()) == [done()]


def test_the_order_of_outcomes_does_not_depend_on_when_they_came(tmp_path):
    def listed(number, added):
        with Store.open(tmp_path / f"{number}.sqlite", create=True) as store:
            for outcome in added:
                store.add(outcome)
            return list(store.outcomes())

    orders = permutations([done(0), failed(1), done(2)])
    first, *others = (listed(number, added) for number, added in enumerate(orders))
    assert all(other == first for other in others)


def test_outcomes_are_found_by_phase_and_success_also_beyond_one_page(store, monkeypatch):
    monkeypatch.setattr("mcquack.bench.store._ROWS_AT_ONCE", 7)
    added = [
        (failed if seed % 3 == 0 else done)(seed, **({"split": VALIDATION} if seed % 2 else {})) for seed in range(50)
    ]
    for outcome in added:
        store.add(outcome)
    for phase in (None, "search", "final"):
        for failure in (None, True, False):
            wanted = [
                outcome
                for outcome in added
                if phase in (None, outcome.task.phase) and failure in (None, outcome.failed)
            ]
            assert by_id(store.outcomes(phase=phase, failed=failure)) == by_id(wanted)
            assert len(list(store.outcomes(phase=phase, failed=failure))) == len(wanted)


def test_rows_may_be_written_while_others_are_read(store):
    for seed in range(5):
        store.add(failed(seed))
    for outcome in store.outcomes():
        store.add(done(outcome.task.seed))
    assert store.counts().done == 5


def test_counts_are_those_of_the_outcomes(store):
    assert store.counts() == Counts(done=0, failed=0, by_phase={"search": Tally(), "final": Tally()})
    for outcome in (done(0), done(1), failed(2), failed(3, split=VALIDATION)):
        store.add(outcome)
    counts = store.counts()
    assert counts == Counts(done=2, failed=2, by_phase={"search": Tally(failed=1), "final": Tally(done=2, failed=1)})
    assert counts.total == 4


def test_a_choice_replaces_the_older_one_of_its_cell(store):
    older, newer, other = choice(1), choice(2, score=None, settings={}), choice(3, model="vc")
    for chosen in (other, older, newer):
        store.choose(chosen)
    assert store.choices() == {("iris3", "svc"): newer, ("iris3", "vc"): other}
    assert list(store.choices()) == [("iris3", "svc"), ("iris3", "vc")]


def test_final_outcomes_are_those_of_current_choices_in_their_order(store, monkeypatch):
    monkeypatch.setattr("mcquack.bench.store._ROWS_AT_ONCE", 2)
    for seed in range(9):
        store.add(done(seed, model="vc"))
        store.add(failed(seed) if seed == 6 else done(seed))
    store.choose(choice(1, 2))
    store.choose(choice(8, 4, 99, 6))  # 99 is still to be run
    store.choose(choice(3, model="vc"))
    expected = [done(8), done(4), failed(6), done(3, model="vc")]
    assert list(store.final_outcomes()) == expected
    assert list(store.final_outcomes(details=False)) == [replace(outcome, details={}) for outcome in expected]


def test_runs_are_numbered_and_tell_how_they_ended(store):
    environments = [ENVIRONMENT, Environment({"mcquack": "0.2.0"})]
    began = [
        RunRecord(command=f"mcquack bench run {name!r}", suite={"name": name}, environment=environment)
        for name, environment in zip(("ä", "b"), environments, strict=True)
    ]
    numbers = [store.begin_run(run) for run in began]
    assert numbers == [1, 2]
    store.end_run(2, "interrupted")
    first, second = store.runs()
    assert first == replace(began[0], number=1)
    assert second == replace(began[1], number=2, how="interrupted", ended=second.ended)
    assert second.ended >= second.started


def test_a_run_that_never_began_cannot_end(store):
    with pytest.raises(InvalidInputError, match="a run that began, got 7"):
        store.end_run(7, "done")


def test_a_store_that_was_opened_to_read_refuses_to_write(path, store):
    with Store.open(path) as reader:
        for action in (
            lambda: reader.add(done()),
            lambda: reader.choose(choice()),
            lambda: reader.begin_run(RunRecord(command="", suite={})),
        ):
            with pytest.raises(StoreError, match="write=True"):
                action()
    assert list(store.outcomes()) == []


def test_readers_see_what_was_added_at_once(path, store):
    with Store.open(path) as reader:
        for seed in range(3):
            store.add(done(seed))
            assert len(reader.finished_ids()) == seed + 1


def test_an_interrupt_within_a_transaction_leaves_the_store_usable(store, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("mcquack.bench.store._keep_environment", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.add(done(0))
    store.add(done(1))
    assert list(store.outcomes()) == [done(1)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE outcomes SET task = '{}'",
        "UPDATE outcomes SET task = 'no JSON'",
        "UPDATE outcomes SET scores = '[1'",
        "UPDATE details SET content = x'00'",
        "DELETE FROM environments",
    ],
)
def test_a_row_that_makes_no_sense_is_told_as_such(path, damage):
    with Store.open(path, create=True) as store:
        store.add(done())
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(damage)
    connection.close()
    with Store.open(path) as store, pytest.raises(StoreError, match=r"a row of the store .* cannot be read"):
        list(store.outcomes())


def test_a_closed_store_says_so(path):
    store = Store.open(path, create=True)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.counts()
