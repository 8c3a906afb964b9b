"""Estimators with scikit-learn's interface."""

import os
from typing import TYPE_CHECKING, Any

from mcquack.models import catalog
from mcquack.models.catalog import PAPER, PRESETS, QML_SUITE, preset

if TYPE_CHECKING:
    from mcquack.models.archive import Archived
    from mcquack.models.classical import (
        CentroidKernelClassifier,
        MatchedNeuralNetwork,
        MultilayerPerceptron,
        NystroemSVM,
        SupportVectorClassifier,
    )
    from mcquack.models.cross_validated import McQuackClassifierCV
    from mcquack.models.kernel_alignment import KernelAlignmentClassifier
    from mcquack.models.mcquack import McQuackClassifier, QuackClassifier
    from mcquack.models.quantum.boltzmann import QuantumBoltzmannMachine
    from mcquack.models.quantum.circuit_centric import CircuitCentricClassifier
    from mcquack.models.quantum.dressed import DressedQuantumCircuitClassifier
    from mcquack.models.quantum.iqp import IQPVariationalClassifier
    from mcquack.models.quantum.metric import QuantumMetricLearner
    from mcquack.models.quantum.reuploading import DataReuploadingClassifier
    from mcquack.models.quantum.tree_tensor import TreeTensorClassifier
    from mcquack.models.variational import SharedVariationalClassifier, VariationalEnsembleClassifier

__all__ = [
    "PAPER",
    "PRESETS",
    "QML_SUITE",
    "CentroidKernelClassifier",
    "CircuitCentricClassifier",
    "DataReuploadingClassifier",
    "DressedQuantumCircuitClassifier",
    "IQPVariationalClassifier",
    "KernelAlignmentClassifier",
    "MatchedNeuralNetwork",
    "McQuackClassifier",
    "McQuackClassifierCV",
    "MultilayerPerceptron",
    "NystroemSVM",
    "QuackClassifier",
    "QuantumBoltzmannMachine",
    "QuantumMetricLearner",
    "SharedVariationalClassifier",
    "SupportVectorClassifier",
    "TreeTensorClassifier",
    "VariationalEnsembleClassifier",
    "catalog",
    "load",
    "preset",
]


def load(path: str | os.PathLike[str]) -> "Archived":
    """The estimator in a model file, whichever kind it is."""
    from mcquack.models import archive  # not above: a look at the catalogue needs neither scikit-learn nor Numba

    return archive.load(catalog.CLASSES, path)


def __getattr__(name: str) -> Any:
    if name == "McQuackClassifierCV":  # no model of its own: what it chooses is a McQuackClassifier
        from mcquack.models.cross_validated import McQuackClassifierCV

        return McQuackClassifierCV
    if name not in catalog.CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return catalog.CLASSES[name]


def __dir__() -> list[str]:
    return sorted(__all__)
