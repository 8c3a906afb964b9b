"""How to train variational classifiers."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.training.optimizer import Moments, no_moments
from mcquack.training.settings import Optimizer, check_settings, decayed, sample_order


@dataclass(frozen=True, kw_only=True)
class VariationalSettings:
    """One value for each decision of the training loop; checks itself when made.

    Classifiers of their own train weights and biases together, at ``lr_weights`` and ``lr_bias``. With ``shared``
    weights an epoch is ``passes_weights`` passes over the samples that move the weights, then ``passes_bias`` passes
    that move the biases.
    """

    shared: bool = False
    passes_weights: int = 1
    passes_bias: int = 1
    lr_weights: float = 1e-2
    lr_bias: float = 1e-2
    decay_rate: float = 1.0
    reg_param_weights: float = 0.0
    reg_param_bias: float = 0.0
    batch_size: int = 100
    optimizer: Optimizer = "adam"
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(
            self,
            passes=("passes_weights", "passes_bias"),
            rates=("lr_weights", "lr_bias", "decay_rate"),
            penalties=("reg_param_weights", "reg_param_bias"),
        )
        if self.passes_weights + self.passes_bias == 0:
            raise InvalidInputError("the passes over weights and biases are both 0, which trains nothing; set one.")

    def orders(self, n_samples: int, epoch: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The order of samples in each pass (passes, N) over weights and biases; own classifiers have one pass."""
        passes = {"weights": self.passes_weights if self.shared else 1, "bias": self.passes_bias if self.shared else 0}
        of_weights, of_bias = (
            np.array(
                [sample_order(n_samples, self, purpose=f"{part} {epoch} {number}") for number in range(count)], np.int64
            ).reshape(count, n_samples)
            for part, count in passes.items()
        )
        return of_weights, of_bias

    def learning_rates(self, epoch: int) -> tuple[float, float]:
        factor = decayed(self.decay_rate, epoch)
        return self.lr_weights * factor, self.lr_bias * factor


@dataclass(frozen=True, eq=False)
class VariationalParameters:
    """Biases of one circuit per class (M, …), and their weights: as many, or one set (1, …) for all.

    Behind the first axis are the shapes that the circuit says, (L, n, 3) for the paper's.
    """

    weights: FloatArray
    bias: FloatArray

    @property
    def n_classes(self) -> int:
        return len(self.bias)

    def of_class(self, number: int) -> tuple[FloatArray, FloatArray]:
        return self.weights[number % len(self.weights)], self.bias[number]

    def with_rows(self, other: Self, chosen: NDArray[np.bool_]) -> Self:
        def picked(new: FloatArray, old: FloatArray) -> FloatArray:
            return np.where(chosen.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

        return replace(self, weights=picked(other.weights, self.weights), bias=picked(other.bias, self.bias))


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
        return cls(
            epoch=0,
            parameters=parameters,
            weights_moments=no_moments(parameters.weights),
            bias_moments=no_moments(parameters.bias),
            weights_steps=np.zeros(len(parameters.weights), dtype=np.int64),
            bias_steps=np.zeros(len(parameters.bias), dtype=np.int64),
            active=np.ones(parameters.n_classes, dtype=bool),
        )
