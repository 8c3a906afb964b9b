"""``mcquack datasets plot``: a dataset at a glance."""

import io
from pathlib import Path
from typing import Annotated

import typer

from mcquack.cli.datasets.loading import loaded
from mcquack.cli.datasets.options import DataDir, Name, Seed
from mcquack.cli.files import check_can_write, write_whole
from mcquack.datasets import describe
from mcquack.errors import InvalidInputError

_FORMATS = ("png", "pdf", "svg")
_DOTS_PER_INCH = 160


def plot(
    name: Name,
    out: Annotated[Path, typer.Option(help="The picture to write: .png, .pdf or .svg.")],
    seed: Seed = 0,
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the picture if it exists.")] = False,
) -> None:
    """Draw a dataset: the balance of its classes, its two principal components and, of pictures, some of each class.

    Example: mcquack datasets plot mnist10 --out mnist10.png
    """
    describe(name)  # a name that is wrong is told first
    kind = out.suffix.lower().removeprefix(".")
    if kind not in _FORMATS:
        raise InvalidInputError(f"{out} must end in {', '.join(f'.{known}' for known in _FORMATS)} to tell its format.")
    check_can_write(out, overwrite=force)
    dataset = loaded(name, seed=seed, data_dir=data_dir)

    from mcquack.report import plot_dataset  # not above: matplotlib would delay every --help

    picture = io.BytesIO()
    plot_dataset(dataset).savefig(picture, format=kind, dpi=_DOTS_PER_INCH)
    write_whole(out, picture.getvalue())
