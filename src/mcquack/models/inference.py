"""Kernels as a device would measure them: through a number of shots, tolerating bit flips."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mcquack.checks import is_whole_number, require
from mcquack.kernels.bitflip import TolerantEngine, mean_weights, tolerant_kernel
from mcquack.kernels.fidelity import centroid_kernel
from mcquack.kernels.sampled import SampledEngine
from mcquack.simulators.engine import Engine
from mcquack.simulators.shots import sampled_fidelities, sampled_weights
from mcquack.simulators.weights import weight_distributions
from mcquack.training.parameters import FloatArray, Parameters

_ROWS_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How the kernel is read: exactly or from ``shots``, counting outcomes with at most ``tolerance`` ones as zeros."""

    shots: int | None = None
    tolerance: int | None = None
    seed: int = 0

    def kernel(self, engine: Engine[Any], X: FloatArray, parameters: Parameters) -> FloatArray:
        """K (N, M·k), exact or sampled."""
        return self.kernel_and_ties(engine, X, parameters)[0]

    def kernel_and_ties(
        self, engine: Engine[Any], X: FloatArray, parameters: Parameters
    ) -> tuple[FloatArray, FloatArray | None]:
        """The kernel, and for equal entries of a sampled one what decides between them: fewer ones on average."""
        if isinstance(engine, SampledEngine):
            rows, centroids = (
                engine.encode(some, parameters.weights, parameters.bias) for some in (X, parameters.centroids)
            )
            counts = engine.weight_counts(rows, centroids)
            return tolerant_kernel(counts, self.tolerance or 0), -mean_weights(counts)
        if self.shots is not None and self.tolerance is not None:
            counts = sampled_weights(_distributions(engine, X, parameters), shots=self.shots, seed=self.seed)
            return tolerant_kernel(counts, self.tolerance), -mean_weights(counts)
        if self.tolerance is not None:
            engine = TolerantEngine(engine, tolerance=self.tolerance)
        embedding = {"weights": parameters.weights, "bias": parameters.bias}
        exact = centroid_kernel(engine, X, parameters.centroids, **embedding)
        return (exact if self.shots is None else sampled_fidelities(exact, shots=self.shots, seed=self.seed)), None


def check_measurement(shots: Any, tolerances: dict[str, Any], *, n_qubits: int, exact: bool = True) -> None:
    """Refuses shots and tolerances that cannot be; without ``exact`` values, as of a sampler, shots are needed."""
    is_count = is_whole_number(shots) and shots >= 1
    if exact:
        require(shots is None or is_count, "shots", "None, for exact values, or a whole number of at least 1", shots)
    else:
        require(is_count, "shots", "a whole number of at least 1 where a sampler is the engine", shots)
    for name, value in tolerances.items():
        possible = is_whole_number(value) and 0 <= value <= n_qubits
        require(value is None or possible, name, f"None or a whole number from 0 to n_qubits = {n_qubits}", value)


def _distributions(engine: Engine[Any], X: FloatArray, parameters: Parameters) -> FloatArray:
    """Of the number of ones for every sample and centroid, some samples at a time."""
    centroids = engine.encode(parameters.centroids, parameters.weights, parameters.bias)
    starts = range(0, max(len(X), 1), _ROWS_AT_ONCE)
    parts = (engine.encode(X[start : start + _ROWS_AT_ONCE], parameters.weights, parameters.bias) for start in starts)
    return np.concatenate([weight_distributions(engine, part, centroids) for part in parts])
