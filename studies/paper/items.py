"""The paper's tables and figures by name, and the numbers in them."""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from mcquack.bench.ranking import CellScores, read_published
from mcquack.checks import require

Section = Literal["model", "hardware", "qml_suite", "real_world", "trainability", "past"]
SECTIONS: Mapping[Section, str] = MappingProxyType(
    {
        "model": "The model",
        "hardware": "Hardware",
        "qml_suite": "QML benchmark suite",
        "real_world": "Real data",
        "trainability": "Trainability",
        "past": "Past the paper",
    }
)
"""The parts of the paper that have tables or figures, in our order, with their titles; then what it does not have."""

_HOME = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table or figure of the paper, or an experiment that its text alone tells of.

    Parameters
    ----------
    id, section : its name here, and the part of the paper that it belongs to.
    place, labels : where it stands in the paper, and the labels in the paper's source that it covers.
    title, says : what it is called here, and what the paper says in a sentence or two.
    rule : when a comparison of the paper's number with ours holds.
    study : the study whose store has the rows, or empty for what is computed when a page is written.
    """

    id: str
    section: Section
    place: str
    labels: tuple[str, ...]
    title: str
    says: str
    rule: str
    study: str = ""

    def __post_init__(self) -> None:
        require(self.section in get_args(Section), "section", f"one of {', '.join(SECTIONS)}", self.section)
        object.__setattr__(self, "labels", tuple(self.labels))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((_HOME / name).read_text(encoding="utf-8"))


ITEMS: Mapping[str, Item] = MappingProxyType(
    {name: Item(id=name, **about) for name, about in _table("items.toml").items()}
)
"""All items by their ids, in the order of the pages."""


@cache
def values() -> Mapping[str, Any]:
    """The numbers of the paper's smaller tables and of its text, as values.toml has them.

    >>> values()["hardware"]["calibration"]["tolerance"]
    45
    """
    return MappingProxyType(_table("values.toml"))


@cache
def real_world_scores() -> tuple[CellScores, ...]:
    """The paper's large table of scores: five models on 20 datasets, six metrics, with numbers of parameters.

    >>> len(real_world_scores())
    100
    """
    return read_published(_HOME.parent / "real_world" / "paper.csv")


@cache
def class_counts() -> Mapping[tuple[str, str], tuple[int, ...]]:
    """The samples of each class by dataset and part, without the zeros of classes that a dataset does not have.

    >>> class_counts()["census", "train"]
    (725, 275)
    """
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    lines = (_HOME / "class_counts.csv").read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(lines):
        counts = [int(row[str(label)]) for label in range(10)]
        found[row["dataset"], row["part"]] = tuple(count for count in counts if count)
    return MappingProxyType(found)
