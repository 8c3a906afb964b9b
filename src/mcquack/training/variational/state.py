"""The values that the training of variational classifiers consumes and produces."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mcquack.training.optimizer import Moments, no_moments

FloatArray = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class VariationalParameters:
    """Biases (M, L, n, 3) of one circuit per class, and their weights: as many, or one (1, L, n, 3) for all."""

    weights: FloatArray
    bias: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classifiers there are."""
        return len(self.bias)

    def of_class(self, number: int) -> tuple[FloatArray, FloatArray]:
        """Weights and biases (L, n, 3) of one classifier."""
        return self.weights[number % len(self.weights)], self.bias[number]

    def with_rows(self, other: Self, chosen: NDArray[np.bool_]) -> Self:
        """These parameters, but those of the other for the chosen classifiers."""
        pick = chosen[:, None, None, None]
        return replace(
            self, weights=np.where(pick, other.weights, self.weights), bias=np.where(pick, other.bias, self.bias)
        )


@dataclass(frozen=True, eq=False)
class VariationalState:
    """Everything that decides how training goes on; ``active`` are the classifiers that are still trained."""

    epoch: int
    parameters: VariationalParameters
    weights_moments: Moments
    bias_moments: Moments
    weights_steps: NDArray[np.int64]  # taken, by weights array
    bias_steps: NDArray[np.int64]
    active: NDArray[np.bool_]

    @classmethod
    def start(cls, parameters: VariationalParameters) -> Self:
        """Before the first epoch."""
        return cls(
            epoch=0,
            parameters=parameters,
            weights_moments=no_moments(parameters.weights),
            bias_moments=no_moments(parameters.bias),
            weights_steps=np.zeros(len(parameters.weights), dtype=np.int64),
            bias_steps=np.zeros(len(parameters.bias), dtype=np.int64),
            active=np.ones(parameters.n_classes, dtype=bool),
        )
