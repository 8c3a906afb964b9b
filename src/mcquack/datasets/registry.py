"""Datasets by name: what is known of each before it is loaded, the door to all of them, and how to add one."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mcquack.checks import did_you_mean, is_whole_number, require, required_count
from mcquack.datasets import synthetic
from mcquack.datasets.dataset import PART_NAMES, Dataset, FrozenMapping, PartName, checked_image_shape, one_at_a_time
from mcquack.datasets.files import Places, Source, places
from mcquack.errors import InvalidInputError, UnknownDatasetError

# Each has a function `entries`; the order is that of `mcquack datasets list`.
_HOMES = ("mcquack.datasets.qml_suite", "mcquack.datasets.real_world")
_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*(@[0-9]+)?")
_DRAW = re.compile(r"(.+)@([0-9]{1,9})")

Sizes = Sequence[int] | Mapping[PartName, int]


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is known of a dataset before it is loaded: enough to choose, cite, fetch and check it.

    Parameters
    ----------
    name, title, task : What ``load`` calls it, what people call it, and what is to be told apart.
    suite, family : The collection that it belongs to, and the datasets that differ from it in little.
    class_names : What the classes are called, in the order of the labels.
    n_features, paper_n_features : The number of features here, and in the paper where it has the dataset.
    sizes, class_counts : The samples of each part, and of each class in it where these are known beforehand.
    image_shape : (height, width), optional. Where the samples are pictures.
    is_seeded : Whether ``load`` takes a seed and sizes; otherwise the dataset is always the same.
    validation_is_test : Whether both parts are the same samples: then choose settings by cross-validation.
    citation, licence, homepage : Whose it is and under which terms.
    sources : Alternatives in order of preference; none for what is generated.
    notes : Where and why it differs from the paper's dataset.

    Examples
    --------
    >>> from mcquack import datasets
    >>> known = datasets.Description(
    ...     name="rings", title="Rings", task="Two rings", class_names=("0", "1"), n_features=2, sizes={"train": 80}
    ... )
    >>> known.n_classes, known.is_built_in
    (2, True)
    """

    name: str
    title: str
    suite: str = "own"
    family: str = ""
    task: str
    class_names: tuple[str, ...]
    n_features: int
    sizes: Mapping[PartName, int]
    class_counts: Mapping[PartName, tuple[int, ...]] | None = None
    paper_n_features: int | None = None
    image_shape: tuple[int, int] | None = None
    is_seeded: bool = True
    validation_is_test: bool = False
    citation: str = ""
    licence: str = ""
    homepage: str = ""
    sources: tuple[Source, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidInputError(
                f"a dataset's name is lower-case letters, digits and single underscores, got {self.name!r}."
            )
        if "train" not in self.sizes or not set(self.sizes) <= set(PART_NAMES):
            raise InvalidInputError(f"{self.name}: sizes must name train and may name validation and test only.")
        sizes = {part: required_count(f"the {part} size of {self.name}", size) for part, size in self.sizes.items()}
        self._set("sizes", FrozenMapping(sizes))
        self._set("n_features", required_count(f"the n_features of {self.name}", self.n_features))
        if self.class_counts is not None:
            for part, counts in self.class_counts.items():
                if len(counts) != self.n_classes or sum(counts) != sizes.get(part):
                    raise InvalidInputError(f"{self.name}: the class counts of {part} do not add up to its size.")
            self._set("class_counts", FrozenMapping({part: tuple(each) for part, each in self.class_counts.items()}))
        if self.image_shape is not None:
            shape = checked_image_shape(self.image_shape, of=self.name, n_features=self.n_features)
            self._set("image_shape", shape)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        return len(self.class_names)

    @property
    def is_built_in(self) -> bool:
        return not self.sources

    def facts(self) -> dict[str, Any]:
        """All of it in texts, numbers, lists and dictionaries, as JSON takes them."""
        counts = self.class_counts
        plain: dict[str, Any] = {
            "sizes": dict(self.sizes),
            "n_classes": self.n_classes,
            "class_names": list(self.class_names),
            "class_counts": None if counts is None else {part: list(each) for part, each in counts.items()},
            "image_shape": None if self.image_shape is None else list(self.image_shape),
            "notes": list(self.notes),
            "sources": [{"title": source.title, "files": source.file_facts()} for source in self.sources],
        }
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, **plain}

    def check(self, dataset: Dataset, *, sizes: Mapping[PartName, int]) -> None:
        """Refuses a dataset that is not as described, or of other sizes than were asked for."""
        is_usual = dict(sizes) == dict(self.sizes)
        found = {name: len(part.y) for name, part in dataset.parts.items()}
        if not is_usual and found != dict(sizes):
            raise InvalidInputError(
                f"{self.name}: {dict(sizes)} samples were asked for, {found} came; its builder does not heed "
                "request.sizes, so leave sizes out."
            )
        self._check_same(f"{self.n_features} features are", self.n_features, dataset.n_features)
        self._check_same(f"the class names {self.class_names} are", self.class_names, dataset.class_names)
        self._check_same(f"the image shape {self.image_shape} is", self.image_shape, dataset.image_shape)
        self._check_same(f"{dict(sizes)} samples are", dict(sizes), found)
        if is_usual and self.class_counts is not None:
            counts = {part: dataset.class_counts(part) for part in self.class_counts}
            self._check_same(f"the class counts {dict(self.class_counts)} are", dict(self.class_counts), counts)

    def _check_same(self, expectation: str, expected: object, came: object) -> None:
        if expected != came:
            files = "use its original files, or " if self.sources else ""
            raise InvalidInputError(
                f"{self.name}: {expectation} described, {came} came; {files}mend its description or its builder."
            )


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


registered: dict[str, Entry] = {}
"""The datasets that programs have added, by name."""


def load(
    name: str,
    *,
    seed: int = 0,
    sizes: Sizes | None = None,
    data_dir: str | Path | None = None,
    download: bool | None = None,
) -> Dataset:
    """Loads the dataset of this name; ``names()`` lists them, ``describe(name)`` tells about one.

    Parameters
    ----------
    name : The name of a dataset. Where samples are drawn, "mnist10@3" is what "mnist10" is with the seed 3.
    seed : Which samples, where a dataset is a draw from a larger one, or generated.
    sizes : sequence of int or mapping of parts to int, optional. Other numbers of samples (train, validation, test) in
        the same proportions of classes.
    data_dir : A folder with the files of datasets, by default the one that the variable MCQUACK_DATA names. What is not
        there is looked for in the cache and then downloaded.
    download : Whether downloads are allowed, by default unless the variable MCQUACK_OFFLINE forbids them.

    Examples
    --------
    >>> from mcquack import datasets
    >>> datasets.load("iris3", seed=1)
    iris3: 4 features, 3 classes; 105 train, 45 validation, 45 test
    >>> datasets.load("iris3", sizes=(30, 15, 15)).class_counts("train")
    (9, 11, 10)
    """
    found = _entry(name)
    description = found.description
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    if not description.is_seeded and (seed != 0 or sizes is not None):
        generator = description.family.removesuffix("_diff")
        more = f"; mcquack.datasets.synthetic.{generator} makes more of its kind"
        raise InvalidInputError(
            f"{name} is one fixed dataset, without seed or sizes{more if generator in synthetic.__all__ else ''}."
        )
    wanted = description.sizes if sizes is None else _checked_sizes(sizes, description)
    request = Request(description=description, seed=int(seed), sizes=wanted, places=places(data_dir, download=download))
    dataset = found.build(request)
    if not isinstance(dataset, Dataset):
        raise InvalidInputError(
            f"{name}: its builder must return a Dataset, but {type(dataset).__name__} came; from_arrays makes one."
        )
    description.check(dataset, sizes=wanted)
    return replace(dataset, name=name)


def _checked_sizes(sizes: Sizes, description: Description) -> Mapping[PartName, int]:
    parts = tuple(part for part in PART_NAMES if part in description.sizes)
    if not isinstance(sizes, Mapping):
        is_sequence = isinstance(sizes, Sequence | np.ndarray) and not isinstance(sizes, str)
        expected = f"one number for each of {', '.join(parts)}"
        require(is_sequence and len(sizes) == len(parts), "sizes", expected, sizes)
        sizes = dict(zip(parts, sizes, strict=True))
    require(set(sizes) == set(parts), "sizes", f"given for {', '.join(parts)}", dict(sizes))
    return {part: required_count(f"sizes[{part!r}]", sizes[part]) for part in parts}


def register(description: Description) -> Callable[[Builder], Builder]:
    """Decorates the function that makes a dataset, so that ``load`` knows it by name in every program that imports it.

    Parameters
    ----------
    description : What the function makes; what comes is compared with it. A dataset of yours takes the place of an
        earlier one of the same name, but those of mcquack stay what they are.

    Returns
    -------
    callable
        The decorator. The function takes a ``Request`` (``seed``, ``sizes``, ``places``) and returns a ``Dataset``.

    Examples
    --------
    >>> from mcquack import datasets
    >>> known = datasets.Description(
    ...     name="xor", title="Xor", task="Parity", class_names=("0", "1"), n_features=2, sizes={"train": 4}
    ... )
    >>> @datasets.register(known)
    ... def xor(request):
    ...     return datasets.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> datasets.load("xor")
    xor: 2 features, 2 classes; 4 train
    """
    if description.name in _ours():
        raise InvalidInputError(f"{description.name!r} is a dataset of mcquack; choose another name.")
    if _DRAW.fullmatch(description.name):
        raise InvalidInputError(f"{description.name!r} would be a draw of another dataset; choose a name without @.")

    def remember(build: Builder) -> Builder:
        registered[description.name] = Entry(description=description, build=build)
        return build

    return remember


def describe(name: str) -> Description:
    """All that is known of a dataset without loading it.

    >>> from mcquack import datasets
    >>> datasets.describe("mnist10").n_features
    784
    """
    return _entry(name).description


def descriptions(suite: str | None = None, family: str | None = None) -> tuple[Description, ...]:
    """The descriptions of all datasets, or of those of a suite or a family, as ``mcquack datasets list`` orders them.

    Parameters
    ----------
    suite : "qml", "real-world", "extra", or "own" for those that you have registered.
    family : Datasets that differ in little, such as "mnist" or "two_curves".

    Examples
    --------
    >>> from mcquack import datasets
    >>> len(datasets.descriptions("qml")), len(datasets.descriptions("real-world"))
    (133, 20)
    >>> [known.name for known in datasets.descriptions(family="fmnist")]
    ['fmnist', 'fmnist10', 'fmnist5']
    """
    known = [entry.description for entry in _entries().values()]
    suites = dict.fromkeys(description.suite for description in known)
    if suite is not None and suite not in suites:
        raise InvalidInputError(f"no suite is named {suite!r}; there are {', '.join(suites)}.")
    in_suite = [description for description in known if suite in (None, description.suite)]
    chosen = [description for description in in_suite if family in (None, description.family)]
    if not chosen:
        families = list(dict.fromkeys(description.family for description in in_suite if description.family))
        hint = did_you_mean(family, families, otherwise=f"there are {', '.join(families)}.")
        raise InvalidInputError(f"no family{f' in {suite}' if suite else ''} is named {family!r}; {hint}")
    return tuple(chosen)


def names(suite: str | None = None) -> tuple[str, ...]:
    """The names that ``load`` takes: all, or those of a suite as in ``descriptions``.

    >>> from mcquack import datasets
    >>> datasets.names("real-world")[:3]
    ('census', 'covert', 'doh')
    """
    return tuple(description.name for description in descriptions(suite))


def _entry(name: str) -> Entry:
    known = _entries()
    drawn = _DRAW.fullmatch(name) if isinstance(name, str) else None
    try:
        return known[name] if drawn is None else _drawn(known[drawn[1]], seed=int(drawn[2]))
    except (KeyError, TypeError):
        hint = did_you_mean(name, known, otherwise="mcquack datasets list shows all.")
        raise UnknownDatasetError(f"no dataset is named {name!r}; {hint}") from None


def _drawn(entry: Entry, *, seed: int) -> Entry:
    """One draw of a dataset as a dataset of its own, which is always the same."""
    known = entry.description
    if not known.is_seeded:
        raise UnknownDatasetError(f"{known.name} is one fixed dataset, of which there are no draws; leave @{seed} out.")
    return Entry(
        description=replace(known, name=f"{known.name}@{seed}", title=f"{known.title}, draw {seed}", is_seeded=False),
        build=lambda request: entry.build(replace(request, description=known, seed=seed)),
    )


def draw_of(name: str) -> tuple[str, int | None]:
    """The dataset that a name stands for, and which draw of it, if the name tells.

    >>> draw_of("mnist10@3"), draw_of("mnist10")
    (('mnist10', 3), ('mnist10', None))
    """
    drawn = _DRAW.fullmatch(name)
    return (name, None) if drawn is None else (drawn[1], int(drawn[2]))


def _entries() -> Mapping[str, Entry]:
    return {**_ours(), **registered}


@cache
def _ours() -> Mapping[str, Entry]:
    """Upon the first question: whoever brings arrays of their own needs none of it."""
    with one_at_a_time:
        homes = [import_module(home) for home in _HOMES]
    return {entry.description.name: entry for home in homes for entry in home.entries()}
