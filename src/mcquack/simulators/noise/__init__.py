"""Noisy runs of shallow circuits on a ring of qubits, shot after shot as a device would give them."""

from mcquack.simulators.noise.calibration import (
    AACHEN,
    NOISELESS,
    PITTSBURGH,
    DeviceCalibration,
    RingSchedule,
    ring_schedule,
)
from mcquack.simulators.noise.trajectories import noisy_hamming_counts

__all__ = [
    "AACHEN",
    "NOISELESS",
    "PITTSBURGH",
    "DeviceCalibration",
    "RingSchedule",
    "noisy_hamming_counts",
    "ring_schedule",
]
