"""Arguments and options that several verbs take."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.datasets import names


def completions(incomplete: str) -> list[str]:
    """The names that begin so, for the shell."""
    return [name for name in names() if name.startswith(incomplete)]


Name = Annotated[
    str, typer.Argument(help="The dataset, by a name that mcquack datasets list shows.", autocompletion=completions)
]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Where the files of datasets are.", show_default="the folder that MCQUACK_DATA names"),
]
Seed = Annotated[int, typer.Option(min=0, help="Which samples, where they are a random draw: same seed, same samples.")]
