"""The experiment's dataset, several times over: "twin_0" … with its 50 test samples, "twin_0_large" … with 2,000."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets import Dataset, Part, describe, load
from mcquack.datasets.dataset import PartName
from mcquack.datasets.registry import Request, register

N_MANIFOLDS = 5
_SOURCE = "manifold_124"
_LARGE: Mapping[PartName, int] = {"train": 100, "test": 2000}


def manifold_name(seed: int, *, large: bool = False) -> str:
    """What the dataset of this seed is called."""
    return f"twin_{seed}_large" if large else f"twin_{seed}"


def _built(_: Request, *, seed: int, large: bool) -> Dataset:
    """Either size has the same training part, and the samples of the small test part are the first of the large one."""
    drawn = load(_SOURCE, seed=seed, sizes=(_LARGE["train"], _LARGE["test"]))
    if drawn.test is None:
        raise LookupError(f"{_SOURCE} has a test part")
    X, y = drawn.test
    few = _first_of_each(y, describe(_SOURCE).sizes["test"] // 2)
    rows = few if not large else np.concatenate([few, np.setdiff1d(np.arange(len(y)), few)])
    return replace(drawn, test=Part(X[rows], y[rows]))


def _first_of_each(y: NDArray[np.int64], n_samples: int) -> NDArray[np.intp]:
    return np.sort(np.concatenate([np.flatnonzero(y == label)[:n_samples] for label in np.unique(y)]))


def _register(seed: int, *, large: bool) -> None:
    source = describe(_SOURCE)
    description = replace(
        source,
        name=manifold_name(seed, large=large),
        title=f"Manifold {seed} of the hardware twin{', many test samples' if large else ''}",
        suite="own",
        sizes=_LARGE if large else source.sizes,
        class_counts=None,
        is_seeded=False,
        notes=(*source.notes, f"Seed {seed}; the 50 test samples are the first of the 2,000."),
    )
    register(description)(partial(_built, seed=seed, large=large))


for _seed in range(N_MANIFOLDS):
    _register(_seed, large=False)
    _register(_seed, large=True)
