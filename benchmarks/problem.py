"""The step that every implementation is asked to do: 1 - A and its gradients for one mini-batch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream

FloatArray = NDArray[np.float32]


class Found(NamedTuple):
    """The loss of a step, and its gradients by weights and by biases when they are asked for."""

    loss: float
    gradients: Callable[[], Sequence[FloatArray]]


Step = Callable[[], Found]
"""Does one whole step: states, loss, gradients of all weights and biases."""

# A rotation costs 16 flops per amplitude going forward. Going back, the state and its cotangent are rotated (32) and
# the three numbers Im⟨λ|X|ψ⟩, Im⟨λ|Y|ψ⟩, Im⟨λ|Z|ψ⟩ are summed (12). Counted whatever the algorithm, so that one
# that needs fewer shows as a larger share.
FLOPS_PER_AMPLITUDE_AND_GATE = 16 + 44


class StepInputs(NamedTuple):
    """The arrays of a step; all float32."""

    samples: FloatArray  # (B, d)
    centroids: FloatArray  # (M, d)
    weights: FloatArray  # (L, n, 3) in the paper's circuit, one row in others
    bias: FloatArray  # as the weights
    labels: NDArray[np.int64]  # (B,) index of the class
    targets: FloatArray  # (B, M) ±1


@dataclass(frozen=True, kw_only=True)
class StepProblem:
    """The size of a step; the data follow from it."""

    n_qubits: int
    n_layers: int
    n_samples: int
    n_classes: int
    n_features: int | None = None  # None: a feature for each gate

    @property
    def feature_map(self) -> FeatureMap:
        return FeatureMap(
            n_qubits=self.n_qubits,
            n_features=self.n_features or self.n_qubits * self.n_layers,
            n_layers=self.n_layers,
        )

    @property
    def circuit(self) -> Circuit:
        """What is run; the paper's circuit unless a problem says otherwise."""
        return self.feature_map

    @property
    def spread(self) -> float:
        """The standard deviation of weights and biases."""
        return math.sqrt(1 / self.circuit.n_weights)

    @property
    def n_circuits(self) -> int:
        """Every sample and every centroid is encoded."""
        return self.n_samples + self.n_classes

    @property
    def flops(self) -> int:
        """Flops of the gates in one step; kernel or measurement, and loss, are a few thousandths and not counted."""
        gates = self.n_qubits * self.n_layers * self.n_circuits
        return FLOPS_PER_AMPLITUDE_AND_GATE * 2**self.n_qubits * gates

    @cache  # noqa: B019 - a few problems per process, and their data are wanted again
    def inputs(self) -> StepInputs:
        """Random features in [0, 1] and parameters as the estimator draws them; the same in every process."""
        rng = stream(0, "benchmarks", "step", repr(self))
        circuit = self.circuit
        labels = rng.integers(0, self.n_classes, self.n_samples)
        return StepInputs(
            samples=rng.random((self.n_samples, circuit.n_features), dtype=np.float32),
            centroids=rng.random((self.n_classes, circuit.n_features), dtype=np.float32),
            weights=rng.normal(0, self.spread, circuit.weights_shape).astype(np.float32),
            bias=rng.normal(0, self.spread, circuit.bias_shape).astype(np.float32),
            labels=labels,
            targets=np.where(labels[:, None] == np.arange(self.n_classes), 1, -1).astype(np.float32),
        )

    def gate_features(self) -> FloatArray:
        """Samples, then centroids, as the feature x that gate (l, q) encodes: shape (B + M, L, n)."""
        inputs = self.inputs()
        rows = np.concatenate([inputs.samples, inputs.centroids])
        return np.ascontiguousarray(rows[:, self.feature_map.feature_index[:, :, 0]])

    def __str__(self) -> str:
        return f"{self.n_qubits}, {self.n_layers}, {self.n_samples}, {self.n_classes}"
