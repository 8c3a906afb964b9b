"""Lists of gates as circuits of Qiskit."""

from collections.abc import Iterable
from typing import Any

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister

from mcquack.hardware.circuit.gates import Gate

MEASURED = "meas"


def assembled(gates: Iterable[Gate[Any]], n_qubits: int, *, name: str, measured: bool) -> QuantumCircuit:
    """The gates in their order, and then, if it is to be measured, all qubits into the register "meas"."""
    circuit = QuantumCircuit(QuantumRegister(n_qubits, "q"), name=name)
    for gate in gates:
        angle = () if gate.angle is None else (gate.angle,)
        getattr(circuit, gate.name)(*angle, *gate.qubits)
    if measured:
        circuit.add_register(ClassicalRegister(n_qubits, MEASURED))
        # Qubits that are done wait for the others: reading some while gates act on their neighbours would disturb
        # these, and twirling of measurements takes them in one layer.
        circuit.barrier()
        circuit.measure(range(n_qubits), range(n_qubits))
    return circuit
