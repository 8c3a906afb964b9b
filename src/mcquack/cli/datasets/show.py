"""``mcquack datasets show``: all that is known of one dataset."""

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer
from rich.filesize import decimal

from mcquack.cli.datasets.facts import brief_facts
from mcquack.cli.datasets.options import DataDir, Name
from mcquack.cli.options import Json
from mcquack.datasets import Description, describe
from mcquack.datasets.files import Places, Source, places
from mcquack.errors import DataFileError

_WIDEST = 100
_INDENT = " " * 12
_STATUS_TEXTS = {
    "built in": "built in: it needs no files",
    "local": "in the folder for data",
    "cached": "in the cache",
    "download": "not here yet; it is downloaded when first used, or by mcquack datasets fetch",
    "by hand": "not here; its files cannot be downloaded freely, so fetch them by hand",
}

Facts = Mapping[str, Any]


def show(name: Name, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Tell all about a dataset: classes, parts, citation, licence, where it comes from and where its files are.

    The counts of the classes are those of the paper's table, for its datasets.

    Example: mcquack datasets show mnist10
    """
    facts = _facts(describe(name), places(data_dir, download=False))
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(facts)))


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


def _lines(facts: Facts) -> Iterator[str]:
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


def _entries(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "title", facts["title"]
    yield "suite", f"{facts['suite']}, family {facts['family']}" if facts["family"] else facts["suite"]
    yield "features", _features_text(facts)
    yield "parts", ", ".join(f"{size:,} {part}" for part, size in facts["sizes"].items())
    yield "samples", _samples_text(facts)
    yield from ((key, facts[key]) for key in ("citation", "licence", "homepage") if facts[key])
    yield from (("notes" if number == 0 else "", note) for number, note in enumerate(facts["notes"]))
    yield "where", _STATUS_TEXTS[facts["where"]] if facts["problem"] is None else facts["problem"]
    yield from (("", path) for path in facts["paths"])


def _features_text(facts: Facts) -> str:
    n_features, in_paper, shape = (facts[key] for key in ("n_features", "paper_n_features", "image_shape"))
    paper = f" ({in_paper} in the paper)" if in_paper not in (None, n_features) else ""
    return f"{n_features}{paper}" + (f", pictures of {' × '.join(map(str, shape))} pixels" if shape else "")


def _samples_text(facts: Facts) -> str:
    if facts["is_seeded"]:
        return "a draw: --seed chooses another, --sizes larger or smaller parts"
    return "always the same"


def _class_lines(facts: Facts) -> Iterator[str]:
    names, counts = facts["class_names"], facts["class_counts"]
    if counts is None:
        yield f"{'classes':<{len(_INDENT)}}{len(names)}: {', '.join(names)}"
        return
    width = max(len("classes"), *map(len, names))
    yield ""
    yield f"{'classes':<{width}}" + "".join(f"{part:>12}" for part in counts)
    for index, name in enumerate(names):
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
