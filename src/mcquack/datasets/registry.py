"""All datasets by name; a new one is a description and a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from mcquack.checks import did_you_mean
from mcquack.datasets.dataset import Dataset, PartName, one_at_a_time
from mcquack.datasets.description import Description
from mcquack.datasets.files import Places
from mcquack.errors import InvalidInputError, UnknownDatasetError

# Each has a function `entries`; the order is that of `mcquack datasets list`.
_HOMES = ("mcquack.datasets.qml_suite", "mcquack.datasets.real_world")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a caller wants of a dataset: which draw, how large the parts, and where files may come from."""

    description: Description
    seed: int
    sizes: Mapping[PartName, int]
    places: Places


Builder = Callable[[Request], Dataset]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A description and the function that makes it true."""

    description: Description
    build: Builder


_own: dict[str, Entry] = {}


def register(description: Description) -> Callable[[Builder], Builder]:
    """Decorates the function that makes the dataset: then ``load`` knows it by name in every program that imports it.

    A dataset of yours takes the place of an earlier one of the same name; those of mcquack stay what they are.
    """
    if description.name in _ours():
        raise InvalidInputError(f"{description.name!r} is a dataset of mcquack; choose another name.")

    def remember(build: Builder) -> Builder:
        _own[description.name] = Entry(description=description, build=build)
        return build

    return remember


def entry(name: str) -> Entry:
    """The registered dataset of this name."""
    known = _entries()
    try:
        return known[name]
    except (KeyError, TypeError):
        hint = did_you_mean(name, known, otherwise="mcquack datasets list shows all.")
        raise UnknownDatasetError(f"no dataset is named {name!r}; {hint}") from None


def describe(name: str) -> Description:
    """All that is known of a dataset without loading it."""
    return entry(name).description


def descriptions(suite: str | None = None) -> tuple[Description, ...]:
    """All datasets, or those of a suite."""
    known = [entry.description for entry in _entries().values()]
    suites = dict.fromkeys(description.suite for description in known)
    if suite is not None and suite not in suites:
        raise InvalidInputError(f"no suite is named {suite!r}; there are {', '.join(suites)}.")
    return tuple(description for description in known if suite in (None, description.suite))


def names(suite: str | None = None) -> tuple[str, ...]:
    """What ``load`` takes: all names, or those of a suite."""
    return tuple(description.name for description in descriptions(suite))


def _entries() -> Mapping[str, Entry]:
    return {**_ours(), **_own}


@cache
def _ours() -> Mapping[str, Entry]:
    """Upon the first question: whoever brings arrays of their own needs none of it."""
    with one_at_a_time:
        homes = [import_module(home) for home in _HOMES]
    return {entry.description.name: entry for home in homes for entry in home.entries()}
