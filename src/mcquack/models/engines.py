"""Which engine runs the circuits of a model: a simulator by its name, or whatever a sampler stands for."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import Sampler
from mcquack.kernels.bitflip import mean_hamming, tolerant_kernel
from mcquack.kernels.fidelity import centroid_kernel
from mcquack.kernels.measured import SampledEngine, TolerantEngine
from mcquack.simulators.engine import Engine
from mcquack.simulators.hamming import hamming_distributions
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.ring.engine import check_qubits as check_ring_qubits
from mcquack.simulators.samplers import sampled_fidelities, sampled_hamming
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector.engine import MAX_QUBITS
from mcquack.simulators.statevector.engine import check_qubits as check_statevector_qubits
from mcquack.training.state import Parameters

EngineName = Literal["auto", "statevector", "ring"]
EngineChoice: TypeAlias = EngineName | Sampler
RunsOn = Literal["statevector", "ring", "sampler"]


def is_sampler(choice: Any) -> TypeGuard[Sampler]:
    """Whether this is an object that counts, and not the name of an engine."""
    return not isinstance(choice, type) and callable(getattr(choice, "hamming_counts", None))


def chosen_engine(choice: EngineChoice, n_qubits: int) -> RunsOn:
    """What "auto" means: statevectors as long as they fit."""
    if is_sampler(choice):
        return "sampler"
    if choice == "auto":
        return "statevector" if n_qubits <= MAX_QUBITS else "ring"
    return "ring" if choice == "ring" else "statevector"


def check_engine(choice: Any, n_qubits: int) -> None:
    """Refuses an engine that nobody knows, and more qubits than it takes; a sampler says itself how many it has."""
    if is_sampler(choice):
        return
    expected = f"{' or '.join(map(repr, get_args(EngineName)))}, or a sampler"
    require(isinstance(choice, str) and choice in get_args(EngineName), "engine", expected, choice)
    check = check_statevector_qubits if chosen_engine(choice, n_qubits) == "statevector" else check_ring_qubits
    check(n_qubits)


def new_engine(
    choice: EngineChoice,
    feature_map: FeatureMap,
    *,
    dtype: str,
    n_threads: int | None,
    shots: int | None = None,
    tolerance: int | None = None,
) -> Engine[Any]:
    """The engine of this name for a circuit; shots and tolerance are those of a sampler, which has no exact values."""
    if is_sampler(choice):
        return SampledEngine(choice, feature_map, shots=shots, tolerance=tolerance or 0)  # type: ignore[arg-type]
    if chosen_engine(choice, feature_map.n_qubits) == "ring":
        return RingEngine(feature_map, n_threads=n_threads)
    return StatevectorEngine(feature_map, dtype=dtype, n_threads=n_threads)


# Kernels as a device would measure them: through a number of shots, tolerating bit flips.

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
            counts = engine.hamming_counts(rows, centroids)
            return tolerant_kernel(counts, self.tolerance or 0), -mean_hamming(counts)
        if self.shots is not None and self.tolerance is not None:
            counts = sampled_hamming(_distributions(engine, X, parameters), shots=self.shots, seed=self.seed)
            return tolerant_kernel(counts, self.tolerance), -mean_hamming(counts)
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
    return np.concatenate([hamming_distributions(engine, part, centroids) for part in parts])
