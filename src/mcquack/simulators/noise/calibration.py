"""How often a device errs, and how long it takes for what it does."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, require
from mcquack.errors import InvalidInputError

PerQubit = float | tuple[float, ...]

# A gate that leaves nothing of its input has the average error (d - 1) / d.
_HIGHEST_ERRORS = {"sx_error": 0.5, "two_qubit_error": 0.75, "readout_error": 0.5}
_COHERENCE_TIMES = ("t1_us", "t2_us")
_DURATIONS = ("sx_us", "two_qubit_us", "readout_us")


@dataclass(frozen=True, kw_only=True)
class DeviceCalibration:
    """Errors, coherence times and durations of a ring of qubits: one number for all, such as a median, or one for each.

    ``sx_error`` and ``two_qubit_error`` are average gate infidelities, as devices report them; number q of the latter,
    and of ``two_qubit_us``, is that of the coupler between the qubits q and q+1 mod n. ``readout_error`` is the chance
    of reading the wrong bit. Times are microseconds. ``t2_us`` is that of an echo, which is how a qubit idles under
    dynamical decoupling. The durations of gates default to those of a Heron processor.
    """

    sx_error: PerQubit
    two_qubit_error: PerQubit
    readout_error: PerQubit
    t1_us: PerQubit
    t2_us: PerQubit
    sx_us: PerQubit = 0.032
    two_qubit_us: PerQubit = 0.088
    readout_us: PerQubit = 2.584

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _plain(field.name, getattr(self, field.name)))
        for name, highest in _HIGHEST_ERRORS.items():
            self._require_range(name, 0.0, highest, f"between 0 and {highest}, where nothing of the input is left")
        for name in _COHERENCE_TIMES:
            self._require_range(name, math.ulp(0.0), math.inf, "above 0 (microseconds; infinity for none)")
        for name in _DURATIONS:
            self._require_range(name, 0.0, math.nextafter(math.inf, 0.0), "finite and at least 0 (microseconds)")
        lengths = {name: len(value) for name, value in vars(self).items() if isinstance(value, tuple)}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} for {length}" for name, length in lengths.items())
            raise InvalidInputError(f"all fields must be for the same qubits, got {told}; use one ring for all.")
        t1, t2 = np.broadcast_arrays(np.array(self.t1_us), np.array(self.t2_us))
        above = np.flatnonzero(t2 > 2 * t1)
        if len(above):
            where = "" if t2.ndim == 0 else f"[{above[0]}]"
            raise InvalidInputError(
                f"t2_us{where} must be at most twice t1_us, as in every qubit, got {t2.flat[above[0]]} with a t1_us of "
                f"{t1.flat[above[0]]}."
            )

    @property
    def n_qubits(self) -> int | None:
        """How many qubits it is for; None if one number serves all, so that it fits any ring."""
        lengths = [len(value) for value in vars(self).values() if isinstance(value, tuple)]
        return lengths[0] if lengths else None

    def scaled(self, factor: float) -> Self:
        """Errors times the factor and coherence times divided by it, durations as they are; 0 takes all noise away."""
        require(is_number(factor) and 0 <= factor < math.inf, "factor", "a finite number of at least 0", factor)
        values = vars(self)
        errors = {name: _each(values[name], lambda value: value * factor) for name in _HIGHEST_ERRORS}
        times = {
            name: _each(values[name], lambda value: value / factor if factor else math.inf) for name in _COHERENCE_TIMES
        }
        return replace(self, **errors, **times)

    def per_qubit(self, name: str, n_qubits: int) -> FloatArray:
        if self.n_qubits not in (None, n_qubits):
            raise InvalidInputError(
                f"the calibration is for {self.n_qubits} qubits, but the circuit has {n_qubits}; give each field one "
                "number for all qubits, or one for each of the circuit's."
            )
        return np.broadcast_to(np.array(getattr(self, name)), (n_qubits,))

    def _require_range(self, name: str, low: float, high: float, expected: str) -> None:
        value: PerQubit = getattr(self, name)
        for position, number in enumerate(value if isinstance(value, tuple) else (value,)):
            where = f"[{position}]" if isinstance(value, tuple) else ""
            require(low <= number <= high, f"{name}{where}", expected, number)


def _plain(name: str, value: Any) -> PerQubit:
    if is_number(value):
        return float(value)
    values = value.tolist() if isinstance(value, np.ndarray) else value
    is_list = isinstance(values, Sequence) and not isinstance(values, str | bytes) and len(values) > 0
    require(is_list and all(map(is_number, values)), name, "a number, or a list of one number for each qubit", value)
    return tuple(map(float, values))


def _each(value: PerQubit, change: Any) -> PerQubit:
    return tuple(map(change, value)) if isinstance(value, tuple) else float(change(value))


NOISELESS = DeviceCalibration(sx_error=0, two_qubit_error=0, readout_error=0, t1_us=math.inf, t2_us=math.inf)

# The medians of the paper's table of its two devices. It gives no durations. Compiled for a published snapshot of
# ibm_pittsburgh, the circuit with 124 qubits lasts 32.8 µs, and 3.4 µs if its CNOTs run side by side: so a CZ and an SX
# together take 120 ns. The snapshot's 88 ns for most couplers and 2,584 ns for reading leave 32 ns for SX, and with
# these the circuit lasts 32.5 µs; its few slower couplers are the rest.
PITTSBURGH = DeviceCalibration(
    sx_error=1.777e-4, two_qubit_error=1.472e-3, readout_error=4.517e-3, t1_us=301.81, t2_us=339.51
)
AACHEN = DeviceCalibration(
    sx_error=1.88e-4, two_qubit_error=1.848e-3, readout_error=7.568e-3, t1_us=219.97, t2_us=195.39
)


# When a device runs the gates of U†(c) U(x) for two layers, and how long each qubit waits meanwhile. A device that
# knows CZ makes a CNOT of it with a Hadamard before and after on the target, and these merge with the rotations
# beside them. So each qubit has five rotations with a CZ between any two: R₁(x), a Hadamard between the two CNOTs of
# the first ring, R₂†(c) R₂(x), a Hadamard between those of the second, and R₁†(c). The rings are sequential: the CZ
# of q and q+1 waits for the one before it.

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
    # The second ring undoes the first, so that its last CZ is the first one's first; a single qubit has none.
    ring = range(n_qubits if n_qubits > 1 else 0)
    for coupler in (*ring, *reversed(ring)):
        pair = np.array([coupler, (coupler + 1) % n_qubits])
        start = busy[pair].max()
        idle[rotation[pair], pair] = start - busy[pair]
        rotation[pair] -= 1
        busy[pair] = start + two_qubit[coupler] + pulses[rotation[pair]] * sx[pair]
    return RingSchedule(idle, float(busy.max() + calibration.per_qubit("readout_us", n_qubits).max()))
