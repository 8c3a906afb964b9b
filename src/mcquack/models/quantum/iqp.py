"""A variational circuit behind an embedding by an instantaneous quantum polynomial circuit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.angles import b, x
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import Constraints, Whole
from mcquack.models.quantum.base import OneCircuitForEachClass, Scaler, Shapes
from mcquack.simulators.gates import GateEngine
from mcquack.training.drawn import MeasuredCircuit
from mcquack.training.draws import KeyStream, uniform

MOST_BYTES = 1 << 30  # of embedded samples; where they would take more, they are embedded anew for each batch


def entangling_layers(circuit: Circuit, n_layers: int, entangler: str) -> Circuit:
    """Layers of Rot on every qubit and of gates between qubits that lie one further apart in each layer."""
    n = circuit.n_qubits
    for layer in range(n_layers):
        circuit = circuit.rot(range(n), b, b, b)
        if n > 1:
            apart = layer % (n - 1) + 1
            circuit = getattr(circuit, entangler)([(qubit, (qubit + apart) % n) for qubit in range(n)])
    return circuit


@dataclass(eq=False, repr=False)
class IQPVariationalClassifier(OneCircuitForEachClass):
    """Features and their products are phases between Hadamard gates; a trained circuit and the parity Z₀Z₁ follow.

    The model of Havlíček and others (arXiv:1804.11326) as the QML benchmark suite (Bowles, Ahmed and Schuld 2024) has
    it: RZ(x_i) and exp(-i/2 x_i x_j ZZ) on all pairs, then layers of Rot and CZ, and the loss (1 - y ⟨Z₀Z₁⟩) / 2. For
    more than two classes, a circuit is trained for each of them against all others. One feature alone is given a
    second one that is zero, as a parity takes two qubits.

    The embedding has no parameters: all samples are embedded before training, if they fit into a gibibyte.

    Parameters
    ----------
    n_layers : trained layers.
    repeats : how often the embedding is repeated.
    n_components : each feature takes a qubit; more features than this are replaced by as many principal components.
    learning_rate, batch_size, max_steps, convergence_interval, class_weight, dtype, random_state : as in
        :class:`DressedQuantumCircuitClassifier`.
    scaling : factor on the features, which are scaled to [-π/2, π/2] first.

    Attributes
    ----------
    params_ : weights (L, n, 3), of more than two classes (M, L, n, 3). All others are those of
        :class:`DressedQuantumCircuitClassifier`.

    Examples
    --------
    >>> from mcquack import datasets
    >>> from mcquack.models import IQPVariationalClassifier
    >>> data = datasets.load("linearly_separable_4")
    >>> model = IQPVariationalClassifier(n_layers=5, learning_rate=0.05, random_state=0).fit(*data.train)
    >>> bool(model.score(*data.train) > 0.7)
    True
    """

    _constraints: ClassVar[Constraints] = {"repeats": Whole(1, most=1000)}
    _scaler: ClassVar[Scaler] = "angles"

    n_layers: int = 10
    repeats: int = 1
    _: KW_ONLY

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        return {"weights": (self.n_layers, max(2, n_inputs), 3)}

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        return {"weights": 2 * np.pi * uniform(int(keys.take(1)[0]), shapes["weights"])}

    def _embedding(self, n_inputs: int) -> Circuit:
        n = max(2, n_inputs)
        pairs = list(combinations(range(n), 2))
        products = [x[left] * x[right] for left, right in pairs]
        once = Circuit(n, n).h(range(n)).rz(range(n), [x[qubit] for qubit in range(n)]).rzz(pairs, products)
        return once.repeated(self.repeats)

    def _is_stored(self, n_rows: int, n_inputs: int) -> bool:
        return n_rows * 2 * self._dtype.itemsize << max(2, n_inputs) <= MOST_BYTES

    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        stored = self._is_stored(n_rows, n_inputs)
        before = Circuit(max(2, n_inputs), 1) if stored else self._embedding(n_inputs)
        circuit = entangling_layers(before, self.n_layers, "cz")
        return MeasuredCircuit(
            circuit=circuit,
            start="stored" if stored else "zeros",
            observables=(("z", (0, 1)),),
            head="linear",
            n_parameters=circuit.n_bias,
        )

    def _starts(self, rows: FloatArray) -> FloatArray:
        padded = np.pad(rows, ((0, 0), (0, max(0, 2 - rows.shape[1]))))
        if not self._is_stored(*rows.shape):
            return padded
        engine = GateEngine(self._embedding(rows.shape[1]), dtype=self._dtype)
        states = engine.statevectors(engine.encode(padded, np.zeros(0), np.zeros(0)))
        return states.view(self._dtype).reshape(len(rows), 2 * states.shape[1])
