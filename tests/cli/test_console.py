"""What all verbs share prints little, writes whole files, and refuses in time."""

import re
import sys

import pytest
from rich.console import JustifyMethod

from mcquack.cli import console
from mcquack.datasets.table import RowProblem
from mcquack.errors import InvalidInputError


def test_of_many_problems_the_first_are_told_and_the_others_counted(capsys):
    console.tell_problems([RowProblem(row, "is\nodd") for row in range(1, 13)], consequence="could not be used")
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "12 rows could not be used:"
    assert told[1] == "  row 1: is odd"
    assert told[-1] == "  and 2 more"
    assert len(told) == 12


def test_rows_are_a_table_on_a_terminal_and_lines_to_cut_elsewhere(capsys, monkeypatch):
    columns: dict[str, JustifyMethod] = {"name": "left", "size": "right"}
    rows = [("[red]", 1), (":cat:", 20)]
    console.show_rows(columns, rows)
    assert capsys.readouterr().out == "[red]\t1\n:cat:\t20\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.show_rows(columns, rows)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)  # without colours
    assert [line.split() for line in shown.splitlines()] == [
        ["name", "size"],
        ["[red]", "1"],
        [":cat:", "20"],
    ]


@pytest.mark.parametrize("name", ["picture", "picture.bmp"])
def test_a_picture_tells_its_format(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"\.png, \.pdf, \.svg"):
        console.check_picture(tmp_path / name, overwrite=True)
    console.check_picture(tmp_path / "picture.PNG", overwrite=False)


def test_tables_notes_and_fields_let_no_text_act(capsys, monkeypatch):
    evil = "a\x1b[2J\x07\x9b\u202eb\tc\nd"
    escaped = r"a\x1b[2J\x07\x9b\u202eb\tc\nd"
    console.tell(evil)
    assert capsys.readouterr().err == r"a\x1b[2J\x07\x9b\u202eb\tc" + "\nd\n"
    console.show_rows({"name": "left", "other": "left"}, [(evil, 1)])
    assert capsys.readouterr().out == f"{escaped}\t1\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.show_rows({"name": "left", "other": "left"}, [(evil, 1)])
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)  # without colours
    assert escaped in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)
