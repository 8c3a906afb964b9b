"""Derivatives as a device would take them: from shifted circuits alone, through the same seam."""

import numpy as np
from numpy.typing import ArrayLike

from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators.engine import E, FloatArray, Gradient, Wrt, checked_cotangent
from mcquack.simulators.ring.slopes import checked_wrt, gradient_by_angles
from mcquack.training.from_values import FromValues, Side
from mcquack.training.shifts import Shift, angle_slopes, live_angles


class ParameterShiftEngine(FromValues[E]):
    """An engine whose pullback is exact, if values are: two shifts of each angle of every sample and centroid."""

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘K: by the embedding's weights and biases, or by the centroids' features."""
        checked_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        of_centroids = self._slopes(centroids, samples, weighting, side="centroids")
        of_samples = self._slopes(samples, centroids, weighting, side="samples") if wrt == "embedding" else of_centroids
        return gradient_by_angles(
            self.feature_map, samples, centroids, of_samples=of_samples, of_centroids=of_centroids, wrt=wrt
        )

    def kernels_per_pullback(self, wrt: Wrt) -> int:
        """Two for each angle, and as many again where samples are shifted too."""
        return (4 if wrt == "embedding" else 2) * len(live_angles(self.feature_map))

    def _slopes(self, moved: E, others: E, weighting: FloatArray, *, side: Side) -> FloatArray:
        everywhere = np.arange(len(moved))
        shifts = [Shift(angle, everywhere) for angle in live_angles(self.feature_map)]
        return angle_slopes(self.engine, moved, others, weighting, shifts, side=side)


def total_shots(
    feature_map: FeatureMap,
    *,
    n_classes: int,
    n_train: int,
    n_shots: int,
    n_epochs: int = 1,
    epochs_ka: int = 1,
    epochs_co: int = 1,
) -> int:
    """Shots that training on a device takes: 2 n_epochs n_train M n_shots (2 n_KAO D + 3 n_CO d) (paper, eq. 10)."""
    per_kernel_entry = 2 * epochs_ka * feature_map.n_embedding_parameters + 3 * epochs_co * feature_map.n_features
    return 2 * n_epochs * n_train * n_classes * n_shots * per_kernel_entry
