import pytest

from mcquack.bench.store import Store
from mcquack.studies.trainability import observations

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
        (("tiny.toml", "--models", "svc"), "model must be 'mcquack'"),
        (("gone.toml",), "No such file or directory: gone.toml"),
    ],
)
def test_what_cannot_be_run_is_refused(study, tmp_path, arguments, message):
    refused = study(*arguments)
    assert refused.code == 1
    assert message in refused.err
    assert not (tmp_path / "trainability.sqlite").exists()


def test_a_cluster_has_its_own_workers(study):
    assert study("tiny.toml", "--dask", "tcp://nowhere:1", "--jobs", "2").code == 2
