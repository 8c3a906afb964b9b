"""Which samples are kept back to see how well a model does on what it was not trained on."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.checks import is_number, is_whole_number, require
from mcquack.datasets.dataset import Dataset, Part, PartName
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream


def held_out(y: ArrayLike, *purpose: str, fraction: float, seed: int) -> NDArray[np.bool_]:
    """True for about ``fraction`` of each class, drawn by chance; every class keeps at least one sample to train on."""
    if not 0 <= fraction < 1:
        raise InvalidInputError(f"the fraction to hold out must be at least 0 and below 1, got {fraction}.")
    _, classes = np.unique(np.asarray(y), return_inverse=True)
    random = stream(seed, "held out", *purpose)
    mask = np.zeros(len(classes), dtype=bool)
    # Rounding the running total, not each class, keeps the share right when classes are many and small.
    total, drawn = 0.0, 0
    for label in range(classes.max(initial=-1) + 1):
        members = random.permutation(np.flatnonzero(classes == label))
        total += fraction * len(members)
        n_held = min(max(round(total) - drawn, 0), len(members) - 1)
        mask[members[:n_held]] = True
        drawn += n_held
    return mask


def part_masks(
    y: NDArray[np.generic], *, validation: float, test: float, seed: int
) -> Mapping[PartName, NDArray[np.bool_]]:
    """Which samples belong to each part, the test part being drawn first; both shares are of all samples."""
    for name, share in (("validation", validation), ("test", test)):
        require(is_number(share) and 0 <= share < 1, name, "a share of at least 0 and below 1", share)
    require(validation + test < 1, "validation + test", "below 1, to leave something to train on", validation + test)
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    tested = held_out(y, "test", fraction=test, seed=seed)
    validated = np.zeros_like(tested)
    validated[~tested] = held_out(y[~tested], fraction=validation / (1 - test), seed=seed)
    return {"train": ~(tested | validated), "validation": validated, "test": tested}


def with_drawn_validation(dataset: Dataset, *, fraction: float, seed: int) -> Dataset:
    """The dataset with a share of its training part to validate on, in place of any validation part it had."""
    X, y = dataset.train
    mask = held_out(y, fraction=fraction, seed=seed)
    validation = Part(X[mask], y[mask]) if mask.any() else None
    return replace(dataset, train=Part(X[~mask], y[~mask]), validation=validation)
