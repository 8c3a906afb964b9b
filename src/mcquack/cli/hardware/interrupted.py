"""What Ctrl-C means to jobs: they go on without us."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from mcquack.cli import exit_codes
from mcquack.cli.notes import tell


@contextmanager
def goes_on_later(how: str) -> Iterator[None]:
    """Leaves by the code of an interruption, with a word on how to go on."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        notes = " ".join(getattr(interrupt, "__notes__", ()))
        tell(f"mcquack: interrupted; {how}. {notes}".rstrip())
        raise typer.Exit(exit_codes.INTERRUPTED) from None
