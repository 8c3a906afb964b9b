"""What all verbs share: exit codes, notes on stderr, tables for people and programs, safe files."""

import errno
import io
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import JustifyMethod
from rich.table import Table

from mcquack.datasets.table import RowProblem
from mcquack.errors import CheckpointWarning, InvalidInputError, UnsavedModelError, printable
from mcquack.files import replace_file
from mcquack.progress import SafeConsole

# What a script learns from ``$?``.
DONE = 0
REFUSED = 1  # nothing was written
WRONG_USAGE = 2  # typer's own
SOME_ROWS_LEFT_OUT = 3  # done, but not for every row
SOME_TASKS_FAILED = 3  # the same of a benchmark, also if no settings could be chosen
INTERRUPTED = 130  # as a shell reports SIGINT
_SHOWN_PROBLEMS = 10
_PICTURE_FORMATS = (".png", ".pdf", ".svg")
_DOTS_PER_INCH = 160


# Notes go to stderr, so that stdout stays for results.


def tell(note: str) -> None:
    """Prints one line on stderr; what a file may have put into it cannot act on the terminal."""
    typer.echo(printable(note, keep="\n"), err=True)


def say(text: str) -> None:
    """Prints lines on stdout, in which tabs may part fields, as safely as :func:`tell`."""
    typer.echo(printable(text, keep="\n\t"))


@contextmanager
def told_as_notes(category: type[Warning]) -> Iterator[list[str]]:
    """Print the warnings of a category as notes when the block ends, and add them to the list that it yields."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True, action="always", category=category) as caught:
        yield notes
    for warning in caught:
        if issubclass(warning.category, category):
            notes.append(" ".join(str(warning.message).split()))
            tell(f"Note: {notes[-1]}")
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def show_content(content: bytes) -> None:
    """Prints a file on stdout: to programs just as it is, to people without what would act on their terminal."""
    if sys.stdout.isatty():
        say(content.decode(errors="backslashreplace").removesuffix("\n"))
    else:
        typer.echo(content, nl=False)


def tell_problems(problems: Sequence[RowProblem], *, consequence: str) -> None:
    """Tells how many rows have a problem, what follows from it, and the first of the problems."""
    if not problems:
        return
    tell(f"{len(problems)} {'row' if len(problems) == 1 else 'rows'} {consequence}:")
    for problem in problems[:_SHOWN_PROBLEMS]:
        tell(f"  {' '.join(str(problem).split())}")
    if len(problems) > _SHOWN_PROBLEMS:
        tell(f"  and {len(problems) - _SHOWN_PROBLEMS} more")


# Tables are aligned for people on a terminal, and lines of tab-separated fields for programs elsewhere.


def bare_table() -> Table:
    """A table without lines, as wide as its cells."""
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def tab_separated(rows: Iterable[Iterable[object]]) -> str:
    """A line for each row, to be cut into fields."""
    return "\n".join("\t".join(map(printable, row)) for row in rows)


def show_rows(columns: Mapping[str, JustifyMethod], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table with these columns on a terminal, and lines without a header elsewhere."""
    if not sys.stdout.isatty():
        if rows:
            say(tab_separated(rows))
        return
    table = bare_table()
    for number, (name, justify) in enumerate(columns.items()):
        table.add_column(name, justify=justify, no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(printable, row))
    SafeConsole().print(table)


# Files are never written half, and never over something by accident.


def check_can_write(path: Path, *, overwrite: bool, inputs: Iterable[Path] = (), regular: bool = False) -> None:
    """Refuses before the work is done what would fail, or be regretted, after it."""
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; give the name of a file.")
    if regular and path.exists() and not path.is_file():
        raise InvalidInputError(f"{path} is a device or a pipe; give the name of a file.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"the folder {path.parent} does not exist; make it first.")
    if path.exists() and any(source.exists() and path.samefile(source) for source in inputs):
        raise InvalidInputError(f"{path} is one of the files to read; give another name to write to.")
    if path.exists() and not overwrite:
        raise InvalidInputError(f"{path} exists already; give another name, or --force to replace it.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write in the folder", str(path.parent))


def check_folder(out: Path) -> None:
    """Refuse a file where a folder is to be written."""
    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder with --out.")


def write_whole(path: Path, content: bytes) -> None:
    """Writes all of it or nothing: a reader sees the old file or the new one."""
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
        path.write_bytes(content)
        return
    replace_file(path, content)


class Checkpoints:
    """The model file that a training writes again and again: that it cannot be written now does not end the training.

    ``write`` puts the model as it is into ``path``. A failure is a CheckpointWarning, and the next checkpoint tries
    again; only the last, :meth:`finish`, must succeed. ``unit`` is what the training is counted in.
    """

    seconds_between = 30.0

    def __init__(self, path: Path, write: Callable[..., None], *, unit: str = "epoch") -> None:
        self._path = path
        self._write = write
        self._unit = unit
        self._last_written: int | None = None
        self._tried_at = time.monotonic()

    @property
    def are_due(self) -> bool:
        """Whether the last try was longer ago than ``seconds_between``."""
        return time.monotonic() - self._tried_at > self.seconds_between

    def write(self, n_done: int, **options: Any) -> None:
        """Write the model after this many epochs or steps, or warn."""
        try:
            self._write(self._path, **options)
        except (OSError, InvalidInputError) as error:
            text = f"{self._path} could not be written after {self._unit} {n_done} ({_reason(error)}); {self._left()}"
            warnings.warn(f"{text} Training goes on and tries again.", CheckpointWarning, stacklevel=2)
        else:
            self._last_written = n_done
        self._tried_at = time.monotonic()

    def finish(self, **options: Any) -> None:
        """Writes the last model; UnsavedModelError if that fails."""
        try:
            self._write(self._path, **options)
        except (OSError, InvalidInputError) as error:
            raise UnsavedModelError(
                f"the trained model could not be written to {self._path} ({_reason(error)}); {self._left()}"
            ) from error

    def _left(self) -> str:
        return (
            "nothing of this training is there."
            if self._last_written is None
            else f"it holds the model of {self._unit} {self._last_written}."
        )


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def check_picture(path: Path, *, overwrite: bool) -> None:
    """Refuses a name that does not end in a known format, and what cannot or should not be written."""
    if path.suffix.lower() not in _PICTURE_FORMATS:
        raise InvalidInputError(f"{path} must end in {', '.join(_PICTURE_FORMATS)} to tell its format.")
    check_can_write(path, overwrite=overwrite)


def write_picture(figure: Any, path: Path) -> None:
    """Writes a figure of matplotlib whole or not at all, in the format that the name tells."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lower().removeprefix("."), dpi=_DOTS_PER_INCH)
    write_whole(path, picture.getvalue())
