"""A quantum circuit between two layers of weights."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.circuits.angles import b
from mcquack.circuits.circuit import Circuit
from mcquack.kernels.fidelity import with_winner_first
from mcquack.models.classical.base import softmax
from mcquack.models.quantum.base import MeasuredClassifier, Scaler, Shapes
from mcquack.training.drawn import MeasuredCircuit
from mcquack.training.draws import KeyStream, normal, uniform


@dataclass(eq=False, repr=False)
class DressedQuantumCircuitClassifier(MeasuredClassifier):
    """Features pass a layer of weights, a circuit, and another layer of weights that gives the logits.

    The angles are π/2 tanh(W x), one for each qubit; H and RY encode them; layers of RY and a ring of CNOTs follow; ⟨Z⟩
    of every qubit goes through the second layer into a softmax cross entropy. The model of Mari and others
    (arXiv:1912.08278) as the QML benchmark suite (Bowles, Ahmed and Schuld 2024) has it, for any number of classes.

    All numbers in the circuit are real, and one layer is a product of cosines: that is computed, not simulated.

    Parameters
    ----------
    n_layers : layers of the circuit.
    learning_rate : of Adam.
    batch_size : samples in a batch, drawn with replacement.
    max_steps : steps at most, a batch each.
    convergence_interval : training ends when the mean loss of the last so many steps differs from that of as many
        before by less than half its standard error; None never ends early.
    n_components : each feature takes a qubit; more features than this are replaced by as many principal components.
    scaling : factor on the features, which are scaled to mean 0 and variance 1 first.
    class_weight : None, "balanced" or a weight for each class: how often its samples are drawn.
    dtype : "float64" as the suite has it, or "float32", which takes half the time.
    random_state : decides the first parameters and the batches: a whole number gives those of the suite.

    Attributes
    ----------
    params_ : circuit_weights (L, n), input_weights (n, n) and output_weights (M, n).
    parameters_ : all of them in one row (1, P). n_parameters_ : their number.
    losses_ : of every step, of several circuits a list of these; files have them only if they are resumable.
    n_iter_ : how many steps were taken, of several circuits the most. n_steps_ : those of each.
    converged_ : whether the loss had settled.
    history_ : for every hundred steps a row with the mean loss.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn. preparation_ : how features are scaled.

    Examples
    --------
    >>> from mcquack import datasets
    >>> from mcquack.models import DressedQuantumCircuitClassifier
    >>> data = datasets.load("linearly_separable_3")
    >>> model = DressedQuantumCircuitClassifier(n_layers=1, learning_rate=0.1, random_state=0).fit(*data.train)
    >>> bool(model.score(*data.test) > 0.9)
    True
    """

    _scaler: ClassVar[Scaler] = "standard"

    n_layers: int = 3
    _: KW_ONLY
    max_steps: int = 100_000

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        return {
            "circuit_weights": (self.n_layers, n_inputs),
            "input_weights": (n_inputs, n_inputs),
            "output_weights": (n_classes, n_inputs),
        }

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        of_circuit, of_input, of_output = keys.take(3).tolist()
        n_inputs, _ = shapes["input_weights"]
        return {
            "circuit_weights": 2 * np.pi * uniform(of_circuit, shapes["circuit_weights"]),
            "input_weights": normal(of_input, shapes["input_weights"]) / n_inputs,
            "output_weights": normal(of_output, shapes["output_weights"]) / n_inputs,
        }

    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        n, n_layers = n_inputs, self.n_layers
        # H, RY(a) and the RY of the first layer are the start; what follows begins with the first ring.
        ring = [(qubit, (qubit + 1) % n) for qubit in range(n if n > 2 else n - 1)]
        circuit = Circuit(n, 1).cnot(ring)
        for _ in range(1, n_layers):
            circuit = circuit.ry(range(n), b).cnot(ring)
        weights_at = n_layers * n
        return MeasuredCircuit(
            circuit=circuit,
            start="products" if n_layers > 1 else "products alone",
            observables=tuple(("z", (qubit,)) for qubit in range(n)),
            head="cross entropy",
            ideals=np.zeros((n_classes, 1)),
            n_parameters=weights_at + n * n + n_classes * n,
            bias_at=n,
            weights_at=weights_at,
            head_at=weights_at + n * n,
        )

    def _scores(self, rows: FloatArray) -> FloatArray:
        outputs: FloatArray = self._measured(rows)[0] @ self.params_["output_weights"].T
        return outputs

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """The softmax of the logits (N, M)."""
        scores = self._scored(X)
        return with_winner_first(scores.argmax(axis=1), softmax(scores.astype(np.float64)))
