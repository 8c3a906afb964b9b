"""Kernel alignment and centroid optimisation, epoch by epoch."""

from typing import TYPE_CHECKING

from mcquack.lazy import lazy_exports
from mcquack.training.loop import Epoch, train
from mcquack.training.settings import TrainingSettings
from mcquack.training.shot_cost import epoch_shots, step_shots, training_engine
from mcquack.training.state import (
    EpochReport,
    Parameters,
    TrainingData,
    TrainingState,
    class_means,
    initial_centroids,
    initial_embedding,
)

if TYPE_CHECKING:
    from mcquack.training.shifts import ParameterShiftEngine, StochasticShiftEngine, total_shots
    from mcquack.training.spsa import SpsaEngine

__all__ = [
    "Epoch",
    "EpochReport",
    "ParameterShiftEngine",
    "Parameters",
    "SpsaEngine",
    "StochasticShiftEngine",
    "TrainingData",
    "TrainingSettings",
    "TrainingState",
    "class_means",
    "epoch_shots",
    "initial_centroids",
    "initial_embedding",
    "step_shots",
    "total_shots",
    "train",
    "training_engine",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    __all__,
    {
        "mcquack.training.shifts": ("ParameterShiftEngine", "StochasticShiftEngine", "total_shots"),
        "mcquack.training.spsa": ("SpsaEngine",),
    },
)
