from dataclasses import replace

import pytest

from mcquack.bench.store import RunRecord, Store
from mcquack.cli.app import exit_code
from studies.paper import hardware, model, stores
from studies.paper.__main__ import app
from studies.paper.stores import COMMAND, RUNS, RunStep, StudyRuns
from tests.cli.conftest import Outcome
from tests.cli.moody import MOOD, NAME

TINY = RunStep(suite="real-world", datasets=("iris3",), models=("svc", "nystroem_svm"), search="none", seeds=2)


@pytest.fixture
def paper(capsys):
    """Runs the command as a shell would, in this process."""

    def run(*arguments):
        capsys.readouterr()
        code = exit_code([str(argument) for argument in arguments], app, name=COMMAND)
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def _few_items(monkeypatch):
    """Without the items that train or draw for seconds."""
    monkeypatch.setattr(model, "exhibits", lambda: iter(()))
    monkeypatch.setattr(hardware, "exhibits", lambda sources: iter(()))


@pytest.fixture
def _tiny(monkeypatch):
    """One study of a few fits takes the place of all."""
    tiny = {"real_world": StudyRuns(steps=(TINY,), quick=(TINY,))}
    nothing = dict.fromkeys(RUNS, StudyRuns(steps=(), quick=()))
    monkeypatch.setattr(stores, "RUNS", nothing | tiny)


def test_what_would_be_run_is_told_without_running_it(paper, tmp_path):
    told = paper("--studies", tmp_path / "none", "--out", tmp_path / "site", "--dry-run")
    assert told.code == 0
    for study in RUNS:
        assert f"{study}/rows.sqlite: to be run" in told.out
    assert "  mcquack bench run real-world --store" in told.out
    assert "  mcquack trainability run paper --store" in told.out
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("_few_items")
def test_a_site_without_stores_tells_how_to_make_them(paper, tmp_path):
    outcome = paper("--studies", tmp_path / "none", "--out", tmp_path / "site", "--no-run")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"The site is in {tmp_path / 'site' / 'index.html'}\n"
    text = (tmp_path / "site" / "pages" / "real_world.html").read_text()
    assert "Not run yet" in text
    assert "mcquack bench run real-world" in text
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("_few_items", "_tiny")
def test_what_is_missing_is_run_once_and_then_read(paper, tmp_path):
    command = ("--studies", tmp_path / "studies", "--out", tmp_path / "site", "--jobs", 1)
    first = paper(*command)
    assert first.code == 0
    assert "4 tasks done" in first.err
    assert first.err.startswith(f"Running real_world into {tmp_path / 'studies'}, which takes hours; --quick")
    path = tmp_path / "studies" / "real_world" / "rows.sqlite"
    with Store.open(path) as store:
        (run,) = store.runs()
        assert run.command.startswith("python -m studies.paper --studies")
        assert run.how == "done"
    assert str(path) in (tmp_path / "site" / "pages" / "real_world.html").read_text()
    again = paper(*command)
    assert again.code == 0
    assert again.err == f"The site is in {tmp_path / 'site' / 'index.html'}\n"
    with Store.open(path) as store:
        assert len(store.runs()) == 1


@pytest.mark.usefixtures("_few_items", "_tiny")
def test_a_run_that_was_cut_off_goes_on(paper, tmp_path):
    folder = tmp_path / "studies"
    started = stores.Stores(folder=folder)
    started.path("real_world").parent.mkdir(parents=True)
    with Store.open(started.path("real_world"), create=True) as store:
        store.begin_run(RunRecord(command="python -m studies.paper", suite=TINY.chosen().to_json()))
    outcome = paper("--studies", folder, "--out", tmp_path / "site", "--jobs", 1)
    assert outcome.code == 0
    assert "4 tasks done" in outcome.err


@pytest.mark.usefixtures("_few_items", "_tiny")
def test_a_quick_pass_has_its_rows_beside_its_pages_and_is_marked(paper, tmp_path):
    site = tmp_path / "site"
    outcome = paper("--quick", "--studies", tmp_path / "studies", "--out", site, "--jobs", 1)
    assert outcome.code == 0
    assert (site / "stores" / "real_world" / "rows.sqlite").is_file()
    assert not (tmp_path / "studies").exists()
    assert "A quick pass." in (site / "index.html").read_text()
    assert "A quick pass:" in (site / "pages" / "real_world.html").read_text()


@pytest.mark.usefixtures("_few_items", "_tiny")
def test_failed_tasks_are_told_by_the_exit_code_and_the_site_is_written(paper, tmp_path, monkeypatch):
    monkeypatch.setenv(MOOD, "bad")
    step = replace(TINY, models=("svc", NAME))
    monkeypatch.setitem(stores.RUNS, "real_world", replace(stores.RUNS["real_world"], steps=(step,)))
    outcome = paper("--studies", tmp_path / "studies", "--out", tmp_path / "site", "--jobs", 1)
    assert outcome.code == 3
    assert "2 tasks failed" in outcome.err
    assert (tmp_path / "site" / "index.html").is_file()


def test_a_file_in_the_place_of_the_site_is_refused_before_anything_runs(paper, tmp_path):
    (tmp_path / "site").write_text("mine")
    refused = paper("--studies", tmp_path / "none", "--out", tmp_path / "site")
    assert refused.code == 1
    assert "is a file" in refused.err
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("_few_items")
def test_a_page_of_somebody_else_is_not_replaced(paper, tmp_path):
    (tmp_path / "index.html").write_text("mine")
    refused = paper("--studies", tmp_path / "none", "--out", tmp_path, "--no-run")
    assert refused.code == 1
    assert "no report" in refused.err
    assert (tmp_path / "index.html").read_text() == "mine"


def test_the_help_has_an_example(paper):
    told = paper("-h")
    assert told.code == 0
    assert "python -m studies.paper" in told.out.split("Examples")[1]


@pytest.mark.campaign
def test_the_quick_pass_makes_every_item(paper, tmp_path):
    outcome = paper("--quick", "--out", tmp_path / "site", "--jobs", 2)
    assert outcome.code == 0
    text = (tmp_path / "site" / "index.html").read_text()
    assert "verdict-missing" not in text.partition("</style>")[2]
    assert "verdict-open" not in text.partition("</style>")[2]
