"""The overlap circuit as the paper draws it: to read, and to check the native one with."""

from qiskit import QuantumCircuit

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.circuit.assembly import assembled
from mcquack.hardware.circuit.gates import textbook_gates
from mcquack.hardware.circuit.pair import one_pair


def textbook_circuit(
    circuits: OverlapCircuits, *, sample: int = 0, centroid: int = 0, measured: bool = True
) -> QuantumCircuit:
    """U†(c) U(x) of one pair in RZ, RY and CNOT, nothing merged; qubit 0 is Qiskit's qubit 0."""
    pair = one_pair(circuits, sample=sample, centroid=centroid)
    gates = textbook_gates(pair.samples[0], pair.centroids[0])
    return assembled(gates, circuits.n_qubits, name="mcquack_textbook", measured=measured)
