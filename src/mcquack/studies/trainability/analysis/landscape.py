"""The loss on a plane through a point of the parameters' space, such as the one that training found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import require, require_positive, required_count
from mcquack.kernels.alignment import target_alignment
from mcquack.kernels.fidelity import centroid_kernel
from mcquack.kernels.pooling import class_scores
from mcquack.simulators.engine import Engine
from mcquack.studies.trainability.analysis.directions import Directions
from mcquack.studies.trainability.gradients import embedding_penalty
from mcquack.training.parameters import Parameters
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import TrainingData

FloatArray = NDArray[np.float64]
Loss = Callable[[Parameters], float]


@dataclass(frozen=True, kw_only=True, eq=False)
class LossSlice:
    """``losses[j, i]`` at ``first[i]`` along the first and ``second[j]`` along the second direction."""

    first: FloatArray
    second: FloatArray
    losses: FloatArray

    @property
    def centre(self) -> float:
        """The loss at the point itself."""
        return float(self.losses[len(self.second) // 2, len(self.first) // 2])

    @property
    def minimum(self) -> tuple[float, float, float]:
        """Where on the grid the loss is lowest along both directions, and the loss there."""
        row, column = np.unravel_index(self.losses.argmin(), self.losses.shape)
        return float(self.first[column]), float(self.second[row]), float(self.losses[row, column])

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {name: getattr(self, name).tolist() for name in ("first", "second", "losses")}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The slice that ``to_json`` wrote."""
        return cls(**{name: np.asarray(fields[name], np.float64) for name in ("first", "second", "losses")})


def alignment_loss(engine: Engine[Any], data: TrainingData, settings: TrainingSettings | None = None) -> Loss:
    """1 - A of the data with the penalties of KAO, as a function of the parameters."""
    chosen = TrainingSettings() if settings is None else settings

    def loss(parameters: Parameters) -> float:
        K = centroid_kernel(engine, data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)
        scores = class_scores(K, data.n_classes, class_score=chosen.class_score)
        alignment = target_alignment(scores, data.labels, row_weights=data.row_weights)
        return 1 - alignment + embedding_penalty(parameters, chosen)

    return loss


def loss_slice(
    loss: Loss, parameters: Parameters, directions: Directions, *, reach: float = 1.0, n_points: int = 25
) -> LossSlice:
    """The loss on a square grid around the parameters, ``reach`` times each direction to each side.

    ``loss`` is that of any model: ``alignment_loss(engine, data)`` for McQuack on any engine.
    """
    require_positive("reach", reach)
    odd = required_count("n_points", n_points) % 2 == 1 and n_points >= 3
    require(odd, "n_points", "an odd number of at least 3, so that the centre is one of them", n_points)
    # Not linspace, which may miss 0 by a rounding error.
    steps = reach * (np.arange(n_points) - n_points // 2) / (n_points // 2)
    losses = np.array([[loss(directions.moved(parameters, a, b)) for a in steps] for b in steps])
    return LossSlice(first=steps, second=steps.copy(), losses=losses)
