"""When a device runs the gates of U†(c) U(x) for two layers, and how long each qubit waits meanwhile.

A device that knows CZ makes a CNOT of it with a Hadamard before and after on the target, and these merge with the
rotations beside them. So each qubit has five rotations with a CZ between any two: R₁(x), a Hadamard between the two
CNOTs of the first ring, R₂†(c) R₂(x), a Hadamard between those of the second, and R₁†(c). The rings are sequential: the
CZ of q and q+1 waits for the one before it.
"""

from dataclasses import dataclass

import numpy as np

from mcquack.simulators.noise.calibration import DeviceCalibration, FloatArray

# A rotation takes two SX pulses, a Hadamard one; turns about z are made by the clock and cost nothing.
SX_PULSES = (2, 1, 2, 1, 2)


@dataclass(frozen=True, eq=False)
class RingSchedule:
    """Waiting times, all of which lie between a CZ and the rotation after it."""

    idle_us: FloatArray  # (5, n): before each of the rotations
    duration_us: float  # from the first gate to the end of the readout


def ring_schedule(calibration: DeviceCalibration, n_qubits: int) -> RingSchedule:
    """Every gate as late as possible before the common readout: a qubit in its ground state waits at no risk.

    Such is the default of devices, too. Nothing is counted before a qubit's first rotation.
    """
    sx = calibration.per_qubit("sx_us", n_qubits)
    two_qubit = calibration.per_qubit("two_qubit_us", n_qubits)
    pulses = np.array(SX_PULSES)
    # From the end: there, as late as possible is as soon as possible.
    rotation = np.full(n_qubits, len(pulses) - 1)
    busy = pulses[-1] * sx
    idle = np.zeros((len(pulses), n_qubits))
    for coupler in _couplers_from_the_end(n_qubits):
        pair = np.array([coupler, (coupler + 1) % n_qubits])
        start = busy[pair].max()
        idle[rotation[pair], pair] = start - busy[pair]
        rotation[pair] -= 1
        busy[pair] = start + two_qubit[coupler] + pulses[rotation[pair]] * sx[pair]
    return RingSchedule(idle, float(busy.max() + calibration.per_qubit("readout_us", n_qubits).max()))


def _couplers_from_the_end(n_qubits: int) -> list[int]:
    """The second ring undoes the first, so that its last CZ is the first one's first; a single qubit has none."""
    ring = list(range(n_qubits)) if n_qubits > 1 else []
    return [*ring, *reversed(ring)]
