"""A word to the user before the first compilation of a process, which takes seconds in which nothing else happens."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from typing import Any

from numba.core import event

NOTICE = "mcquack: compiling the simulator, 10 to 15 s; the code is kept, and the next process finds it."

_PACKAGE = __name__.partition(".")[0]
_asked: list[None] = []  # one for each fit that wants to be told, in whatever thread
_told: list[None] = []


@contextmanager
def noted_compiling(wanted: bool = True) -> Iterator[None]:
    """Meanwhile a compilation is told on stderr also where that is no terminal, if that is wanted.

    Examples
    --------
    >>> with noted_compiling():
    ...     pass  # what may have to compile
    """
    if not wanted:
        yield
        return
    _asked.append(None)
    try:
        yield
    finally:
        _asked.pop()


def note_compiling() -> None:
    """Tells that something is compiled now: once for a process, if it is the user's own and someone reads along."""
    # Workers of a benchmark compile at once, and each of them would say so.
    if _told or sys.stderr is None or current_process().name != "MainProcess":
        return
    if _asked or sys.stderr.isatty():
        _told.append(None)
        sys.stderr.write(f"{NOTICE}\n")
        sys.stderr.flush()


class _Compilations(event.Listener):
    """Hears from Numba of all that is compiled because it is not on disk, and cares for what this package has."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.partition(".")[0] == _PACKAGE:
            note_compiling()

    def on_end(self, event: Any) -> None:
        """Whatever comes next shows that it is over."""


def listen() -> None:
    """Makes Numba tell of its compilations from now on."""
    event.register("numba:compile", _Compilations())
