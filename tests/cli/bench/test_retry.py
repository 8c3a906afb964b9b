import pytest

from mcquack.bench.store import Store
from tests.cli.bench.moody import NAME
from tests.cli.bench.values import cell, failed, search_task


def test_what_failed_is_run_again_until_it_is_done(bench, moody_suite, failed_store, status):
    moody_suite("bad")
    retried = bench("retry", failed_store, "--failed", "--jobs", 1)
    assert retried.code == 3
    assert "At most 2 failed tasks will be run again." in retried.err
    assert status(failed_store)["n_failed"] == 2
    moody_suite("good")
    retried = bench("retry", failed_store, "--failed", "--jobs", 1)
    assert retried.code == 0
    assert "2 tasks done." in retried.err
    told = status(failed_store)
    assert (told["n_done"], told["n_failed"]) == (4, 0)
    assert told["runs"][-1]["command"] == f"mcquack bench retry {failed_store} --failed --jobs 1"


def test_models_and_datasets_narrow_it_down(bench, failed_store, status):
    retried = bench("retry", failed_store, "--failed", "--models", "svc")
    assert retried.code == 0
    assert "Nothing is to be run again." in retried.err
    for options in (["--models", "scv"], ["--datasets", "irs3"]):
        refused = bench("retry", failed_store, "--failed", *options)
        assert refused.code == 1
        assert "did you mean" in refused.err
    told = status(failed_store)
    assert told["n_failed"] == 2
    assert [run["suite"]["models"] for run in told["runs"]] == [[NAME, "svc"]]


def test_failures_of_earlier_runs_are_run_again_too(bench, moody_suite, failed_store, status):
    suite = moody_suite("good")
    assert bench("run", suite, "--models", "svc", "--jobs", 1, "--store", failed_store).code == 0
    retried = bench("retry", failed_store, "--failed", "--jobs", 1)
    assert retried.code == 0
    assert "At most 2 failed tasks will be run again." in retried.err
    told = status(failed_store)
    assert (told["n_done"], told["n_failed"]) == (4, 0)
    assert told["runs"][-1]["suite"]["models"] == ["svc"]


def test_failures_that_no_run_asks_for_any_more_are_left_and_told(bench, moody_suite, failed_store, status):
    with Store.open(failed_store, write=True) as store:
        store.add(failed(search_task(cell("wine"))))
    assert bench("run", moody_suite("good", n_seeds=1), "--jobs", 1, "--store", failed_store).code == 3
    retried = bench("retry", failed_store, "--failed", "--jobs", 1)
    assert retried.code == 0
    assert "No recorded run asks any more for 2 failed tasks: left alone." in retried.err
    assert "At most 1 failed task will be run again." in retried.err
    assert status(failed_store)["n_failed"] == 2


@pytest.mark.parametrize("datasets", ["iris3", "flowers"])
def test_only_tables_of_what_failed_and_was_chosen_must_be_there(bench, moody_suite, tmp_path, status, datasets):
    table = tmp_path / "flowers.csv"
    table.write_text("a,kind\n" + "1,x\n2,y\n" * 20)
    suite = moody_suite("bad")
    text = suite.read_text().replace('["iris3"]', '["iris3", "flowers"]')
    suite.write_text(f'{text}[tables.flowers]\npath = "flowers.csv"\ntarget = "kind"\n')
    assert bench("run", suite, "--models", NAME, "--jobs", 1).code == 3
    table.unlink()
    moody_suite("good")
    retried = bench("retry", "moody.sqlite", "--failed", "--datasets", datasets, "--jobs", 1)
    if datasets == "iris3":
        assert retried.code == 0
    else:
        assert retried.code == 1
        assert f"the stored suite: there is no file {table}" in retried.err
    assert status("moody.sqlite")["n_failed"] == (2 if datasets == "iris3" else 4)


def test_a_store_without_a_run_has_nothing_to_retry(bench, tmp_path):
    Store.open(tmp_path / "empty.sqlite", create=True).close()
    refused = bench("retry", "empty.sqlite", "--failed")
    assert refused.code == 1
    assert "begin one with mcquack bench run" in refused.err
