"""The alignment-gradient step of two maps from the literature, with a weight and a bias for every rotation."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from benchmarks.problem import FloatArray, StepProblem
from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.gates import ring

# Forward a real rotation or a phase takes 6 flops per amplitude; back, it is undone on the state and on its cotangent
# (12), and one of Im⟨λ|Y|ψ⟩ and Im⟨λ|Z…Z|ψ⟩ is summed (4). A Hadamard gate has no angle, CZ is a sign. Counted gate by
# gate, whatever the algorithm.
FLOPS = {"ry": 22, "rz": 22, "rzz": 22, "h": 18, "cz": 0}


@dataclass(frozen=True, kw_only=True)
class MapProblem(StepProblem):
    """A map of L equal layers that takes as many features as it has qubits, all of them in each layer."""

    @property
    def layer(self) -> Circuit:
        raise NotImplementedError

    @property
    def circuit(self) -> Circuit:
        return self.layer.repeated(self.n_layers)

    @property
    def spread(self) -> float:
        """Wider than the estimator's: with H in every layer, states would else hardly differ, and nor would kernels."""
        return math.sqrt(1 / self.n_layers)

    @property
    def flops(self) -> int:
        per_amplitude = sum(FLOPS[name] * count for name, count in self.circuit.counts.items())
        return per_amplitude * 2**self.n_qubits * self.n_circuits

    def gate_inputs(self) -> FloatArray:
        """What the angles of a layer depend on, for samples, then centroids: shape (B + M, A)."""
        inputs = self.inputs()
        rows = np.concatenate([inputs.samples, inputs.centroids])
        ones = np.ones(self.layer.weights_shape, np.float32)
        return self.layer.angles(rows, ones, 0 * ones)

    def by_layer(self, parameters: FloatArray) -> FloatArray:
        """Weights or biases in the order of the gates, a row for each layer: shape (L, A)."""
        return parameters.reshape(self.n_layers, -1)


@dataclass(frozen=True, kw_only=True)
class IqpProblem(MapProblem):
    """H, then RZ(w·x + b) on all qubits and RZZ(w·x·x' + b) on all pairs."""

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.n_qubits), 2))

    @property
    def layer(self) -> Circuit:
        qubits = range(self.n_qubits)
        products = [w * x[p] * x[q] + b for p, q in self.pairs]
        plain = Circuit(self.n_qubits, self.n_qubits).h(qubits).rz(qubits, [w * x[q] + b for q in qubits])
        return plain.rzz(self.pairs, products)


@dataclass(frozen=True, kw_only=True)
class HardwareEfficientProblem(MapProblem):
    """RY(w·x + b) and RZ(w·x + b) on all qubits, then CZ between neighbours on a ring."""

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        return ring(self.n_qubits)

    @property
    def layer(self) -> Circuit:
        qubits = range(self.n_qubits)
        plain = Circuit(self.n_qubits, self.n_qubits)
        for name in ("ry", "rz"):
            plain = getattr(plain, name)(qubits, [w * x[q] + b for q in qubits])
        return plain.cz(self.pairs)
