"""Amplitudes, and a circuit that is a tree."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.angles import b
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import Constraints, Whole
from mcquack.models.quantum.base import (
    OneCircuitForEachClass,
    Padding,
    amplitude_bits,
    normalised,
)
from mcquack.training.drawn import MeasuredCircuit
from mcquack.training.draws import KeyStream, normal, uniform


@dataclass(eq=False, repr=False)
class TreeTensorClassifier(OneCircuitForEachClass):
    """Features are the amplitudes of a state; RY gates and CNOTs gather it, two qubits by two, in the first one.

    The model of Grant and others (arXiv:1804.03680) as the QML benchmark suite (Bowles, Ahmed and Schuld 2024) has it:
    f = ⟨Z₀⟩ + b and the loss (f - y)². For more than two classes, a circuit is trained for each of them against all
    others. Amplitudes that no feature has are filled up with 1/2**n. Where there are none of these, x and -x are the
    same state and cannot be told apart; so one is made room for, unless ``padding`` says otherwise.

    The code of the suite compares, within a chunk of a batch, the output of every sample with the label of every other
    one, and then learns the mean label; its scores on mnist_pca with n = 2 to 5 were made so. Here a sample is compared
    with its own label.

    Parameters
    ----------
    padding : "always" has one amplitude at least that no feature has; "fill" has none where the features are 2, 4 or
        16, as the suite.
    learning_rate, batch_size, max_steps, convergence_interval, class_weight, dtype, random_state : as in
        :class:`DressedQuantumCircuitClassifier`.
    n_components : more features than this are replaced by as many principal components; eight qubits hold 255.
    scaling : factor on the features, which are not scaled otherwise.

    Attributes
    ----------
    params_ : weights (2n - 1,) and bias (1,) for n qubits, of more than two classes (M, 2n - 1) and (M, 1). All others
        are those of :class:`DressedQuantumCircuitClassifier`.

    Examples
    --------
    >>> from mcquack import datasets
    >>> from mcquack.models import TreeTensorClassifier
    >>> data = datasets.load("hidden_manifold_10")
    >>> model = TreeTensorClassifier(random_state=0).fit(*data.train)
    >>> model.n_parameters_
    8
    """

    _constraints: ClassVar[Constraints] = {"n_components": Whole(1, most=255)}

    learning_rate: float = 0.01
    _: KW_ONLY
    padding: Padding = "always"
    n_components: int = 255

    def _n_qubits(self, n_inputs: int) -> int:
        """The first power of two that is enough qubits for so many amplitudes."""
        return 1 << (amplitude_bits(n_inputs, self.padding) - 1).bit_length()

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> dict[str, tuple[int, ...]]:
        return {"weights": (2 * self._n_qubits(n_inputs) - 1,), "bias": (1,)}

    def _initial_parameters(self, keys: KeyStream, n_inputs: int, n_classes: int) -> dict[str, FloatArray]:
        of_weights, of_bias = keys.take(2).tolist()
        shape = self._parameter_shapes(n_inputs, n_classes)["weights"]
        return {"weights": 2 * np.pi * uniform(of_weights, shape), "bias": 0.1 * normal(of_bias, (1,))}

    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        n = self._n_qubits(n_inputs)
        circuit = Circuit(n, 1)
        apart = 1
        while apart < n:
            circuit = circuit.ry(range(0, n, apart), b)
            circuit = circuit.cnot([(qubit + apart, qubit) for qubit in range(0, n, 2 * apart)])
            apart *= 2
        circuit = circuit.ry(0, b)
        return MeasuredCircuit(
            circuit=circuit,
            start="real pairs",
            observables=(("z", (0,)),),
            head="squares",
            n_parameters=circuit.n_bias + 1,
            head_at=circuit.n_bias,
        )

    def _starts(self, rows: FloatArray) -> FloatArray:
        return normalised(rows, size=1 << self._n_qubits(rows.shape[1]))

    def _outputs(self, measured: FloatArray) -> FloatArray:
        return np.asarray(measured[..., 0] + self.parameters_[:, -1:])
