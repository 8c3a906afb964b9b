"""The verbs of ``mcquack datasets``: list, show, fetch, export and plot."""

import errno
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.filesize import decimal
from rich.text import Text

from mcquack.cli import console as exit_codes
from mcquack.cli.console import (
    bare_table,
    check_can_write,
    check_picture,
    say,
    tab_separated,
    tell,
    told_as_notes,
    write_picture,
)
from mcquack.cli.options import (
    DataDir,
    DatasetName,
    DrawSeed,
    Force,
    Json,
    OutFolder,
    argument,
    dataset_names,
    flag,
    group,
    option,
)
from mcquack.datasets import Dataset, Description, describe, descriptions, load
from mcquack.datasets import export as export_dataset
from mcquack.datasets.dataset import PART_NAMES
from mcquack.datasets.exporting import TARGET as TARGET
from mcquack.datasets.exporting import Format, check_no_others, export_names
from mcquack.datasets.files import Places, Source, places
from mcquack.errors import (
    DataFileError,
    InvalidInputError,
    McQuackError,
    SubstitutedDataWarning,
    UnknownDatasetError,
    printable,
)
from mcquack.progress import SafeConsole

Facts = Mapping[str, Any]

_SIZES = "Samples in each part, such as 1000,400,400; without it, as mcquack datasets show tells."
_SCALE = "Scale features as in the training part: to [0, 1] (min-max), or to mean 0 and variance 1 (standard)."


def is_name(data: str) -> bool:
    """Whether ``data`` must be the name of a dataset: no file here is called so, and it does not look like one."""
    path = Path(data)
    is_file = path.exists() and not path.is_dir()
    return path.name == data and not is_file and not path.suffix


def loaded(name: str, *, seed: int = 0, sizes: tuple[int, ...] | None = None, data_dir: Path | None = None) -> Dataset:
    """The dataset; a note on stderr tells if other data had to take its place."""
    with told_as_notes(SubstitutedDataWarning):
        return load(name, seed=seed, sizes=sizes, data_dir=data_dir)


def named(name: str, *, seed: int, data_dir: Path | None) -> Dataset:
    """Return the dataset of a name that is no file; a seed is for those that are drawn."""
    try:
        is_seeded = describe(name).is_seeded
    except UnknownDatasetError as error:
        raise UnknownDatasetError(f"there is no file {name!r}, and {error}") from None
    return loaded(name, seed=seed if is_seeded else 0, data_dir=data_dir)


# ``mcquack datasets list``: what there is.

_BRIEF = ("name", "title", "suite", "family", "task", "n_features", "n_classes", "sizes")
_COLUMNS = ("name", "features", "classes", "samples", "where", "task")
_LARGE_FAMILY = 5  # members that need a line each; more would bury the rest of a list of everything


def list_(
    suite: Annotated[str | None, option("Only this suite: qml, real-world or extra.", "SUITE")] = None,
    family: Annotated[str | None, option("Only this family, such as mnist or two_curves.", "FAMILY")] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """List the datasets: name, features, classes, samples in each part, where the files are, and the task.

    On a terminal, a list of everything shows a large family in one line. Elsewhere each dataset is a line of name,
    suite, family, features, classes, train, validation, test, where and task, separated by tabs.

    Examples: mcquack datasets list --suite qml, or mcquack datasets list | cut -f 1
    """
    available = places(data_dir)
    found = [_brief_facts(description, available) for description in descriptions(suite, family)]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_table(found, whole_families=suite is None and family is None)
    else:
        say(tab_separated(map(_fields, found)))


def _brief_facts(description: Description, available: Places) -> dict[str, Any]:
    facts = description.facts()
    return {**{key: facts[key] for key in _BRIEF}, "where": available.status(description.sources)}


def _fields(facts: Facts) -> Iterator[object]:
    yield from (facts[key] for key in ("name", "suite", "family", "n_features", "n_classes"))
    yield from (facts["sizes"].get(part, 0) for part in PART_NAMES)
    yield from (facts["where"], facts["task"])


def _print_table(found: Sequence[Facts], *, whole_families: bool) -> None:
    table = bare_table()
    for title in _COLUMNS:
        # All but the last keep their width on a narrow terminal: half a name is none.
        side: Literal["left", "right"] = "right" if title in ("features", "classes", "samples") else "left"
        table.add_column(title, justify=side, no_wrap=title != "task")
    for suite, in_suite in groupby(found, key=lambda facts: str(facts["suite"])):
        members = list(in_suite)
        table.add_row(Text(f"{suite} ({len(members)})", style="bold"))
        for *cells, task in _lines(members, whole_families=whole_families):
            table.add_row(*cells, Text(task, no_wrap=True, overflow="ellipsis"))
    table.columns[0].min_width = max(len(str(cell)) for cell in table.columns[0].cells)
    SafeConsole().print(table)
    shorter = " A name with … is a family: --suite or --family lists its members." if whole_families else ""
    SafeConsole().print(
        f"\nSamples: train/validation/test.{shorter} mcquack datasets show NAME tells more.", style="dim"
    )


def _lines(found: Sequence[Facts], *, whole_families: bool) -> Iterator[tuple[str, ...]]:
    for family, in_family in groupby(found, key=lambda facts: str(facts["family"])):
        members = list(in_family)
        in_one = whole_families and family and len(members) > _LARGE_FAMILY
        yield from map(_line, [members] if in_one else [[member] for member in members])


def _line(members: Sequence[Facts]) -> tuple[str, ...]:
    """The cells of one line for datasets that differ in little, in the order of the columns."""
    first, last = str(members[0]["name"]), str(members[-1]["name"]).removeprefix(f"{members[0]['family']}_")
    return (
        first if len(members) == 1 else f"{first}…{last}",
        _span(facts["n_features"] for facts in members),
        _span(facts["n_classes"] for facts in members),
        "/".join(_span(facts["sizes"].get(part, 0) for facts in members) for part in PART_NAMES),
        ", ".join(dict.fromkeys(facts["where"] for facts in members)),
        _common_words([str(facts["task"]) for facts in members]),
    )


def _span(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers))
    return "…".join("–" if number == 0 else f"{number:,}" for number in dict.fromkeys((found[0], found[-1])))


def _common_words(texts: Sequence[str]) -> str:
    """The first text, with … for the words in which the others differ."""
    columns = zip(*(text.split() for text in texts), strict=False)
    return " ".join(words[0] if len(set(words)) == 1 else "…" for words in columns)


# ``mcquack datasets show``: all that is known of one dataset.

_INDENT = " " * 12
_STATUS_TEXTS = {
    "built in": "built in: it needs no files",
    "local": "in the folder for data",
    "cached": "in the cache",
    "download": "not here yet; it is downloaded when first used, or by mcquack datasets fetch",
    "by hand": "not here; its files cannot be downloaded freely, so fetch them by hand",
}
_SHOWN = ("class_names", "class_counts", "paper_n_features", "image_shape", "is_seeded")
_SHOWN_TEXTS = ("citation", "licence", "homepage")


def show(name: DatasetName, as_json: Json = False, data_dir: DataDir = None) -> None:
    """Tell all about a dataset: classes, parts, citation, licence, where it comes from and where its files are.

    Of each file it says what proves that it is the right one (a sha256, a weaker checksum, or nothing), and by which
    transport a download comes.

    The counts of the classes are those of the paper's table, for its datasets.

    Example: mcquack datasets show mnist10
    """
    description, available = describe(name), places(data_dir, download=False)
    known = description.facts()
    facts = {
        **_brief_facts(description, available),
        **{key: known[key] for key in (*_SHOWN, *_SHOWN_TEXTS, "notes")},
        **_found(description, available),
        "sources": known["sources"],
    }
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        say("\n".join(map(printable, _shown_lines(facts))))


def _found(description: Description, available: Places) -> dict[str, Any]:
    """The files on this machine, verified, or what is wrong with them."""
    if available.status(description.sources) not in ("local", "cached"):
        return {"paths": [], "problem": None}
    try:
        found = available.find(description.sources, wanted_for=description.name)
    except DataFileError as error:
        return {"paths": [], "problem": str(error)}
    return {"paths": [str(path) for path in found.paths], "problem": None}


def _shown_lines(facts: Facts) -> Iterator[str]:
    yield f"{facts['name']}: {facts['task']}"
    width = max(min(shutil.get_terminal_size().columns, 100), 40)
    for title, text in _entries(facts):
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


def _entries(facts: Facts) -> Iterator[tuple[str, str]]:
    n_features, in_paper, shape = (facts[key] for key in ("n_features", "paper_n_features", "image_shape"))
    paper = f" ({in_paper} in the paper)" if in_paper not in (None, n_features) else ""
    pictures = f", pictures of {' × '.join(map(str, shape))} pixels" if shape else ""
    is_draw = facts["is_seeded"]
    yield "title", facts["title"]
    yield "suite", f"{facts['suite']}, family {facts['family']}" if facts["family"] else facts["suite"]
    yield "features", f"{n_features}{paper}{pictures}"
    yield "parts", ", ".join(f"{size:,} {part}" for part, size in facts["sizes"].items())
    yield "samples", "a draw: --seed chooses another, --sizes larger or smaller parts" if is_draw else "always the same"
    yield from ((key, facts[key]) for key in _SHOWN_TEXTS if facts[key])
    yield from (("notes" if number == 0 else "", note) for number, note in enumerate(facts["notes"]))
    yield "where", _STATUS_TEXTS[facts["where"]] if facts["problem"] is None else facts["problem"]
    yield from (("", path) for path in facts["paths"])


def _class_lines(facts: Facts) -> Iterator[str]:
    class_names, counts = facts["class_names"], facts["class_counts"]
    if counts is None:
        yield f"{'classes':<{len(_INDENT)}}{len(class_names)}: {', '.join(class_names)}"
        return
    width = max(len("classes"), *map(len, class_names))
    yield ""
    yield f"{'classes':<{width}}" + "".join(f"{part:>12}" for part in counts)
    for index, name in enumerate(class_names):
        yield f"{name:<{width}}" + "".join(f"{each[index]:>12,}" for each in counts.values())


def _source_lines(sources: Sequence[Facts]) -> Iterator[str]:
    for number, source in enumerate(sources, start=1):
        yield ""
        yield f"source {number} of {len(sources)}: {source['title']}"
        for file in source["files"]:
            folder = f"{file['folder']}/" if file["folder"] else ""
            size = "size unknown" if file["n_bytes"] is None else decimal(file["n_bytes"])
            yield f"  {folder}{file['name']}, {size}, {file['checksum'] or 'without a checksum'}"
            yield f"    {file['way']}"
            yield f"    verified by {file['proof']}{_transport_text(file)}"


def _transport_text(file: Facts) -> str:
    told = {"https": "; comes by https", "http": "; comes by http, which others can read and change on its way"}
    return told.get(file["transport"] or "", "")


def fetch(
    names: Annotated[list[str] | None, argument("NAME", "The datasets, by name.", autocompletion=dataset_names)] = None,
    suite: Annotated[str | None, option("All of this suite: qml, real-world or extra.", "SUITE")] = None,
    every: Annotated[bool, flag("--all", "All datasets that there are.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Fetch the files of datasets, so that they can be used without internet from then on.

    Files that are in the folder for data, or in the cache, are verified and left as they are. The others are
    downloaded into the cache; Ctrl-C keeps what has arrived, and the same command goes on from there. A dataset that
    cannot be had costs no others, but the exit code is 1.

    Examples: mcquack datasets fetch mnist10 census, or mcquack datasets fetch --all
    """
    if bool(names) + (suite is not None) + every != 1:
        raise typer.BadParameter("give the names of datasets, or --suite, or --all.", param_hint="what to fetch")
    wanted = [describe(name) for name in dict.fromkeys(names)] if names else descriptions(suite)
    try:
        failed = _failed(wanted, places(data_dir))
    except KeyboardInterrupt:
        tell("mcquack: interrupted; what has arrived is kept, and the same command goes on from there.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    if failed:
        tell(f"mcquack: {len(failed)} of {len(wanted)} could not be fetched: {', '.join(failed)}.")
        raise typer.Exit(exit_codes.REFUSED)


def _failed(wanted: Sequence[Description], available: Places) -> list[str]:
    """Fetches one after the other and names those that could not be had."""
    width = max(len(description.name) for description in wanted)
    texts: dict[tuple[Source, ...], str] = {}
    lacking: dict[tuple[Source, ...], str] = {}
    for description in wanted:
        # Many datasets share their files; asking again for what is not to be had would only take time.
        name, sources = description.name, description.sources
        like = f", like {lacking[sources]}" if sources in lacking else ""
        if sources not in texts:
            try:
                texts[sources] = _fetched(description, available)
            except (McQuackError, OSError) as error:
                tell(f"\n{error}\n")
                texts[sources], lacking[sources] = "failed", name
        say(f"{name:<{width}}  {texts[sources]}{like}")
    return [description.name for description in wanted if description.sources in lacking]


def _fetched(description: Description, available: Places) -> str:
    before = available.status(description.sources)
    if before == "built in":
        return "built in, needs no files"
    if before == "download" and available.download:
        source = next(source for source in description.sources if source.is_downloadable)
        sizes = [file.n_bytes for file in source.files if file.n_bytes is not None]
        size = f" ({decimal(sum(sizes))})" if len(sizes) == len(source.files) else ""
        tell(f"Downloading {description.name}{size} …")
    paths = available.find(description.sources, wanted_for=description.name).paths
    where = str(paths[0]) if len(paths) == 1 else f"{len(paths)} files in {os.path.commonpath(paths)}"
    return f"{'downloaded' if before == 'download' else before}, {where}"


def export(
    name: DatasetName,
    out: OutFolder,
    format: Annotated[Format, option("A table for each part (csv, parquet), or all arrays in one file (npz).")] = "csv",
    seed: DrawSeed = 0,
    sizes: Annotated[str | None, option(_SIZES, "SIZES")] = None,
    scale: Annotated[Literal["none", "min-max", "standard"], option(_SCALE)] = "none",
    force: Force = False,
    data_dir: DataDir = None,
) -> None:
    """Write a dataset to a folder: one table for each part, and about.json with its seed, classes, source and licence.

    A table has the features under their names and then the column `label`; about.json names the class of each label.
    NAME.npz holds X_train, y_train, …, labels, class_names and feature_names.

    Example: mcquack datasets export mnist10 --out mnist, then
    mcquack fit mnist/train.csv --target label --out mnist.mcq
    """
    files = export_names(name, describe(name).sizes, format)
    wanted = None if sizes is None else _numbers(sizes)
    _check_folder(out, files, overwrite=force)
    dataset = loaded(name, seed=seed, sizes=wanted, data_dir=data_dir)
    dataset = dataset if scale == "none" else dataset.scaled(scale)
    export_dataset(dataset, out, format=format, seed=seed, scale=scale, overwrite=True)
    tell(f"In {out}: {', '.join(files)}. {dataset}.")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"expected whole numbers separated by commas, such as 1000,400,400, got {text!r}.", param_hint="--sizes"
        ) from None


def _check_folder(out: Path, files: Sequence[str], *, overwrite: bool) -> None:
    """Refuses before anything is loaded what would fail, or mix two exports, after it."""
    existing = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidInputError(f"{existing} is a file; name a folder with --out.")
    if not os.access(existing, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write in the folder", str(existing))
    for file in files if existing == out.absolute() else ():
        check_can_write(out / file, overwrite=overwrite)
    check_no_others(out, files)


def plot(
    name: DatasetName,
    out: Annotated[Path, option("The picture to write: .png, .pdf or .svg.", "FILE")],
    seed: DrawSeed = 0,
    force: Force = False,
    data_dir: DataDir = None,
) -> None:
    """Draw a dataset: the balance of its classes, its two principal components and, of pictures, some of each class.

    Example: mcquack datasets plot mnist10 --out mnist10.png
    """
    describe(name)  # a name that is wrong is told first
    check_picture(out, overwrite=force)
    dataset = loaded(name, seed=seed, data_dir=data_dir)

    from mcquack.report import plot_dataset  # not above: matplotlib would delay every --help

    write_picture(plot_dataset(dataset), out)


def datasets() -> None:
    """List, show, fetch, export and plot the datasets that are known by name: the paper's, the QML suite's, and more.

    Many are generated. The files of the others are looked for in the folder given by --data-dir or MCQUACK_DATA, then
    in the cache, and are downloaded otherwise. Train on a dataset by its name with `mcquack fit`.

    Examples: mcquack datasets list --suite real-world, then mcquack datasets show mnist10
    """


app = group(datasets, list_, show, fetch, export, plot)
