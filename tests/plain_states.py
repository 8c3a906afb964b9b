"""States of any circuit in plain NumPy, gate by gate: slow and short, to compare with."""

import numpy as np

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import gate_matrices
from mcquack.simulators.statevector.hamming import applied, gates_with_angles


def start_states(circuit: Circuit, X: FloatArray) -> ComplexArray:
    """What every sample begins with, (N, 2**n)."""
    if circuit.start == "amplitudes":
        return circuit.amplitudes(X).astype(np.complex128)
    states = np.zeros((len(X), circuit.dimension), dtype=np.complex128)
    states[:, 0] = 1
    return states


def states_of(circuit: Circuit, X: FloatArray, weights: FloatArray, bias: FloatArray) -> ComplexArray:
    """U(x; w, b)|start⟩ of every row, with its phase, in double precision: (N, 2**n)."""
    states = start_states(circuit, X)
    for gate, angles in gates_with_angles(circuit, circuit.angles(X, weights, bias)):
        states = applied(states, gate_matrices(gate, angles), gate.qubits)
    return states
