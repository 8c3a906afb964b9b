"""The fits that both sides are asked for: seven rival classifiers with the default settings of their originals."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack import datasets

FloatArray = NDArray[np.float64]

INTERVAL = 200
"""Steps whose mean loss is compared with that of as many before; the suite's rule ends a fit when both agree."""


class Size(NamedTuple):
    """Qubits, layers if a setting tells them, and all parameters that are drawn, also those that the loss ignores."""

    n_qubits: int
    n_layers: int | None
    n_parameters: int


@dataclass(frozen=True, kw_only=True)
class RivalProblem:
    """A model, known by its class in ``mcquack.models``, with its settings and what it is fitted on."""

    title: str
    model: str
    dataset: str
    settings: Mapping[str, Any]
    peers: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"peer": {}})
    """Further settings of each peer, by its name."""

    @property
    def size(self) -> Size:
        return SIZES[self.model](self.data()[0].shape[1], self.settings)

    def data(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """The training part: rows, and labels ±1."""
        train = datasets.load(self.dataset).train
        return train.X, train.y

    def __str__(self) -> str:
        return self.title


def _dressed_size(n_features: int, settings: Mapping[str, Any]) -> Size:
    n_layers = settings["n_layers"]
    return Size(n_features, n_layers, n_features * (n_features + 2 + n_layers))


def _boltzmann_size(n_features: int, _: Mapping[str, Any]) -> Size:
    return Size(n_features, None, n_features * (2 * n_features + math.comb(n_features, 2)))


def _reuploading_size(n_features: int, settings: Mapping[str, Any]) -> Size:
    n_qubits, n_layers = math.ceil(n_features / 3), settings["n_layers"]
    n_observed = {"single": 1, "half": max(1, n_qubits // 2), "full": n_qubits}[settings["observable_type"]]
    return Size(n_qubits, n_layers, 6 * n_qubits * (n_layers + 1) + 2 * n_observed)


def _iqp_size(n_features: int, settings: Mapping[str, Any]) -> Size:
    return Size(n_features, settings["n_layers"], 3 * n_features * settings["n_layers"])


def _metric_size(n_features: int, settings: Mapping[str, Any]) -> Size:
    n_qubits, n_layers = n_features + 1, settings["n_layers"]
    return Size(n_qubits, n_layers, n_layers * (2 * n_qubits if n_qubits > 2 else 3))


def _circuit_centric_size(n_features: int, settings: Mapping[str, Any]) -> Size:
    n_qubits, n_layers = settings["n_input_copies"] * math.ceil(math.log2(n_features)), settings["n_layers"]
    return Size(n_qubits, n_layers, 3 * n_qubits * n_layers + 1)


def _tree_size(n_features: int, _: Mapping[str, Any]) -> Size:
    n_qubits = 2 ** math.ceil(math.log2(math.ceil(math.log2(n_features))))
    return Size(n_qubits, None, 2 * n_qubits)


SIZES: Mapping[str, Callable[[int, Mapping[str, Any]], Size]] = {
    "DressedQuantumCircuitClassifier": _dressed_size,
    "QuantumBoltzmannMachine": _boltzmann_size,
    "DataReuploadingClassifier": _reuploading_size,
    "IQPVariationalClassifier": _iqp_size,
    "QuantumMetricLearner": _metric_size,
    "CircuitCentricClassifier": _circuit_centric_size,
    "TreeTensorClassifier": _tree_size,
}


def _boltzmann(n_features: int) -> RivalProblem:
    return RivalProblem(
        title=f"Boltzmann machine, {n_features} features",
        model="QuantumBoltzmannMachine",
        dataset=f"linearly_separable_{n_features}",
        settings={
            "visible_qubits": "single",
            "temperature": 1.0,
            "learning_rate": 0.001,
            "batch_size": 32,
            "max_steps": 10_000,
        },
        peers={"expm": {"by": "expm"}, "eigh": {"by": "eigh"}},
    )


_DATASET = "linearly_separable_10"
PROBLEMS: Mapping[str, RivalProblem] = {
    "dressed": RivalProblem(
        title="dressed circuit",
        model="DressedQuantumCircuitClassifier",
        dataset=_DATASET,
        settings={"n_layers": 3, "learning_rate": 0.001, "batch_size": 32, "max_steps": 100_000},
    ),
    # Dense matrices of 1,024 rows, one for each sample: ten features are out of reach for all.
    "boltzmann-5": _boltzmann(5),
    "boltzmann-7": _boltzmann(7),
    "reuploading": RivalProblem(
        title="data reuploading",
        model="DataReuploadingClassifier",
        dataset=_DATASET,
        settings={
            "n_layers": 4,
            "observable_type": "single",
            "circuit": "published",
            "learning_rate": 0.05,
            "batch_size": 32,
            "max_steps": 10_000,
        },
    ),
    "iqp": RivalProblem(
        title="IQP variational",
        model="IQPVariationalClassifier",
        dataset=_DATASET,
        settings={"n_layers": 10, "repeats": 1, "learning_rate": 0.001, "batch_size": 32, "max_steps": 10_000},
    ),
    "metric": RivalProblem(
        title="metric learner",
        model="QuantumMetricLearner",
        dataset=_DATASET,
        settings={"n_layers": 3, "pairs": "fixed", "learning_rate": 0.01, "batch_size": 32, "max_steps": 50_000},
    ),
    "circuit-centric": RivalProblem(
        title="circuit-centric",
        model="CircuitCentricClassifier",
        dataset=_DATASET,
        settings={"n_input_copies": 2, "n_layers": 4, "learning_rate": 0.001, "batch_size": 32, "max_steps": 10_000},
    ),
    "tree": RivalProblem(
        title="tree tensor",
        model="TreeTensorClassifier",
        dataset=_DATASET,
        settings={"learning_rate": 0.01, "batch_size": 32, "max_steps": 10_000},
    ),
}
