"""The real-world datasets that need no files: Iris3, which scikit-learn brings along, and Manifold, which is generated.

Manifold is the hidden manifold of the hardware experiment, on as many features as two layers of 124 qubits take.
"""

from typing import Any

import numpy as np
from numpy.random import RandomState

from mcquack.datasets.dataset import Dataset, one_at_a_time
from mcquack.datasets.real_world.drawing import Pool, drawn_dataset
from mcquack.datasets.registry import Request
from mcquack.datasets.synthetic import manifold_points

_FLOWER_FEATURES = ("sepal_length", "sepal_width", "petal_length", "petal_width")
# Enough for the paper's counts, whatever the classes: so both datasets are draws from the same points.
_N_POINTS = 6_000
MANIFOLD_DIMENSION = 5  # as in the paper's hardware experiment


def iris(request: Request, **choice: Any) -> Dataset:
    """Three species of a flower, by the sizes of their leaves."""
    with one_at_a_time:
        from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    pool = Pool(X=X, y=np.array(request.description.class_names)[y], feature_names=_FLOWER_FEATURES)
    return drawn_dataset(pool, request, origin="built in", **choice)


def manifold(request: Request, **choice: Any) -> Dataset:
    """Points on a manifold of 5 dimensions, scaled to [-1, 1] over the training part."""
    n_features = request.description.n_features
    n_points = max(_N_POINTS, 3 * sum(request.sizes.values()))
    random = RandomState(request.seed % 2**32)
    X, y = manifold_points(random, n_features=n_features, manifold_dimension=MANIFOLD_DIMENSION, n_samples=n_points)
    pool = Pool(X=X, y=y, feature_names=tuple(f"x{index}" for index in range(n_features)))
    return drawn_dataset(pool, request, origin="generated", **choice).scaled(to=(-1.0, 1.0), clip=True)
