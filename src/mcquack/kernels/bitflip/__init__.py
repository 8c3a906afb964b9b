"""Bit-flip tolerance: outcomes with at most b ones count as zeros, which noise has moved."""

from mcquack.kernels.bitflip.calibration import Calibration, calibrate
from mcquack.kernels.bitflip.engine import TolerantEngine
from mcquack.kernels.bitflip.rules import (
    accuracies_by_tolerance,
    classes_by_mean_weight,
    predicted_classes,
    training_tolerance,
)
from mcquack.kernels.bitflip.tolerance import mean_weights, tolerant_kernel, tolerant_kernels

__all__ = [
    "Calibration",
    "TolerantEngine",
    "accuracies_by_tolerance",
    "calibrate",
    "classes_by_mean_weight",
    "mean_weights",
    "predicted_classes",
    "tolerant_kernel",
    "tolerant_kernels",
    "training_tolerance",
]
