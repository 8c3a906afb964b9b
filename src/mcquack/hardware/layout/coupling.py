"""What is known of a device that a ring is to be laid on: its couplers, its errors and its times.

A ring is judged by the chance that no error happens at all, piece by piece, so that the logarithms of the pieces add
up. A gate with the average error e on d dimensions applies the right operation with the chance 1 - e (d + 1) / d, and
some Pauli error otherwise. A waiting qubit suffers Pauli errors at the rate 1/(4 T1) + 1/(2 T2), as its twirled
relaxation and dephasing are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.errors import InvalidInputError, LayoutError

Known = tuple[float | None, ...]

FAULTY = 0.5
"""The error from which on a qubit or a coupler counts as faulty, unless another is given."""

# In the order in which a calibration has them, and how they are called in a sentence.
_NAMES = {
    "sx_error": "SX error",
    "two_qubit_error": "two-qubit error",
    "readout_error": "readout error",
    "t1_us": "T1",
    "t2_us": "T2",
    "sx_us": "duration of SX",
    "two_qubit_us": "duration of the two-qubit gate",
    "readout_us": "duration of the readout",
}


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """The qubits of a device and the pairs of them that a gate can act on, either way round.

    Parameters
    ----------
    name : what the device is called.
    n_qubits : how many qubits it has.
    edges : the pairs of qubits with a coupler between them.
    two_qubit_error, sx_error, readout_error : average gate infidelities, and chances of reading the wrong bit; a fault
        is often reported as an error of 1.
    t1_us, t2_us, two_qubit_us, sx_us, readout_us : coherence times and durations in microseconds.

    Numbers of couplers are in the order of ``edges``, those of qubits in that of the qubits; None is what nobody
    measured, and an empty field is None for all.

    Examples
    --------
    >>> triangle = Coupling(name="triangle", n_qubits=3, edges=((0, 1), (1, 2), (2, 0)), two_qubit_error=(0.01,) * 3)
    >>> round(math.exp(triangle.log_success((0, 1, 2))), 3)
    0.927
    """

    name: str
    n_qubits: int
    edges: tuple[tuple[int, int], ...]
    two_qubit_error: Known = ()
    sx_error: Known = ()
    readout_error: Known = ()
    t1_us: Known = ()
    t2_us: Known = ()
    two_qubit_us: Known = ()
    sx_us: Known = ()
    readout_us: Known = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_qubits", required_count("n_qubits", self.n_qubits))
        edges = tuple(_plain_edge(edge, self.n_qubits) for edge in self.edges)
        if len(set(edges)) < len(edges):
            twice = next(edge for edge in edges if edges.count(edge) > 1)
            raise InvalidInputError(f"edges must name each coupler once, got {twice} twice; both ways round are one.")
        object.__setattr__(self, "edges", edges)
        for name in _NAMES:
            object.__setattr__(self, name, self._plain_values(name))

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {edge: place for place, edge in enumerate(self.edges)}

    def coupler(self, first: int, second: int) -> int | None:
        return self._places.get((min(first, second), max(first, second)))

    def faulty_couplers(self, max_error: float) -> tuple[tuple[int, int], ...]:
        errors = zip(self.edges, self.two_qubit_error, strict=True)
        return tuple(edge for edge, error in errors if error is not None and error >= max_error)

    def faulty_qubits(self, max_error: float) -> tuple[int, ...]:
        errors = enumerate(zip(self.sx_error, self.readout_error, strict=True))
        return tuple(qubit for qubit, both in errors if any(e is not None and e >= max_error for e in both))

    def ring_couplers(self, ring: Sequence[int]) -> tuple[int, ...]:
        """The places in ``edges`` of the couplers between the neighbours of a ring; of two qubits, theirs twice."""
        qubits = self.ring_qubits(ring)
        if len(qubits) == 1:
            return ()
        found = []
        for first, second in zip(qubits, [*qubits[1:], qubits[0]], strict=True):
            place = self.coupler(first, second)
            if place is None:
                raise LayoutError(
                    f"{self.name} has no coupler between the qubits {first} and {second}, which are neighbours in the "
                    "given ring; take one from best_ring."
                )
            found.append(place)
        return tuple(found)

    def ring_qubits(self, ring: Sequence[int]) -> list[int]:
        """The qubits of a ring, refused unless they are different ones of this device."""
        qubits = [int(qubit) for qubit in ring]
        if not qubits or len(set(qubits)) < len(qubits) or not set(qubits) <= set(range(self.n_qubits)):
            told = ", ".join([*map(str, qubits[:12]), *["…"][: len(qubits) > 12]])
            raise LayoutError(
                f"a ring on {self.name} must be of different qubits between 0 and {self.n_qubits - 1}, got [{told}]."
            )
        return qubits

    def log_success(self, ring: Sequence[int], *, n_layers: int = 2) -> float:
        """The estimated logarithm of the chance that U†(c) U(x) runs on the ring without any error.

        What is not known counts as the median of what is, and as no error if nothing is. One layer needs no couplers.
        """
        n_layers = required_count("n_layers", n_layers)
        couplers = self.ring_couplers(ring) if n_layers > 1 else ()
        qubits = np.array(self.ring_qubits(ring), dtype=np.intp)
        waiting = idle_steps(len(qubits), n_layers=n_layers) @ self.idle_errors_per_step[qubits]
        gates = self.coupler_scores(n_layers)[list(couplers)].sum() + self.qubit_scores(n_layers)[qubits].sum()
        return float(gates - waiting)

    def coupler_scores(self, n_layers: int) -> FloatArray:
        """What a ring gains, in ``log_success``, from each coupler in it: one CNOT in each of 2 (L - 1) rings."""
        # With an error of 3/4 a gate leaves nothing of its input; no error can be worse.
        errors = np.minimum(_filled(self.two_qubit_error, otherwise=0.0), 0.75)
        return np.asarray(2 * (n_layers - 1) * np.log1p(-errors * 5 / 4))

    def qubit_scores(self, n_layers: int) -> FloatArray:
        """What a ring gains from each qubit in it, waiting aside: its pulses and its readout."""
        # Two pulses in each of 2L - 1 rotations, one with each CNOT onto the qubit. At an error of a half, a pulse
        # leaves nothing of its input and reading is a toss of a coin.
        sx, readout = (np.minimum(_filled(e, otherwise=0.0), 0.5) for e in (self.sx_error, self.readout_error))
        n_pulses = 2 * (2 * n_layers - 1) + 2 * (n_layers - 1)
        return np.asarray(n_pulses * np.log1p(-sx * 3 / 2) + np.log1p(-readout))

    @property
    def idle_errors_per_step(self) -> FloatArray:
        """How often each qubit errs while it waits for the CNOT of two others, which takes the median time of one."""
        t1, t2 = (_filled(times, otherwise=math.inf) for times in (self.t1_us, self.t2_us))
        step_us = _median(self.two_qubit_us, otherwise=0.0) + _median(self.sx_us, otherwise=0.0)
        return (1 / (4 * t1) + 1 / (2 * t2)) * step_us

    def _plain_values(self, name: str) -> Known:
        values: Sequence[float | None] = getattr(self, name)
        what, size = ("coupler", len(self.edges)) if name.startswith("two_qubit") else ("qubit", self.n_qubits)
        if len(values) not in (0, size):
            raise InvalidInputError(f"{name} must have one number for each {what}, {size}, or none; got {len(values)}.")
        for place, value in enumerate(values):
            if value is not None:
                fits, expected = _range(name, value) if is_number(value) else (False, "a number")
                require(fits, f"{name}[{place}]", f"{expected}, or None", value)
        return tuple(None if value is None else float(value) for value in values) or (None,) * size


def _range(name: str, value: float) -> tuple[bool, str]:
    if name.endswith("error"):
        return 0 <= value <= 1, "between 0 and 1"
    if name in ("t1_us", "t2_us"):
        return value > 0, "above 0 (microseconds; infinity for none)"
    return 0 <= value < math.inf, "finite and at least 0 (microseconds)"


def idle_steps(length: int, *, n_layers: int) -> FloatArray:
    """For how many CNOTs each qubit of a ring waits, by its place in it."""
    # The CNOTs of a ring, and the rings, follow one another. A qubit waits from its first CNOT to the common readout,
    # except while one of its own is run.
    n_rings = 2 * (n_layers - 1)
    if length == 1 or n_rings == 0:
        return np.zeros(length)
    first = np.maximum(np.arange(length) - 1, 0)
    return np.asarray(n_rings * (length - 2) - first, dtype=np.float64)


class RingProperties(NamedTuple):
    """One number for each qubit of a ring by the names that ``DeviceCalibration`` takes, and what was replaced."""

    # Number q of "two_qubit_error" and "two_qubit_us" is of the coupler between the qubits q and q+1 of the ring.
    values: dict[str, tuple[float, ...]]
    notes: tuple[str, ...]


def properties_along(coupling: Coupling, ring: Sequence[int], *, n_layers: int = 2) -> RingProperties:
    """The errors and times along a ring, complete enough to simulate it.

    In place of a fault, or of what is not known, stands the median of the good ones; without any, no error and times
    that change nothing.
    """
    qubits = coupling.ring_qubits(ring)
    couplers = coupling.ring_couplers(qubits) if n_layers > 1 else ()
    values: dict[str, tuple[float, ...]] = {}
    notes: list[str] = []
    for name in _NAMES:
        good: Known = getattr(coupling, name)
        if name.endswith("error"):
            good = tuple(None if error is None or error >= FAULTY else error for error in good)
        usual = _median(good, otherwise=math.inf if name in ("t1_us", "t2_us") else 0.0)
        places = couplers if name.startswith("two_qubit") else qubits
        along = [good[place] for place in places]
        # Where there are no couplers, a calibration wants their numbers nevertheless.
        values[name] = tuple(usual if value is None else value for value in along) or (usual,) * len(qubits)
        bad = sorted({place for place, value in zip(places, along, strict=True) if value is None})
        if bad:
            notes.append(_note(coupling, name, bad, usual))
    # Measured on different days, T2 may seem to be more than twice T1, which is in no qubit.
    values["t2_us"] = tuple(min(t2, 2 * t1) for t1, t2 in zip(values["t1_us"], values["t2_us"], strict=True))
    return RingProperties(values, tuple(notes))


def _note(coupling: Coupling, name: str, bad: Sequence[int], usual: float) -> str:
    counted = f"{usual:.3g}{' µs' * name.endswith('us')}"
    if all(value is None for value in getattr(coupling, name)):
        return f"{coupling.name} does not tell the {_NAMES[name]}, which counts as {counted}"
    if name.startswith("two_qubit"):
        noun, where = "coupler", ["{}–{}".format(*coupling.edges[place]) for place in bad]
    else:
        noun, where = "qubit", [str(qubit) for qubit in bad]
    return (
        f"{_NAMES[name]} of the {noun}{'s' * (len(bad) > 1)} {', '.join(where)} is faulty or unknown and counts as the "
        f"median, {counted}"
    )


def _median(values: Sequence[float | None], *, otherwise: float) -> float:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else otherwise


def _filled(values: Known, *, otherwise: float) -> FloatArray:
    usual = _median(values, otherwise=otherwise)
    return np.array([usual if value is None else value for value in values], dtype=np.float64)


def _plain_edge(edge: Sequence[int], n_qubits: int) -> tuple[int, int]:
    fits = len(edge) == 2 and all(is_whole_number(qubit) and 0 <= qubit < n_qubits for qubit in edge)
    require(fits and edge[0] != edge[1], "a coupler", f"two different qubits between 0 and {n_qubits - 1}", edge)
    return int(min(edge)), int(max(edge))
