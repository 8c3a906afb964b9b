"""Points told apart by the parity of the number of hyperplanes they lie above."""

import numpy as np
from numpy.random import RandomState

from mcquack.checks import required_count
from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.synthetic.generated import collected, generated, halves


def hyperplanes(
    *,
    n_hyperplanes: int,
    n_features: int = 10,
    dimension: int = 3,
    n_samples: int = 300,
    test: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """Points of a space of low ``dimension``, seen through a random linear map; above an odd number of planes is +1.

    Each feature is standardised over the training part.
    """
    required_count("n_hyperplanes", n_hyperplanes)
    required_count("n_features", n_features)
    required_count("dimension", dimension)
    required_count("n_samples", n_samples)
    return generated(
        f"hyperplanes_{n_hyperplanes}",
        lambda random: hyperplane_points(
            random, n_hyperplanes=n_hyperplanes, n_features=n_features, dimension=dimension, n_samples=n_samples
        ),
        test=test,
        seed=seed,
        standardise=True,
    )


def hyperplane_points(
    random: RandomState, *, n_hyperplanes: int, n_features: int = 10, dimension: int = 3, n_samples: int = 300
) -> Part:
    """Parity of #{w · x + b > 0} over the hyperplanes (w, b), the classes being of equal size; X is not scaled."""
    w = random.uniform(size=(n_hyperplanes, dimension))
    b = random.uniform(size=n_hyperplanes)

    def points() -> Part:
        X = random.normal(size=(4 * n_samples, dimension))
        return Part(X, np.where(np.sum(X @ w.T + b > 0, axis=1) % 2, 1, -1))

    chosen = collected(points, counts=halves(n_samples))
    projection = random.uniform(size=(dimension, n_features))
    return Part(chosen.X @ projection, chosen.y)
