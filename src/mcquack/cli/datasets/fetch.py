"""``mcquack datasets fetch``: the files of datasets, onto this machine."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.filesize import decimal

from mcquack.cli import exit_codes
from mcquack.cli.datasets.options import DataDir, completions
from mcquack.cli.notes import tell
from mcquack.datasets import Description, describe, descriptions
from mcquack.datasets.files import Places, Source, places
from mcquack.errors import McQuackError


class _Outcome(NamedTuple):
    """What came of the files that a dataset was the first to ask for."""

    name: str
    text: str
    succeeded: bool


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="The datasets, by name.", autocompletion=completions, show_default=False),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="All of this suite: qml, real-world or extra.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All datasets that there are.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Fetch the files of datasets, so that they can be used without internet from then on.

    Files that are in the folder for data, or in the cache, are verified and left as they are. The others are
    downloaded into the cache; Ctrl-C keeps what has arrived, and the same command goes on from there. A dataset that
    cannot be had costs no others, but the exit code is 1.

    Examples: mcquack datasets fetch mnist10 census, or mcquack datasets fetch --all
    """
    wanted = _wanted(names or [], suite=suite, every=every)
    try:
        failed = _failed(wanted, places(data_dir))
    except KeyboardInterrupt:
        tell("mcquack: interrupted; what has arrived is kept, and the same command goes on from there.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    if failed:
        tell(f"mcquack: {len(failed)} of {len(wanted)} could not be fetched: {', '.join(failed)}.")
        raise typer.Exit(exit_codes.REFUSED)


def _wanted(names: Sequence[str], *, suite: str | None, every: bool) -> Sequence[Description]:
    if bool(names) + (suite is not None) + every != 1:
        raise typer.BadParameter("give the names of datasets, or --suite, or --all.", param_hint="what to fetch")
    return [describe(name) for name in dict.fromkeys(names)] if names else descriptions(suite)


def _failed(wanted: Sequence[Description], available: Places) -> list[str]:
    """Fetches one after the other and names those that could not be had."""
    width = max(len(description.name) for description in wanted)
    outcomes: dict[tuple[Source, ...], _Outcome] = {}
    for description in wanted:
        # Many datasets share their files; asking again for what is not to be had would only take time.
        outcome = outcomes.get(description.sources)
        if outcome is None:
            outcome = outcomes[description.sources] = _outcome(description, available)
        alike = "" if outcome.succeeded or outcome.name == description.name else f", like {outcome.name}"
        typer.echo(f"{description.name:<{width}}  {outcome.text}{alike}")
    return [description.name for description in wanted if not outcomes[description.sources].succeeded]


def _outcome(description: Description, available: Places) -> _Outcome:
    try:
        return _Outcome(description.name, _fetched(description, available), succeeded=True)
    except (McQuackError, OSError) as error:
        tell(f"\n{error}\n")
        return _Outcome(description.name, "failed", succeeded=False)


def _fetched(description: Description, available: Places) -> str:
    """Where the files are now, and how they came there."""
    before = available.status(description.sources)
    if before == "built in":
        return "built in, needs no files"
    if before == "download" and available.download:
        tell(f"Downloading {description.name}{_size_text(description.sources)} …")
    found = available.find(description.sources, wanted_for=description.name)
    how = "downloaded" if before == "download" else before
    return f"{how}, {_places_text(found.paths)}"


def _size_text(sources: Sequence[Source]) -> str:
    source = next(source for source in sources if source.is_downloadable)
    sizes = [file.n_bytes for file in source.files if file.n_bytes is not None]
    return f" ({decimal(sum(sizes))})" if len(sizes) == len(source.files) else ""


def _places_text(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{len(paths)} files in {os.path.commonpath(paths)}"
