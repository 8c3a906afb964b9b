"""The paper's 20 real-world datasets and a few relatives of theirs.

What is known of them and of their files is written in ``published.toml``. ``drawing`` draws a dataset from a published
one or makes what needs no files, and ``tables`` and ``pictures`` read the files.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any

from mcquack.datasets.dataset import PART_NAMES
from mcquack.datasets.files import HDF5, DataFile, Source
from mcquack.datasets.registry import Description, Entry

_OF_DRAWING = ("groups", "drawn_as", "keeps_repeats")
_TUPLES = ("class_names", "notes")


def entries() -> Iterator[Entry]:
    """All datasets for the registry: the benchmark in the order of the paper's tables, then the relatives."""
    for name in _tables()["dataset"]:
        facts = published("dataset", name)
        build = _function(facts.pop("build", "real_world.drawing.drawn_from_files"))
        choice = {key: facts.pop(key) for key in _OF_DRAWING if key in facts}
        if "groups" in choice:
            choice["groups"] = tuple(tuple(group) or None for group in choice["groups"])
        counts = facts.pop("class_counts")
        counts = counts if isinstance(counts, dict) else dict(zip(PART_NAMES, counts, strict=True))
        sizes = {part: sum(each) for part, each in counts.items()}
        sources = tuple(map(source, facts.pop("sources", ())))
        facts = {"suite": "real-world", "sizes": sizes, "class_counts": counts, "sources": sources, **facts}
        yield Entry(description=Description(name=name, **facts), build=partial(build, **choice))


def source(name: str, **options: Any) -> Source:
    """The source that ``published.toml`` has under this name; more options for its reader may be given."""
    facts = published("source", name)
    data_files = [{**file, "magic": file.get("magic", "").encode("latin-1")} for file in facts["files"]]
    return Source(
        title=facts["title"],
        files=tuple(DataFile(**file) for file in data_files),
        read=partial(_function(facts["read"]), **facts.get("options", {}), **options),
        homepage=facts.get("homepage", ""),
        extra=HDF5 if "extra" in facts else None,
    )


def published(kind: str, name: str) -> dict[str, Any]:
    """What ``published.toml`` says of a dataset or a source, with what it inherits from the one that it is like."""
    own = {**_tables()[kind][name]}
    inherited = published(kind, own.pop("like")) if "like" in own else {}
    return {**inherited, **{key: tuple(fact) if key in _TUPLES else fact for key, fact in own.items()}}


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files("mcquack.datasets").joinpath("published.toml").read_text(encoding="utf-8"))


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(f"mcquack.datasets.{module}"), function)
    return found
