"""Kernel alignment and centroid optimisation, epoch by epoch."""

from mcquack.training.centroids import initial_centroids
from mcquack.training.loop import Epoch, train
from mcquack.training.parameter_shift import ParameterShiftEngine, total_shots
from mcquack.training.parameters import Parameters, class_means, initial_embedding
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import EpochReport, TrainingData, TrainingState

__all__ = [
    "Epoch",
    "EpochReport",
    "ParameterShiftEngine",
    "Parameters",
    "TrainingData",
    "TrainingSettings",
    "TrainingState",
    "class_means",
    "initial_centroids",
    "initial_embedding",
    "total_shots",
    "train",
]
