"""Before anything compiles for seconds a user who reads along is told so, once."""

import io
import sys
from multiprocessing import current_process

import numba
import pytest

from mcquack.simulators.compiled import entry
from mcquack.simulators.compiled.entry import NOTICE, note_compiling, noted_compiling


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "said", set())
    monkeypatch.setattr(current_process(), "name", "MainProcess")  # tests may run in workers, which say nothing


def compile_something() -> None:
    assert entry.Entry(lambda number: number + 1, {}, keep=False)(1) == 2


def test_a_terminal_is_told_once_and_only_of_our_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert numba.njit(lambda number: number + 1)(1) == 2
    assert terminal.getvalue() == ""
    compile_something()
    compile_something()
    assert terminal.getvalue() == f"{NOTICE}\n"


def test_elsewhere_only_who_asks_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    note_compiling()
    with noted_compiling(False):
        note_compiling()
    assert capsys.readouterr().err == ""
    with noted_compiling():
        note_compiling()
        note_compiling()
    assert capsys.readouterr() == ("", f"{NOTICE}\n")


def test_workers_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(current_process(), "name", "LokyProcess-1")
    note_compiling()
    assert terminal.getvalue() == ""


def test_a_process_without_stderr_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    compile_something()
