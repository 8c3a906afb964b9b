"""Any circuit on the simulators of Qiskit and PennyLane, gate by gate, sharing no angle and no matrix with mcquack."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pennylane as qml
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from qiskit.circuit.library import UnitaryGate
from qiskit.quantum_info import Operator, Pauli, Statevector

from mcquack.arrays import FloatArray
from mcquack.circuits import Angle, Circuit, Gate

ComplexArray = NDArray[np.complexfloating[Any, Any]]
Turns = list[list[float]]  # the angles of every gate

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "x": lambda x: x,
    "pi_minus": lambda x: math.pi - x,
    "arcsin": lambda x: math.asin(min(1.0, max(-1.0, x))),
    "arccos": lambda x: math.acos(min(1.0, max(-1.0, x))),
    "arctan": math.atan,
}

_QISKIT = {"cnot": "cx"}

_PENNYLANE: dict[str, Any] = {
    "rx": qml.RX, "ry": qml.RY, "rz": qml.RZ, "rot": qml.Rot, "rxx": qml.IsingXX, "ryy": qml.IsingYY,
    "rzz": qml.IsingZZ, "crx": qml.CRX, "cry": qml.CRY, "crz": qml.CRZ, "h": qml.Hadamard, "x": qml.X, "y": qml.Y,
    "z": qml.Z, "s": qml.S, "t": qml.T, "sx": qml.SX, "cnot": qml.CNOT, "cz": qml.CZ, "cy": qml.CY, "swap": qml.SWAP,
}  # fmt: skip


def product_of_inputs(angle: Angle, x: FloatArray) -> float:
    """t(x)."""
    return math.prod(_FUNCTIONS[name](float(x[feature])) for name, feature in angle.inputs)


def turn(angle: Angle, x: FloatArray, weights: FloatArray, bias: FloatArray) -> float:
    """factor · w · t(x) + bias_factor · b + offset, as its docstring says."""
    found = angle.offset
    if angle.inputs:
        weight = 1.0 if angle.weight is None else float(weights.flat[angle.weight])  # type: ignore[index]
        found += angle.factor * weight * product_of_inputs(angle, x)
    if angle.bias is not None:
        found += angle.bias_factor * float(bias.flat[angle.bias])  # type: ignore[index]
    return found


def turns(circuit: Circuit, x: FloatArray, weights: FloatArray, bias: FloatArray) -> Turns:
    return [[turn(angle, x, weights, bias) for angle in gate.angles] for gate in circuit.gates]


def start(circuit: Circuit, x: FloatArray) -> ComplexArray:
    """|0…0⟩, or the features as amplitudes."""
    state: ComplexArray = np.zeros(2**circuit.n_qubits, dtype=complex)
    if circuit.start == "amplitudes":
        state[:] = circuit.padding
        state[: len(x)] = x
        if np.any(state):
            return state / np.complex128(math.sqrt(float(np.sum(np.abs(state) ** 2))))
    state[0] = 1
    return state


def qiskit_circuit(circuit: Circuit, angles: Turns) -> QuantumCircuit:
    """Qubits are counted from the other end, so that a state has the order of mcquack."""
    found, last = QuantumCircuit(circuit.n_qubits), circuit.n_qubits - 1
    for gate, own in zip(circuit.gates, angles, strict=True):
        places = [last - qubit for qubit in gate.qubits]
        if gate.name == "unitary":
            found.append(UnitaryGate(np.array(gate.matrix)), places[::-1])
        elif gate.name == "rot":
            found.rz(own[0], *places)
            found.ry(own[1], *places)
            found.rz(own[2], *places)
        else:
            getattr(found, _QISKIT.get(gate.name, gate.name))(*own, *places)
    return found


def qiskit_state(circuit: Circuit, x: FloatArray, angles: Turns) -> ComplexArray:
    return np.asarray(Statevector(start(circuit, x)).evolve(qiskit_circuit(circuit, angles)).data)


def qiskit_states(circuit: Circuit, X: FloatArray, weights: FloatArray, bias: FloatArray) -> ComplexArray:
    """States (N, 2**n) with their phase."""
    return np.array([qiskit_state(circuit, x, turns(circuit, x, weights, bias)) for x in X])


def pennylane_states(circuit: Circuit, X: FloatArray, weights: FloatArray, bias: FloatArray) -> ComplexArray:
    """States (N, 2**n) with their phase, on default.qubit."""
    wires = list(range(circuit.n_qubits))
    tapes = [
        qml.tape.QuantumScript(
            [
                qml.StatePrep(start(circuit, x), wires=wires),
                *_operations(circuit.gates, turns(circuit, x, weights, bias)),
            ],
            [qml.state()],
        )
        for x in X
    ]
    return np.array(qml.device("default.qubit", wires=wires).execute(tapes))


def _operations(gates: Sequence[Gate], angles: Turns) -> Iterator[Any]:
    for gate, own in zip(gates, angles, strict=True):
        if gate.name == "unitary":
            yield qml.QubitUnitary(np.array(gate.matrix), wires=gate.qubits)
        else:
            yield _PENNYLANE[gate.name](*own, wires=gate.qubits)


def kernel_of_states(left: ComplexArray, right: ComplexArray) -> FloatArray:
    """|⟨right|left⟩|² for every pair; no product of matrices wakes the threads of BLAS."""
    return np.array([[abs(np.sum(c.conj() * x)) ** 2 for c in right] for x in left]).reshape(len(left), len(right))


def qiskit_hamming(
    circuit: Circuit, X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray
) -> FloatArray:
    """Probabilities of 0 to n ones in U†(c) U(x)|0…0⟩, (N, M, n + 1)."""
    ones = np.array([index.bit_count() for index in range(2**circuit.n_qubits)])
    found = np.zeros((len(X), len(centroids), circuit.n_qubits + 1))
    for column, c in enumerate(centroids):
        undo = Operator(qiskit_circuit(circuit, turns(circuit, c, weights, bias)).inverse())
        for row, state in enumerate(qiskit_states(circuit, X, weights, bias)):
            chances = Statevector(state).evolve(undo).probabilities()
            found[row, column] = np.bincount(ones, weights=chances, minlength=circuit.n_qubits + 1)
    return found


def qiskit_expectations(states: ComplexArray, observables: Sequence[int | Sequence[int]]) -> FloatArray:
    """⟨Z⟩ of a qubit, or of the product over several, of every state: (N, O)."""
    n_qubits = states.shape[1].bit_length() - 1
    found = np.empty((len(states), len(observables)))
    for column, observable in enumerate(observables):
        measured = [observable] if isinstance(observable, int) else observable
        pauli = Pauli("".join("Z" if qubit in measured else "I" for qubit in range(n_qubits)))
        found[:, column] = [Statevector(state).expectation_value(pauli).real for state in states]
    return found


def shifted_slopes(circuit: Circuit, angles: Turns, value: Callable[[Turns], float]) -> list[list[float]]:
    """The derivatives by all angles of a circuit, by the rules of two shifts, and of four for controlled rotations."""
    found = []
    for gate_number, (gate, own) in enumerate(zip(circuit.gates, angles, strict=True)):

        def moved(place: int, by: float, at: int = gate_number) -> float:
            changed = [list(each) for each in angles]
            changed[at][place] += by
            return value(changed)

        def difference(place: int, by: float, moved: Callable[[int, float], float] = moved) -> float:
            return moved(place, by) - moved(place, -by)

        half, root = math.pi / 2, math.sqrt(2)
        if gate.name in ("crx", "cry", "crz"):
            near, far = (root + 1) / (4 * root), (root - 1) / (4 * root)
            found.append([near * difference(at, half) - far * difference(at, 3 * half) for at in range(len(own))])
        else:
            found.append([difference(at, half) / 2 for at in range(len(own))])
    return found


def steep_slope(function: Callable[[FloatArray], float], at: FloatArray, direction: FloatArray) -> float:
    """Derivative along a direction by central differences of eighth order, for functions that turn many times."""
    step = 1e-3 / max(1.0, float(np.abs(direction).max()))
    parts = (
        factor * (function(at + times * step * direction) - function(at - times * step * direction))
        for times, factor in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    )
    return sum(parts) / step
