"""The models that a probe watches, before their first step and in training: kernels and variational classifiers.

Both kinds of subject have the same methods: ``loss_gradients``, ``entry_gradients``, ``embedding`` and ``device_facts``
tell of the start, ``epochs`` trains without end, ``landscapes`` and ``class_scores`` tell of what it has come to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.kernels.fidelity import centroid_kernel
from mcquack.randomness import stream
from mcquack.simulators.statevector import StateEngine
from mcquack.studies.trainability import observation
from mcquack.studies.trainability.analysis import shot_noise, states
from mcquack.studies.trainability.analysis.losses import alignment_loss, loss_slice, path_directions, random_directions
from mcquack.studies.trainability.design import ProbeSettings
from mcquack.training.batches import epoch_orders
from mcquack.training.ensembles import (
    MEASURED_QUBITS,
    ClassLogits,
    EnsembleState,
    VariationalSettings,
    VariationalTraining,
    cross_entropies,
)
from mcquack.training.loop import train
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import Parameters, TrainingData, TrainingState, initial_centroids, initial_embedding

# Gradients are measured in double, and models are trained in single precision, as they are by default.
TRAINING_TYPE = "float32"
Row = Mapping[str, float | int | None]
Statistics = Mapping[observation.Group, observation.GradientStatistics]
Embedding = tuple[Any, FloatArray, FloatArray, FloatArray]
"""An engine, and the samples, weights and biases that it encodes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """The samples as the circuit takes them, the circuit, and what is to be done."""

    settings: ProbeSettings
    feature_map: FeatureMap
    data: TrainingData
    seed: int
    n_threads: int | None = None

    def engine(self, dtype: str = TRAINING_TYPE) -> Any:
        """A new engine, in the precision of training unless another is asked for."""
        kind: Any = type(self.settings.runs_on)
        return kind(self.feature_map, dtype=dtype, n_threads=self.n_threads)

    @property
    def training(self) -> dict[str, Any]:
        asked = self.settings
        penalties = dict.fromkeys(("reg_param_weights", "reg_param_bias"), asked.penalty)
        return {"decay_rate": asked.decay_rate, "batch_size": asked.batch_size, "seed": self.seed, **penalties}

    def start(self, first_batch: TrainingData, *, seed: int) -> tuple[FloatArray, FloatArray]:
        return initial_embedding(
            self.feature_map,
            first_batch.X,
            row_weights=first_batch.row_weights,
            init_small=bool(self.settings.init_small),
            init_strategy=self.settings.init_strategy,
            seed=seed,
            dtype=TRAINING_TYPE,
        )


class KernelSubject:
    """McQuack or Quack: fidelities of samples with centroids, aligned with the classes; a device measures them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        asked = problem.settings
        low, high = asked.feature_range
        self.settings = TrainingSettings(
            lr_ka=asked.lr, lr_co=asked.lr, feature_range=(float(low), float(high)), **problem.training
        )
        kao_orders, _ = epoch_orders(len(problem.data.X), 0, self.settings)
        self.first_batch = _part(problem.data, kao_orders[0][: asked.batch_size])
        weights, bias = problem.start(self.first_batch, seed=problem.seed)
        self.parameters = Parameters(
            weights, bias, initial_centroids(problem.data, self.settings).astype(TRAINING_TYPE)
        )
        self._path = [self.parameters]

    @property
    def n_parameters(self) -> int:
        return self.problem.feature_map.n_parameters(len(self.parameters.centroids))

    def loss_gradients(self) -> tuple[float, Statistics]:
        """The regularised 1 - A on the first batch with its derivatives; by the centroids, those of CO's loss."""
        loss, by_group = observation.loss_gradients(*self._exact(), settings=self.settings)
        return loss, observation.grouped_statistics([by_group])

    def entry_gradients(self) -> Statistics:
        return observation.grouped_statistics(
            observation.fidelity_gradients(*self._exact(), n_entries=self.problem.settings.n_entries)
        )

    def embedding(self) -> Embedding:
        engine, batch, parameters = self._exact()
        return engine, batch.X, parameters.weights, parameters.bias

    def device_facts(self) -> Mapping[str, float]:
        return shots_of_start(*self._exact(), seed=self.problem.seed)

    def epochs(self) -> Iterator[Row]:
        """KAO and CO in turn; the parameters are those after the last epoch that was taken."""
        start = TrainingState.start(self.parameters)
        for epoch in train(self.problem.engine(), self.problem.data, start, settings=self.settings):
            self.parameters = epoch.state.parameters
            if self.problem.settings.landscape:
                self._path.append(self.parameters.copy())
            yield epoch.report.as_row()

    def landscapes(self) -> Mapping[str, Any]:
        """Slices of the regularised 1 - A on the first batch, if they were asked for.

        "random" is along directions by chance, "path" in the plane of the training path, with the path in it.
        """
        n_points, centre = self.problem.settings.landscape, self._path[-1]
        if not n_points:
            return {}
        loss = alignment_loss(self.problem.engine(), self.first_batch, self.settings)
        planes = {"random": (random_directions(centre, seed=self.problem.seed), 1.0)}
        if len(self._path) >= 3:
            along = path_directions(self._path)
            planes["path"] = along, 1.2 * float(np.abs(along.coordinates(self._path, centre)).max())
        return {
            name: {
                **_rounded(loss_slice(loss, centre, plane, reach=reach, n_points=n_points).to_json()),
                "path": _rounded(plane.coordinates(self._path, centre).tolist()) if name == "path" else [],
            }
            for name, (plane, reach) in planes.items()
        }

    def class_scores(self, X: FloatArray) -> FloatArray:
        """(N, M), larger for likelier classes: fidelities, or on a ring, where these may vanish, their logarithms."""
        engine, found = self.problem.engine(), self.parameters
        if self.problem.settings.runs_on.few_layers:
            return states.log_fidelities(
                engine, *(engine.encode(rows, found.weights, found.bias) for rows in (X, found.centroids))
            )
        return centroid_kernel(engine, X, found.centroids, weights=found.weights, bias=found.bias)

    def _exact(self) -> tuple[Any, TrainingData, Parameters]:
        old = self.parameters
        exact = Parameters(*(array.astype(np.float64) for array in (old.weights, old.bias, old.centroids)))
        return self.problem.engine("float64"), _in_double(self.first_batch), exact


class VariationalSubject:
    """⟨Z₀⟩ and ⟨Z₁⟩ behind one circuit per class, the logits of a cross entropy; a device measures them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        asked = problem.settings
        self.settings = VariationalSettings(
            shared=asked.model == "shared_vc", lr_weights=asked.lr, lr_bias=asked.lr, **problem.training
        )
        orders = self.settings.orders(len(problem.data.X), 0)
        self.first_batch = _part(problem.data, orders[0][: asked.batch_size])
        # As the estimators draw them, so that what is observed is what they do.
        streams = (stream(problem.seed, "classifier", str(number)) for number in range(problem.data.n_classes))
        drawn = [problem.start(self.first_batch, seed=int(each.integers(2**31))) for each in streams]
        weights, bias = (np.stack(arrays) for arrays in zip(*drawn, strict=True))
        self.parameters = Parameters(weights[:1] if self.settings.shared else weights, bias)

    @property
    def n_parameters(self) -> int:
        return int(self.parameters.weights.size + self.parameters.bias.size)

    def loss_gradients(self) -> tuple[float, Statistics]:
        """The regularised cross entropy, the mean over classifiers on the first batch, with its derivatives.

        Each classifier has its own loss and gradient; shared weights have the derivative of the mean.
        """
        engine, batch, parameters = self._exact()
        logits = ClassLogits(engine, batch.X, n_classes=batch.n_classes)(parameters)
        by_class = [
            _pulled(engine, batch.X, parameters, number, _slopes(batch, logits[:, number], number))
            for number in range(batch.n_classes)
        ]
        by_weights, by_bias = (np.stack([each[group] for each in by_class]) for group in ("weights", "bias"))
        if self.settings.shared:
            by_weights = by_weights.mean(axis=0, keepdims=True)
        penalty = self.problem.settings.penalty
        sizes = [np.square(array).sum() / len(array) for array in (parameters.weights, parameters.bias)]
        loss = cross_entropies(logits, batch.labels, batch.row_weights).mean() + penalty * sum(sizes)
        by_group: observation.Gradients = {
            "weights": by_weights + 2 * penalty * parameters.weights,
            "bias": by_bias + 2 * penalty * parameters.bias,
        }
        return float(loss), observation.grouped_statistics([by_group])

    def entry_gradients(self) -> Statistics:
        engine, batch, parameters = self._exact()
        one = np.array([[1.0, 0.0]])
        return observation.grouped_statistics(
            _pulled(engine, batch.X[entry : entry + 1], parameters, entry % batch.n_classes, one)
            for entry in range(min(self.problem.settings.n_entries, len(batch.X)))
        )

    def embedding(self) -> Embedding:
        engine, batch, parameters = self._exact()
        return engine, batch.X, parameters.weights[0], parameters.bias[0]

    def device_facts(self) -> Mapping[str, float]:
        return {}

    def epochs(self) -> Iterator[Row]:
        """All classifiers together; the parameters are those after the last epoch that was taken."""
        training = VariationalTraining(self.problem.engine(), self.problem.data, settings=self.settings)
        state = EnsembleState.start(self.parameters)
        while True:
            epoch = training(state)
            state, self.parameters = epoch.state, epoch.state.parameters
            yield epoch.report.as_row()

    def landscapes(self) -> Mapping[str, Any]:
        return {}

    def class_scores(self, X: FloatArray) -> FloatArray:
        """(N, M), larger for likelier classes: ⟨Z₀⟩ of every classifier."""
        logits = ClassLogits(self.problem.engine(), X, n_classes=self.problem.data.n_classes)
        return np.asarray(logits(self.parameters)[..., 0])

    def _exact(self) -> tuple[StateEngine, TrainingData, Parameters]:
        old = self.parameters
        exact = Parameters(old.weights.astype(np.float64), old.bias.astype(np.float64))
        return self.problem.engine("float64"), _in_double(self.first_batch), exact


Subject: TypeAlias = KernelSubject | VariationalSubject


def state_facts(engine: Any, X: FloatArray, weights: FloatArray, bias: FloatArray, *, seed: int) -> dict[str, float]:
    """How concentrated samples' fidelities are, and for few qubits how entangled and how expressive the states."""
    rows = X[:50]  # 1,225 pairs; on a ring each is a contraction of its own
    n_qubits = engine.feature_map.n_qubits
    if len(rows) < 2:
        return {}
    facts = states.kernel_concentration(states.pair_log_fidelities(engine, rows, weights, bias))
    # Beyond 14 qubits, whole states of so many samples take gigabytes.
    has_states = hasattr(engine, "statevectors")
    if has_states and 2 <= n_qubits <= 14:
        facts["entanglement"] = float(states.entanglement(engine, rows, weights, bias).mean())
        facts["entanglement_haar"] = states.haar_entanglement(n_qubits)
    if has_states and n_qubits <= 10:
        pairs = states.random_circuit_fidelities(engine.feature_map, n_pairs=400, seed=seed)
        facts["expressibility"] = states.expressibility(pairs, n_qubits)
    return {name: float(value) for name, value in facts.items() if np.isfinite(value)}


def shots_of_start(engine: Any, batch: TrainingData, parameters: Parameters, *, seed: int) -> dict[str, float]:
    """log₁₀ of the shots per circuit that a prediction, a derivative of the alignment and one of an entry take.

    Shifting one angle after the other takes dozens of passes, so 16 samples and 6 angles stand for all, and whole
    statevectors of more than 14 qubits are left out.
    """
    if hasattr(engine, "statevectors") and engine.feature_map.n_qubits > 14:
        return {}
    few = _part(batch, slice(16))
    shots = {
        "prediction": shot_noise.prediction_shots(engine, few.X, parameters),
        "alignment": shot_noise.alignment_gradient_shots(engine, few, parameters, n_components=6, seed=seed),
        "entry": shot_noise.entry_gradient_shots(engine, few.X, parameters, n_components=6, seed=seed),
    }
    found = {f"log10_shots_{name}": each for name, each in shots.items()}
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _part(data: TrainingData, rows: NDArray[np.int64] | slice) -> TrainingData:
    return replace(data, X=data.X[rows], labels=data.labels[rows], row_weights=data.row_weights[rows])


def _in_double(batch: TrainingData) -> TrainingData:
    return replace(batch, X=batch.X.astype(np.float64))


def _rounded(value: Any) -> Any:
    """Nested numbers with the six digits that a picture shows."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else float(f"{value:.6g}")


def _pulled(
    engine: StateEngine, X: FloatArray, parameters: Parameters, number: int, cotangent: FloatArray
) -> observation.Gradients:
    weights = parameters.weights[number % len(parameters.weights)]
    encoded = engine.encode(X, weights, parameters.bias[number])
    found: Any = engine.pull_expectations(encoded, cotangent, MEASURED_QUBITS)
    return {"weights": found.weights, "bias": found.bias}


def _slopes(batch: TrainingData, logits: FloatArray, number: int) -> FloatArray:
    own = batch.labels == number
    ahead = np.where(own, 1, -1) * (logits[:, 0] - logits[:, 1])
    size = batch.row_weights / batch.row_weights.sum() / (1 + np.exp(ahead))
    toward = np.where(own, -size, size)
    return np.stack([toward, -toward], axis=1)
