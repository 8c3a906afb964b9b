"""The errors of a ring for Aer: its own model, or the same errors as Pauli channels, which large rings can afford."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Delay
from qiskit.transpiler import PassManager, Target
from qiskit.transpiler.passes import ALAPScheduleAnalysis, PadDelay, TimeUnitConversion
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, QuantumError, ReadoutError, depolarizing_error, pauli_error

from mcquack.hardware.services.options import Noise
from mcquack.hardware.services.ring_device import RingDevice

_MICROSECONDS = 1e6
Change = Callable[[QuantumCircuit], QuantumCircuit]


def noise_model(device: RingDevice, noise: Noise) -> NoiseModel | None:
    """The errors of gates and of the readout; those of waiting qubits are ``idle_noise``."""
    if noise == "none":
        return None
    if noise == "full":
        return NoiseModel.from_backend(AerSimulator(target=device.target))
    values = device.properties.values
    model = NoiseModel()
    for qubit, (sx_error, readout_error) in enumerate(zip(values["sx_error"], values["readout_error"], strict=True)):
        pulse = depolarizing_error(_depolarizing(sx_error, n_qubits=1), 1)
        model.add_quantum_error(pulse, ["sx", "x"], [qubit])
        right, wrong = 1 - readout_error, readout_error
        model.add_readout_error(ReadoutError([[right, wrong], [wrong, right]]), [qubit])
    for pair in device.pairs:
        error = _depolarizing(values["two_qubit_error"][device.coupler(pair)], n_qubits=2)
        model.add_quantum_error(depolarizing_error(error, 2), device.two_qubit_gate, list(pair))
    return model


def idle_noise(device: RingDevice, noise: Noise) -> Change:
    """What puts the waiting times into a circuit: as delays for Aer's own model, or as the Pauli errors that happen."""
    target = device.target
    values = device.properties.values
    keeps_coherence = all(math.isinf(time) for name in ("t1_us", "t2_us") for time in values[name])
    if noise == "none" or keeps_coherence:
        return lambda circuit: circuit
    if noise == "full":
        return lambda circuit: scheduled(circuit, target)

    # By qubit and time, so that Aer gets each error once.
    @cache
    def error(qubit: int, microseconds: float) -> QuantumError:
        return relaxation(microseconds, t1_us=values["t1_us"][qubit], t2_us=values["t2_us"][qubit])

    def with_errors(circuit: QuantumCircuit) -> QuantumCircuit:
        timed = scheduled(circuit, target)
        noisy = timed.copy_empty_like()
        started: set[int] = set()
        for instruction in timed.data:
            qubits = [timed.find_bit(qubit).index for qubit in instruction.qubits]
            if isinstance(instruction.operation, Delay):
                # Before its first gate a qubit is in its ground state, where nothing happens to it.
                if qubits[0] in started:
                    time = _microseconds(instruction.operation, target)
                    noisy.append(error(qubits[0], time), instruction.qubits)
                continue
            if instruction.operation.name != "barrier":
                started.update(qubits)
            noisy.append(instruction)
        return noisy

    return with_errors


def scheduled(circuit: QuantumCircuit, target: Target) -> QuantumCircuit:
    """The circuit with every wait as a delay, and every gate as late as possible, as devices do."""
    passes = [TimeUnitConversion(target=target), ALAPScheduleAnalysis(target=target), PadDelay(target=target)]
    return PassManager(passes).run(circuit)


def relaxation(microseconds: float, *, t1_us: float, t2_us: float) -> QuantumError:
    """Relaxation and dephasing over some time, twirled over the Paulis."""
    coherence, population = np.exp(-microseconds / t2_us), np.exp(-microseconds / t1_us)
    flip = (1 - population) / 4
    phase = max((1 - 2 * coherence + population) / 4, 0.0)  # rounding may leave less than nothing
    return pauli_error([("X", flip), ("Y", flip), ("Z", phase), ("I", 1 - 2 * flip - phase)])


def _depolarizing(error: float, *, n_qubits: int) -> float:
    """The weight of the fully mixed state in a gate of this average infidelity."""
    dimension = 2**n_qubits
    return float(error * dimension / (dimension - 1))


def _microseconds(delay: Delay, target: Target) -> float:
    scale = {"dt": target.dt, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[delay.unit]
    return float(delay.duration * scale * _MICROSECONDS)
