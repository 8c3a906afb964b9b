"""The circuit U†(c) U(x) as Qiskit compiles and schedules it for a ring of qubits with the gates RZ, SX and CZ."""

import numpy as np
from numpy.typing import NDArray
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Delay, Measure, Parameter
from qiskit.circuit.library import CZGate, RZGate, SXGate
from qiskit.transpiler import InstructionProperties, Target

FloatArray = NDArray[np.float64]


def device(n_qubits: int, *, sx_us: float, two_qubit_us: FloatArray, readout_us: float) -> Target:
    """A ring whose coupler q joins q and q+1, in time steps of a nanosecond."""
    qubits = range(n_qubits)

    def lasting(us: float) -> InstructionProperties:
        return InstructionProperties(duration=us * 1e-6)

    couplers = {(q, (q + 1) % n_qubits): lasting(float(two_qubit_us[q])) for q in qubits}
    target = Target(num_qubits=n_qubits, dt=1e-9)
    target.add_instruction(RZGate(Parameter("angle")), {(q,): lasting(0) for q in qubits})
    target.add_instruction(SXGate(), {(q,): lasting(sx_us) for q in qubits})
    target.add_instruction(CZGate(), couplers | {pair[::-1]: lasts for pair, lasts in couplers.items()})
    target.add_instruction(Measure(), {(q,): lasting(readout_us) for q in qubits})
    target.add_instruction(Delay(Parameter("duration")), {(q,): None for q in qubits})
    return target


def embedding(angles: FloatArray) -> QuantumCircuit:
    """ROT ENT ROT for angles (2, n, 3)."""
    n_qubits = angles.shape[1]
    circuit = QuantumCircuit(n_qubits)
    for layer, of_layer in enumerate(angles):
        for qubit, (phi, theta, omega) in enumerate(of_layer):
            circuit.rz(phi, qubit)
            circuit.ry(theta, qubit)
            circuit.rz(omega, qubit)
        if layer == 0:
            for control in range(n_qubits):
                circuit.cx(control, (control + 1) % n_qubits)
    return circuit


def compiled(sample: FloatArray, centroid: FloatArray, target: Target) -> QuantumCircuit:
    """U†(c) U(x) and a common readout, every gate as late as possible, with delays where qubits wait."""
    circuit = embedding(sample).compose(embedding(centroid).inverse())
    circuit.measure_all()
    return transpile(
        circuit,
        target=target,
        initial_layout=list(range(target.num_qubits)),
        optimization_level=1,
        scheduling_method="alap",
        seed_transpiler=0,
    )


def waiting_us(circuit: QuantumCircuit) -> FloatArray:
    """(5, n): how long each qubit waits before each of its rotations, where a rotation follows a CZ."""
    waiting = np.zeros((5, circuit.num_qubits))
    n_cz = np.zeros(circuit.num_qubits, dtype=int)
    for instruction in circuit.data:
        for qubit in (circuit.find_bit(bit).index for bit in instruction.qubits):
            if instruction.operation.name == "cz":
                n_cz[qubit] += 1
            if instruction.operation.name == "delay" and n_cz[qubit] > 0:
                waiting[n_cz[qubit], qubit] += instruction.operation.duration / 1000
    return waiting
