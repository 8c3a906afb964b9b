"""Amplitudes, several copies of them, and a trained circuit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import Constraints, Whole
from mcquack.errors import InvalidInputError
from mcquack.models.quantum.base import (
    OneCircuitForEachClass,
    Padding,
    amplitude_bits,
    normalised,
)
from mcquack.models.quantum.iqp import entangling_layers
from mcquack.training.drawn import MeasuredCircuit
from mcquack.training.draws import KeyStream, uniform

_MOST_QUBITS = 20


@dataclass(eq=False, repr=False)
class CircuitCentricClassifier(OneCircuitForEachClass):
    """Features are the amplitudes of a state; copies of it pass a trained circuit that ends in ⟨Z₀⟩ and a bias.

    The model of Schuld and others (arXiv:1804.00633) as the QML benchmark suite (Bowles, Ahmed and Schuld 2024) has it:
    f = ⟨Z₀⟩ + b and the loss ½ (f - y)². For more than two classes, a circuit is trained for each of them against all
    others. Amplitudes that no feature has are filled up with 1/2**m. Where there are none of these, x and -x are the
    same state and cannot be told apart; so one is made room for, unless ``padding`` says otherwise.

    Parameters
    ----------
    n_input_copies : how many copies of the state there are.
    n_layers : layers of Rot on every qubit and CNOTs between them.
    padding : "always" has one amplitude at least that no feature has; "fill" has none where the features are 2, 4, 8 or
        16, as the suite.
    learning_rate, batch_size, max_steps, convergence_interval, class_weight, dtype, random_state : as in
        :class:`DressedQuantumCircuitClassifier`.
    n_components : more features than this are replaced by as many principal components; 2**m - 1 of them take m qubits
        in each copy.
    scaling : factor on the features, which are not scaled otherwise.

    Attributes
    ----------
    params_ : weights (L, n, 3) and b (1,), of more than two classes (M, L, n, 3) and (M, 1). All others are those of
        :class:`DressedQuantumCircuitClassifier`.

    Examples
    --------
    >>> from mcquack import datasets
    >>> from mcquack.models import CircuitCentricClassifier
    >>> data = datasets.load("linearly_separable_3")
    >>> model = CircuitCentricClassifier(learning_rate=0.05, random_state=0).fit(*data.train)
    >>> bool(model.score(*data.test) > 0.9)
    True
    """

    _constraints: ClassVar[Constraints] = {"n_input_copies": Whole(1), "n_components": Whole(1, most=1023)}

    n_input_copies: int = 2
    n_layers: int = 4
    _: KW_ONLY
    padding: Padding = "always"
    n_components: int = 63

    def _n_qubits(self, n_inputs: int) -> int:
        found = self.n_input_copies * amplitude_bits(n_inputs, self.padding)
        if found > _MOST_QUBITS:
            raise InvalidInputError(
                f"{self.n_input_copies} copies of {n_inputs} features take {found} qubits, and {_MOST_QUBITS} can be "
                "simulated; lower n_input_copies."
            )
        return found

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> dict[str, tuple[int, ...]]:
        return {"weights": (self.n_layers, self._n_qubits(n_inputs), 3), "b": (1,)}

    def _initial_parameters(self, keys: KeyStream, n_inputs: int, n_classes: int) -> dict[str, FloatArray]:
        shape = self._parameter_shapes(n_inputs, n_classes)["weights"]
        return {"weights": 2 * np.pi * uniform(int(keys.take(1)[0]), shape), "b": np.full(1, 0.01)}

    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        circuit = entangling_layers(
            Circuit(self._n_qubits(n_inputs), 1 << amplitude_bits(n_inputs, self.padding)), self.n_layers, "cnot"
        )
        return MeasuredCircuit(
            circuit=circuit,
            start="copies",
            n_copies=self.n_input_copies,
            observables=(("z", (0,)),),
            head="squares",
            factor=0.5,
            n_parameters=circuit.n_bias + 1,
            head_at=circuit.n_bias,
        )

    def _starts(self, rows: FloatArray) -> FloatArray:
        return normalised(rows, size=1 << amplitude_bits(rows.shape[1], self.padding))

    def _outputs(self, measured: FloatArray) -> FloatArray:
        return np.asarray(measured[..., 0] + self.parameters_[:, -1:])
