"""Points on a low-dimensional manifold, labelled by a random network that sees the manifold's own coordinates."""

import numpy as np
from numpy.random import RandomState

from mcquack.checks import required_count
from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.synthetic.generated import generated


def hidden_manifold(
    *, n_features: int, manifold_dimension: int = 6, n_samples: int = 300, test: float = 0.2, seed: int = 0
) -> Dataset:
    """X = tanh(C F / √D - b) for coordinates C on the manifold; half of the samples are of either class."""
    required_count("n_features", n_features)
    required_count("manifold_dimension", manifold_dimension)
    required_count("n_samples", n_samples)
    return generated(
        f"hidden_manifold_{n_features}",
        lambda random: manifold_points(
            random, n_features=n_features, manifold_dimension=manifold_dimension, n_samples=n_samples
        ),
        test=test,
        seed=seed,
    )


def manifold_points(random: RandomState, *, n_features: int, manifold_dimension: int, n_samples: int = 300) -> Part:
    """y = sign of v · tanh(W c) / √D, relative to its median, for the coordinates c of each sample."""
    D = manifold_dimension
    # The order of these draws is that of the published data.
    F = random.normal(size=(D, n_features))
    C = random.normal(size=(n_samples, D))
    b = 2 * random.uniform(size=n_features) - 1
    W = random.normal(size=(D, D))
    v = random.normal(size=D)
    targets = np.tanh(C @ W.T) @ v / np.sqrt(D)
    return Part(np.tanh(C @ F / np.sqrt(D) - b), np.where(targets > np.median(targets), 1, -1))
