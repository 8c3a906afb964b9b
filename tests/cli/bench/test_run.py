import os
import signal
import subprocess
import sys
import time

import pytest

from mcquack.bench.store import Store
from mcquack.cli import bench as benchmark
from tests.cli.bench.moody import NAME
from tests.cli.bench.values import N_SMALL, SMALL


def test_a_suite_is_run_and_the_same_command_again_runs_nothing(bench, small_store, status):
    before = status(small_store)
    assert (before["n_done"], before["n_failed"]) == (N_SMALL, 0)
    again = bench("run", *SMALL, "--store", small_store)
    assert (again.code, again.out) == (0, "")
    assert f"{N_SMALL} tasks done, {N_SMALL} of them before." in again.err
    after = status(small_store)
    assert after["cells"] == before["cells"]
    first, second = after["runs"]
    assert first["command"].startswith("mcquack bench run real-world --datasets iris3 ")
    assert second["suite"] == first["suite"]
    assert (first["how"], second["how"]) == ("done", "done")


def test_other_options_add_what_is_missing(bench, small_store, status):
    assert bench("run", *SMALL[:-1], "3", "--jobs", 1, "--store", small_store).code == 0
    after = status(small_store)
    assert after["n_done"] == N_SMALL + 2
    assert {cell["n_seeds_done"] for cell in after["cells"]} == {3}


def test_a_dry_run_only_counts(bench, tmp_path, small_store):
    told = bench("run", *SMALL, "--dry-run")
    assert told.code == 0
    text = f"real-world: 1 dataset, 2 models, search random:2, 2 seeds: at most {N_SMALL} tasks.\n"
    assert told.out == text
    assert [path.name for path in tmp_path.iterdir()] == ["small.sqlite"]
    told = bench("run", *SMALL, "--dry-run", "--store", small_store)
    assert told.out == f"{text}{small_store} has {N_SMALL} tasks done, 0 failed.\n"


def test_tasks_that_fail_are_told_and_have_their_code(bench, moody_suite, status):
    failed = bench("run", moody_suite("bad"), "--jobs", 1)
    assert failed.code == 3
    assert f"{NAME} on iris3 failed: RuntimeError: not [bold]today[/bold]" in failed.err
    assert "2 tasks failed" in failed.err
    told = status("moody.sqlite")  # without --store it has the name of the suite
    assert (told["n_done"], told["n_failed"]) == (2, 2)
    # Once stored, a failure stands until it is asked to be run again.
    again = bench("run", moody_suite("good"), "--jobs", 1)
    assert again.code == 3
    assert "2 tasks done, 2 of them before." in again.err
    assert "2 tasks failed, 2 of them before: " in again.err
    assert status("moody.sqlite")["failures"] == told["failures"]


@pytest.mark.parametrize(
    ("mood", "why"), [("bad", "all 2 settings failed"), ("good", "none of 2 settings has a score by auc")]
)
def test_a_search_in_which_nothing_can_be_chosen_is_no_success(bench, moody_suite, mood, why):
    suite = moody_suite(mood)
    text = suite.read_text().replace('"none"', '"grid"\nchoose_by = "auc"')
    suite.write_text(f'{text}[spaces."{NAME}"]\ntemper = [1, 2]\n')
    outcome = bench("run", suite, "--models", NAME, "--jobs", 1)
    assert outcome.code == 3
    assert f"{NAME} on iris3: no settings could be chosen: {why}." in outcome.err
    assert "No settings could be chosen for 1 pair of a model and a dataset." in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["real-word"], "no suite is named 'real-word'; did you mean real-world?"),
        (["real-world", "--datasets", "irs3"], "did you mean iris3"),
        (["real-world", "--models", "scv"], "did you mean svc"),
        (["real-world", "--search", "random"], "random:K"),
        (["no.toml"], "No such file or directory: no.toml"),
        (["real-world", "--datasets", "doh"], "doh"),
    ],
)
def test_what_cannot_be_run_is_refused_before_a_store_is_made(bench, tmp_path, arguments, message):
    outcome = bench("run", *arguments)
    assert outcome.code == 1
    assert message in outcome.err
    assert list(tmp_path.glob("*.sqlite*")) == []


def test_a_store_that_another_run_writes_is_refused(bench, small_store):
    with Store.open(small_store, write=True):
        outcome = bench("run", *SMALL, "--store", small_store)
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert str(small_store) in outcome.err


def test_a_run_that_breaks_is_recorded_so(bench, moody_suite, status, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("by us")

    monkeypatch.setattr(benchmark, "shown", broken)
    assert bench("run", moody_suite(), "--jobs", 1).code == 1
    (run,) = status("moody.sqlite")["runs"]
    assert run["how"] == "failed"


def test_an_interrupted_run_goes_on_with_the_same_command(bench, moody_suite, status, tmp_path):
    suite = moody_suite("slow", n_seeds=20)
    command = [sys.executable, "-m", "mcquack", "bench", "run", str(suite), "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and not _n_done(tmp_path / "moody.sqlite"):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate()
    assert running.returncode == 130
    assert "Stopping: the tasks that run are waited for" in err
    assert "interrupted; what was finished is in moody.sqlite" in err
    told = status("moody.sqlite")
    assert 0 < told["n_done"] < 40
    assert told["n_failed"] == 0
    assert [run["how"] for run in told["runs"]] == ["interrupted"]

    assert bench("run", moody_suite("good", n_seeds=20), "--jobs", 1).code == 0
    told = status("moody.sqlite")
    assert (told["n_done"], told["n_failed"]) == (40, 0)
    assert [run["how"] for run in told["runs"]] == ["interrupted", "done"]


def _n_done(path):
    """Read as anybody may while the store is being written."""
    if not path.exists() or not path.stat().st_size:
        return 0
    with Store.open(path) as store:
        return store.counts().done


def test_a_local_cluster_gives_the_same_rows(bench, small_store, status):
    assert bench("run", *SMALL, "--dask", "local", "--jobs", 1, "--store", "cluster.sqlite").code == 0
    assert status("cluster.sqlite")["cells"] == status(small_store)["cells"]
