"""Kernel alignment and centroid optimisation, epoch by epoch."""

from mcquack.training.budget import MeteredSampler, epoch_shots, step_shots
from mcquack.training.centroids import initial_centroids
from mcquack.training.loop import Epoch, train
from mcquack.training.parameter_shift import ParameterShiftEngine, total_shots
from mcquack.training.parameters import Parameters, class_means, initial_embedding
from mcquack.training.settings import TrainingSettings
from mcquack.training.spsa import SpsaEngine
from mcquack.training.state import EpochReport, TrainingData, TrainingState
from mcquack.training.stochastic_shift import StochasticShiftEngine

__all__ = [
    "Epoch",
    "EpochReport",
    "MeteredSampler",
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
]
