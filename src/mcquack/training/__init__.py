"""Kernel alignment and centroid optimisation, epoch by epoch."""

from mcquack.training.loop import Epoch, train
from mcquack.training.settings import TrainingSettings
from mcquack.training.shifts import ParameterShiftEngine, StochasticShiftEngine, total_shots
from mcquack.training.spsa import SpsaEngine
from mcquack.training.state import (
    EpochReport,
    Parameters,
    TrainingData,
    TrainingState,
    class_means,
    initial_centroids,
    initial_embedding,
)
from mcquack.training.trainer import epoch_shots, step_shots, trainer

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
    "trainer",
]
