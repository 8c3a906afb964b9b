"""What the circuits of all classes measure."""

import numpy as np

from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector.lanes import lane_count
from mcquack.simulators.statevector.memory import aligned_zeros, require_bytes
from mcquack.training.variational.state import FloatArray, VariationalParameters
from mcquack.training.variational.steps import Problem, measure_classes

MEASURED_QUBITS = (0, 1)


class ClassLogits:
    """Measures the same samples with one set of parameters after the other; holds the memory that they reuse."""

    def __init__(self, engine: StatevectorEngine, X: FloatArray, *, n_classes: int) -> None:
        self.engine = engine
        self.shape = len(X), n_classes, len(MEASURED_QUBITS)
        flops = engine.flops(n_classes * len(X), with_gradient=False)
        n_threads = engine.threads_for(flops, n_classes * engine.n_blocks(len(X)))
        require_bytes(
            n_threads * engine.scratch_bytes(backward=True), f"measuring {engine.feature_map.n_qubits} qubits"
        )
        self.team = engine.team(n_threads, flops)
        self.works = engine.scratch(n_threads, backward=True)
        self.measured = aligned_zeros((n_threads, len(MEASURED_QUBITS), lane_count(engine.dtype)), engine.dtype)
        self.problem = Problem(
            X=engine.rows(X),
            labels=np.zeros(0, np.int64),
            row_weights=np.zeros(0),
            feature_index=engine.feature_map.feature_index,
            masks=engine.masks,
            signs=engine.z_signs(MEASURED_QUBITS),
        )

    def __call__(self, parameters: VariationalParameters) -> FloatArray:
        """⟨Z₀⟩ and ⟨Z₁⟩ of every sample behind every classifier's circuit, (N, M, 2)."""
        logits = np.empty(self.shape, self.engine.dtype)
        arrays = (np.require(array, self.engine.dtype, ["C", "W"]) for array in (parameters.weights, parameters.bias))
        self.team.run(measure_classes, self.works, self.problem, *arrays, self.measured, logits)
        return np.clip(logits, -1, 1, out=logits)
