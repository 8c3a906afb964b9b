"""Random numbers: one generator per purpose, all from one seed, and samples that are held out by chance."""

import hashlib
import json

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.errors import InvalidInputError


def stream(seed: int, *purpose: str) -> np.random.Generator:
    """A generator for one purpose, such as ``"batches", "3"``; a new one leaves the draws of all others as they were.

    >>> int(stream(0, "starts").integers(100)) == int(stream(0, "starts").integers(100))
    True
    """
    entropy = [seed, *hashlib.sha256(json.dumps(purpose).encode()).digest()]
    # An array of words means the same to the generator as a list of small numbers, and is taken in half the time.
    return np.random.default_rng(np.array(entropy, np.uint32) if 0 <= seed < 2**32 else entropy)


def held_out(y: ArrayLike, *purpose: str, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Return True for about ``fraction`` of the samples of each class, drawn by chance, and False for the others.

    Every class keeps at least one sample to train on.

    >>> int(held_out([0] * 10 + [1] * 10, fraction=0.2, seed=0).sum())
    4
    """
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
