"""One door to all datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mcquack.checks import is_whole_number, require, required_count
from mcquack.datasets import synthetic
from mcquack.datasets.dataset import PART_NAMES, Dataset, PartName
from mcquack.datasets.description import Description
from mcquack.datasets.files import places
from mcquack.datasets.registry import Request, entry
from mcquack.errors import InvalidInputError

Sizes = Sequence[int] | Mapping[PartName, int]


def load(
    name: str,
    *,
    seed: int = 0,
    sizes: Sizes | None = None,
    data_dir: str | Path | None = None,
    download: bool | None = None,
) -> Dataset:
    """The dataset of this name; ``names()`` lists them, ``describe(name)`` tells about one.

    ``seed`` chooses the samples where a dataset is a draw from a larger one, or generated. ``sizes`` asks for other
    numbers of samples (train, validation, test) in the same proportions of classes. Files come from ``data_dir`` (else
    from the folder that MCQUACK_DATA names), from the cache, or are downloaded unless ``download`` is False.
    """
    found = entry(name)
    description = found.description
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    if not description.is_seeded and (seed != 0 or sizes is not None):
        raise InvalidInputError(f"{name} is one fixed dataset, without seed or sizes{_more_like(description)}.")
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


def _more_like(description: Description) -> str:
    """Where there is more of a kind of which only one is published."""
    generator = description.family.removesuffix("_diff")
    is_free = generator in synthetic.__all__
    return f"; mcquack.datasets.synthetic.{generator} makes more of its kind" if is_free else ""
