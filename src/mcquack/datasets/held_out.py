"""Which samples are kept back to see how well a model does on what it was not trained on."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.errors import InvalidInputError
from mcquack.randomness import stream


def held_out(y: ArrayLike, *, fraction: float, seed: int) -> NDArray[np.bool_]:
    """True for about ``fraction`` of each class, drawn by chance; every class keeps at least one sample to train on."""
    if not 0 <= fraction < 1:
        raise InvalidInputError(f"the fraction to hold out must be at least 0 and below 1, got {fraction}.")
    _, classes = np.unique(np.asarray(y), return_inverse=True)
    random = stream(seed, "held out")
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
