"""Points in a cube on two sides of a plane, with a gap between them."""

import numpy as np
from numpy.random import RandomState

from mcquack.checks import is_number, require, required_count
from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.synthetic.generated import generated
from mcquack.errors import InvalidInputError


def linearly_separable(
    *, n_features: int, n_samples: int = 300, margin: float = 0.02, test: float = 0.2, seed: int = 0
) -> Dataset:
    """Points of [-1, 1]ⁿ whose coordinates add up to more than ``margin`` × n (class -1) or less than its negative."""
    required_count("n_features", n_features)
    required_count("n_samples", n_samples)
    require(is_number(margin) and 0 <= margin < 1, "margin", "a share of at least 0 and below 1", margin)
    return generated(
        f"linearly_separable_{n_features}",
        lambda random: separable_points(random, n_features=n_features, n_samples=n_samples, margin=margin),
        test=test,
        seed=seed,
    )


def separable_points(random: RandomState, *, n_features: int, n_samples: int = 300, margin: float = 0.02) -> Part:
    """The first points of twice as many, and of more if it takes more, that lie outside the gap."""
    kept = np.empty((0, n_features))
    for _ in range(100):
        points = 2 * random.uniform(size=(2 * n_samples, n_features)) - 1
        kept = np.concatenate([kept, points[np.abs(points.sum(axis=1)) > margin * n_features]])
        if len(kept) >= n_samples:
            X = kept[:n_samples]
            return Part(X, np.where(X.sum(axis=1) > 0, -1, 1))
    raise InvalidInputError(
        f"a margin of {margin} in {n_features} dimensions leaves hardly any points; choose a smaller."
    )
