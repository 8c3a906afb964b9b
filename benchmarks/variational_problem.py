"""The step of a variational ensemble: the cross entropy of M classifiers and its gradients for one mini-batch."""

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.problem import FloatArray, StepProblem
from mcquack.randomness import stream


class EnsembleInputs(NamedTuple):
    """The arrays of a step; all numbers are float32."""

    samples: FloatArray  # (B, d)
    weights: FloatArray  # (M, L, n, 3)
    bias: FloatArray  # (M, L, n, 3)
    labels: NDArray[np.int64]  # (B,) index of the class


@dataclass(frozen=True, kw_only=True)
class VariationalProblem(StepProblem):
    """The size of a step of M classifiers; the data follow from it."""

    @property
    def n_circuits(self) -> int:
        """Every classifier sees every sample."""
        return self.n_classes * self.n_samples

    @property
    def mcquack(self) -> StepProblem:
        """McQuack's step with as many qubits, layers, samples and classes."""
        return StepProblem(**asdict(self))

    @cache  # noqa: B019 - as in the parent
    def ensemble(self) -> EnsembleInputs:
        """McQuack's samples and labels, and parameters for each classifier."""
        rng = stream(0, "benchmarks", "variational", repr(self))
        spread = math.sqrt(1 / (3 * self.n_qubits * self.n_layers))
        shape = (self.n_classes, *self.feature_map.parameter_shape)
        weights, bias = (rng.normal(0, spread, shape).astype(np.float32) for _ in range(2))
        inputs = self.mcquack.inputs()
        return EnsembleInputs(samples=inputs.samples, weights=weights, bias=bias, labels=inputs.labels)

    def sample_features(self) -> FloatArray:
        """The feature x of a sample that gate (l, q) encodes: shape (B, L, n)."""
        return self.mcquack.gate_features()[: self.n_samples]

    def is_other(self) -> NDArray[np.int64]:
        """Whether the right logit is the second, "another class": shape (M, B)."""
        labels = self.ensemble().labels
        return (labels != np.arange(self.n_classes)[:, None]).astype(np.int64)

    def signs(self) -> FloatArray:
        """Eigenvalues of Z₀ and Z₁ for every amplitude, the first qubit in front: shape (2**n, 2)."""
        bits = np.arange(2**self.n_qubits)[:, None] >> (self.n_qubits - 1 - np.arange(2)) & 1
        return (1 - 2 * bits).astype(np.float32)
