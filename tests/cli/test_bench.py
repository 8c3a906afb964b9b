import csv
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from mcquack.bench.ranking.scores import cell_scores
from mcquack.bench.store import Store
from mcquack.bench.suite import BUILT_IN, read_suite
from mcquack.cli import bench as benchmark
from mcquack.cli import bench as data
from mcquack.cli.app import exit_code
from mcquack.cli.bench import Workers
from mcquack.cli.options import listed
from mcquack.errors import MissingDataError
from mcquack.numerics import NUMERICS
from tests.bench.events import N_SMALL, SMALL, cell, chosen, done, failed, final_task, search_task
from tests.bench.published import written
from tests.cli.moody import MOOD, NAME


@pytest.fixture
def bench(mcquack, tmp_path, monkeypatch):
    """Runs one of the verbs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda verb, *arguments: mcquack("bench", verb, *arguments)


@pytest.fixture
def status(bench):
    """What the status of a store tells to programs."""
    return lambda store: json.loads(bench("status", store, "--json").out)


@pytest.fixture(scope="session")
def _small_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.sqlite"
    assert exit_code(["bench", "run", *SMALL, "--jobs", "1", "--store", str(path)]) == 0
    return path


@pytest.fixture
def small_store(_small_store, tmp_path):
    """A store of two models on iris3, all done."""
    return shutil.copy(_small_store, tmp_path / "small.sqlite")


@pytest.fixture
def moody_suite(tmp_path, monkeypatch):
    """Writes a suite of one moody model and one that is not, and sets the mood."""

    def write(mood="good", n_seeds=2):
        monkeypatch.setenv(MOOD, mood)
        return _written(tmp_path / "moody.toml", n_seeds=n_seeds)

    return write


@pytest.fixture(scope="session")
def _failed_store(tmp_path_factory):
    suite = _written(tmp_path_factory.mktemp("failed") / "moody.toml", n_seeds=2)
    store = suite.with_suffix(".sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MOOD, "bad")
        assert exit_code(["bench", "run", str(suite), "--jobs", "1", "--store", str(store)]) == 3
    return store


@pytest.fixture
def failed_store(_failed_store, tmp_path):
    """A store in which the two tasks of the moody model failed, and two others were done."""
    return shutil.copy(_failed_store, tmp_path / "moody.sqlite")


def _written(path, *, n_seeds):
    path.write_text(
        f'name = "moody"\ndatasets = ["iris3"]\nmodels = ["{NAME}", "svc"]\nsearch = "none"\nseeds = {n_seeds}\n'
    )
    return path


@pytest.mark.parametrize("verb", [["status"], ["retry"], ["export", "--csv", "t.csv"]])
def test_a_store_that_is_not_there_is_told_in_a_line(bench, tmp_path, verb):
    outcome = bench(*verb, "no.sqlite")
    assert outcome.code == 1
    assert "there is no store at no.sqlite" in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_suite_is_run_and_the_same_command_again_runs_nothing(bench, small_store, status):
    before = status(small_store)
    assert (before["n_done"], before["n_failed"]) == (N_SMALL, 0)
    again = bench("run", *SMALL, "--store", small_store)
    assert (again.code, again.out) == (0, "")
    assert f"{N_SMALL} tasks done, {N_SMALL} of them before." in again.err
    assert f"has {N_SMALL} tasks done, 0 failed before this run." in again.err
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


PUBLISHED = ("qml", "--search", "published", "--models", "svc,mlp", "--datasets", "two_curves_[23]", "--seeds", 2)


def test_published_settings_are_run_and_what_has_none_is_left_out(bench, status, tmp_path, monkeypatch):
    folder = written(tmp_path / "data", monkeypatch)
    told = bench("run", *PUBLISHED, "--data-dir", folder, "--dry-run")
    assert told.out == "qml: 2 datasets, 2 models, search published, 2 seeds: at most 6 tasks.\n"
    left_out = "Left out, as no settings were published for them: mlp on 1 dataset.\n"
    assert told.err == left_out
    done = bench("run", *PUBLISHED, "--data-dir", folder, "--jobs", 1)
    assert done.code == 0
    assert left_out in done.err
    told = status("qml.sqlite")
    assert (told["n_done"], told["n_failed"]) == (6, 0)
    assert [(cell["dataset"], cell["model"], cell["search"], cell["n_seeds_done"]) for cell in told["cells"]] == [
        ("two_curves_2", "svc", "published", 2),
        ("two_curves_3", "svc", "published", 2),
        ("two_curves_3", "mlp", "published", 2),
    ]
    assert told["cells"][0]["settings"] == {"C": 10.0, "gamma": 1.0, "scale": False}
    again = bench("run", *PUBLISHED, "--data-dir", folder, "--jobs", 1)
    assert "6 tasks done, 6 of them before." in again.err


def test_tasks_that_fail_are_told_and_have_their_code(bench, moody_suite, status):
    failed = bench("run", moody_suite("bad"), "--jobs", 1)
    assert failed.code == 3
    assert "Moody on iris3 failed: RuntimeError: not [bold]today[/bold]" in failed.err
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
    assert f"Moody on iris3: no settings could be chosen: {why}." in outcome.err
    assert "No settings could be chosen for 1 pair of a model and a dataset." in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["real-word"], "no suite is named 'real-word'; did you mean real-world or"),
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


def test_what_failed_is_run_again_until_it_is_done(bench, moody_suite, failed_store, status):
    suite = moody_suite("bad")
    retried = bench("retry", failed_store, "--suite", suite, "--jobs", 1)
    assert retried.code == 3
    assert "At most 2 failed tasks will be run again." in retried.err
    assert status(failed_store)["n_failed"] == 2
    moody_suite("good")
    retried = bench("retry", failed_store, "--models", NAME, "--jobs", 1)
    assert retried.code == 0
    assert "2 tasks done." in retried.err
    told = status(failed_store)
    assert (told["n_done"], told["n_failed"]) == (4, 0)
    assert told["runs"][-1]["command"] == f"mcquack bench retry {failed_store} --models {NAME} --jobs 1"


def test_a_store_that_was_edited_runs_no_code(bench, failed_store, tmp_path, monkeypatch):
    sprung = tmp_path / "sprung"
    with sqlite3.connect(failed_store) as connection:
        for table, column in (("outcomes", "task"), ("outcomes", "model"), ("runs", "suite")):
            connection.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", [NAME, "subprocess:Popen"])
        (suite,) = connection.execute("SELECT suite FROM runs").fetchone()
        edited = {**json.loads(suite), "settings": {"subprocess:Popen": {"args": ["touch", str(sprung)]}}}
        connection.execute("UPDATE runs SET suite = ?", [json.dumps(edited)])
    connection.close()
    refused = bench("retry", failed_store, "--jobs", 1)
    assert refused.code == 1
    assert "the store asks for 'subprocess:Popen'" in refused.err
    # Even who names it cannot have it called.
    refused = bench("retry", failed_store, "--models", "subprocess:Popen", "--jobs", 1)
    assert refused.code == 1
    assert "For models or datasets that you name, this is imported: subprocess." in refused.err
    assert "it is no classifier" in refused.err
    for verb in (["bench", "status", failed_store], ["report", failed_store, "--out", tmp_path / "page"]):
        monkeypatch.setattr("mcquack.bench.samples.import_module", _refuse_to_import)
        assert exit_code([*map(str, verb)]) in (0, 1)
    assert not sprung.exists()


def _refuse_to_import(name):
    raise AssertionError(f"{name} was to be imported")


def test_fits_that_take_too_long_fail_alone_and_can_be_given_more_time(bench, status, tmp_path):
    suite = tmp_path / "brief.toml"
    suite.write_text(
        'name = "brief"\ndatasets = ["iris3"]\nmodels = ["mcquack", "svc"]\nsearch = "none"\nseeds = 2\n'
        "[settings.mcquack]\nepochs = 2\nn_qubits = 2\n"
    )
    ended = bench("run", suite, "--jobs", 1, "--budget", 0)
    assert ended.code == 3
    assert "mcquack on iris3 failed: " in ended.err
    assert "the fit took longer than 0 s" in ended.err
    told = status("brief.sqlite")
    assert [(cell["model"], cell["n_done"], cell["n_failed"]) for cell in told["cells"]] == [
        ("mcquack", 0, 2),
        ("svc", 2, 0),
    ]
    assert bench("retry", "brief.sqlite", "--jobs", 1, "--budget", 1000).code == 0
    after = status("brief.sqlite")
    assert (after["n_done"], after["n_failed"]) == (4, 0)
    # The same tasks as without a budget: nothing is left to do.
    assert "4 tasks done, 4 of them before." in bench("run", suite, "--jobs", 1).err


def test_models_and_datasets_narrow_it_down(bench, failed_store, status):
    retried = bench("retry", failed_store, "--models", "svc")
    assert retried.code == 0
    assert "Nothing is to be run again." in retried.err
    for options in (["--models", "scv"], ["--datasets", "irs3"]):
        refused = bench("retry", failed_store, *options)
        assert refused.code == 1
        assert "did you mean" in refused.err
    told = status(failed_store)
    assert told["n_failed"] == 2
    assert [run["suite"]["models"] for run in told["runs"]] == [[NAME, "svc"]]


def test_failures_of_earlier_runs_are_run_again_too(bench, moody_suite, failed_store, status):
    suite = moody_suite("good")
    assert bench("run", suite, "--models", "svc", "--jobs", 1, "--store", failed_store).code == 0
    retried = bench("retry", failed_store, "--suite", suite, "--jobs", 1)
    assert retried.code == 0
    assert "At most 2 failed tasks will be run again." in retried.err
    told = status(failed_store)
    assert (told["n_done"], told["n_failed"]) == (4, 0)
    assert told["runs"][-1]["suite"]["models"] == ["svc"]


def test_failures_that_no_run_asks_for_any_more_are_left_and_told(bench, moody_suite, failed_store, status):
    with Store.open(failed_store, write=True) as store:
        store.add(failed(search_task(cell("wine"))))
    suite = moody_suite("good", n_seeds=1)
    assert bench("run", suite, "--jobs", 1, "--store", failed_store).code == 3
    retried = bench("retry", failed_store, "--suite", suite, "--jobs", 1)
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
    retried = bench("retry", "moody.sqlite", "--models", NAME, "--datasets", datasets, "--jobs", 1)
    if datasets == "iris3":
        assert retried.code == 0
    else:
        assert retried.code == 1
        assert f"the stored suite: there is no file {table}" in retried.err
    assert status("moody.sqlite")["n_failed"] == (2 if datasets == "iris3" else 4)


def test_the_flag_of_earlier_releases_changes_nothing(bench, failed_store):
    assert "At most 2 failed tasks" in bench("retry", failed_store, "--failed", "--models", NAME, "--jobs", 1).err


def test_a_store_without_a_run_has_nothing_to_retry(bench, tmp_path):
    Store.open(tmp_path / "empty.sqlite", create=True).close()
    refused = bench("retry", "empty.sqlite")
    assert refused.code == 1
    assert "begin one with mcquack bench run" in refused.err


def test_scores_are_those_of_the_ranking(bench, small_store):
    lines = [line.split("\t") for line in bench("status", small_store).out.splitlines()]
    with Store.open(small_store) as store:
        scores = {each.model: each for each in cell_scores(store)}
    assert [line[:6] for line in lines] == [["iris3", model, "12", "0", "2", "2"] for model in ("svc", "nystroem_svm")]
    for line in lines:
        mean, spread = (getattr(scores[line[1]], name)("test", line[6]) for name in ("mean", "spread"))
        assert line[8:] == [f"{mean:.6g}", f"{spread:.6g}"]


def test_json_tells_more_to_programs(status, small_store):
    told = status(small_store)
    assert told["phases"] == {"search": {"n_done": 20, "n_failed": 0}, "final": {"n_done": 4, "n_failed": 0}}
    for each in told["cells"]:
        assert each["search"] == "random:2"
        assert 0 < each["validation"] <= 1
        assert each["settings"]
    assert told["runs"][0]["environment"]["mcquack"]


def test_what_has_not_begun_is_listed_too(terminal, failed_store):
    lines = terminal("bench", "status", failed_store, width=80)
    assert lines[0].split() == ["dataset", "Moody", "svc"]
    assert re.fullmatch(r"iris3 +failed +\d\.\d{3} *", lines[1])
    connection = sqlite3.connect(failed_store)
    connection.execute("DELETE FROM outcomes WHERE failed")
    connection.commit()
    connection.close()
    assert re.fullmatch(r"iris3 +– +\d\.\d{3} *", terminal("bench", "status", failed_store, width=80)[1])


def test_failures_that_are_alike_are_told_once(bench, failed_store):
    told = bench("status", failed_store).err.splitlines()
    assert told[0] == f"{failed_store}: 2 tasks done, 2 failed; 1 of 2 models on datasets have all their scores."
    assert re.fullmatch(r"Last run: mcquack bench run .*moody\.toml --jobs 1 .*\(began .*; done .*\)", told[1])
    assert told[2:] == ["  2 × Moody on iris3: RuntimeError: not [bold]today[/bold]"]


def test_rows_of_several_numerics_versions_are_told(bench, status, tmp_path):
    given = cell("wine", "mcquack")
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        store.add(done(final_task(given, 0)))
        store.add(done(final_task(cell("wine", "svc"), 0)))
    assert not [line for line in bench("status", "s.sqlite").err.splitlines() if "numerics" in line]
    with Store.open(tmp_path / "s.sqlite", write=True) as store:
        store.add(done(replace(final_task(given, 1), numerics=1)))
    (told,) = [line for line in bench("status", "s.sqlite").err.splitlines() if "numerics" in line]
    assert told.endswith(f"1 task of version 1, 1 task of version {NUMERICS}.")
    assert status("s.sqlite")["numerics"] == {"1": 1, str(NUMERICS): 1}


def test_areas_of_both_kinds_are_told(bench, status, tmp_path):
    given = cell("iris3", "mcquack")
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        store.add(done(final_task(given, 0)))
        store.add(done(replace(final_task(cell("iris3", "nn"), 0), auc_scores="normalised")))
    assert "reas under the curve" not in bench("status", "s.sqlite").err
    with Store.open(tmp_path / "s.sqlite", write=True) as store:
        store.add(done(replace(final_task(given, 1), auc_scores="normalised")))
    assert "normalised ones in others: mcquack on iris3." in bench("status", "s.sqlite").err
    kinds = {each["model"]: each["auc_scores"] for each in status("s.sqlite")["cells"]}
    assert kinds == {"mcquack": ["normalised", "raw"], "nn": ["normalised"]}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_store_without_a_run_can_be_told(terminal, bench, tmp_path, width):
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        for number in range(15):
            store.add(failed(search_task(cell(f"dataset{number}"))))
        store.add(done(search_task(cell("wine"))))
        store.add(done(final_task(cell("wine"))))
        store.add(done(search_task(cell("iris3", "mlp"))))
        store.add(failed(final_task(cell("iris3", "mlp"))))
        store.choose(chosen(cell("iris3", "mlp"), final_ids=(final_task(cell("iris3", "mlp")).id,)).choice)
    lines = terminal("bench", "status", "s.sqlite", width=width)
    assert ["dataset0", "failed"] in [line.split() for line in lines]
    assert ["iris3", "failed"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= width
    assert ["wine", "searching"] in [line.split() for line in lines]
    told = bench("status", "s.sqlite").err.splitlines()
    assert told[0] == "s.sqlite: 3 tasks done, 16 failed; 0 of 17 models on datasets have all their scores."
    assert told[-1] == "  and 6 more (--json shows all)"


def test_every_task_is_a_line(bench, small_store, tmp_path):
    outcome = bench("export", small_store, "--csv", "t.csv", "--parquet", "t.parquet")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"In t.parquet and t.csv: {N_SMALL} tasks.\n"
    with (tmp_path / "t.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == pq.read_table(tmp_path / "t.parquet").num_rows == N_SMALL
    assert {line["model"] for line in lines} == {"svc", "nystroem_svm"}


def test_nothing_is_replaced_unless_asked(bench, small_store, tmp_path):
    (tmp_path / "t.csv").write_text("mine")
    refused = bench("export", small_store, "--csv", "t.csv")
    assert refused.code == 1
    assert "--force" in refused.err
    assert (tmp_path / "t.csv").read_text() == "mine"
    assert bench("export", small_store, "--csv", "t.csv", "--force").code == 0
    assert (tmp_path / "t.csv").read_text() != "mine"


def test_the_store_is_no_place_to_write_to(bench, small_store):
    refused = bench("export", small_store, "--csv", small_store, "--force")
    assert refused.code == 1
    assert "is one of the files to read" in refused.err


def test_elsewhere_than_on_a_terminal_every_suite_is_a_line_to_cut(bench):
    lines = [line.split("\t") for line in bench("suites").out.splitlines()]
    assert tuple(line[0] for line in lines) == BUILT_IN
    sizes = {
        "real-world": "20",
        "qml": "133",
        "hardware-twin": "8",
        "feature-maps": "10",
        "real-world-race": "92",
        "qml-race": "133",
    }
    assert {line[0]: line[2] for line in lines} == sizes
    assert {len(line) for line in lines} == {7}


def test_json_tells_the_same_to_programs(bench):
    found = {facts["name"]: facts for facts in json.loads(bench("suites", "--json").out)}
    assert "iris3" in found["real-world"]["datasets"]
    assert found["qml"]["models"][0] == "mcquack"


@pytest.mark.parametrize("width", [60, 200])
def test_on_a_terminal_it_is_a_table(terminal, width):
    shown = terminal("bench", "suites", width=width)
    assert max(map(len, shown)) <= width
    assert {line.split()[0] for line in shown if line[:1].strip()} >= {*BUILT_IN, "name"}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, None),
        ([], None),
        ([" , "], None),
        (["a,b"], ("a", "b")),
        (["a", "b"], ("a", "b")),
        (["a, b", "b,c", ""], ("a", "b", "c")),
    ],
)
def test_names_come_with_commas_or_repeatedly(given, names):
    assert listed(given) == names


@pytest.fixture
def asked(monkeypatch):
    """Collects what is loaded in place of loading it."""
    names = []
    monkeypatch.setattr(data, "loaded", lambda name, *, data_dir: names.append(name))
    return names


def cells(*patterns, suite="real-world"):
    return read_suite(suite).with_(datasets=patterns, models=["svc", "nn"]).cells()


def test_files_are_asked_for_once_however_many_datasets_share_them(asked, capsys):
    Workers(data_dir=None).fetch_missing(cells("mnist_pca_*", "linearly_separable_*", suite="qml"))
    assert len(asked) == 1
    assert asked[0].startswith("mnist_pca_")
    assert capsys.readouterr().err == f"Fetching {asked[0]} …\n"


def test_what_is_built_in_or_at_hand_is_not_asked_for(asked, data_dir):
    Workers(data_dir=None).fetch_missing(cells("iris3"))
    Workers(data_dir=data_dir).fetch_missing(cells("doh", "mnist10"))
    assert asked == []


def test_what_cannot_be_had_is_refused():
    with pytest.raises(MissingDataError, match="doh"):
        Workers(data_dir=None).fetch_missing(cells("doh"))


# Merging


def test_stores_are_merged_and_what_is_done_stays(bench, status, small_store, tmp_path):
    parts = [shutil.copy(small_store, tmp_path / f"{part}.sqlite") for part in ("first", "second")]
    for part, forgotten in zip(parts, ("final", "search"), strict=True):
        with sqlite3.connect(part) as connection:
            connection.execute("DELETE FROM outcomes WHERE phase = ?", [forgotten])
    assert bench("merge", *parts, "--out", "both.sqlite").code == 0
    whole, both = status(small_store), status("both.sqlite")
    assert both["cells"] == whole["cells"]
    assert both["n_done"] == whole["n_done"]
    assert bench("merge", *parts, "--out", "both.sqlite").code == 0
    assert status("both.sqlite")["n_done"] == whole["n_done"]
    with Store.open("both.sqlite") as merged:
        assert len(merged.runs()) == 1  # both stores are of the same run


def test_a_store_of_final_rows_has_scores_and_choices_and_no_curves(bench, small_store):
    assert bench("merge", small_store, "--out", "small_one.sqlite", "--final").code == 0
    with Store.open(small_store) as whole, Store.open("small_one.sqlite") as final:
        assert final.counts(phase="search").total == 0
        assert final.counts(phase="final") == whole.counts(phase="final")
        assert final.choices() == whole.choices()
        assert cell_scores(final) == cell_scores(whole)
        assert not any("history" in outcome.details for outcome in final.outcomes())


def test_a_store_is_not_merged_into_itself(bench, small_store):
    refused = bench("merge", small_store, "--out", small_store)
    assert refused.code == 2
    assert "one of the stores to read" in refused.err
