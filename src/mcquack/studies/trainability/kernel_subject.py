"""McQuack and Quack under observation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.kernels.fidelity import centroid_kernel
from mcquack.models.engines import new_engine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis.landscape import (
    Directions,
    alignment_loss,
    loss_slice,
    path_directions,
    random_directions,
)
from mcquack.studies.trainability.analysis.shot_noise import (
    alignment_gradient_shots,
    entry_gradient_shots,
    prediction_shots,
)
from mcquack.studies.trainability.observation import fidelity_gradients, grouped_statistics, loss_gradients
from mcquack.studies.trainability.subject import TRAINING_TYPE, Problem, Row, Statistics
from mcquack.training.loop import train
from mcquack.training.settings import TrainingSettings, epoch_orders
from mcquack.training.state import Parameters, TrainingData, TrainingState, initial_centroids

# The loss around the point that training reached, on two planes.

_SHORTEST_PATH = 3  # points that a plane takes
_AROUND = 1.2  # how much farther than the path its plane is shown
_DIGITS = 6


def loss_landscapes(
    loss: Callable[[Parameters], float], path: Sequence[Parameters], *, n_points: int, seed: int
) -> dict[str, Any]:
    """Slices by name, as plain values: "random" directions, and the plane of the "path", with the path in it."""
    centre = path[-1]
    planes: dict[str, tuple[Directions, float]] = {"random": (random_directions(centre, seed=seed), 1.0)}
    if len(path) >= _SHORTEST_PATH:
        along = path_directions(path)
        planes["path"] = along, _AROUND * float(np.abs(along.coordinates(path, centre)).max())
    return {
        name: {
            **_rounded(loss_slice(loss, centre, plane, reach=reach, n_points=n_points).to_json()),
            "path": _rounded(plane.coordinates(path, centre).tolist()) if name == "path" else [],
        }
        for name, (plane, reach) in planes.items()
    }


def _rounded(value: Any) -> Any:
    """To the digits that a picture shows."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else float(f"{value:.{_DIGITS}g}")


# What the start of a training would ask of a device, as plain numbers.

# Shifting one angle after the other takes dozens of passes, so few samples and few angles stand for all, and whole
# statevectors beyond some qubits are left out.
_MOST_SHOT_SAMPLES = 16
_N_COMPONENTS = 6
_MOST_QUBITS = 14


def device_facts(engine: Any, batch: TrainingData, parameters: Parameters, *, seed: int) -> dict[str, float]:
    """log₁₀ of the shots per circuit that a prediction, a derivative of the alignment and one of an entry take.

    Those of the alignment are for a batch of 16 samples.
    """
    if isinstance(engine, StatevectorEngine) and engine.feature_map.n_qubits > _MOST_QUBITS:
        return {}
    few = replace(
        batch,
        X=batch.X[:_MOST_SHOT_SAMPLES],
        labels=batch.labels[:_MOST_SHOT_SAMPLES],
        row_weights=batch.row_weights[:_MOST_SHOT_SAMPLES],
    )
    shots = {
        "prediction": prediction_shots(engine, few.X, parameters),
        "alignment": alignment_gradient_shots(engine, few, parameters, n_components=_N_COMPONENTS, seed=seed),
        "entry": entry_gradient_shots(engine, few.X, parameters, n_components=_N_COMPONENTS, seed=seed),
    }
    found = {f"log10_shots_{name}": float(each.log10_per_circuit) for name, each in shots.items()}
    return {name: value for name, value in found.items() if np.isfinite(value)}


class KernelSubject:
    """Fidelities of samples with centroids, aligned with the classes; its entries are what a device measures."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.settings = _training_settings(problem)
        kao_orders, _ = epoch_orders(len(problem.data.X), 0, self.settings)
        self.first_batch = problem.part(kao_orders[0][: self.settings.batch_size])
        weights, bias = problem.start(self.first_batch, seed=problem.seed)
        centroids = initial_centroids(problem.data, self.settings).astype(TRAINING_TYPE)
        self.parameters = Parameters(weights, bias, centroids)
        self._path = [self.parameters]

    @property
    def n_parameters(self) -> int:
        """Weights, biases and centroid features."""
        return self.problem.feature_map.n_parameters(len(self.parameters.centroids))

    def loss_gradients(self) -> tuple[float, Statistics]:
        """Of the regularised 1 - A on the first batch of KAO; by the centroids, of the loss of CO there."""
        found = loss_gradients(
            self._engine("float64"), self._exact_batch(), self._exact_parameters(), settings=self.settings
        )
        return found.loss, grouped_statistics([found.by_group])

    def entry_gradients(self) -> Statistics:
        """Of single entries of the kernel."""
        n_entries = self.problem.settings.n_entries
        return grouped_statistics(
            fidelity_gradients(
                self._engine("float64"), self._exact_batch(), self._exact_parameters(), n_entries=n_entries
            )
        )

    def embedding(self) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
        """The first batch behind the feature map."""
        parameters = self._exact_parameters()
        return self._engine("float64"), self._exact_batch().X, parameters.weights, parameters.bias

    def device_facts(self) -> Mapping[str, float]:
        """Shots for a prediction, and for derivatives of the alignment and of an entry."""
        engine, parameters = self._engine("float64"), self._exact_parameters()
        return device_facts(engine, self._exact_batch(), parameters, seed=self.problem.seed)

    def epochs(self) -> Iterator[Row]:
        """KAO and CO in turn."""
        engine, start = self._engine(TRAINING_TYPE), TrainingState.start(self.parameters)
        for epoch in train(engine, self.problem.data, start, settings=self.settings):
            self.parameters = epoch.state.parameters
            if self.problem.settings.landscape:
                self._path.append(self.parameters.copy())
            yield epoch.report.as_row()

    def landscapes(self) -> Mapping[str, Any]:
        """The regularised 1 - A on the first batch, on two planes."""
        n_points = self.problem.settings.landscape
        if not n_points:
            return {}
        loss = alignment_loss(self._engine(TRAINING_TYPE), self.first_batch, self.settings)
        return loss_landscapes(loss, self._path, n_points=n_points, seed=self.problem.seed)

    def class_scores(self, X: FloatArray) -> FloatArray:
        """Logarithms of fidelities on a ring, where fidelities themselves may vanish; else fidelities."""
        engine, parameters = self._engine(TRAINING_TYPE), self.parameters
        weights, bias = parameters.weights, parameters.bias
        if self.problem.settings.runs_on == "ring":
            encoded = (engine.encode(rows, weights, bias) for rows in (X, parameters.centroids))
            scores: FloatArray = engine.log_fidelities(*encoded)
            return scores
        return centroid_kernel(engine, X, parameters.centroids, weights=weights, bias=bias)

    def _engine(self, dtype: str) -> Any:
        problem = self.problem
        return new_engine(problem.settings.engine, problem.feature_map, dtype=dtype, n_threads=problem.n_threads)

    def _exact_batch(self) -> TrainingData:
        return replace(self.first_batch, X=self.first_batch.X.astype(np.float64))

    def _exact_parameters(self) -> Parameters:
        old = self.parameters
        return Parameters(*(array.astype(np.float64) for array in (old.weights, old.bias, old.centroids)))


def _training_settings(problem: Problem) -> TrainingSettings:
    asked = problem.settings
    low, high = asked.feature_range
    return TrainingSettings(
        lr_ka=asked.lr,
        lr_co=asked.lr,
        decay_rate=asked.decay_rate,
        reg_param_weights=asked.penalty,
        reg_param_bias=asked.penalty,
        batch_size=asked.batch_size,
        feature_range=(float(low), float(high)),
        seed=problem.seed,
    )
