"""``mcquack datasets plot``: a dataset at a glance."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.cli.datasets.loading import loaded
from mcquack.cli.datasets.options import DataDir, Name, Seed
from mcquack.cli.pictures import check_picture, write_picture
from mcquack.datasets import describe


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
    check_picture(out, overwrite=force)
    dataset = loaded(name, seed=seed, data_dir=data_dir)

    from mcquack.report import plot_dataset  # not above: matplotlib would delay every --help

    write_picture(plot_dataset(dataset), out)
