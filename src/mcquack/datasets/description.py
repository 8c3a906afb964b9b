"""What is known of a dataset before it is loaded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mcquack.datasets.dataset import PART_NAMES, Dataset, PartName
from mcquack.datasets.files import Source
from mcquack.errors import InvalidInputError

_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Description:
    """The label of a dataset: enough to choose, cite, fetch and check it.

    ``sizes`` are the samples of each part and ``class_counts`` those of each class, where they are known beforehand;
    for the paper's datasets they are the counts of its table. ``sources`` are alternatives in order of preference, and
    none for what is generated. ``notes`` say where and why it differs from the paper's.
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
        object.__setattr__(self, "sizes", MappingProxyType(dict(self.sizes)))
        if self.class_counts is not None:
            object.__setattr__(self, "class_counts", MappingProxyType(dict(self.class_counts)))
        self._check_sizes()

    @property
    def n_classes(self) -> int:
        """How many classes there are to tell apart."""
        return len(self.class_names)

    @property
    def is_built_in(self) -> bool:
        """Whether it takes no file at all."""
        return not self.sources

    def check(self, dataset: Dataset, *, sizes: Mapping[PartName, int]) -> None:
        """Refuses a dataset that is not as described."""
        found = {name: len(part.y) for name, part in dataset.parts.items()}
        for what, expected, came in (
            ("features", self.n_features, dataset.n_features),
            ("classes", self.n_classes, dataset.n_classes),
            ("samples in its parts", dict(sizes), found),
        ):
            if expected != came:
                raise InvalidInputError(
                    f"{self.name}: {expected} {what} are described, {came} came; mend its description or its builder."
                )

    def _check_sizes(self) -> None:
        unknown = set(self.sizes) - set(PART_NAMES)
        if "train" not in self.sizes or unknown:
            raise InvalidInputError(f"{self.name}: sizes must name train and may name validation and test only.")
        for part, counts in (self.class_counts or {}).items():
            if len(counts) != self.n_classes or sum(counts) != self.sizes.get(part):
                raise InvalidInputError(f"{self.name}: the class counts of {part} do not add up to its size.")
