"""Downloads made visible."""

from collections.abc import Iterator
from contextlib import contextmanager

from mcquack.datasets.files.transfer import Shown


@contextmanager
def progress(name: str) -> Iterator[Shown]:
    """A bar on stderr if that is a terminal; it is told how many bytes have arrived, and of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _n_bytes, _total: None
        return
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=None)
        yield lambda n_bytes, total: bar.update(task, completed=n_bytes, total=total)
