import csv
import re
from io import StringIO

from mcquack.report.benchmark.tables import tables


def read(text):
    return list(csv.reader(StringIO(text, newline="")))


def test_every_table_is_as_wide_as_its_head_and_has_no_name_twice(contents, analysis):
    made = tables(contents, analysis)
    assert len({table.name for table in made}) == len(made)
    for table in made:
        head, *rows = read(table.csv)
        assert len(rows) == len(table.rows) > 0
        assert {len(row) for row in rows} == {len(head)}
        assert len(set(head)) == len(head)


def test_the_leaderboard_has_the_numbers_of_the_standings(contents, analysis):
    (table,) = [table for table in tables(contents, analysis) if table.name == "leaderboard_accuracy"]
    head, *rows = read(table.csv)
    lines = [dict(zip(head, row, strict=True)) for row in rows]
    for line, standing in zip(lines, analysis.main.standings, strict=True):
        assert (line["model"], line["source"]) == (standing.contender.title, standing.contender.source)
        assert float(line["average rank"]) == standing.average_rank
        ends = ("", "") if standing.interval is None else (str(standing.interval.low), str(standing.interval.high))
        assert (line["low"], line["high"]) == ends
        assert int(line["wins"]) == standing.n_first
    assert {line["low"] == "" for line in lines} == {False, True}  # a published model has few datasets


def test_every_table_is_a_whole_tabular_with_as_many_cells_in_each_row(contents, analysis):
    for table in tables(contents, analysis):
        text = table.latex
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
        body = text.split("\\toprule\n")[1].split("\\bottomrule")[0]
        rows = [line for line in body.splitlines() if line != r"\midrule"]
        assert all(line.endswith(r" \\") for line in rows)
        assert {len(re.findall(r"(?<!\\)&", line)) for line in rows} == {len(table.columns) - 1}
        assert len(rows) == len(table.rows) + 1
