"""The values that the training loop consumes and produces."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.errors import InvalidInputError
from mcquack.training.optimizer import Moments, no_moments
from mcquack.training.parameters import FloatArray, Parameters


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Samples (N, d) with class numbers 0 … M-1 and how much each of them counts."""

    X: FloatArray
    labels: NDArray[np.int64]
    row_weights: FloatArray
    n_classes: int

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.labels) == len(self.row_weights):
            raise InvalidInputError(
                f"{len(self.X)} samples, {len(self.labels)} labels and {len(self.row_weights)} weights do not match."
            )
        if len(self.X) == 0:
            raise InvalidInputError("training needs at least one sample.")
        if self.labels.min() < 0 or self.labels.max() >= self.n_classes:
            raise InvalidInputError(f"labels must be class numbers from 0 to {self.n_classes - 1}.")


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Everything that decides how training goes on: save it, and the resumed run is the same to the last bit."""

    epoch: int
    parameters: Parameters
    weights_moments: Moments
    bias_moments: Moments
    centroids_moments: Moments
    steps: NDArray[np.int64]  # taken by KAO and by CO

    @classmethod
    def start(cls, parameters: Parameters) -> "TrainingState":
        """Before the first epoch."""
        return cls(
            epoch=0,
            parameters=parameters,
            weights_moments=no_moments(parameters.weights),
            bias_moments=no_moments(parameters.bias),
            centroids_moments=no_moments(parameters.centroids),
            steps=np.zeros(2, dtype=np.int64),
        )

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, for a checkpoint."""
        tensors: dict[str, NDArray[Any]] = {"steps": self.steps, "epoch": np.array([self.epoch])}
        for name in ("weights", "bias", "centroids"):
            moments: Moments = getattr(self, f"{name}_moments")
            tensors[name] = getattr(self.parameters, name)
            tensors[f"{name}_mean"], tensors[f"{name}_square"] = moments
        return tensors

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]]) -> "TrainingState":
        """The inverse of :meth:`to_tensors`."""
        moments = {
            f"{name}_moments": Moments(tensors[f"{name}_mean"], tensors[f"{name}_square"])
            for name in ("weights", "bias", "centroids")
        }
        return cls(
            epoch=int(tensors["epoch"][0]),
            parameters=Parameters(*(tensors[name] for name in ("weights", "bias", "centroids"))),
            steps=np.array(tensors["steps"], dtype=np.int64),
            **moments,
        )


def finite_row(row: Mapping[str, float | int | None]) -> dict[str, float | int | None]:
    """The numbers of a history's row, with None for what is not finite."""
    return {name: value if value is None or math.isfinite(value) else None for name, value in row.items()}


@dataclass(frozen=True, kw_only=True)
class EpochReport:
    """One row of a training history; losses of KAO and CO are means over the epoch's steps, the rest is at its end."""

    epoch: int
    loss_kao: float | None
    loss_co: float | None
    alignment: float
    accuracy: float
    validation_alignment: float | None
    validation_accuracy: float | None
    grad_norm_weights: float | None
    grad_norm_bias: float | None
    grad_norm_centroids: float | None
    seconds: float

    @property
    def watched_loss(self) -> float:
        """1 - A on the validation part where there is one, else on the training part."""
        return 1 - (self.alignment if self.validation_alignment is None else self.validation_alignment)

    def as_row(self) -> dict[str, float | int | None]:
        """Plain numbers by name, with the loss that patience watches; None for what is not finite."""
        return finite_row({**asdict(self), "loss": self.watched_loss})


@dataclass(frozen=True, eq=False)
class EpochSums:
    """What an epoch leaves behind, whichever engine ran it."""

    state: TrainingState
    loss_kao: float | None
    loss_co: float | None
    grad_norms: tuple[float | None, float | None, float | None]
    kernel: FloatArray
