"""Features that go into the circuit again in every layer."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.angles import b, w, x
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import Constraints, OneOf, Whole
from mcquack.models.quantum.base import MeasuredClassifier, Scaler, Shapes
from mcquack.training.drawn import MeasuredCircuit, Pauli
from mcquack.training.draws import KeyStream, uniform

# Directions on the Bloch sphere that lie as far apart as they can: in one axis, in a plane, in space.
_ROOT = math.sqrt(3)
_DIRECTIONS: dict[int, list[list[float]]] = {
    2: [[-1.0], [1.0]],
    3: [[1.0, 0.0], [-0.5, _ROOT / 2], [-0.5, -_ROOT / 2]],
    4: [[each / _ROOT for each in corner] for corner in ([1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1])],
    6: [[0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]],
}
_AXES: dict[int, tuple[Literal["x", "y", "z"], ...]] = {1: ("z",), 2: ("z", "x"), 3: ("x", "y", "z")}


def directions_of(n_classes: int) -> FloatArray:
    """Return where the classes are on the Bloch sphere (M, A)."""
    return np.array(_DIRECTIONS[6 if n_classes == 5 else n_classes][:n_classes], dtype=np.float64)


@dataclass(eq=False, repr=False)
class DataReuploadingClassifier(MeasuredClassifier):
    """Every layer turns each qubit by three features times weights, plus biases; CZ gates stand between the layers.

    A class is a state of one qubit, and training brings some qubits close to the state of each sample's class. The
    model of Pérez-Salinas and others (arXiv:1907.02085) as the QML benchmark suite (Bowles, Ahmed and Schuld 2024) has
    it. Two classes are the poles of the Bloch sphere, as in the suite; three are a triangle, four a tetrahedron, five
    and six corners of an octahedron. For more than six, a circuit is trained for each class against all others.

    Parameters
    ----------
    n_layers : layers of the circuit, before a last turn of all qubits.
    observable_type : how many qubits are measured: "single" one, "half" half of them, "full" all.
    circuit : "published" turns a qubit by Rot(ω x + θ), which gives the scores that were published. "shipped" turns it
        by Rot(ω x) and then by Rot(θ), as the code of the suite does that is public; it gives other scores.
    learning_rate, batch_size, max_steps, convergence_interval, class_weight, dtype, random_state : as in
        :class:`DressedQuantumCircuitClassifier`.
    n_components : more features than this are replaced by as many principal components; three take a qubit.
    scaling : factor on the features, which are scaled to [-π/2, π/2] first.

    Attributes
    ----------
    params_ : omegas (L + 1, 3q), thetas (q, L + 1, 3) for q qubits, and alphas (M, v), the weights of the fidelities
        of v measured qubits in the loss. All others are those of :class:`DressedQuantumCircuitClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import DataReuploadingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DataReuploadingClassifier(n_layers=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _constraints: ClassVar[Constraints] = {
        "observable_type": OneOf("single", "half", "full"),
        "circuit": OneOf("published", "shipped"),
        "n_components": Whole(1, most=60),  # three for each qubit
    }
    _scaler: ClassVar[Scaler] = "angles"
    _key_bound: ClassVar[int] = 10**5

    n_layers: int = 4
    observable_type: Literal["single", "half", "full"] = "single"
    _: KW_ONLY
    circuit: Literal["published", "shipped"] = "published"
    learning_rate: float = 0.05
    n_components: int = 36

    @property
    def params_(self) -> dict[str, FloatArray]:
        """The trained parameters by name; where a circuit is trained for each class, one after the other."""
        named = super().params_
        return {**named, "thetas": np.swapaxes(named["thetas"], -3, -2)}

    def _n_circuits(self, n_inputs: int, n_classes: int) -> int:
        return 1 if n_classes <= 6 else n_classes

    def _n_measured(self, n_qubits: int) -> int:
        return {"single": 1, "half": max(1, n_qubits // 2), "full": n_qubits}[self.observable_type]

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        n_qubits = -(-n_inputs // 3)
        return {
            "omegas": (self.n_layers + 1, 3 * n_qubits),
            "thetas": (self.n_layers + 1, n_qubits, 3),
            "alphas": (self._n_separated(n_inputs, n_classes), self._n_measured(n_qubits)),
        }

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        if self.circuit == "shipped":
            keys.take(2)  # it draws all parameters twice, and the first are never used
        of_thetas, of_omegas = keys.take(2).tolist()
        n_layers, n_qubits, _ = shapes["thetas"]
        return {
            "omegas": uniform(of_omegas, shapes["omegas"]),
            "thetas": uniform(of_thetas, (n_qubits, n_layers, 3)).transpose(1, 0, 2),
            "alphas": np.ones(shapes["alphas"]),
        }

    def _model(self, n_inputs: int, n_classes: int, n_rows: int) -> MeasuredCircuit:
        n = -(-n_inputs // 3)
        circuit = Circuit(n, 3 * n)
        for layer in range(self.n_layers + 1):
            is_last = layer == self.n_layers
            for qubit in range(n):
                scaled = [w * x[3 * qubit + place] for place in range(3)]
                if self.circuit == "published" or is_last:
                    circuit = circuit.rot(qubit, *(angle + b for angle in scaled))
                else:
                    circuit = circuit.rot(qubit, *scaled).rot(qubit, b, b, b)
            if not is_last:
                circuit = circuit.cz([(qubit, qubit + 1) for qubit in range(layer % 2, n - 1, 2)])
        n_of_circuit = 3 * n * (self.n_layers + 1)
        shapes = self._parameter_shapes(n_inputs, n_classes)
        n_separated, n_measured = shapes["alphas"]
        ideals = directions_of(n_separated)
        axes = _AXES[ideals.shape[1]]
        observables: tuple[Pauli, ...] = tuple((axis, (qubit,)) for qubit in range(n_measured) for axis in axes)
        return MeasuredCircuit(
            circuit=circuit,
            observables=observables,
            head="fidelities",
            ideals=ideals,
            n_parameters=2 * n_of_circuit + math.prod(shapes["alphas"]),
            bias_at=n_of_circuit,
            head_at=2 * n_of_circuit,
        )

    def _starts(self, rows: FloatArray) -> FloatArray:
        return np.pad(rows, ((0, 0), (0, -rows.shape[1] % 3)))

    def _scores(self, rows: FloatArray) -> FloatArray:
        """The mean fidelity of the measured qubits with the state of each class."""
        measured = self._measured(rows)
        directions = directions_of(2 if len(measured) > 1 else len(self.classes_))
        along = measured.reshape(*measured.shape[:2], -1, directions.shape[1]).mean(axis=2)  # (K, N, A)
        fidelities = (1 + along @ directions.T) / 2  # (K, N, M)
        return np.asarray(fidelities[..., 1].T if len(measured) > 1 else fidelities[0])
