"""The paper's SimpleKernel: McQuack's rule with a classical kernel, and nothing trained."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mcquack.arrays import FloatArray
from mcquack.constraints import Constraints
from mcquack.kernels.fidelity import with_winner_first
from mcquack.models.archive import Shape
from mcquack.models.classical.base import (
    WIDTH,
    ClassicalClassifier,
    Labels,
    gamma_of_width,
    softmax,
    squared_distances,
    winners,
)
from mcquack.models.features import Scale
from mcquack.training.state import class_means


@dataclass(eq=False, repr=False)
class CentroidKernelClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassicalClassifier):
    """Radial basis function between samples and the mean of each class; the largest value decides.

    Parameters
    ----------
    width : of the kernel exp(-‖x - c‖² / (2 width²)); the paper calls it ``scale``. It changes no prediction.
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : for the sake of a common interface; nothing here is random.

    Attributes
    ----------
    centroids_ : (M, d), in scaled features. n_parameters_ : their count, M·d.
    classes_, n_features_in_, feature_names_in_, scaler_ : as in :class:`~mcquack.models.mcquack.McQuackClassifier`.
    """

    _constraints: ClassVar[Constraints] = {"width": WIDTH}

    width: float = 10.0
    _: KW_ONLY
    n_components: int | None = None
    scale: Scale = True
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns the (weighted) mean of each class."""
        return self._fit(X, y, sample_weight)

    def transform(self, X: ArrayLike) -> FloatArray:
        """K (N, M): the kernel of every sample with every centroid, each in [0, 1]."""
        kernel: FloatArray = np.exp(self._in_blocks(X, self._log_kernel))
        return kernel

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Kernel values divided by their sum: an ordering with the shape of probabilities, not calibrated ones."""
        return with_winner_first(winners(self.decision_function(X)), softmax(self._in_blocks(X, self._log_kernel)))

    @property
    def n_parameters_(self) -> int:
        return self.centroids_.size

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        self.centroids_: FloatArray = class_means(X, labels, len(self.classes_), weights)

    def _log_kernel(self, X: FloatArray) -> FloatArray:
        # Logarithms keep their order where far samples have kernel values that are too small for a float.
        return -gamma_of_width(self.width) * squared_distances(X, self.centroids_)

    def _scores(self, X: FloatArray) -> FloatArray:
        scores = self._log_kernel(X)
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    @property
    def _n_features_out(self) -> int:
        return len(self.classes_)

    def _shapes(self) -> dict[str, Shape]:
        return {"centroids": (len(self.classes_), self._n_inputs)}
