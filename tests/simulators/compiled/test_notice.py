"""Before anything compiles for seconds a user who reads along is told so, once."""

import io
import sys

import numba
import pytest

from mcquack.simulators.compiled import notice
from mcquack.simulators.compiled.notice import NOTICE, note_compiling, noted_compiling


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice, "_told", [])
    monkeypatch.setattr(notice, "_asked", [])
    # Tests may run in workers, which say nothing.
    monkeypatch.setattr(notice, "current_process", lambda: type("Process", (), {"name": "MainProcess"}))


def compiled_here(module: str) -> None:
    """Compiles something that no disk has, as if it were in that module."""

    def increased(number: int) -> int:
        return number + 1

    increased.__module__ = module
    assert numba.njit(increased)(1) == 2


def test_a_terminal_is_told_once_and_only_of_our_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    compiled_here("someone.else")
    assert terminal.getvalue() == ""
    compiled_here("mcquack.training.step")
    compiled_here("mcquack.training.step")
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
    monkeypatch.setattr(notice, "current_process", lambda: type("Process", (), {"name": "LokyProcess-1"}))
    note_compiling()
    assert terminal.getvalue() == ""


def test_a_process_without_stderr_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    compiled_here("mcquack.training.step")
