"""What is there is read, what is missing is run, and what was cut off goes on."""

import gzip
from pathlib import Path

import pytest

from mcquack.bench.store import RunRecord, Store
from mcquack.bench.suite import Suite
from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.design import Design
from studies.paper.stores import RUNS, RunStep, Stores


def record(stores, study, *runs):
    """A store with runs that were recorded with these commands, suites and ends."""
    path = stores.path(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store.open(path, write=True, create=True) as store:
        for command, suite, how in runs:
            store.begin_run(RunRecord(command=command, suite=suite, ended="2025-01-02T03:04:05+00:00", how=how))


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("study", RUNS)
def test_every_step_is_something_that_can_be_run(study, quick):
    for step in Stores(folder=Path("x"), quick=quick).steps(study):
        assert isinstance(step.chosen(), Design if step.designs else Suite)
        command = step.command(Path("x.sqlite"))
        assert command.startswith(("mcquack bench run ", "mcquack trainability run "))
        assert command.endswith(" --store x.sqlite")


@pytest.mark.parametrize("study", RUNS)
def test_a_quick_pass_is_a_small_part(study):
    def size(steps):
        chosen = [step.chosen() for step in steps]
        return sum(len(each.cells()) * each.seeds if isinstance(each, Suite) else len(each.tasks()) for each in chosen)

    assert 0 < size(RUNS[study].quick) <= size(RUNS[study].steps) / 2


def test_without_a_store_all_steps_are_missing(tmp_path):
    stores = Stores(folder=tmp_path)
    assert not stores.is_there("qml_suite")
    assert stores.missing_steps("qml_suite") == RUNS["qml_suite"].steps
    assert stores.further("qml_suite") == ()
    assert Stores(folder=tmp_path, quick=True).missing_steps("qml_suite") == RUNS["qml_suite"].quick


def test_a_store_that_somebody_else_made_is_read_as_it_is(tmp_path):
    stores = Stores(folder=tmp_path)
    record(stores, "qml_suite", ("mcquack bench run qml", {"name": "qml"}, None))
    assert stores.missing_steps("qml_suite") == ()


def test_what_a_run_of_ours_has_not_ended_goes_on(tmp_path):
    stores = Stores(folder=tmp_path)
    first, second = RUNS["qml_suite"].steps
    record(stores, "qml_suite", ("python -m studies.paper", first.chosen().to_json(), None))
    assert stores.missing_steps("qml_suite") == (first, second)
    record(stores, "qml_suite", ("python -m studies.paper", first.chosen().to_json(), "done"))
    assert stores.missing_steps("qml_suite") == (second,)
    record(stores, "qml_suite", ("python -m studies.paper --jobs 2", second.chosen().to_json(), "done"))
    assert stores.missing_steps("qml_suite") == ()


def test_a_run_that_was_recorded_under_the_earlier_name_goes_on_too(tmp_path):
    stores = Stores(folder=tmp_path)
    record(stores, "real_world", ("mcquack paper --jobs 2", {"name": "real-world"}, None))
    assert stores.missing_steps("real_world") == RUNS["real_world"].steps


def test_a_design_that_has_ended_is_not_run_again(tmp_path):
    stores = Stores(folder=tmp_path, quick=True)
    (step,) = RUNS["trainability"].quick
    record(stores, "trainability", ("python -m studies.paper --quick", step.chosen().to_json(), "interrupted"))
    assert stores.missing_steps("trainability") == (step,)
    record(stores, "trainability", ("python -m studies.paper --quick", step.chosen().to_json(), "done"))
    assert stores.missing_steps("trainability") == ()


def test_further_stores_are_found_by_name(tmp_path):
    stores = Stores(folder=tmp_path)
    record(stores, "real_world", ("mcquack bench run real-world", {}, "done"))
    for name in ("race.sqlite", "defaults.sqlite.gz"):
        (tmp_path / "real_world" / name).touch()
    assert [path.name for path in stores.further("real_world")] == ["defaults.sqlite.gz", "race.sqlite"]


def test_rows_that_are_compressed_are_there(tmp_path):
    stores = Stores(folder=tmp_path)
    record(stores, "real_world", ("mcquack bench run real-world", {}, "done"))
    rows = stores.path("real_world")
    rows.with_name("rows.sqlite.gz").write_bytes(gzip.compress(rows.read_bytes()))
    rows.unlink()
    assert stores.is_there("real_world")
    assert stores.missing_steps("real_world") == ()
    assert stores.further("real_world") == ()
    with Store.open(stores.path("real_world")) as store:
        assert [run.how for run in store.runs()] == ["done"]


def test_a_step_is_of_a_suite_or_of_designs():
    for suite, designs in (("", ()), ("qml", ("paper",))):
        with pytest.raises(InvalidInputError, match="suite"):
            RunStep(suite=suite, designs=designs)
