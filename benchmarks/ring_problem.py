"""The circuits of the experiment on 124 qubits, and what mcquack does with them."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.problem import Found, Step
from mcquack import datasets
from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators.noise import PITTSBURGH, noisy_hamming_counts
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.ring.engine import RotationRows

FloatArray = NDArray[np.float64]

DATASET = "manifold_124"
SHOTS = 100
SEED = 0


class RingInputs(NamedTuple):
    """The samples, training part first, and the means of both classes; the parameters of the untrained model are 1."""

    samples: FloatArray  # (150, 248)
    centroids: FloatArray  # (2, 248)
    labels: NDArray[np.int64]  # (150,)
    parameters: FloatArray  # (L, n, 3), weights and biases alike


@dataclass(frozen=True, kw_only=True)
class RingProblem:
    """The experiment of the paper; ``n_circuits`` and ``n_shots`` is how much of it a peer is timed on."""

    n_qubits: int = 124
    n_layers: int = 2
    n_train: int = 100
    n_circuits: int = 2
    n_shots: int = 8

    @property
    def feature_map(self) -> FeatureMap:
        n_features = self.n_qubits * self.n_layers
        return FeatureMap(n_qubits=self.n_qubits, n_features=n_features, n_layers=self.n_layers, final_entangler=False)

    @cache  # noqa: B019 - one problem per process
    def inputs(self) -> RingInputs:
        data = datasets.load(DATASET, seed=SEED)
        X, y = (np.concatenate(parts) for parts in zip(data.train, data.test, strict=True))
        labels = np.searchsorted(np.unique(y), y)
        means = [X[: self.n_train][labels[: self.n_train] == label].mean(axis=0) for label in (0, 1)]
        return RingInputs(X, np.array(means), labels, np.ones(self.feature_map.parameter_shape))

    def encoded(self, engine: RingEngine) -> tuple[RotationRows, RotationRows]:
        inputs = self.inputs()
        rows = (engine.encode(points, inputs.parameters, inputs.parameters) for points in inputs[:2])
        samples, centroids = rows
        return samples, centroids

    def pair(self, number: int) -> tuple[int, int]:
        """Sample and centroid of the circuits that peers are timed on, one after the other."""
        return number, number % 2


def kernel(problem: RingProblem) -> Step:
    """All fidelities, as logarithms, from features on."""
    engine = RingEngine(problem.feature_map)

    def step() -> Found:
        logs = engine.log_fidelities(*problem.encoded(engine))
        return Found(float(logs.mean()), lambda: [logs])

    return step


def training_step(problem: RingProblem) -> Step:
    """One step of kernel alignment on all training samples: 1 - A and its gradients by all weights and biases."""
    from mcquack.kernels import alignment_gradient, target_alignment

    inputs, engine = problem.inputs(), RingEngine(problem.feature_map)
    X, labels, parameters = inputs.samples[: problem.n_train], inputs.labels[: problem.n_train], inputs.parameters

    def step() -> Found:
        samples, centroids = (engine.encode(points, parameters, parameters) for points in (X, inputs.centroids))
        K = engine.fidelities(samples, centroids)
        gradient = engine.pullback(samples, centroids, -alignment_gradient(K, labels), wrt="embedding")
        assert gradient.weights is not None
        assert gradient.bias is not None
        gradients = [gradient.weights, gradient.bias]
        return Found(1 - target_alignment(K, labels), lambda: gradients)

    return step


def epoch(problem: RingProblem) -> Step:
    """A whole epoch as ``fit`` does it: kernel alignment, centroids, and the alignment of all samples at its end."""
    from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState
    from mcquack.training.reference import ReferenceEpochs

    inputs, n_train = problem.inputs(), problem.n_train
    data = TrainingData(inputs.samples[:n_train], inputs.labels[:n_train], np.ones(n_train), 2)
    run = ReferenceEpochs(RingEngine(problem.feature_map), data, TrainingSettings(batch_size=n_train))
    start = TrainingState.start(Parameters(inputs.parameters, inputs.parameters, inputs.centroids))

    def step() -> Found:
        sums = run(start)
        assert sums.loss_kao is not None
        return Found(sums.loss_kao, lambda: [sums.kernel])

    return step


def distributions(problem: RingProblem) -> Step:
    """The exact distribution of the number of ones for every pair."""
    engine = RingEngine(problem.feature_map)

    def step() -> Found:
        found = engine.hamming_distributions(*problem.encoded(engine))
        return Found(float(found[..., 0].mean()), lambda: [found])

    return step


def noisy_shots(problem: RingProblem) -> Step:
    """100 shots of every circuit under the noise of the paper's better device."""
    engine = RingEngine(problem.feature_map)

    def step() -> Found:
        rows = problem.encoded(engine)
        counts = noisy_hamming_counts(engine, *rows, calibration=PITTSBURGH, shots=SHOTS, seed=SEED)
        return Found(float(counts.sum()), lambda: [counts])

    return step
