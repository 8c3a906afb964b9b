"""How far a training is, for who waits for it: a bar where one can be drawn, and a few lines elsewhere."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Row = Mapping[str, Any]
_LINES = 10


def shown(
    rows: Iterable[dict[str, Any]],
    *,
    n_most: int,
    unit: str = "epoch",
    per_row: int = 1,
    console: Console | None = None,
) -> Iterator[dict[str, Any]]:
    """Yields the rows of a history as training makes them, and shows each on stderr.

    Parameters
    ----------
    rows : What ``fit_iter`` yields.
    n_most : How many epochs, or steps, there are at most.
    unit : What a row has one or more of.
    per_row : How many of these it has.
    console : Where to show them, in the place of stderr.

    Examples
    --------
    >>> import sys
    >>> rows = [{"epoch": 1, "loss": 0.5, "accuracy": 0.8}, {"epoch": 2, "loss": 0.25, "accuracy": 0.9}]
    >>> list(shown(rows, n_most=2, console=Console(file=sys.stdout, force_terminal=False))) == rows
    epoch 1/2: loss 0.5000, accuracy 0.800
    epoch 2/2: loss 0.2500, accuracy 0.900
    True
    """
    console = console or Console(stderr=True)
    # In a notebook rich draws by ipywidgets, and without them it shows nothing at all.
    drawn = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    return (_with_bar if drawn else _with_lines)(rows, n_most, unit, per_row, console)


def tell(line: str, console: Console | None = None) -> None:
    """Prints one line on stderr, or where the console does, as it is."""
    (console or Console(stderr=True)).print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)


def row_text(row: Row) -> str:
    """Loss of one row of a history, accuracy if it has one, and that on the validation part if there is one.

    >>> row_text({"loss": 0.5, "accuracy": 0.8, "validation_accuracy": None})
    'loss 0.5000, accuracy 0.800'
    """
    text = f"loss {row['loss']:.4f}"
    for name in ("accuracy", "validation_accuracy"):
        if row.get(name) is not None:
            text += f", {name.replace('_', ' ')} {row[name]:.3f}"
    return text


def _with_bar(
    rows: Iterable[dict[str, Any]], n_most: int, unit: str, per_row: int, console: Console
) -> Iterator[dict[str, Any]]:
    scores = TextColumn("{task.description}", markup=False)
    columns = (TextColumn(unit), MofNCompleteColumn(), BarColumn(), TimeElapsedColumn(), scores)
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=n_most)
        for row in rows:
            progress.update(task, advance=per_row, description=row_text(row))
            yield row


def _with_lines(
    rows: Iterable[dict[str, Any]], n_most: int, unit: str, per_row: int, console: Console
) -> Iterator[dict[str, Any]]:
    step = max(n_most // per_row // _LINES, 1)
    line, told = "", ""
    for number, row in enumerate(rows, start=1):
        line = f"{unit} {min(number * per_row, n_most)}/{n_most}: {row_text(row)}"
        if number == 1 or number % step == 0:
            tell(line, console)
            told = line
        yield row
    if line != told:  # training may end early, and where it did is worth a line
        tell(line, console)
