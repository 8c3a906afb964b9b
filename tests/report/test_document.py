import csv
import re
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from mcquack.files import inert_cell
from mcquack.report.benchmark.analysis import SCORE_PARTS, Score
from mcquack.report.benchmark.tables import WinRecord
from mcquack.report.document import Column, escaped, table

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=12)
NUMBERS = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False))


def read(text):
    return list(csv.reader(StringIO(text, newline="")))


@given(names=st.lists(TEXTS, min_size=1, max_size=4), value=NUMBERS)
def test_whatever_is_written_reads_back_as_the_same(names, value):
    made = table("Some", "some", ("name", "value"), ((name, value) for name in names))
    head, *rows = read(made.csv)
    assert head == ["name", "value"]
    assert [row[0] for row in rows] == [inert_cell(name) for name in names]
    assert all((float(row[1]) if row[1] else None) == value for row in rows)


FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "a\r=1", "=cmd|' /C calc'!A0", "＝1")


def test_no_text_is_a_formula_and_every_number_is_a_number():
    values = (*FORMULAS, "svc", "-0.5", "+1e3", -0.5, 3, None)
    (head,), *rows = read(table("Some", "some", ("=a",), ((value,) for value in values)).csv)
    assert head == "'=a"
    cells = ["".join(row) for row in rows]
    quoted = [(formula if formula[0] == "a" else f"'{formula}").replace("\r", "\n") for formula in FORMULAS]
    assert cells == [*quoted, "svc", "-0.5", "+1e3", "-0.5", "3", ""]


@given(mean=st.floats(0, 1), spread=st.one_of(st.none(), st.floats(0, 1)))
def test_scores_are_two_columns_with_all_their_digits(mean, spread):
    score = Score(mean=mean, spread=spread, mark="best")
    column = Column(title="M", source="Someone 2024", parts=SCORE_PARTS)
    head, first, missing = read(table("Scores", "scores", (column,), ((score,), (None,))).csv)
    assert head == ["M (Someone 2024) mean", "M (Someone 2024) std"]
    assert [float(cell) if cell else None for cell in first] == [mean, spread]
    assert missing == ["", ""]


def latex(*entries, title="t", column="c"):
    return table("T", title, (column,), ((each,) for each in entries)).latex


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("\\{}$&#%_^~<>\n\r\t†±"))))
def test_text_cannot_become_a_command(text):
    found = escaped(text)
    known = re.sub(r"\\(text[a-z]+\{\}|[{}$&#%_])", "", found)
    assert not set(known) & set("\\{}$&#%_^~<>")
    assert "\n" not in found
    assert found.isprintable()


def test_the_best_is_bold_and_the_second_best_underlined():
    marks = [Score(mean=0.91234, spread=0.01, mark=mark) for mark in ("best", "second", "")]
    text = latex(*marks, None, column=Column(title="M", parts=SCORE_PARTS))
    assert r"\textbf{0.912} $\pm$ 0.010 \\" in text
    assert r"\underline{0.912} $\pm$ 0.010 \\" in text
    assert "\n0.912 $\\pm$ 0.010 \\\\" in text
    assert "\n-- \\\\" in text


def test_a_score_without_a_spread_has_none():
    assert "0.500 \\\\" in latex(Score(mean=0.5, spread=None), column=Column(title="M", parts=SCORE_PARTS))


def test_wins_ties_and_losses_are_one_entry():
    assert "3--2--1 \\\\" in latex(WinRecord(wins=3, ties=2, losses=1), column=Column(title="M", parts=("", "", "")))


def test_a_published_model_has_a_dagger_that_is_explained():
    text = latex(0.5, column=Column(title="MLP", source="Bowles et al.\n2024"))
    assert r"MLP\textsuperscript{\textdagger}" in text
    assert "% A dagger marks what is published: Bowles et al. 2024\n" in text


def test_a_title_cannot_leave_its_comment():
    assert latex(1, title="evil\n\\input{x}").startswith("% evil \\input{x}; needs")
