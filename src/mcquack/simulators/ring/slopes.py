"""From derivatives by the angles of circuits to derivatives by what the angles are made of."""

import numpy as np

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Encoded, FloatArray, Gradient, Wrt


def checked_wrt(wrt: Wrt) -> Wrt:
    """Refuses all but the two sides that are trained."""
    if wrt not in ("embedding", "centroids"):
        raise InvalidInputError(f'wrt must be "embedding" or "centroids", not {wrt!r}: samples are data.')
    return wrt


def gradient_by_angles(
    feature_map: FeatureMap,
    samples: Encoded,
    centroids: Encoded,
    *,
    of_samples: FloatArray,
    of_centroids: FloatArray,
    wrt: Wrt,
) -> Gradient:
    """The gradient from the derivatives by the angles of all samples (N, L, n, 3) and of all centroids (M, L, n, 3)."""
    index = feature_map.feature_index
    if wrt == "embedding":
        by_weights = np.sum(of_samples * samples.features[:, index], axis=0)
        by_weights += np.sum(of_centroids * centroids.features[:, index], axis=0)
        return Gradient(weights=by_weights, bias=of_samples.sum(axis=0) + of_centroids.sum(axis=0))
    by_features = np.zeros(centroids.features.shape)
    for row, slopes in zip(by_features, of_centroids, strict=True):
        np.add.at(row, index, slopes * centroids.weights)
    return Gradient(centroids=by_features)
