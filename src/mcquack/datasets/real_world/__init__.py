"""The paper's 20 real-world datasets and a few relatives of theirs.

What is known of them and of their files is written in ``published.toml``. ``drawing`` draws a dataset from a published
one, ``tables`` and ``pictures`` read the files, and ``built_in`` has what needs no files.
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


def entries() -> Iterator[Entry]:
    """All datasets for the registry: the benchmark in the order of the paper's tables, then the relatives."""
    for name in _published()["dataset"]:
        facts = _facts("dataset", name)
        build = _function(facts.pop("build", "real_world.drawing.drawn_from_files"))
        choice = {key: facts.pop(key) for key in _OF_DRAWING if key in facts}
        if "groups" in choice:
            choice["groups"] = tuple(tuple(group) or None for group in choice["groups"])
        yield Entry(description=_description(name, **facts), build=partial(build, **choice))


def source(name: str, **options: Any) -> Source:
    """The source that ``published.toml`` has under this name; more options for its reader may be given."""
    facts = _facts("source", name)
    data_files = [{**file, "magic": file.get("magic", "").encode("latin-1")} for file in facts["files"]]
    return Source(
        title=facts["title"],
        files=tuple(DataFile(**file) for file in data_files),
        read=partial(_function(facts["read"]), **facts.get("options", {}), **options),
        homepage=facts.get("homepage", ""),
        extra=HDF5 if "extra" in facts else None,
    )


def _description(name: str, *, class_counts: Any, sources: list[str] | None = None, **facts: Any) -> Description:
    counts = class_counts if isinstance(class_counts, dict) else dict(zip(PART_NAMES, class_counts, strict=True))
    return Description(
        name=name,
        sizes={part: sum(each) for part, each in counts.items()},
        class_counts=counts,
        sources=tuple(map(source, sources or ())),
        **{"suite": "real-world", **facts, "class_names": tuple(facts["class_names"])},
    )


@cache
def _published() -> Mapping[str, Any]:
    return tomllib.loads(files("mcquack.datasets").joinpath("published.toml").read_text(encoding="utf-8"))


def _facts(kind: str, name: str) -> dict[str, Any]:
    """A table with all that it does not say itself from the one that it is like."""
    own = _published()[kind][name]
    inherited = _facts(kind, own["like"]) if "like" in own else {}
    return {**inherited, **{key: tuple(fact) if key == "notes" else fact for key, fact in own.items() if key != "like"}}


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(f"mcquack.datasets.{module}"), function)
    return found
