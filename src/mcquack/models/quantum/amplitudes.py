"""Models whose features are the amplitudes of a state: a trained circuit on copies of it, and a tree of gates."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.angles import b
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import Constraints, OneOf, Whole
from mcquack.errors import InvalidInputError
from mcquack.models.quantum.base import OneCircuitForEachClass, Shapes
from mcquack.models.quantum.iqp import entangling_layers
from mcquack.training.drawn import MeasuredCircuit
from mcquack.training.draws import KeyStream, normal, uniform

Padding: TypeAlias = Literal["always", "fill"]
_MOST_QUBITS = 20


def normalised(rows: FloatArray, *, size: int) -> FloatArray:
    """Return rows as amplitudes: padded with 1 / size and divided by their norm; rows of norm 0 become |0…0⟩."""
    padded = np.full((len(rows), size), 1 / size)
    padded[:, : rows.shape[1]] = rows
    norms = np.sqrt((padded**2).sum(axis=1, keepdims=True))
    empty = norms[:, 0] < np.finfo(np.float64).tiny
    padded[empty, 0], norms[empty] = 1.0, 1.0
    return np.asarray(padded / norms)


def amplitude_bits(n_inputs: int, padding: Padding) -> int:
    """Return the number of qubits for so many amplitudes, and for one more if padding is "always"."""
    return max(1, (n_inputs - (padding == "fill")).bit_length())


@dataclass(eq=False, repr=False, kw_only=True)
class AmplitudeClassifier(OneCircuitForEachClass):
    """A classifier whose circuit begins with its features as amplitudes, and ends in ⟨Z₀⟩ and a bias."""

    _constraints: ClassVar[Constraints] = {"padding": OneOf(*get_args(Padding))}

    padding: Padding = "always"

    @abstractmethod
    def _n_amplitudes(self, n_inputs: int) -> int:
        """Return the number of amplitudes that so many features are filled up to."""

    def _starts(self, rows: FloatArray) -> FloatArray:
        return normalised(rows, size=self._n_amplitudes(rows.shape[1]))

    def _outputs(self, measured: FloatArray) -> FloatArray:
        return np.asarray(measured[..., 0] + self.parameters_[:, -1:])


@dataclass(eq=False, repr=False)
class CircuitCentricClassifier(AmplitudeClassifier):
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
    n_components: int = 63

    def _n_qubits(self, n_inputs: int) -> int:
        found = self.n_input_copies * amplitude_bits(n_inputs, self.padding)
        if found > _MOST_QUBITS:
            raise InvalidInputError(
                f"{self.n_input_copies} copies of {n_inputs} features take {found} qubits, and {_MOST_QUBITS} can be "
                "simulated; lower n_input_copies."
            )
        return found

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        return {"weights": (self.n_layers, self._n_qubits(n_inputs), 3), "b": (1,)}

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        return {"weights": 2 * np.pi * uniform(int(keys.take(1)[0]), shapes["weights"]), "b": np.full(1, 0.01)}

    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        circuit = entangling_layers(
            Circuit(self._n_qubits(n_inputs), self._n_amplitudes(n_inputs)), self.n_layers, "cnot"
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

    def _n_amplitudes(self, n_inputs: int) -> int:
        return 1 << amplitude_bits(n_inputs, self.padding)


@dataclass(eq=False, repr=False)
class TreeTensorClassifier(AmplitudeClassifier):
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
    n_components: int = 255

    def _n_qubits(self, n_inputs: int) -> int:
        """The first power of two that is enough qubits for so many amplitudes."""
        return 1 << (amplitude_bits(n_inputs, self.padding) - 1).bit_length()

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        return {"weights": (2 * self._n_qubits(n_inputs) - 1,), "bias": (1,)}

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        of_weights, of_bias = keys.take(2).tolist()
        return {"weights": 2 * np.pi * uniform(of_weights, shapes["weights"]), "bias": 0.1 * normal(of_bias, (1,))}

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

    def _n_amplitudes(self, n_inputs: int) -> int:
        return 1 << self._n_qubits(n_inputs)
