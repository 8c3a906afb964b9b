"""The N × M matrix of fidelities, how well it fits the labels, how it is measured, and kernels as objects."""

from typing import TYPE_CHECKING

from mcquack.kernels.fidelity import ClassScore, centroid_kernel, class_scores
from mcquack.kernels.losses import (
    Alignment,
    CrossEntropy,
    LogCrossEntropy,
    Loss,
    alignment_gradient,
    ideal_kernel,
    loss_of,
    target_alignment,
)
from mcquack.lazy import lazy_exports
from mcquack.simulators.shots import SampledEngine, Shots, TolerantEngine

if TYPE_CHECKING:
    from mcquack.kernels.bitflip import (
        Calibration,
        accuracies_by_tolerance,
        calibrate,
        classes_by_mean_hamming,
        mean_hamming,
        predicted_classes,
        tolerant_kernel,
        tolerant_kernels,
        training_tolerance,
    )
    from mcquack.kernels.projected import ProjectedKernel
    from mcquack.kernels.quantum import QuantumKernel

__all__ = [
    "Alignment",
    "Calibration",
    "ClassScore",
    "CrossEntropy",
    "LogCrossEntropy",
    "Loss",
    "ProjectedKernel",
    "QuantumKernel",
    "SampledEngine",
    "Shots",
    "TolerantEngine",
    "accuracies_by_tolerance",
    "alignment_gradient",
    "calibrate",
    "centroid_kernel",
    "class_scores",
    "classes_by_mean_hamming",
    "ideal_kernel",
    "loss_of",
    "mean_hamming",
    "predicted_classes",
    "target_alignment",
    "tolerant_kernel",
    "tolerant_kernels",
    "training_tolerance",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    __all__,
    {
        "mcquack.kernels.bitflip": (
            "Calibration",
            "accuracies_by_tolerance",
            "calibrate",
            "classes_by_mean_hamming",
            "mean_hamming",
            "predicted_classes",
            "tolerant_kernel",
            "tolerant_kernels",
            "training_tolerance",
        ),
        "mcquack.kernels.projected": ("ProjectedKernel",),
        "mcquack.kernels.quantum": ("QuantumKernel",),
    },
)
