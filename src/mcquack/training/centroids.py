"""Where centroids start."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from mcquack.randomness import stream
from mcquack.training.parameters import FloatArray, class_means
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import TrainingData

# Of the feature range. With equal centroids of a class, every step of the sum would move them alike, for ever.
_STEP_ASIDE = 0.01


def initial_centroids(data: TrainingData, settings: TrainingSettings) -> FloatArray:
    """The means of the classes (M, d); for several centroids per class, those of k-means within it (M·k, d).

    A class of no more than k distinct samples starts at these and, for the rest, close to its mean.
    """
    means = class_means(data.X, data.labels, data.n_classes, data.row_weights)
    if settings.n_centroids_per_class == 1:
        return means
    return np.concatenate([_of_class(data, settings, number, mean) for number, mean in enumerate(means)])


def _of_class(data: TrainingData, settings: TrainingSettings, number: int, mean: FloatArray) -> FloatArray:
    n_centroids = settings.n_centroids_per_class
    rng = stream(settings.seed, "centroids", str(number))
    own = (data.labels == number) & (data.row_weights > 0)
    rows, mass = _distinct(data.X[own].astype(np.float64), data.row_weights[own])
    if len(rows) > n_centroids:
        return _k_means(rows, mass, n_centroids, seed=int(rng.integers(2**31)))
    low, high = settings.feature_range
    aside = rng.normal(scale=_STEP_ASIDE * (high - low), size=(n_centroids - len(rows), len(mean)))
    return np.concatenate([rows, mean + aside])


def _distinct(rows: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each row once with the mass of its repeats, in an order that does not depend on theirs."""
    kept, inverse = np.unique(rows, axis=0, return_inverse=True)
    summed: FloatArray = np.bincount(inverse.reshape(-1), weights=mass, minlength=len(kept)).astype(np.float64)
    return kept, summed


def _k_means(rows: FloatArray, mass: FloatArray, n_centroids: int, *, seed: int) -> FloatArray:
    model = KMeans(n_centroids, n_init=1, random_state=seed)
    # Several threads would add up in an order of their own, and the same seed would not give the same bits.
    with threadpool_limits(1):
        found: FloatArray = model.fit(rows, sample_weight=mass / mass.max()).cluster_centers_
    return found
