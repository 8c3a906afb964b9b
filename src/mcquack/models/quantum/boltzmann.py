"""Qubits in thermal equilibrium, with fields and couplings that features set."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, get_args

import numpy as np

from mcquack.arrays import FloatArray, IntArray
from mcquack.constraints import Constraints, Number, OneOf, Whole
from mcquack.models.preparation import ClassWeight, Prepared
from mcquack.models.quantum.base import DrawnClassifier, Scaler, Shapes
from mcquack.models.quantum.thermal import BoltzmannMachine, Couplings, Visible
from mcquack.simulators.compiled.team import Team, available_threads
from mcquack.training.drawn import GradientTraining
from mcquack.training.draws import KeyStream, normal


@dataclass(eq=False, repr=False)
class QuantumBoltzmannMachine(DrawnClassifier):
    """Weighted features are the fields and couplings of qubits; their thermal state is measured.

    H = Σ (θ·x) Z + (θ·x) X + Σ (θ·x) ZZ and ρ = exp(-H/T) / Z, as the QML benchmark suite (Bowles, Ahmed and Schuld
    2024) has it; the second of two classes has the probability (1 + f) / 2, where f is the mean of ⟨Z⟩ over the visible
    qubits, and the loss is a cross entropy. Of more than two classes each is a basis state of the first qubits; with
    more visible qubits than one, or too few qubits for the classes, a machine is trained for each class against all
    others.

    Thermal states come from eigendecompositions and their derivatives are exact, so that probabilities near 0 and 1,
    where the suite's code fails, are no trouble. Time grows as 8**n.

    Parameters
    ----------
    visible_qubits : "single" is the first qubit, "half" the first half of them, "full" all.
    temperature : T.
    zz : "shared" has one vector of weights for the couplings of all pairs, as the published scores have; "each" has one
        for every pair, as the model is described.
    n_components : each feature takes a qubit; more features than this are replaced by as many principal components.
    learning_rate, batch_size, max_steps, convergence_interval, class_weight, random_state : as in
        :class:`DressedQuantumCircuitClassifier`.
    scaling : factor on the features, which are scaled to mean 0 and variance 1 first.

    Attributes
    ----------
    params_ : thetas (2n + n(n - 1)/2, n): for each qubit the weights of Z and of X, then those of the couplings, of
        which "shared" uses the first row alone. All others are those of :class:`DressedQuantumCircuitClassifier`.

    Examples
    --------
    >>> from mcquack import datasets
    >>> from mcquack.models import QuantumBoltzmannMachine
    >>> data = datasets.load("linearly_separable_3")
    >>> model = QuantumBoltzmannMachine(learning_rate=0.05, random_state=0).fit(*data.train)
    >>> bool(model.score(*data.test) > 0.9)
    True
    """

    _constraints: ClassVar[Constraints] = {
        "visible_qubits": OneOf(*get_args(Visible)),
        "temperature": Number(1e-6, 1e6, closed="both"),
        "zz": OneOf(*get_args(Couplings)),
        "n_components": Whole(1, most=10),  # matrices of 2**n rows are decomposed
    }
    _scaler: ClassVar[Scaler] = "standard"

    visible_qubits: Visible = "single"
    temperature: float = 1.0
    _: KW_ONLY
    zz: Couplings = "shared"
    n_components: int = 7
    class_weight: ClassWeight = None

    def _n_circuits(self, n_inputs: int, n_classes: int) -> int:
        alone = n_classes == 2 or (self.visible_qubits == "single" and n_classes <= 1 << n_inputs)
        return 1 if alone else n_classes

    def _machine(self, n_inputs: int, n_classes: int) -> BoltzmannMachine:
        return BoltzmannMachine(
            n_qubits=n_inputs,
            n_classes=self._n_separated(n_inputs, n_classes),
            visible_qubits=self.visible_qubits,
            temperature=self.temperature,
            zz=self.zz,
        )

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        return {"thetas": (self._machine(n_inputs, n_classes).n_rows, n_inputs)}

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        return {"thetas": normal(int(keys.take(1)[0]), shapes["thetas"])}

    def _training(self, prepared: Prepared, number: int) -> GradientTraining:
        n_inputs, rows = prepared.n_inputs, prepared.training.X
        machine, labels = self._machine(n_inputs, len(prepared.classes)), self._labels_for(prepared, number)
        team = Team(available_threads(None), patient=True)

        def loss_and_gradient(parameters: FloatArray, order: IntArray) -> tuple[float, FloatArray]:
            theta = parameters.reshape(machine.n_rows, n_inputs)
            loss, gradient = machine.loss_and_gradient(theta, rows[order], labels[order], team=team)
            return loss, gradient.ravel()

        return GradientTraining(loss_and_gradient)

    def _scores(self, rows: FloatArray) -> FloatArray:
        machine = self._machine(rows.shape[1], len(self.classes_))
        found = [
            machine.probabilities(parameters.reshape(machine.n_rows, rows.shape[1]), rows)
            for parameters in self.parameters_
        ]
        return found[0] if len(found) == 1 else np.stack([of_both[:, 1] for of_both in found], axis=1)
