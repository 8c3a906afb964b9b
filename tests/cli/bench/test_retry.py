from mcquack.bench.store import Store
from tests.cli.bench.moody import NAME


def test_what_failed_is_run_again_until_it_is_done(bench, moody_suite, failed_store, status):
    moody_suite("bad")
    retried = bench("retry", failed_store, "--failed", "--jobs", 1)
    assert retried.code == 3
    assert "2 failed tasks will be run again." in retried.err
    assert status(failed_store)["n_failed"] == 2
    moody_suite("good")
    retried = bench("retry", failed_store, "--failed", "--jobs", 1)
    assert retried.code == 0
    assert "4 tasks done, 2 of them before." in retried.err
    told = status(failed_store)
    assert (told["n_done"], told["n_failed"]) == (4, 0)
    assert told["runs"][-1]["command"] == f"mcquack bench retry {failed_store} --failed --jobs 1"


def test_models_and_datasets_narrow_it_down(bench, failed_store, status):
    retried = bench("retry", failed_store, "--failed", "--models", "svc")
    assert retried.code == 0
    assert "0 failed tasks will be run again." in retried.err
    for options in (["--models", "scv"], ["--datasets", "irs3"]):
        refused = bench("retry", failed_store, "--failed", *options)
        assert refused.code == 1
        assert "did you mean" in refused.err
    told = status(failed_store)
    assert told["n_failed"] == 2
    # What was narrowed down once can be widened again.
    assert [run["suite"]["models"] for run in told["runs"]] == [[NAME, "svc"]] * 2


def test_a_store_without_a_run_has_nothing_to_retry(bench, tmp_path):
    Store.open(tmp_path / "empty.sqlite", create=True).close()
    refused = bench("retry", "empty.sqlite", "--failed")
    assert refused.code == 1
    assert "begin one with mcquack bench run" in refused.err
