"""What is probed: a model before and in training, whichever loss it has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.studies.trainability.observation import GradientStatistics, Group
from mcquack.studies.trainability.settings import ProbeSettings
from mcquack.training.parameters import FloatArray, initial_embedding
from mcquack.training.state import TrainingData

# Gradients are measured in double, and models are trained in single precision, as they are by default.
TRAINING_TYPE = "float32"
Row = Mapping[str, float | int | None]
Statistics = Mapping[Group, GradientStatistics]


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """The samples as the circuit takes them, the circuit, and what is to be done."""

    settings: ProbeSettings
    feature_map: FeatureMap
    data: TrainingData
    seed: int
    n_threads: int | None = None

    def part(self, rows: NDArray[np.int64]) -> TrainingData:
        """Some of the samples."""
        data = self.data
        return TrainingData(data.X[rows], data.labels[rows], data.row_weights[rows], data.n_classes)

    def start(self, first_batch: TrainingData, *, seed: int) -> tuple[FloatArray, FloatArray]:
        """Weights and biases before the first step."""
        return initial_embedding(
            self.feature_map,
            first_batch.X,
            row_weights=first_batch.row_weights,
            init_small=bool(self.settings.init_small),
            init_strategy=self.settings.init_strategy,
            seed=seed,
            dtype=TRAINING_TYPE,
        )


class Subject(Protocol):
    """A model that can be looked at before it is trained, then trained epoch by epoch, then used."""

    @property
    def n_parameters(self) -> int:
        """Of all groups together."""

    def loss_gradients(self) -> tuple[float, Statistics]:
        """The loss on the first batch, and its derivatives."""

    def entry_gradients(self) -> Statistics:
        """The derivatives of single measured numbers."""

    def embedding(self) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
        """An engine, the first batch, and the weights and biases that it passes through."""

    def device_facts(self) -> Mapping[str, float]:
        """How many shots a device would take at the start; empty where a model does not tell."""

    def epochs(self) -> Iterator[Row]:
        """Trains without end; the parameters are those after the last epoch that was taken."""

    def landscapes(self) -> Mapping[str, Any]:
        """Slices of the loss around the present parameters; empty unless they were asked for."""

    def class_scores(self, X: FloatArray) -> FloatArray:
        """(N, M), larger for likelier classes."""
