"""What is known of a device that a ring is to be laid on: its couplers, its errors and its times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.errors import InvalidInputError, LayoutError

# How likely it is that no error happens at all, piece by piece, so that the logarithms of the pieces add up. A gate
# with the average error e on d dimensions applies the right operation with the chance 1 - e (d + 1) / d, and some
# Pauli error otherwise. A waiting qubit suffers Pauli errors at the rate 1/(4 T1) + 1/(2 T2), as its twirled
# relaxation and dephasing are.

# With these a gate leaves nothing of its input, and reading is a toss of a coin; no error can be worse.
LARGEST_SX_ERROR = 0.5
LARGEST_TWO_QUBIT_ERROR = 0.75
LARGEST_READOUT_ERROR = 0.5


def coupler_log_success(errors: FloatArray, *, n_layers: int) -> FloatArray:
    """Of all CNOTs between two neighbours: one in each of the 2 (L - 1) rings."""
    log_success: FloatArray = 2 * (n_layers - 1) * np.log1p(-np.minimum(errors, LARGEST_TWO_QUBIT_ERROR) * 5 / 4)
    return log_success


def qubit_log_success(sx_errors: FloatArray, readout_errors: FloatArray, *, n_layers: int) -> FloatArray:
    """Of the pulses on a qubit, two in each of 2L - 1 rotations and one with each CNOT onto it, and of its readout."""
    n_pulses = 2 * (2 * n_layers - 1) + 2 * (n_layers - 1)
    pulses = n_pulses * np.log1p(-np.minimum(sx_errors, LARGEST_SX_ERROR) * 3 / 2)
    log_success: FloatArray = pulses + np.log1p(-np.minimum(readout_errors, LARGEST_READOUT_ERROR))
    return log_success


def idle_rates(t1_us: FloatArray, t2_us: FloatArray) -> FloatArray:
    """Errors in a microsecond of waiting; times that are infinite bring none."""
    rates: FloatArray = 1 / (4 * t1_us) + 1 / (2 * t2_us)
    return rates


def idle_steps(length: int, *, n_layers: int) -> FloatArray:
    """For how many CNOTs each qubit of a ring waits, by its place in it.

    The CNOTs of a ring follow one another, for each shares a qubit with the next, and so do the rings. A qubit waits
    from its first CNOT to the common readout, except while one of its own is run.
    """
    n_rings = 2 * (n_layers - 1)
    if length == 1 or n_rings == 0:
        return np.zeros(length)
    first = np.maximum(np.arange(length) - 1, 0)
    steps: FloatArray = (n_rings * (length - 2) - first).astype(np.float64)
    return steps


Known = tuple[float | None, ...]

_PER_COUPLER = ("two_qubit_error", "two_qubit_us")
_PER_QUBIT = ("sx_error", "readout_error", "t1_us", "t2_us", "sx_us", "readout_us")
_EXPECTED = {
    "error": "between 0 and 1",
    "coherence": "above 0 (microseconds; infinity for none)",
    "duration": "finite and at least 0 (microseconds)",
}


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """The qubits of a device and the pairs of them that a gate can act on, either way round.

    Errors are average gate infidelities, or chances of reading the wrong bit; a fault is often reported as an error
    of 1. Times are microseconds. Numbers of couplers are in the order of ``edges``, those of qubits in that of the
    qubits; None is what nobody measured, and an empty field is None for all.
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
        for names, size in ((_PER_COUPLER, len(edges)), (_PER_QUBIT, self.n_qubits)):
            for name in names:
                object.__setattr__(self, name, _plain_values(name, getattr(self, name), size))

    @cached_property
    def couplers(self) -> dict[tuple[int, int], int]:
        """The place of each coupler in ``edges``, by its qubits, the smaller first."""
        return {edge: place for place, edge in enumerate(self.edges)}

    def coupler(self, first: int, second: int) -> int | None:
        """The place of the coupler between two qubits in ``edges``, or None if there is none."""
        return self.couplers.get((min(first, second), max(first, second)))

    def faulty_couplers(self, max_error: float) -> tuple[tuple[int, int], ...]:
        """Those whose error is known to be at least ``max_error``."""
        errors = zip(self.edges, self.two_qubit_error, strict=True)
        return tuple(edge for edge, error in errors if error is not None and error >= max_error)

    def faulty_qubits(self, max_error: float) -> tuple[int, ...]:
        """Those whose SX or readout is known to err at least as often as ``max_error``."""
        errors = zip(self.sx_error, self.readout_error, strict=True)
        return tuple(
            qubit
            for qubit, of_qubit in enumerate(errors)
            if any(error is not None and error >= max_error for error in of_qubit)
        )

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
            raise LayoutError(
                f"a ring on {self.name} must be of different qubits between 0 and {self.n_qubits - 1}, "
                f"got {_told(qubits)}."
            )
        return qubits

    def log_success(self, ring: Sequence[int], *, n_layers: int = 2) -> float:
        """The natural logarithm of the chance that U†(c) U(x) runs on the ring without any error, as an estimate.

        What is not known counts as the median of what is, and as no error if nothing is. Only circuits of more than one
        layer need couplers.
        """
        n_layers = required_count("n_layers", n_layers)
        couplers = self.ring_couplers(ring) if n_layers > 1 else ()
        qubits = np.array(self.ring_qubits(ring), dtype=np.intp)
        waiting = idle_steps(len(qubits), n_layers=n_layers) @ self.idle_errors_per_step[qubits]
        gates = self.coupler_scores(n_layers)[list(couplers)].sum() + self.qubit_scores(n_layers)[qubits].sum()
        return float(gates - waiting)

    def coupler_scores(self, n_layers: int) -> FloatArray:
        """What a ring gains, in ``log_success``, from each coupler in it."""
        return coupler_log_success(filled(self.two_qubit_error, otherwise=0.0), n_layers=n_layers)

    def qubit_scores(self, n_layers: int) -> FloatArray:
        """What a ring gains from each qubit in it, waiting aside."""
        sx, readout = (filled(errors, otherwise=0.0) for errors in (self.sx_error, self.readout_error))
        return qubit_log_success(sx, readout, n_layers=n_layers)

    @property
    def idle_errors_per_step(self) -> FloatArray:
        """How often each qubit errs while it waits for the CNOT of two others, which takes the median time of one."""
        t1, t2 = (filled(times, otherwise=math.inf) for times in (self.t1_us, self.t2_us))
        return idle_rates(t1, t2) * (median(self.two_qubit_us, otherwise=0.0) + median(self.sx_us, otherwise=0.0))


def median(values: Known, *, otherwise: float) -> float:
    """Of those that are known; ``otherwise`` if none is."""
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else otherwise


def filled(values: Known, *, otherwise: float) -> FloatArray:
    """Known ones as they are, the median in place of the others."""
    usual = median(values, otherwise=otherwise)
    return np.array([usual if value is None else value for value in values], dtype=np.float64)


def _plain_edge(edge: Sequence[int], n_qubits: int) -> tuple[int, int]:
    fits = len(edge) == 2 and all(is_whole_number(qubit) and 0 <= qubit < n_qubits for qubit in edge)
    require(fits and edge[0] != edge[1], "a coupler", f"two different qubits between 0 and {n_qubits - 1}", edge)
    return int(min(edge)), int(max(edge))


def _plain_values(name: str, values: Sequence[float | None], size: int) -> Known:
    """Floats and None."""
    if len(values) not in (0, size):
        what = "coupler" if name in _PER_COUPLER else "qubit"
        raise InvalidInputError(f"{name} must have one number for each {what}, {size}, or none; got {len(values)}.")
    for place, value in enumerate(values):
        require(value is None or _fits(name, value), f"{name}[{place}]", f"{_EXPECTED[_kind(name)]}, or None", value)
    return tuple(None if value is None else float(value) for value in values) or (None,) * size


def _fits(name: str, value: float) -> bool:
    if not is_number(value):
        return False
    match _kind(name):
        case "error":
            return 0 <= value <= 1
        case "coherence":
            return value > 0
        case _:
            return 0 <= value < math.inf


def _kind(name: str) -> str:
    return "error" if name.endswith("error") else "coherence" if name in ("t1_us", "t2_us") else "duration"


def _told(qubits: Sequence[int], most: int = 12) -> str:
    shown = ", ".join(map(str, qubits[:most]))
    return f"[{shown}{', …' if len(qubits) > most else ''}]"
