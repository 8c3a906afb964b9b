import csv
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from mcquack.report.benchmark.tables import SCORE_PARTS, Column, Table, csv_text, tables
from mcquack.report.benchmark.views import Score

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
    assert [row[0] for row in rows] == names
    assert all((float(row[1]) if row[1] else None) == value for row in rows)


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


def test_every_table_is_as_wide_as_its_head_and_has_no_name_twice(contents, statistics):
    made = tables(contents, statistics)
    assert len({table.name for table in made}) == len(made)
    for table in made:
        head, *rows = read(csv_text(table))
        assert len(rows) == len(table.rows) > 0
        assert {len(row) for row in rows} == {len(head)}
        assert len(set(head)) == len(head)


def test_the_leaderboard_has_the_numbers_of_the_standings(contents, statistics):
    (table,) = [table for table in tables(contents, statistics) if table.name == "leaderboard_accuracy"]
    head, *rows = read(csv_text(table))
    lines = [dict(zip(head, row, strict=True)) for row in rows]
    for line, standing in zip(lines, statistics.main_view.standings, strict=True):
        assert (line["model"], line["source"]) == (standing.contender.title, standing.contender.source)
        assert float(line["average rank"]) == standing.average_rank
        ends = ("", "") if standing.interval is None else (str(standing.interval.low), str(standing.interval.high))
        assert (line["low"], line["high"]) == ends
        assert int(line["wins"]) == standing.n_first
    assert {line["low"] == "" for line in lines} == {False, True}  # a published model has few datasets
