"""The verbs of a study: running it, going on, and making its page."""

import json

import pytest

from mcquack.bench.progress import CellProgress
from mcquack.bench.runner import Event
from mcquack.bench.store import Store
from mcquack.bench.task import Environment, Outcome, Task
from mcquack.cli.trainability import StudyProgress
from mcquack.studies.trainability import observations
from tests.report.trainability.fakes import fake_store, observation

DESIGN = """\
name = "tiny"

[grids.tiny]
dataset = "manifold_124"
seeds = 2

[grids.tiny.vary]
n_qubits = [2, 3]

[grids.tiny.settings]
n_features = 4
n_train = 20
epochs = 1
"""


@pytest.fixture
def study(mcquack, tmp_path, monkeypatch):
    """Runs the verb in a folder with a tiny design."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(DESIGN)
    return lambda *arguments: mcquack("trainability", "run", *arguments)


def test_a_study_is_run_and_goes_on(study, tmp_path):
    first = study("tiny.toml", "--jobs", "1", "--qubits", "2", "--seeds", "1")
    assert first.code == 0, first.err
    assert "1 task done." in first.err
    assert "mcquack trainability report trainability.sqlite" in first.err
    whole = study("tiny.toml", "--jobs", "1")
    assert whole.code == 0, whole.err
    assert "4 tasks done, 1 of them before." in whole.err
    with Store.open(tmp_path / "trainability.sqlite") as store:
        seen = observations(store)
        assert store.runs()[0].command == "mcquack trainability run tiny.toml --jobs 1 --qubits 2 --seeds 1"
        assert [run.how for run in store.runs()] == ["done", "done"]
    assert [(each.settings["n_qubits"], each.seed) for each in seen] == [(2, 0), (2, 1), (3, 0), (3, 1)]
    dry = study("tiny.toml", "--dry-run", "--seeds", "3")
    assert "All together: 6 tasks, 4 of which are done in trainability.sqlite" in dry.out


def test_failures_are_told_and_can_be_retried(study, tmp_path):
    (tmp_path / "tiny.toml").write_text(DESIGN.replace("manifold_124", "iris3"))
    options = ("--jobs", "1", "--models", "quack", "--seeds", "1")
    failed = study("tiny.toml", *options)
    assert failed.code == 3
    assert "quack needs two classes" in failed.err
    assert "--retry-failed" in failed.err
    assert "2 tasks failed" in study("tiny.toml", *options, "--retry-failed").err


def test_a_dry_run_tells_the_size_and_runs_nothing(study, tmp_path):
    told = study("--dry-run", "--jobs", "2")
    assert told.code == 0
    assert "paper on manifold: 384 tasks, 2 to 13 qubits, 4 seeds; about" in told.out
    assert "shallow_2 on manifold_124" in told.out
    assert not (tmp_path / "trainability.sqlite").exists()


def test_several_designs_are_one_study(study):
    told = study("tiny.toml", "quick", "--dry-run")
    assert told.out.splitlines()[0].startswith("tiny on manifold_124: 4 tasks")
    assert told.out.splitlines()[-1].startswith("All together: 124 tasks;")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("papers",), "did you mean paper"),
        (("tiny.toml", "--qubits", "7"), "no circuits of 7 qubits, only of 2, 3"),
        (("tiny.toml", "--qubits", "few"), "qubits must be numbers and ranges"),
        (("tiny.toml", "--models", "svc"), "got 'svc'"),
        (("gone.toml",), "No such file or directory: gone.toml"),
    ],
)
def test_what_cannot_be_run_is_refused(study, tmp_path, arguments, message):
    refused = study(*arguments)
    assert refused.code == 1
    assert message in refused.err
    assert not (tmp_path / "trainability.sqlite").exists()


@pytest.fixture
def store(tmp_path):
    return fake_store(tmp_path / "s.sqlite", [observation(n, epochs=0) for n in (2, 3)])


def test_a_store_becomes_a_page(mcquack, store, tmp_path):
    steps = [-1.0, 0.0, 1.0]
    losses = tmp_path / "around.json"
    losses.write_text(json.dumps({"first": steps, "second": steps, "losses": [[2, 1, 2], [1, 0, 1], [2, 1, 2]]}))
    page = tmp_path / "page" / "index.html"
    outcome = mcquack("trainability", "report", store, "--out", page.parent, "--title", "Mine", "--landscape", losses)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"The report is in {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "<h1><bdi>Mine</bdi></h1>" in text
    assert "Around: the loss is 0 in the centre" in text


def test_what_cannot_be_reported_is_refused(mcquack, store, tmp_path):
    (tmp_path / "mine").write_text("mine")
    refused = mcquack("trainability", "report", store, "--out", tmp_path / "mine")
    assert refused.code == 1
    assert "is a file; name a folder" in refused.err
    refused = mcquack("trainability", "report", store, "--out", tmp_path / "page", "--landscape", tmp_path / "mine")
    assert refused.code == 1
    assert "no slice of a loss" in refused.err
    assert mcquack("trainability", "report", tmp_path / "no.sqlite", "--out", tmp_path / "page").code == 1
    assert not (tmp_path / "page").exists()


def test_a_study_and_a_benchmark_have_reports_of_their_own(mcquack, store, tmp_path):
    out = tmp_path / "page"
    refused = mcquack("report", store, "--out", out)
    assert refused.code == 1
    assert f"mcquack trainability report {store} --out {out}" in refused.err
    retried = mcquack("bench", "retry", store)
    assert retried.code == 1
    assert "mcquack trainability run" in retried.err
    with Store.open(tmp_path / "bench.sqlite", create=True) as opened:
        task = Task.of("iris3", "svc", {}, seed=0)
        opened.add(Outcome(task=task, environment=Environment({}), scores={"test": {}}, seconds={"fit": 1.0}))
    refused = mcquack("trainability", "report", tmp_path / "bench.sqlite", "--out", out)
    assert refused.code == 1
    assert f"mcquack report {tmp_path / 'bench.sqlite'} --out {out}" in refused.err
    assert not out.exists()


def test_a_heavy_task_that_comes_first_does_not_make_the_light_ones_look_long():
    tasks = [Task.of("manifold", "probe", {}, seed=seed) for seed in range(3)]
    expected = dict(zip([task.id for task in tasks], (100.0, 1.0, 3.0), strict=True))
    start = StudyProgress(
        cells={("manifold", "probe"): CellProgress(n_most=3, metric="accuracy")}, expected=expected, n_workers=2
    )
    assert start.seconds_left is None

    def after(progress, task, seconds):
        outcome = Outcome(task=task, environment=Environment({}), scores={"test": {}}, seconds={"fit": seconds})
        return progress.after(Event(kind="finished", task=task, outcome=outcome))

    slow = after(start, tasks[0], 200.0)  # a machine half as fast as was thought
    assert slow.seconds_left == pytest.approx(2 * (1 + 3) / 2)
    done = after(after(slow, tasks[1], 2.0), tasks[2], 6.0)
    assert (done.seconds_left, done.n_done) == (0, 3)


def test_a_task_is_told_by_what_is_probed_and_means_over_settings_are_no_scores():
    settings = {"n_qubits": 3, "series": "paper", "lr": 0.01}
    tasks = [Task.of("manifold", "probe", settings, seed=seed) for seed in range(2)]
    progress = StudyProgress(cells={("manifold", "probe"): CellProgress(n_most=2, metric="accuracy")})
    assert progress.task_text(tasks[1]) == "mcquack, 3 qubits on manifold (paper, seed 1; lr=0.01)"
    assert progress.cell_text(tasks[0]) == "manifold"
    for task in tasks:
        outcome = Outcome(
            task=task, environment=Environment({}), scores={"test": {"accuracy": 0.5}}, seconds={"fit": 1.0}
        )
        progress = progress.after(Event(kind="finished", task=task, outcome=outcome))
    assert progress.n_ended == progress.n_most == 2
    assert progress.best() == {}
