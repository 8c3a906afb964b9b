import re

from hypothesis import given
from hypothesis import strategies as st

from mcquack.report.benchmark.tables import RECORD_PARTS, SCORE_PARTS, Column, Table, WinRecord, escaped, latex, tables
from mcquack.report.benchmark.views import Score


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
        table_of(WinRecord(wins=3, ties=2, losses=1), column=Column(title="M", parts=RECORD_PARTS))
    )


def test_a_published_model_has_a_dagger_that_is_explained():
    text = latex(table_of(0.5, column=Column(title="MLP", source="Bowles et al.\n2024")))
    assert r"MLP\textsuperscript{\textdagger}" in text
    assert "% A dagger marks what is published: Bowles et al. 2024\n" in text


def test_a_title_cannot_leave_its_comment():
    assert latex(table_of(1, title="evil\n\\input{x}")).startswith("% evil \\input{x}; needs")


def test_every_table_is_a_whole_tabular_with_as_many_cells_in_each_row(contents, statistics):
    for table in tables(contents, statistics):
        text = latex(table)
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
        body = text.split("\\toprule\n")[1].split("\\bottomrule")[0]
        rows = [line for line in body.splitlines() if line != r"\midrule"]
        assert all(line.endswith(r" \\") for line in rows)
        assert {len(re.findall(r"(?<!\\)&", line)) for line in rows} == {len(table.columns) - 1}
        assert len(rows) == len(table.rows) + 1
