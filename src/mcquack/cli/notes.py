"""What a user should know, on stderr, so that stdout stays for results."""

from collections.abc import Sequence

import typer

from mcquack.datasets.table import RowProblem

_SHOWN_PROBLEMS = 10


def tell(note: str) -> None:
    """One line on stderr."""
    typer.echo(note, err=True)


def tell_problems(problems: Sequence[RowProblem], *, consequence: str) -> None:
    """The first rows with a problem, and how many there are."""
    if not problems:
        return
    tell(f"{len(problems)} {'row' if len(problems) == 1 else 'rows'} {consequence}:")
    for problem in problems[:_SHOWN_PROBLEMS]:
        tell(f"  {' '.join(str(problem).split())}")
    if len(problems) > _SHOWN_PROBLEMS:
        tell(f"  and {len(problems) - _SHOWN_PROBLEMS} more")
