import csv
import re
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from mcquack.files import inert_cell
from mcquack.report.benchmark.analysis import Score
from mcquack.report.benchmark.tables import SCORE_PARTS, Column, Table, WinRecord, csv_text, escaped, latex, tables

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=12)
NUMBERS = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False))


def read(text):
    return list(csv.reader(StringIO(text, newline="")))


@given(names=st.lists(TEXTS, min_size=1, max_size=4), value=NUMBERS)
def test_whatever_is_written_reads_back_as_the_same(names, value):
    table = Table(
        kind="Some",
        title="some",
        columns=(Column(title="name"), Column(title="value")),
        rows=tuple((name, value) for name in names),
    )
    head, *rows = read(csv_text(table))
    assert head == ["name", "value"]
    assert [row[0] for row in rows] == [inert_cell(name) for name in names]
    assert all((float(row[1]) if row[1] else None) == value for row in rows)


FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "a\r=1", "=cmd|' /C calc'!A0", "＝1")


def test_no_text_is_a_formula_and_every_number_is_a_number():
    values = (*FORMULAS, "svc", "-0.5", "+1e3", -0.5, 3, None)
    table = Table(kind="Some", title="some", columns=(Column(title="=a"),), rows=tuple((value,) for value in values))
    (head,), *rows = read(csv_text(table))
    assert head == "'=a"
    cells = ["".join(row) for row in rows]
    quoted = [(formula if formula[0] == "a" else f"'{formula}").replace("\r", "\n") for formula in FORMULAS]
    assert cells == [*quoted, "svc", "-0.5", "+1e3", "-0.5", "3", ""]


@given(mean=st.floats(0, 1), spread=st.one_of(st.none(), st.floats(0, 1)))
def test_scores_are_two_columns_with_all_their_digits(mean, spread):
    score = Score(mean=mean, spread=spread, mark="best")
    table = Table(
        kind="Scores",
        title="scores",
        columns=(Column(title="M", source="Someone 2024", parts=SCORE_PARTS),),
        rows=((score,), (None,)),
    )
    head, first, missing = read(csv_text(table))
    assert head == ["M (Someone 2024) mean", "M (Someone 2024) std"]
    assert [float(cell) if cell else None for cell in first] == [mean, spread]
    assert missing == ["", ""]


def test_every_table_is_as_wide_as_its_head_and_has_no_name_twice(contents, analysis):
    made = tables(contents, analysis)
    assert len({table.name for table in made}) == len(made)
    for table in made:
        head, *rows = read(csv_text(table))
        assert len(rows) == len(table.rows) > 0
        assert {len(row) for row in rows} == {len(head)}
        assert len(set(head)) == len(head)


def test_the_leaderboard_has_the_numbers_of_the_standings(contents, analysis):
    (table,) = [table for table in tables(contents, analysis) if table.name == "leaderboard_accuracy"]
    head, *rows = read(csv_text(table))
    lines = [dict(zip(head, row, strict=True)) for row in rows]
    for line, standing in zip(lines, analysis.main.standings, strict=True):
        assert (line["model"], line["source"]) == (standing.contender.title, standing.contender.source)
        assert float(line["average rank"]) == standing.average_rank
        ends = ("", "") if standing.interval is None else (str(standing.interval.low), str(standing.interval.high))
        assert (line["low"], line["high"]) == ends
        assert int(line["wins"]) == standing.n_first
    assert {line["low"] == "" for line in lines} == {False, True}  # a published model has few datasets


def table_of(*entries, title="t", column=None):
    return Table(kind="T", title=title, columns=(column or Column(title="c"),), rows=tuple((each,) for each in entries))


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("\\{}$&#%_^~<>\n\r\t†±"))))
def test_text_cannot_become_a_command(text):
    found = escaped(text)
    known = re.sub(r"\\(text[a-z]+\{\}|[{}$&#%_])", "", found)
    assert not set(known) & set("\\{}$&#%_^~<>")
    assert "\n" not in found
    assert found.isprintable()


def test_the_best_is_bold_and_the_second_best_underlined():
    marks = [Score(mean=0.91234, spread=0.01, mark=mark) for mark in ("best", "second", "")]
    text = latex(table_of(*marks, None, column=Column(title="M", parts=SCORE_PARTS)))
    assert r"\textbf{0.912} $\pm$ 0.010 \\" in text
    assert r"\underline{0.912} $\pm$ 0.010 \\" in text
    assert "\n0.912 $\\pm$ 0.010 \\\\" in text
    assert "\n-- \\\\" in text


def test_a_score_without_a_spread_has_none():
    assert "0.500 \\\\" in latex(table_of(Score(mean=0.5, spread=None), column=Column(title="M", parts=SCORE_PARTS)))


def test_wins_ties_and_losses_are_one_entry():
    assert "3--2--1 \\\\" in latex(
        table_of(WinRecord(wins=3, ties=2, losses=1), column=Column(title="M", parts=WinRecord._fields))
    )


def test_a_published_model_has_a_dagger_that_is_explained():
    text = latex(table_of(0.5, column=Column(title="MLP", source="Bowles et al.\n2024")))
    assert r"MLP\textsuperscript{\textdagger}" in text
    assert "% A dagger marks what is published: Bowles et al. 2024\n" in text


def test_a_title_cannot_leave_its_comment():
    assert latex(table_of(1, title="evil\n\\input{x}")).startswith("% evil \\input{x}; needs")


def test_every_table_is_a_whole_tabular_with_as_many_cells_in_each_row(contents, analysis):
    for table in tables(contents, analysis):
        text = latex(table)
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
        body = text.split("\\toprule\n")[1].split("\\bottomrule")[0]
        rows = [line for line in body.splitlines() if line != r"\midrule"]
        assert all(line.endswith(r" \\") for line in rows)
        assert {len(re.findall(r"(?<!\\)&", line)) for line in rows} == {len(table.columns) - 1}
        assert len(rows) == len(table.rows) + 1
