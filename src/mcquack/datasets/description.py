"""What is known of a dataset before it is loaded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcquack.checks import required_count
from mcquack.datasets.dataset import PART_NAMES, Dataset, FrozenMapping, PartName, checked_image_shape
from mcquack.datasets.files import Source
from mcquack.errors import InvalidInputError

_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Description:
    """The label of a dataset: enough to choose, cite, fetch and check it.

    ``sizes`` are the samples of each part and ``class_counts`` those of each class, where they are known beforehand;
    for the paper's datasets they are the counts of its table. ``sources`` are alternatives in order of preference, and
    none for what is generated. Where ``validation_is_test``, both parts are the same samples, and settings are to be
    chosen by cross-validation. ``notes`` say where and why it differs from the paper's.
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
        self._check_sizes()
        self._set("n_features", required_count(f"the n_features of {self.name}", self.n_features))
        if self.image_shape is not None:
            shape = checked_image_shape(self.image_shape, of=self.name, n_features=self.n_features)
            self._set("image_shape", shape)

    @property
    def n_classes(self) -> int:
        """How many classes there are to tell apart."""
        return len(self.class_names)

    @property
    def is_built_in(self) -> bool:
        """Whether it takes no file at all."""
        return not self.sources

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

    def _check_sizes(self) -> None:
        unknown = set(self.sizes) - set(PART_NAMES)
        if "train" not in self.sizes or unknown:
            raise InvalidInputError(f"{self.name}: sizes must name train and may name validation and test only.")
        sizes = {part: required_count(f"the {part} size of {self.name}", size) for part, size in self.sizes.items()}
        self._set("sizes", FrozenMapping(sizes))
        for part, counts in (self.class_counts or {}).items():
            if len(counts) != self.n_classes or sum(counts) != sizes.get(part):
                raise InvalidInputError(f"{self.name}: the class counts of {part} do not add up to its size.")
        if self.class_counts is not None:
            self._set("class_counts", FrozenMapping({part: tuple(each) for part, each in self.class_counts.items()}))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
