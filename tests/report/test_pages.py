"""A report takes the place of an earlier one in its folder, and of nothing else; texts of others stay texts."""

import hashlib
import re

import pytest
from matplotlib.figure import Figure

from mcquack.errors import InvalidInputError
from mcquack.report.document import table
from mcquack.report.pages import PAGE, SUMS, Folder, entry, replace_files
from tests.report.fakes import files_of

FIRST = {PAGE: b"first", "tables/a.csv": b"a", "tables/b.csv": b"b", "figures/c.svg": b"c", "pages/d.html": b"d"}
SECOND = {PAGE: b"second", "tables/a.csv": b"a"}


def test_sums_are_of_the_files(tmp_path):
    replace_files(tmp_path, FIRST)
    found = files_of(tmp_path)
    lines = found.pop(SUMS).decode().splitlines()
    assert found == FIRST
    assert {line[66:]: line[:64] for line in lines} == {
        name: hashlib.sha256(content).hexdigest() for name, content in found.items()
    }


def test_a_second_report_leaves_nothing_of_the_first_and_all_that_is_not_its_own(tmp_path):
    folder = tmp_path / "report"
    replace_files(folder, FIRST)
    (folder / "tables" / "mine.csv").write_text("mine")
    (folder / "tables" / "a.csv").write_text("changed by hand, and still needed")
    (folder / "figures" / "c.svg").write_text("changed by hand")
    replace_files(folder, SECOND)
    replace_files(tmp_path / "fresh", SECOND)
    kept = {"tables/mine.csv": b"mine", "figures/c.svg": b"changed by hand"}
    assert files_of(folder) == files_of(tmp_path / "fresh") | kept


def test_a_page_of_somebody_else_is_never_replaced(tmp_path):
    (tmp_path / PAGE).write_text("mine")
    with pytest.raises(InvalidInputError, match=re.escape(str(tmp_path))):
        replace_files(tmp_path, FIRST)
    assert files_of(tmp_path) == {PAGE: b"mine"}


def test_a_list_of_files_cannot_name_one_outside(tmp_path):
    outside = tmp_path / "precious"
    outside.write_bytes(b"precious")
    folder = tmp_path / "report"
    folder.mkdir()
    digest = hashlib.sha256(b"precious").hexdigest()
    (folder / SUMS).write_text(f"{digest}  tables/../../precious\n{digest}  ../precious\n{digest}  {outside}\n")
    replace_files(folder, FIRST)
    assert outside.read_bytes() == b"precious"


def test_every_file_is_linked_by_kind_and_metric_and_none_is_written_twice():
    folder = Folder()
    ranks = table("Rank counts", "How often", ("model", "first"), [("svc", 3)], metric="auc")
    folder.add_table(ranks)
    folder.add_figure("wins", Figure(), kind="Wins figure")
    csv, tex = ("How often", "CSV", "tables/rank_counts_auc.csv"), ("How often", "LaTeX", "tables/rank_counts_auc.tex")
    assert folder.links["Rank counts"] == {"auc": [csv, tex]}
    assert folder.links["Wins figure"] == {None: [("Wins figure", "SVG", "figures/wins.svg")]}
    assert list(folder.contents) == [csv[2], tex[2], "figures/wins.svg"]
    with pytest.raises(InvalidInputError, match=re.escape(csv[2])):
        folder.add_table(ranks)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (-1234, "−1,234"), (1e-7, "1.00 · 10⁻⁷"), (True, "True"), ("1e-05", "10⁻⁵"), ("svc", "svc")],
)
def test_entries_are_as_people_read_them(value, text):
    assert entry(value) == text


def test_a_long_name_is_shown_in_part_and_a_long_sentence_as_it_is():
    name, sentence = "<b>" * 100, "a word " * 100
    assert entry(sentence) == sentence
    assert "…" in entry(name)
    assert "<b>" not in entry(name)
