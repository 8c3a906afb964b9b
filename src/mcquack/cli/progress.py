"""Training made visible."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_PLAIN_LINES = 10


def shown(epochs: Iterable[Mapping[str, Any]], *, n_epochs: int, n_done: int = 0) -> Iterator[Mapping[str, Any]]:
    """The epochs as they come, each shown on stderr: a bar on a terminal, a few plain lines elsewhere."""
    console = Console(stderr=True)
    if console.is_terminal:
        return _with_bar(epochs, n_epochs, n_done=n_done, console=console)
    return _with_lines(epochs, n_epochs, n_done=n_done)


def epoch_text(epoch: Mapping[str, Any]) -> str:
    """Loss and accuracy of one epoch, and of the validation part if there is one."""
    text = f"loss {epoch['loss']:.4f}"
    if "accuracy" in epoch:
        text += f", accuracy {epoch['accuracy']:.3f}"
    on_validation = epoch.get("validation_accuracy")
    return text if on_validation is None else f"{text}, validation accuracy {on_validation:.3f}"


def _with_bar(
    epochs: Iterable[Mapping[str, Any]], n_epochs: int, *, n_done: int, console: Console
) -> Iterator[Mapping[str, Any]]:
    scores = TextColumn("{task.description}", markup=False)
    columns = (TextColumn("epoch"), MofNCompleteColumn(), BarColumn(), TimeElapsedColumn(), scores)
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("preparing (the first run compiles)", total=n_epochs, completed=n_done)
        for epoch in epochs:
            progress.update(task, advance=1, description=epoch_text(epoch))
            yield epoch


def _with_lines(epochs: Iterable[Mapping[str, Any]], n_epochs: int, *, n_done: int) -> Iterator[Mapping[str, Any]]:
    step = max(n_epochs // _PLAIN_LINES, 1)
    line, told = "", ""
    for count, epoch in enumerate(epochs, start=n_done + 1):
        line = f"epoch {count}/{n_epochs}: {epoch_text(epoch)}"
        if count == n_done + 1 or count % step == 0:
            typer.echo(line, err=True)
            told = line
        yield epoch
    if line != told:  # training may stop early, and where it stopped is worth a line
        typer.echo(line, err=True)
