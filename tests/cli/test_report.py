import csv

import pytest

from mcquack.cli.app import exit_code

SMALL = [
    "qml",
    "--datasets",
    "linearly_separable_2",
    "--models",
    "svc,nystroem_svm",
    "--search",
    "none",
    "--seeds",
    "2",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of two models on one dataset."""
    path = tmp_path_factory.mktemp("report") / "small.sqlite"
    assert exit_code(["bench", "run", *SMALL, "--jobs", "1", "--store", str(path)]) == 0
    return path


@pytest.fixture
def report(mcquack, store, tmp_path):
    """Writes the report of the small store."""
    return lambda *options: mcquack("report", store, "--out", tmp_path / "page", *options)


def test_a_store_becomes_a_page(report, tmp_path):
    outcome = report("--title", "Mine & <yours>")
    assert (outcome.code, outcome.out) == (0, "")
    page = tmp_path / "page" / "index.html"
    assert outcome.err == f"The report is in {page}\n"
    text = page.read_text()
    assert "Mine &amp; &lt;yours&gt;" in text
    assert "linearly_separable_2" in text


@pytest.mark.parametrize(
    ("options", "formula", "best"),
    [
        ((), "rank ÷ number of models", 0.5),
        (("--rank-scale", "share"), "rank ÷ number of models", 0.5),
        (("--rank-scale", "unit"), "(rank − 1) ÷ (number of models − 1)", 0.0),
    ],
)
def test_the_page_says_on_which_scale_its_ranks_are(report, tmp_path, options, formula, best):
    assert report(*options).code == 0
    assert f"the mean over the datasets of {formula}," in (tmp_path / "page" / "index.html").read_text()
    with (tmp_path / "page" / "tables" / "leaderboard_accuracy.csv").open() as file:
        assert float(next(csv.DictReader(file))["average rank"]) == best


def test_published_scores_stand_beside_ours(report, tmp_path, table):
    titles = "dataset,model,part,metric,mean,std,n_parameters,source"
    published = table(f"{titles}\nlinearly_separable_2,oracle,test,accuracy,0.99,0.01,7,Delphi 2024\n")
    assert report("--published", published).code == 0
    text = (tmp_path / "page" / "index.html").read_text()
    assert "oracle" in text
    assert "Delphi 2024" in text


def test_published_scores_of_the_qml_suite_come_by_name(report, tmp_path, data_dir):
    assert report("--published", "qml", "--data-dir", data_dir).code == 0
    assert "Bowles et al. 2024" in (tmp_path / "page" / "index.html").read_text()


def test_what_cannot_be_reported_is_refused(report, mcquack, store, tmp_path):
    refused = report("--published", tmp_path / "no.csv")
    assert refused.code == 1
    assert "no.csv" in refused.err
    assert not (tmp_path / "page").exists()
    (tmp_path / "page").write_text("mine")
    refused = report()
    assert refused.code == 1
    assert "is a file" in refused.err
    assert mcquack("report", tmp_path / "no.sqlite", "--out", tmp_path / "other").code == 1
    assert not (tmp_path / "other").exists()
