"""The files of the datasets of a benchmark, before its first task needs them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mcquack.cli.datasets.loading import loaded
from mcquack.cli.notes import tell
from mcquack.datasets.files import places

if TYPE_CHECKING:
    from mcquack.bench.plan import Cell


def fetch_missing(cells: Iterable["Cell"], *, data_dir: Path | None) -> None:
    """Downloads once what all workers would ask for at the same time, and refuses what cannot be had.

    Else every task on such a dataset would fail by itself.
    """
    from mcquack.bench.samples import describe  # not above: it would delay every --help

    status = places(data_dir).status
    wanted = (describe(name) for name in dict.fromkeys(cell.dataset for cell in cells if cell.table is None))
    # Many datasets share their files.
    for sources, description in {description.sources: description for description in wanted}.items():
        if status(sources) in ("download", "by hand"):
            tell(f"Fetching {description.name} …")
            loaded(description.name, data_dir=data_dir)
