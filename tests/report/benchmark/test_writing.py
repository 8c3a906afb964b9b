import hashlib
import re

import pytest

from mcquack.bench.store import Store
from mcquack.errors import InvalidInputError, StoreError
from mcquack.report.benchmark import write_report
from tests.report.benchmark.fakes import DATASETS, fake_store, published_cells


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


def test_sums_are_of_the_files(report):
    found = files_of(report)
    lines = found.pop("SHA256SUMS").decode().splitlines()
    assert {line[66:]: line[:64] for line in lines} == {
        name: hashlib.sha256(content).hexdigest() for name, content in found.items()
    }


def test_a_second_report_leaves_nothing_of_the_first_and_all_that_is_not_its_own(small, tmp_path):
    folder = tmp_path / "report"
    write_report(small, folder, published=published_cells(DATASETS[:2]))
    (folder / "tables" / "mine.csv").write_text("mine")
    (folder / "tables" / "leaderboard_auc.csv").write_text("changed by hand, and still needed")
    (folder / "figures" / "wins_accuracy.svg").write_text("changed by hand")
    one_model = fake_store(tmp_path / "one.sqlite", datasets=DATASETS[:1], models=["svc"], n_seeds=1, n_settings=0)
    write_report(one_model, folder)
    write_report(one_model, tmp_path / "fresh")
    fresh = files_of(tmp_path / "fresh")
    assert "figures/critical_difference_accuracy.svg" not in fresh
    kept = {"tables/mine.csv": b"mine", "figures/wins_accuracy.svg": b"changed by hand"}
    assert files_of(folder) == fresh | kept


def test_a_page_of_somebody_else_is_never_replaced(small, tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(InvalidInputError, match=re.escape(str(tmp_path))):
        write_report(small, tmp_path)
    assert files_of(tmp_path) == {"index.html": b"mine"}


def test_a_list_of_files_cannot_name_one_outside(small, tmp_path):
    outside = tmp_path / "precious"
    outside.write_bytes(b"precious")
    folder = tmp_path / "report"
    folder.mkdir()
    digest = hashlib.sha256(b"precious").hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  tables/../../precious\n{digest}  ../precious\n{digest}  {outside}\n")
    write_report(small, folder)
    assert outside.read_bytes() == b"precious"


def test_a_missing_store_is_the_stores_error(tmp_path):
    with pytest.raises(StoreError):
        write_report(tmp_path / "nowhere.sqlite", tmp_path / "report")
    assert not (tmp_path / "report").exists()
