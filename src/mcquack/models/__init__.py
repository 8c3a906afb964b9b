"""Estimators with scikit-learn's interface."""

import os
from typing import TYPE_CHECKING, Any

from mcquack.lazy import lazy_exports
from mcquack.models import catalog
from mcquack.models.catalog import preset

if TYPE_CHECKING:
    from mcquack.models.archive import Archived
    from mcquack.models.catalog import PAPER, PRESETS, QML_SUITE
    from mcquack.models.classical import (
        CentroidKernelClassifier,
        MatchedNeuralNetwork,
        MultilayerPerceptron,
        NystroemSVM,
        SupportVectorClassifier,
    )
    from mcquack.models.cross_validated import McQuackClassifierCV
    from mcquack.models.importance import feature_importances
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
    "feature_importances",
    "load",
    "preset",
]


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> "Archived":
    """The estimator in a model file, whichever kind it is.

    Parameters
    ----------
    path : The file, as ``save`` of any model and ``mcquack fit`` write it.
    max_bytes : How large a file is read; by default what the variable MCQUACK_MODEL_BYTES says, or 1 GiB. What is
        larger is refused before it fills the memory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import SupportVectorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     SupportVectorClassifier().fit(X, y).save(f"{folder}/svc.mcq")
    ...     load(f"{folder}/svc.mcq", max_bytes=1_000_000).predict(X[:2]).tolist()
    [0, 0]
    """
    from mcquack.models import archive  # not above: a look at the catalogue needs neither scikit-learn nor Numba

    return archive.load(catalog.CLASSES, path, max_bytes=max_bytes)


# What the catalogue does not list: what McQuackClassifierCV chooses is a McQuackClassifier.
_OTHERS = {
    "mcquack.models.catalog": ("PAPER", "PRESETS", "QML_SUITE"),
    "mcquack.models.cross_validated": ("McQuackClassifierCV",),
    "mcquack.models.importance": ("feature_importances",),
}
_exported, __dir__ = lazy_exports(__name__, __all__, _OTHERS)


def __getattr__(name: str) -> Any:
    is_model = name in __all__ and not any(name in some for some in _OTHERS.values())
    return catalog.CLASSES[name] if is_model else _exported(name)
