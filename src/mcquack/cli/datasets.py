"""The verbs of ``mcquack datasets``."""

import csv
import errno
import io
import json
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
import typer
from rich.filesize import decimal
from rich.text import Text

import mcquack
from mcquack.checks import did_you_mean
from mcquack.cli import console as exit_codes
from mcquack.cli.console import (
    Json,
    bare_table,
    check_can_write,
    check_picture,
    plain_console,
    tab_separated,
    tell,
    write_picture,
    write_whole,
)
from mcquack.datasets import Dataset, Description, Part, describe, descriptions, load, names
from mcquack.datasets.dataset import PART_NAMES
from mcquack.datasets.files import Places, Source, places
from mcquack.errors import DataFileError, InvalidInputError, McQuackError, SubstitutedDataWarning

if TYPE_CHECKING:
    import pyarrow as pa


# A dataset in JSON.


def brief_facts(description: Description, *, where: str) -> dict[str, Any]:
    """What it takes to choose one."""
    return {
        "name": description.name,
        "title": description.title,
        "suite": description.suite,
        "family": description.family,
        "task": description.task,
        "n_features": description.n_features,
        "n_classes": description.n_classes,
        "sizes": dict(description.sizes),
        "where": where,
    }


# Datasets by name, with what a user should know about them on stderr.


def loaded(name: str, *, seed: int = 0, sizes: tuple[int, ...] | None = None, data_dir: Path | None = None) -> Dataset:
    """The dataset; a note tells if other data had to take its place."""
    with warnings.catch_warnings(record=True, action="always", category=SubstitutedDataWarning) as caught:
        dataset = load(name, seed=seed, sizes=sizes, data_dir=data_dir)
    for warning in caught:
        if issubclass(warning.category, SubstitutedDataWarning):
            tell(f"Note: {' '.join(str(warning.message).split())}")
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return dataset


# Arguments and options that several verbs take.


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


# ``mcquack datasets export``: a dataset as files that any program reads.

TARGET = "label"
_ABOUT = "about.json"

Format = Literal["csv", "parquet", "npz"]
Scale = Literal["none", "min-max", "standard"]


def export(
    name: Name,
    out: Annotated[Path, typer.Option(help="The folder to write to; it is made if it does not exist.")],
    format: Annotated[
        Format, typer.Option(help="A table for each part (csv, parquet), or all arrays in one file (npz).")
    ] = "csv",
    seed: Seed = 0,
    sizes: Annotated[
        str | None,
        typer.Option(help="Samples in each part, such as 1000,400,400.", show_default="as mcquack datasets show tells"),
    ] = None,
    scale: Annotated[
        Scale, typer.Option(help="Scale every feature as in the training part: to [0, 1], or to mean 0 and variance 1.")
    ] = "none",
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an earlier export.")] = False,
) -> None:
    """Write a dataset to a folder: one table for each part, and about.json with its seed, classes, source and licence.

    A table has the features under their names and then the column `label`; about.json names the class of each label.
    NAME.npz holds X_train, y_train, …, labels, class_names and feature_names.

    Example: mcquack datasets export mnist10 --out mnist, then
    mcquack fit mnist/train.csv --target label --out mnist.mcq
    """
    description = describe(name)
    wanted = None if sizes is None else _numbers(sizes)
    _check_folder(out, _file_names(description, format), overwrite=force)
    dataset = loaded(name, seed=seed, sizes=wanted, data_dir=data_dir)
    dataset = dataset if scale == "none" else dataset.scaled(scale)
    # Where other data took the place of what was asked for, its own licence and notes hold.
    about = _about(dataset, describe(dataset.described_as or name), seed=seed, scale=scale)
    contents = {**_contents(dataset, format), _ABOUT: f"{json.dumps(about, indent=2, ensure_ascii=False)}\n".encode()}
    out.mkdir(parents=True, exist_ok=True)
    for file, content in contents.items():
        write_whole(out / file, content)
    tell(f"In {out}: {', '.join(contents)}. {dataset}.")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"expected whole numbers separated by commas, such as 1000,400,400, got {text!r}.", param_hint="--sizes"
        ) from None


def _file_names(description: Description, format: Format) -> list[str]:
    tables = [f"{description.name}.npz"] if format == "npz" else [f"{part}.{format}" for part in description.sizes]
    return [*tables, _ABOUT]


def _check_folder(out: Path, names: Sequence[str], *, overwrite: bool) -> None:
    """Refuses before anything is loaded what would fail, or mix two exports, after it."""
    existing = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidInputError(f"{existing} is a file; name a folder with --out.")
    if not os.access(existing, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write in the folder", str(existing))
    for name in names if existing == out.absolute() else ():
        check_can_write(out / name, overwrite=overwrite)
    tables = [f"{part}.{format}" for part in PART_NAMES for format in ("csv", "parquet")]
    left = [*(name for name in tables if (out / name).exists()), *sorted(path.name for path in out.glob("*.npz"))]
    stale = [name for name in left if name not in names]
    if stale:
        raise InvalidInputError(
            f"{out} holds {', '.join(stale)}, which would not belong to the new files; remove it or name another one."
        )


def _contents(dataset: Dataset, format: Format) -> dict[str, bytes]:
    if format == "npz":
        return {f"{dataset.name}.npz": _npz_bytes(dataset)}
    if TARGET in dataset.feature_names:
        raise InvalidInputError(
            f"a feature of {dataset.name} is named {TARGET!r}, as the labels in a table; export it with --format npz."
        )
    write = _csv_bytes if format == "csv" else _parquet_bytes
    return {f"{name}.{format}": write(_table(part, dataset.feature_names)) for name, part in dataset.parts.items()}


def _table(part: Part, feature_names: Sequence[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.table([*np.asfortranarray(part.X).T, part.y], names=[*feature_names, TARGET])


def _csv_bytes(table: "pa.Table") -> bytes:
    from pyarrow.csv import WriteOptions, write_csv

    header = io.StringIO(newline="")
    csv.writer(header, lineterminator="\n").writerow(table.column_names)  # pyarrow would put every name in quotes
    content = io.BytesIO()
    content.write(header.getvalue().encode())
    write_csv(table, content, WriteOptions(include_header=False))
    return content.getvalue()


def _parquet_bytes(table: "pa.Table") -> bytes:
    from pyarrow.parquet import write_table

    content = io.BytesIO()
    write_table(table, content)
    return content.getvalue()


def _npz_bytes(dataset: Dataset) -> bytes:
    content = io.BytesIO()
    arrays: dict[str, Any] = {}
    for name, part in dataset.parts.items():
        arrays |= {f"X_{name}": part.X, f"y_{name}": _plain(part.y)}
    np.savez_compressed(
        content,
        **arrays,
        labels=_plain(dataset.labels),
        class_names=np.array(dataset.class_names, dtype=np.str_),
        feature_names=np.array(dataset.feature_names, dtype=np.str_),
    )
    return content.getvalue()


def _plain(labels: Any) -> Any:
    """Labels in an array that is read without pickle."""
    found = np.asarray(labels)
    return found.astype(np.str_) if found.dtype == object else found


def _about(dataset: Dataset, description: Description, *, seed: int, scale: Scale) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": description.title,
        "task": description.task,
        "seed": seed if description.is_seeded else None,
        "sizes": {name: len(part.y) for name, part in dataset.parts.items()},
        "scale": scale,
        "origin": dataset.origin,
        "fingerprint": dataset.fingerprint,
        "classes": {str(label): name for label, name in zip(dataset.labels, dataset.class_names, strict=True)},
        "image_shape": dataset.image_shape,
        "citation": description.citation,
        "licence": description.licence,
        "homepage": description.homepage,
        "notes": list(description.notes),
        "mcquack": mcquack.__version__,
    }


# ``mcquack datasets fetch``: the files of datasets, onto this machine.


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


# ``mcquack datasets list``: what there is.

_LARGE_FAMILY = 5  # members that need a line each; more would bury the rest of a list of everything

Facts = dict[str, Any]


class _Line(NamedTuple):
    """One line of the table."""

    name: str
    features: str
    classes: str
    samples: str
    where: str
    task: str


def listing(
    suite: Annotated[
        str | None, typer.Option(help="Only this suite: qml, real-world or extra.", show_default="all")
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Only this family, such as mnist or two_curves.", show_default="all")
    ] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """List the datasets: name, features, classes, samples in each part, where the files are, and the task.

    On a terminal, a list of everything shows a large family in one line. Elsewhere each dataset is a line of name,
    suite, family, features, classes, train, validation, test, where and task, separated by tabs.

    Examples: mcquack datasets list --suite qml, or mcquack datasets list | cut -f 1
    """
    status = places(data_dir).status
    found = [brief_facts(one, where=status(one.sources)) for one in _chosen(suite, family)]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_table(found, whole_families=suite is None and family is None)
    else:
        typer.echo(tab_separated(map(_fields, found)))


def _chosen(suite: str | None, family: str | None) -> Sequence[Description]:
    in_suite = descriptions(suite)
    chosen = [description for description in in_suite if family in (None, description.family)]
    if not chosen:
        families = list(dict.fromkeys(description.family for description in in_suite if description.family))
        hint = did_you_mean(family, families, otherwise=f"there are {', '.join(families)}.")
        raise InvalidInputError(f"no family{f' in {suite}' if suite else ''} is named {family!r}; {hint}")
    return chosen


def _fields(facts: Facts) -> Iterator[object]:
    yield from (facts[key] for key in ("name", "suite", "family", "n_features", "n_classes"))
    yield from (facts["sizes"].get(part, 0) for part in PART_NAMES)
    yield from (facts["where"], facts["task"])


def _print_table(found: Sequence[Facts], *, whole_families: bool) -> None:
    table = bare_table()
    for title in _Line._fields:
        # All but the last keep their width on a narrow terminal: half a name is none.
        side: Literal["left", "right"] = "right" if title in ("features", "classes", "samples") else "left"
        table.add_column(title, justify=side, no_wrap=title != "task")
    for suite, in_suite in groupby(found, key=lambda facts: str(facts["suite"])):
        members = list(in_suite)
        table.add_row(Text(f"{suite} ({len(members)})", style="bold"))
        for line in _lines(members, whole_families=whole_families):
            table.add_row(*line[:-1], Text(line.task, no_wrap=True, overflow="ellipsis"))
    table.columns[0].min_width = max(len(str(cell)) for cell in table.columns[0].cells)
    console = plain_console()
    console.print(table)
    shorter = " A name with … is a family: --suite or --family lists its members." if whole_families else ""
    console.print(f"\nSamples: train/validation/test.{shorter} mcquack datasets show NAME tells more.", style="dim")


def _lines(found: Sequence[Facts], *, whole_families: bool) -> Iterator[_Line]:
    for family, in_family in groupby(found, key=lambda facts: str(facts["family"])):
        members = list(in_family)
        if whole_families and family and len(members) > _LARGE_FAMILY:
            yield _line(members)
        else:
            yield from (_line([member]) for member in members)


def _line(members: Sequence[Facts]) -> _Line:
    """One line for datasets that differ in little."""
    names = [str(facts["name"]) for facts in members]
    last = names[-1].removeprefix(f"{members[0]['family']}_")
    return _Line(
        name=names[0] if len(names) == 1 else f"{names[0]}…{last}",
        features=_span(facts["n_features"] for facts in members),
        classes=_span(facts["n_classes"] for facts in members),
        samples="/".join(_span(facts["sizes"].get(part, 0) for facts in members) for part in PART_NAMES),
        where=", ".join(dict.fromkeys(facts["where"] for facts in members)),
        task=_common_words([str(facts["task"]) for facts in members]),
    )


def _span(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers))
    return "…".join("–" if number == 0 else f"{number:,}" for number in dict.fromkeys((found[0], found[-1])))


def _common_words(texts: Sequence[str]) -> str:
    """The first text, with … for the words in which the others differ."""
    columns = zip(*(text.split() for text in texts), strict=False)
    return " ".join(words[0] if len(set(words)) == 1 else "…" for words in columns)


# ``mcquack datasets plot``: a dataset at a glance.


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


# ``mcquack datasets show``: all that is known of one dataset.

_WIDEST = 100
_INDENT = " " * 12
_STATUS_TEXTS = {
    "built in": "built in: it needs no files",
    "local": "in the folder for data",
    "cached": "in the cache",
    "download": "not here yet; it is downloaded when first used, or by mcquack datasets fetch",
    "by hand": "not here; its files cannot be downloaded freely, so fetch them by hand",
}

ShownFacts = Mapping[str, Any]


def show(name: Name, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Tell all about a dataset: classes, parts, citation, licence, where it comes from and where its files are.

    The counts of the classes are those of the paper's table, for its datasets.

    Example: mcquack datasets show mnist10
    """
    facts = _facts(describe(name), places(data_dir, download=False))
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_shown_lines(facts)))


def _facts(description: Description, available: Places) -> dict[str, Any]:
    counts = description.class_counts
    return {
        **brief_facts(description, where=available.status(description.sources)),
        "class_names": list(description.class_names),
        "class_counts": None if counts is None else {part: list(each) for part, each in counts.items()},
        "paper_n_features": description.paper_n_features,
        "image_shape": None if description.image_shape is None else list(description.image_shape),
        "is_seeded": description.is_seeded,
        "citation": description.citation,
        "licence": description.licence,
        "homepage": description.homepage,
        "notes": list(description.notes),
        **_found(description, available),
        "sources": [{"title": source.title, "files": _file_facts(source)} for source in description.sources],
    }


def _file_facts(source: Source) -> list[dict[str, Any]]:
    facts = ("name", "folder", "checksum", "n_bytes", "url")
    return [{**{fact: getattr(file, fact) for fact in facts}, "way": source.way_to(file)} for file in source.files]


def _found(description: Description, available: Places) -> dict[str, Any]:
    """The files on this machine, verified, or what is wrong with them."""
    if available.status(description.sources) not in ("local", "cached"):
        return {"paths": [], "problem": None}
    try:
        found = available.find(description.sources, wanted_for=description.name)
    except DataFileError as error:
        return {"paths": [], "problem": str(error)}
    return {"paths": [str(path) for path in found.paths], "problem": None}


def _shown_lines(facts: ShownFacts) -> Iterator[str]:
    yield f"{facts['name']}: {facts['task']}"
    for title, text in _entries(facts):
        width = max(min(shutil.get_terminal_size().columns, _WIDEST), 40)
        # Addresses and checksums stay whole, to be copied.
        yield from textwrap.wrap(
            text,
            width,
            initial_indent=f"{title:<{len(_INDENT)}}",
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
    yield from _class_lines(facts)
    yield from _source_lines(facts["sources"])


def _entries(facts: ShownFacts) -> Iterator[tuple[str, str]]:
    yield "title", facts["title"]
    yield "suite", f"{facts['suite']}, family {facts['family']}" if facts["family"] else facts["suite"]
    yield "features", _features_text(facts)
    yield "parts", ", ".join(f"{size:,} {part}" for part, size in facts["sizes"].items())
    yield "samples", _samples_text(facts)
    yield from ((key, facts[key]) for key in ("citation", "licence", "homepage") if facts[key])
    yield from (("notes" if number == 0 else "", note) for number, note in enumerate(facts["notes"]))
    yield "where", _STATUS_TEXTS[facts["where"]] if facts["problem"] is None else facts["problem"]
    yield from (("", path) for path in facts["paths"])


def _features_text(facts: ShownFacts) -> str:
    n_features, in_paper, shape = (facts[key] for key in ("n_features", "paper_n_features", "image_shape"))
    paper = f" ({in_paper} in the paper)" if in_paper not in (None, n_features) else ""
    return f"{n_features}{paper}" + (f", pictures of {' × '.join(map(str, shape))} pixels" if shape else "")


def _samples_text(facts: ShownFacts) -> str:
    if facts["is_seeded"]:
        return "a draw: --seed chooses another, --sizes larger or smaller parts"
    return "always the same"


def _class_lines(facts: ShownFacts) -> Iterator[str]:
    names, counts = facts["class_names"], facts["class_counts"]
    if counts is None:
        yield f"{'classes':<{len(_INDENT)}}{len(names)}: {', '.join(names)}"
        return
    width = max(len("classes"), *map(len, names))
    yield ""
    yield f"{'classes':<{width}}" + "".join(f"{part:>12}" for part in counts)
    for index, name in enumerate(names):
        yield f"{name:<{width}}" + "".join(f"{each[index]:>12,}" for each in counts.values())


def _source_lines(sources: Sequence[ShownFacts]) -> Iterator[str]:
    for number, source in enumerate(sources, start=1):
        yield ""
        yield f"source {number} of {len(sources)}: {source['title']}"
        for file in source["files"]:
            folder = f"{file['folder']}/" if file["folder"] else ""
            size = "size unknown" if file["n_bytes"] is None else decimal(file["n_bytes"])
            yield f"  {folder}{file['name']}, {size}, {file['checksum'] or 'without a checksum'}"
            yield f"    {file['way']}"


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
app.command("list")(listing)
for verb in (show, fetch, export, plot):
    app.command()(verb)


@app.callback()
def datasets() -> None:
    """List, show, fetch, export and plot the datasets that are known by name: the paper's, the QML suite's, and more.

    Many are generated. The files of the others are looked for in the folder given by --data-dir or MCQUACK_DATA, then
    in the cache, and are downloaded otherwise. Train on a dataset by its name with `mcquack fit`.

    Examples: mcquack datasets list --suite real-world, then mcquack datasets show mnist10
    """
