import pytest

from mcquack.bench.store import Store
from mcquack.errors import StoreError
from mcquack.report.benchmark import write_report
from tests.report.benchmark.fakes import DATASETS, fake_store
from tests.report.fakes import files_of


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A store whose report is quick to write."""
    path = tmp_path_factory.mktemp("small") / "small.sqlite"
    return fake_store(path, datasets=DATASETS[:2], models=["svc", "nn"], n_seeds=2, n_settings=2)


@pytest.fixture(scope="module")
def report(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert write_report(small, folder) == folder / "index.html"
    return folder


def test_the_same_store_gives_the_same_bytes(small, report, tmp_path):
    with Store.open(small) as store:
        write_report(store, tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(report)


def test_every_table_has_both_forms_and_the_figures_are_there(report):
    names = files_of(report)
    tables = {name.rpartition(".")[0] for name in names if name.startswith("tables/")}
    assert {f"{table}.{form}" for table in tables for form in ("csv", "tex")} <= names.keys()
    assert {"tables/leaderboard_accuracy", "tables/scores_test_auc", "tables/wins_f1", "tables/settings"} <= tables
    assert {"figures/ranking_accuracy.svg", "figures/wins_accuracy.svg"} <= names.keys()


def test_the_page_links_to_every_file_and_to_no_other(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    names = files_of(report).keys() - {"index.html", "SHA256SUMS"}
    linked = {part.partition('"')[0] for part in text.split('href="')[1:]}
    assert {name for name in linked if "/" in name and not name.startswith("data:")} == names


def test_a_missing_store_is_the_stores_error(tmp_path):
    with pytest.raises(StoreError):
        write_report(tmp_path / "nowhere.sqlite", tmp_path / "report")
    assert not (tmp_path / "report").exists()
