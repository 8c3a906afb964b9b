import csv
import hashlib
import json
import math
import random
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from mcquack.bench.store import STORE, RunRecord, Store, Tally, store_facts, write_csv, write_parquet
from mcquack.bench.task import METRICS, VALIDATION, Environment, Task
from mcquack.errors import InvalidInputError, McQuackError, StoreError
from mcquack.numerics import NUMERICS
from tests.bench.values import ENVIRONMENT, add_without_end, change_half, choice, done, failed, outcomes
from tests.campaigns import rounds
from tests.database.processes import started
from tests.known import known
from tests.spoiling import spoilt, tell


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


def test_outcomes_are_found_by_phase_and_success_also_beyond_one_page(store):
    store.rows_at_once = 7
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
    assert store.counts() == store.counts(phase="search") == store.counts(phase="final") == Tally(done=0, failed=0)
    for outcome in (done(0), done(1), failed(2), failed(3, split=VALIDATION)):
        store.add(outcome)
    counts = store.counts()
    assert counts == Tally(done=2, failed=2)
    assert store.counts(phase="search") == Tally(done=0, failed=1)
    assert store.counts(phase="final") == Tally(done=2, failed=1)
    assert counts.total == 4


def test_a_choice_replaces_the_older_one_of_its_cell(store):
    older, newer, other = choice(1), choice(2, score=None, settings={}), choice(3, model="vc")
    for chosen in (other, older, newer):
        store.choose(chosen)
    assert store.choices() == {("iris3", "svc"): newer, ("iris3", "vc"): other}
    assert list(store.choices()) == [("iris3", "svc"), ("iris3", "vc")]


def test_final_outcomes_are_those_of_current_choices_in_their_order(store):
    store.rows_at_once = 2
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
    with pytest.raises(InvalidInputError, match=r"number .* 7"):
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


class Interrupting:
    """An environment whose facts are read within a transaction, which Ctrl-C hits there."""

    id = "1"

    @property
    def facts(self):
        raise KeyboardInterrupt


def test_an_interrupt_within_a_transaction_leaves_the_store_usable(store):
    with pytest.raises(KeyboardInterrupt):
        store.add(done(0, environment=Interrupting()))
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
        "UPDATE outcomes SET task = '[1, 2]'",
        f"UPDATE outcomes SET task = '{'[' * 100_000}'",
        f"UPDATE outcomes SET scores = '{chr(123)}{chr(34)}a{chr(34)}: {'[' * 100_000}'",
        'UPDATE outcomes SET scores = \'{"test": {"auc": "high"}}\'',
        f'UPDATE outcomes SET scores = \'{chr(123)}"test": {chr(123)}"auc": 1{"0" * 400}{chr(125)}{chr(125)}\'',
        "UPDATE outcomes SET seconds = '[]'",
        "UPDATE outcomes SET n_parameters = 'many'",
        "UPDATE outcomes SET fingerprint = x'00ff'",
        "UPDATE outcomes SET task = replace(task, '\"iris3\"', '{}')",
        "UPDATE environments SET facts = '[]'",
    ],
)
def test_a_row_that_makes_no_sense_is_told_as_such(path, damage):
    with Store.open(path, create=True) as store:
        store.add(done())
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(damage)
    connection.close()
    with Store.open(path) as store, pytest.raises(StoreError, match=re.escape(str(path))):
        list(store.outcomes())


def test_details_that_would_fill_the_memory_are_refused(path):
    with Store.open(path, create=True) as store:
        store.most_details = 1000
        store.add(done(0, details={"class_names": ["a" * 900]}))
        store.add(done(1, details={"class_names": ["a" * 1000]}))
        assert known(store.outcome(done(0).task.id)).details["class_names"] == ["a" * 900]
        with pytest.raises(StoreError, match="1,000 bytes"):
            store.outcome(done(1).task.id)


@pytest.mark.parametrize("n_faults", [40, pytest.param(1500, marks=pytest.mark.campaign)])
def test_whatever_is_written_into_a_row_is_read_or_refused(path, n_faults):
    with Store.open(path, create=True) as store:
        store.add(done(0))
        store.choose(choice(0))
        store.begin_run(RunRecord(command="mcquack", suite={"name": "a", "datasets": ["iris3"], "models": ["svc"]}))
    kept = path.read_bytes()
    draws, n_refused = random.Random(11), 0
    columns = {
        "outcomes": ("task", "scores", "seconds", "n_parameters", "fingerprint", "error", "finished_at", "failed"),
        "choices": ("content",),
        "runs": ("suite", "command", "how"),
        "environments": ("facts",),
        "details": ("content",),
    }
    for _ in range(n_faults):
        path.write_bytes(kept)
        table = draws.choice(list(columns))
        column = draws.choice(columns[table])
        connection = sqlite3.connect(path, isolation_level=None)
        (value,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()
        connection.execute("PRAGMA ignore_check_constraints = ON")
        with suppress(sqlite3.IntegrityError):
            connection.execute(f"UPDATE {table} SET {column} = ?", [spoilt(value, draws)])
        connection.close()
        try:
            with Store.open(path) as store:
                content(store)
                list(store.final_outcomes())
                [run.pairs for run in store.runs()]
                store_facts(store)
        except McQuackError:
            n_refused += 1
    tell(f"{n_faults} damaged rows: {n_refused} refused, {n_faults - n_refused} read")
    assert 0 < n_refused < n_faults


def test_a_closed_store_says_so(path):
    store = Store.open(path, create=True)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.counts()


# One for each version that was ever released; they never change.
GOLDEN = sorted(Path(__file__).parent.glob("store_version_*.sql"))


def query(path, text):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def tables(path):
    found = query(path, "SELECT name, coalesce(sql, '') FROM sqlite_master ORDER BY name")
    return {name: " ".join(sql.split()) for name, sql in found}


def content(store):
    return {outcome.task.id: outcome for outcome in store.outcomes()}, store.choices(), store.runs()


@pytest.fixture(params=GOLDEN, ids=lambda golden: golden.stem)
def released(request, path):
    """A store as a released version wrote it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(request.param.read_text(encoding="utf-8"))
    return path


EXPECTED = (
    {outcome.task.id: outcome for outcome in (done(0), failed(1))},
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
        outcomes, *others = content(store)
    assert (outcomes.items() >= EXPECTED[0].items(), tuple(others)) == (True, EXPECTED[1:])


def of_version(outcome, version):
    return replace(outcome, task=replace(outcome.task, numerics=version))


def test_a_store_of_version_2_tells_the_numerics_of_its_rows(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(GOLDEN[1].read_text(encoding="utf-8"))
    with Store.open(path) as store:
        assert store.outcome("403f8e2788f5611d") == of_version(done(2, model="mcquack"), 2)
        assert store.numerics() == {2: 1}


@pytest.mark.parametrize("write", [False, True])
def test_rows_older_than_the_numerics_version_are_of_version_1_and_keep_their_ids(path, write):
    text = GOLDEN[0].read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text.replace("'svc'", "'mcquack'").replace('"svc"', '"mcquack"'))
        stored = json.loads(connection.execute("SELECT task FROM outcomes WHERE NOT failed").fetchone()[0])
        was = hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()[:16]
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("UPDATE outcomes SET id = ? WHERE NOT failed", [was])
        connection.commit()
    with Store.open(path, write=write) as store:
        (found,) = store.outcomes(failed=False)
        assert (found.task.numerics, found.task.id) == (1, was)
        assert store.numerics() == {1: 2}
        if write:
            store.add(done(0, model="mcquack"))
            assert store.numerics() == {1: 2, NUMERICS: 1}
            assert known(store.outcome(was)).task.numerics == 1


def test_a_row_of_an_older_numerics_version_gives_way_to_a_newer_one_of_its_task(store, tmp_path):
    old = [of_version(done(seed, model="mcquack"), 1) for seed in range(2)]
    new = done(0, model="mcquack")
    for outcome in (*old, new, done(0)):
        store.add(outcome)
    assert by_id(store.outcomes()) == by_id([old[1], new, done(0)])
    assert by_id(store.outcomes(superseded=True)) == by_id([*old, new, done(0)])
    assert store.outcome(old[0].task.id) == old[0]
    write_parquet(store, tmp_path / "a.parquet")
    assert set(lines(tmp_path / "a.parquet")) == {outcome.task.id for outcome in (*old, new, done(0))}


@pytest.mark.parametrize("model", ["mcquack", "nn"])
def test_a_row_with_raw_areas_gives_way_to_one_with_normalised_ones(store, tmp_path, model):
    raw = [of_version(done(seed, model=model), 1) for seed in range(3)]
    new = [replace(each, task=replace(done(0, model=model).task, seed=seed, auc_scores="normalised"))
           for seed, each in enumerate(raw[:2])]  # fmt: skip
    for outcome in (*raw, *new, done(0)):
        store.add(outcome)
    assert by_id(store.outcomes()) == by_id([raw[2], *new, done(0)])
    # What was asked for last is what counts, also if that was raw.
    store.choose(replace(choice(model=model), final_ids=(raw[1].task.id,)))
    assert by_id(store.outcomes()) == by_id([*raw[1:], *new, done(0)])
    write_parquet(store, tmp_path / "a.parquet")
    told = {task_id: line["auc_scores"] for task_id, line in lines(tmp_path / "a.parquet").items()}
    assert told == {each.task.id: each.task.auc_scores for each in (*raw, *new, done(0))}


def test_models_of_other_libraries_have_no_numerics_version(store):
    store.add(done(0, model="svc"))
    store.add(done(0, model="sklearn.svm:SVC"))
    assert store.numerics() == {}
    store.add(done(0, model="mcquack.studies.trainability.probe:Probe"))
    assert store.numerics() == {NUMERICS: 1}


def test_a_migrated_store_has_the_tables_of_a_new_one(released, tmp_path):
    Store.open(released, write=True).close()
    Store.open(tmp_path / "new.sqlite", create=True).close()
    assert tables(released) == tables(tmp_path / "new.sqlite")


def test_a_file_of_another_kind_is_refused_with_what_makes_a_store(path):
    path.write_text("a,b")
    with pytest.raises(StoreError, match="`mcquack bench run`"):
        Store.open(path)


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


NOT_FINITE = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("value", NOT_FINITE)
def test_scores_and_seconds_that_are_no_numbers_are_left_out(store, value):
    store.add(done(scores={"test": {"auc": value, "accuracy": 0.5}}, seconds={"fit": value, "load": 1.0}))
    (kept,) = store.outcomes()
    assert kept.scores == {"test": {"accuracy": 0.5}}
    assert kept.seconds == {"load": 1.0}


@pytest.mark.parametrize("value", NOT_FINITE)
def test_numbers_that_are_not_finite_are_none_in_details(store, value):
    store.add(done(details={"history": {"loss": [0.5, value]}, "kernel": {"values": ((value,), (1,))}}))
    (kept,) = store.outcomes()
    assert kept.details == {"history": {"loss": [0.5, None]}, "kernel": {"values": [[None], [1]]}}


def test_every_text_in_the_file_is_strict_json(path, store):
    store.add(done(details={"history": {"loss": NOT_FINITE}}, scores={"train": {"auc": math.nan}}))
    store.choose(choice(1))

    def refuse(constant):
        raise AssertionError(constant)

    connection = sqlite3.connect(path)
    (texts,) = connection.execute("SELECT task, scores, seconds FROM outcomes")
    (chosen,) = connection.execute("SELECT content FROM choices")
    connection.close()
    for text in (*texts, *chosen):
        json.loads(text, parse_constant=refuse)


def test_file_names_that_are_not_unicode_are_kept_readable(store):
    store.add(failed(error="cannot open 'a\udcff.csv'", dataset="a\udcff"))
    (kept,) = store.outcomes()
    assert kept.error == r"cannot open 'a\udcff.csv'"
    assert kept.task == failed(dataset="a\udcff").task


def test_a_long_traceback_is_kept_whole(store):
    error = "Traceback: ü\n" * 200_000
    store.add(failed(error=error))
    assert next(store.outcomes()).error == error


@pytest.mark.parametrize(
    "add",
    [
        lambda store: store.add(done(details={"model": object()})),
        lambda store: store.add(done(details={"number": 1j, "loss": [math.nan]})),
        lambda store: store.choose(choice(1, score=math.nan)),
        lambda store: store.choose(choice(1, settings={"C": {1, 2}})),
        lambda store: store.begin_run(RunRecord(command="", suite={"path": object()})),
    ],
)
def test_what_is_no_plain_value_is_refused_and_nothing_is_kept(store, add):
    with pytest.raises(InvalidInputError, match="plain JSON values"):
        add(store)
    assert (list(store.outcomes()), store.choices(), store.runs()) == ([], {}, ())


LARGE = {"history": {"loss": [seed / 7 for seed in range(20_000)]}}


def pages(store, n):
    store._connection.execute(f"PRAGMA max_page_count = {n}")


def test_a_full_disk_is_told_and_costs_only_what_had_no_room(path, store):
    for seed in range(20):
        store.add(done(seed))
    store.choose(choice(1))
    pages(store, 1)  # SQLite takes the present size for the least one
    for _ in range(2):
        with pytest.raises(StoreError, match=r"disk is full .*same command") as told:
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
from tests.bench.values import done

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
        cwd=Path(__file__).parents[2],
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


kills = pytest.mark.skipif(sys.platform == "win32", reason="nothing there ends a process as SIGKILL does")


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


@kills
@pytest.mark.parametrize("n_kills", rounds(10, short=20, full=60))
def test_a_writer_killed_at_any_moment_loses_nothing_that_it_told_of(path, n_kills, tally):
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
    tally("kills of a writer of a store", n_kills, rows_lost=0)


@kills
@pytest.mark.parametrize("n_kills", rounds(5, short=10, full=20))
def test_a_writer_killed_while_it_makes_the_store_leaves_none_or_a_whole_one(tmp_path, n_kills, tally):
    moments = random.Random(6)
    for number in range(n_kills):
        path = tmp_path / f"{number}.sqlite"
        told = kill_after(path, first=0, n_acknowledged=0, seconds=moments.uniform(0, 0.02))
        with Store.open(path, create=True) as store:
            assert len(list(store.outcomes())) - len(told) in (0, 1)
            store.add(done(99))
    tally("kills of a maker of a store", n_kills, broken_stores=0)


@kills
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


OUTCOMES = [
    done(0, scores={"train": {"accuracy": 1.0}, "test": {"auc": 1 / 3, "f1": 0.1 + 0.2}}),
    done(1, dataset='a "b", c', model="vc", n_parameters=None),
    done(2, split=VALIDATION),
    failed(3, error="Traceback\nline\nValueError: ü, no\n"),
]


@pytest.fixture
def filled(store):
    for outcome in OUTCOMES:
        store.add(outcome)
    store.choose(choice(0))
    return store


def lines(path):
    return {line["id"]: line for line in parquet.read_table(path).to_pylist()}


def test_parquet_has_a_line_for_each_task_with_all_that_is_known(filled, tmp_path):
    write_parquet(filled, tmp_path / "a.parquet")
    found = lines(tmp_path / "a.parquet")
    assert set(found) == {outcome.task.id for outcome in OUTCOMES}
    for outcome in OUTCOMES:
        line, task = found[outcome.task.id], outcome.task
        assert (line["dataset"], line["model"], line["seed"]) == (task.dataset, task.model, task.seed)
        assert (line["phase"], line["split"]) == (task.phase, str(task.split))
        assert Task.of(task.dataset, task.model, json.loads(line["settings"])).settings == task.settings
        for part in ("train", "validation", "test"):
            assert {metric: line[f"{part}_{metric}"] for metric in METRICS} == {
                metric: outcome.score(part, metric) for metric in METRICS
            }
        assert {stage: line[f"seconds_{stage}"] for stage in ("load", "fit", "score")} == outcome.seconds
        assert (line["n_parameters"], line["fingerprint"]) == (outcome.n_parameters, outcome.fingerprint)
        assert line["failed"] == outcome.failed
        assert line["error"] == (outcome.reason or None)
        assert json.loads(line["versions"]) == ENVIRONMENT.facts
        assert line["chosen"] == (outcome == OUTCOMES[0])
        assert line["numerics"] == task.numerics


def test_csv_reads_back_to_the_same_values(filled, tmp_path):
    write_parquet(filled, tmp_path / "a.parquet")
    write_csv(filled, tmp_path / "a.csv")
    table = parquet.read_table(tmp_path / "a.parquet")
    options = arrow_csv.ConvertOptions(
        column_types=table.schema, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    assert arrow_csv.read_csv(tmp_path / "a.csv", convert_options=options).equals(table)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert [row["dataset"] for row in csv.DictReader(file)] == table["dataset"].to_pylist()


def test_no_text_of_a_csv_is_a_formula(path, tmp_path):
    with Store.open(path, create=True) as store:
        store.add(failed(1, dataset="=1+1", model="@x:y", error="-- it ended"))
        store.add(done(2, dataset="-0.5", model="svc"))
        write_csv(store, tmp_path / "a.csv")
        write_parquet(store, tmp_path / "a.parquet")
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["seed"])
    assert [(row["dataset"], row["model"], row["error"]) for row in rows] == [
        ("'=1+1", "'@x:y", "'-- it ended"),
        ("-0.5", "svc", ""),
    ]
    assert sorted(parquet.read_table(tmp_path / "a.parquet")["dataset"].to_pylist()) == ["-0.5", "=1+1"]


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_the_order_in_which_tasks_ended_does_not_show(tmp_path, write):
    for name, given_outcomes in (("a", OUTCOMES), ("b", OUTCOMES[::-1])):
        with Store.open(tmp_path / f"{name}.sqlite", create=True) as store:
            for outcome in given_outcomes:
                store.add(replace(outcome, details={}))
            write(store, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_an_empty_store_gives_a_table_without_lines(store, tmp_path, write):
    write(store, tmp_path / "out")
    read = arrow_csv.read_csv if write is write_csv else parquet.read_table
    table = read(tmp_path / "out")
    assert table.num_rows == 0
    assert {"id", "test_auc", "seconds_fit", "versions"} <= set(table.column_names)


def test_more_lines_than_are_turned_at_once_are_all_written(store, tmp_path):
    store.rows_at_once = 3
    for seed in range(10):
        store.add(done(seed))
    write_parquet(store, tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet")["seed"].to_pylist() == list(range(10))


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_an_older_file_stays_if_the_new_one_cannot_be_written(filled, tmp_path, write, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "out").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(filled, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".tmp")] == []
