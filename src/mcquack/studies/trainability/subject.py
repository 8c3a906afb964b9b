"""What is probed: a model before and in training, whichever loss it has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.design import ProbeSettings
from mcquack.studies.trainability.observation import Gradients, GradientStatistics, Group, grouped_statistics
from mcquack.training.state import TrainingData, initial_embedding
from mcquack.training.variational import (
    ClassLogits,
    VariationalParameters,
    VariationalSettings,
    VariationalState,
    VariationalTraining,
)
from mcquack.training.variational.training import MEASURED_QUBITS, cross_entropies

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


# Ensembles of variational classifiers under observation.


class VariationalSubject:
    """⟨Z₀⟩ and ⟨Z₁⟩ behind one circuit per class, the logits of a cross entropy; a device measures them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        asked = problem.settings
        self.settings = VariationalSettings(
            shared=asked.model == "shared_vc",
            lr_weights=asked.lr,
            lr_bias=asked.lr,
            decay_rate=asked.decay_rate,
            reg_param_weights=asked.penalty,
            reg_param_bias=asked.penalty,
            batch_size=asked.batch_size,
            seed=problem.seed,
        )
        orders = self.settings.orders(len(problem.data.X), 0)
        self.first_batch = problem.part(np.concatenate(orders)[0][: asked.batch_size])
        self.parameters = self._start()

    def _start(self) -> VariationalParameters:
        # As the estimators draw them, so that what is observed is what they do.
        seeds = (
            int(stream(self.problem.seed, "classifier", str(number)).integers(2**31))
            for number in range(self.problem.data.n_classes)
        )
        drawn = [self.problem.start(self.first_batch, seed=seed) for seed in seeds]
        weights, bias = (np.stack(arrays) for arrays in zip(*drawn, strict=True))
        return VariationalParameters(weights[:1] if self.settings.shared else weights, bias)

    @property
    def n_parameters(self) -> int:
        """Weights and biases of all circuits."""
        return int(self.parameters.weights.size + self.parameters.bias.size)

    def loss_gradients(self) -> tuple[float, Statistics]:
        """Of the regularised cross entropy, the mean over classifiers on the first batch.

        Each classifier has its own loss and gradient; shared weights have the derivative of the mean.
        """
        batch, parameters = self._exact_batch(), self._exact_parameters()
        logits = self._logits(batch, parameters)
        penalty = self.problem.settings.penalty
        by_class = [
            self._pulled(batch, parameters, number, _slopes(batch, logits[:, number], number))
            for number in range(batch.n_classes)
        ]
        by_weights, by_bias = (np.stack([each[group] for each in by_class]) for group in ("weights", "bias"))
        if self.settings.shared:
            by_weights = by_weights.mean(axis=0, keepdims=True)
        sizes = [np.square(array).sum() / len(array) for array in (parameters.weights, parameters.bias)]
        loss = cross_entropies(logits, batch.labels, batch.row_weights).mean() + penalty * sum(sizes)
        by_group: Gradients = {
            "weights": by_weights + 2 * penalty * parameters.weights,
            "bias": by_bias + 2 * penalty * parameters.bias,
        }
        return float(loss), grouped_statistics([by_group])

    def entry_gradients(self) -> Statistics:
        """Of ⟨Z₀⟩ of single samples behind the circuit of a class, by the parameters of that circuit."""
        batch, parameters = self._exact_batch(), self._exact_parameters()
        one = np.array([[1.0, 0.0]])
        n_entries = min(self.problem.settings.n_entries, len(batch.X))
        return grouped_statistics(
            self._pulled(_rows(batch, entry), parameters, entry % batch.n_classes, one) for entry in range(n_entries)
        )

    def embedding(self) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
        """The first batch behind the circuit of the first class."""
        weights, bias = self._exact_parameters().of_class(0)
        return self._engine("float64"), self._exact_batch().X, weights, bias

    def device_facts(self) -> Mapping[str, float]:
        """Nothing: what is known of shots is about fidelities."""
        return {}

    def epochs(self) -> Iterator[Row]:
        """All classifiers together, none of which rests."""
        training = VariationalTraining(self._engine(TRAINING_TYPE), self.problem.data, settings=self.settings)
        state = VariationalState.start(self.parameters)
        while True:
            epoch = training(state)
            state, self.parameters = epoch.state, epoch.state.parameters
            yield epoch.report.as_row()

    def landscapes(self) -> Mapping[str, Any]:
        """None: planes are those of weights, biases and centroids."""
        return {}

    def class_scores(self, X: FloatArray) -> FloatArray:
        """⟨Z₀⟩ of every classifier."""
        logits = ClassLogits(self._engine(TRAINING_TYPE), X, n_classes=self.problem.data.n_classes)
        return np.asarray(logits(self.parameters)[..., 0])

    def _engine(self, dtype: str) -> StatevectorEngine:
        return StatevectorEngine(self.problem.feature_map, dtype=dtype, n_threads=self.problem.n_threads)

    def _logits(self, batch: TrainingData, parameters: VariationalParameters) -> FloatArray:
        return ClassLogits(self._engine("float64"), batch.X, n_classes=batch.n_classes)(parameters)

    def _pulled(
        self, batch: TrainingData, parameters: VariationalParameters, number: int, cotangent: FloatArray
    ) -> Gradients:
        engine = self._engine("float64")
        encoded = engine.encode(batch.X, *parameters.of_class(number))
        found = engine.pull_expectations(encoded, cotangent, MEASURED_QUBITS)
        assert found.weights is not None
        assert found.bias is not None
        return {"weights": found.weights, "bias": found.bias}

    def _exact_batch(self) -> TrainingData:
        return replace(self.first_batch, X=self.first_batch.X.astype(np.float64))

    def _exact_parameters(self) -> VariationalParameters:
        old = self.parameters
        return VariationalParameters(old.weights.astype(np.float64), old.bias.astype(np.float64))


def _rows(batch: TrainingData, row: int) -> TrainingData:
    kept = slice(row, row + 1)
    return replace(batch, X=batch.X[kept], labels=batch.labels[kept], row_weights=batch.row_weights[kept])


def _slopes(batch: TrainingData, logits: FloatArray, number: int) -> FloatArray:
    """Derivatives of the mean cross entropy of one classifier by its logits (N, 2)."""
    own = batch.labels == number
    ahead = np.where(own, 1, -1) * (logits[:, 0] - logits[:, 1])
    size = batch.row_weights / batch.row_weights.sum() / (1 + np.exp(ahead))
    toward = np.where(own, -size, size)
    return np.stack([toward, -toward], axis=1)
