"""A linear machine on the kernel with a few random landmarks."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.svm import LinearSVC

from mcquack.arrays import FloatArray
from mcquack.constraints import POSITIVE, Constraints, Optional, Whole
from mcquack.models.archive import Shape
from mcquack.models.classical.base import WIDTH, ClassicalClassifier, Labels, gamma_of_width, rbf_kernel
from mcquack.models.features import Scale
from mcquack.models.model_file import ModelFile, require_that


@dataclass(eq=False, repr=False)
class NystroemSVM(ClassicalClassifier):
    """Linear support vector machine, one class against the rest, on the Nyström features of a radial basis function.

    Parameters
    ----------
    width : of the kernel exp(-‖x - z‖² / (2 width²)); the paper calls it ``scale``.
    n_landmarks : how many training samples the kernel is taken with; None takes three for each class.
    C : how much a sample on the wrong side of its margin costs.
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : decides which samples become landmarks.

    Attributes
    ----------
    landmarks_ : (P, d), in scaled features.
    coef_, intercept_ : (M, P) on the kernel with the landmarks and (M,); a single row for two classes.
    n_parameters_ : how many coefficients and intercepts there are.
    classes_, n_features_in_, feature_names_in_, scaler_ : as in :class:`~mcquack.models.mcquack.McQuackClassifier`.
    """

    _constraints: ClassVar[Constraints] = {"width": WIDTH, "n_landmarks": Optional(Whole(1)), "C": POSITIVE}

    width: float = 1.0
    n_landmarks: int | None = None
    _: KW_ONLY
    C: float = 1.0
    n_components: int | None = None
    scale: Scale = True
    random_state: int | np.random.RandomState | None = None

    @property
    def n_parameters_(self) -> int:
        """Coefficients and intercepts of the linear machine; the landmarks are samples, not learned."""
        return self.coef_.size + self.intercept_.size

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        wanted = 3 * len(self.classes_) if self.n_landmarks is None else self.n_landmarks
        features = Nystroem(
            gamma=gamma_of_width(self.width), n_components=min(wanted, len(X)), random_state=self.random_state
        )
        machine = LinearSVC(C=self.C, dual="auto", max_iter=10_000, random_state=self.random_state)
        machine.fit(features.fit_transform(X), labels)
        self.landmarks_: FloatArray = features.components_
        # Features are the kernel times a matrix; as the machine is linear too, one matrix does for both.
        self.coef_: FloatArray = machine.coef_ @ features.normalization_
        self.intercept_: FloatArray = machine.intercept_

    def _scores(self, X: FloatArray) -> FloatArray:
        scores: FloatArray = rbf_kernel(X, self.landmarks_, gamma_of_width(self.width)) @ self.coef_.T + self.intercept_
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def _shapes(self) -> dict[str, Shape]:
        n_machines = 1 if len(self.classes_) == 2 else len(self.classes_)
        return {"landmarks": (None, self._n_inputs), "coef": (n_machines, None), "intercept": (n_machines,)}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        fit = 0 < len(self.landmarks_) == self.coef_.shape[1]
        require_that(fit, "it has no landmarks, or not one for each coefficient.")
