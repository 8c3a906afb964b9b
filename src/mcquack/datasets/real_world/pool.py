"""All samples of a source, and how a dataset is drawn from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.dataset import Part, PartName
from mcquack.errors import DataFileError
from mcquack.randomness import stream

Labels = tuple[Any, ...]
Groups = tuple[Labels | None, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Samples, which may be pictures with rows and columns, and the labels of their source."""

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]


def classes_of(y: NDArray[Any], groups: Groups) -> NDArray[np.int64]:
    """The index of the group that each label belongs to, -1 for none; a group of None takes all other labels."""
    classes = np.full(len(y), next((index for index, group in enumerate(groups) if group is None), -1))
    for index, group in enumerate(groups):
        if group is not None:
            classes[np.isin(y, group)] = index
    return classes


def apportioned(n_samples: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Whole numbers in the proportion of the weights that add up to ``n_samples``; largest remainders go up."""
    shares = n_samples * np.asarray(weights) / np.sum(weights)
    counts = np.floor(shares).astype(int)
    short = n_samples - counts.sum()
    counts[np.argsort(counts - shares, kind="stable")[:short]] += 1
    return tuple(counts.tolist())


def drawn(
    pool: Pool, groups: Groups, *, counts: Mapping[PartName, Sequence[int]], name: str, seed: int
) -> dict[PartName, Part]:
    """So many samples of each class for each part, no sample twice; labels become the indices of their groups."""
    classes = classes_of(pool.y, groups)
    chosen: dict[PartName, list[NDArray[np.intp]]] = {part: [] for part in counts}
    for index in range(len(groups)):
        members = stream(seed, "datasets", name, f"class {index}").permutation(np.flatnonzero(classes == index))
        ends = np.cumsum([part_counts[index] for part_counts in counts.values()])
        if ends[-1] > len(members):
            raise DataFileError(
                f"{name}: {ends[-1]:,} samples of class {index} are asked for, but the source has {len(members):,}; "
                "ask for smaller sizes, or provide a larger source."
            )
        for part, rows in zip(counts, np.split(members[: ends[-1]], ends[:-1]), strict=True):
            chosen[part].append(rows)
    return {
        part: _part(pool, classes, np.concatenate(rows), name=name, part=part, seed=seed)
        for part, rows in chosen.items()
    }


def _part(
    pool: Pool, classes: NDArray[np.int64], rows: NDArray[np.intp], *, name: str, part: PartName, seed: int
) -> Part:
    order = stream(seed, "datasets", name, part).permutation(rows)
    return Part(pool.X[order].reshape(len(order), -1), classes[order])
