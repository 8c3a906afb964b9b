"""Errors and times along a ring, complete enough to simulate it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from mcquack.checks import is_number, require
from mcquack.hardware.layout.coupling import Coupling, Known, median
from mcquack.hardware.layout.growing import Graph

# What of a device a ring may pass.

FAULTY = 0.5
"""The error from which on a qubit or a coupler counts as faulty, unless another is given."""

COST_OF_A_FAULT = 1e6
"""Far more than all errors of a ring can cost together, so that the number of faults counts first."""


def usable_graph(coupling: Coupling, *, max_error: float, with_faulty: bool, n_layers: int = 2) -> Graph:
    """The qubits and couplers of a device with the scores of these, less the price of a fault."""
    # Not-a-number is in no range.
    require(is_number(max_error) and 0 < max_error <= math.inf, "max_error", "a number above 0", max_error)
    faulty_qubits = set(coupling.faulty_qubits(max_error))
    faulty_couplers = set(coupling.faulty_couplers(max_error))
    graph: dict[int, dict[int, float]] = {
        qubit: {} for qubit in range(coupling.n_qubits) if with_faulty or qubit not in faulty_qubits
    }
    for (first, second), score in zip(coupling.edges, coupling.coupler_scores(n_layers).tolist(), strict=True):
        is_faulty = (first, second) in faulty_couplers
        if first in graph and second in graph and (with_faulty or not is_faulty):
            graph[first][second] = graph[second][first] = score - COST_OF_A_FAULT * is_faulty
    return graph


def cyclic_part(graph: Graph) -> Graph:
    """What is left of a graph if the ends of paths are taken away until there are none: no cycle passes them."""
    neighbours = {vertex: dict(others) for vertex, others in graph.items()}
    ends = [vertex for vertex, others in neighbours.items() if len(others) < 2]
    while ends:
        end = ends.pop()
        for other in neighbours.pop(end):
            del neighbours[other][end]
            if len(neighbours[other]) == 1:
                ends.append(other)
    return neighbours


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


class RingProperties(NamedTuple):
    """One number for each qubit of a ring by the names that ``DeviceCalibration`` takes, and what was replaced.

    Number q of ``two_qubit_error`` and ``two_qubit_us`` is of the coupler between the qubits q and q+1 of the ring.
    """

    values: dict[str, tuple[float, ...]]
    notes: tuple[str, ...]


def properties_along(coupling: Coupling, ring: Sequence[int], *, n_layers: int = 2) -> RingProperties:
    """The numbers of a ring; in place of a fault, or of what is not known, stands the median of the good ones.

    A circuit of one layer uses no couplers, so that any qubits will do; the medians stand in their places, too.
    """
    qubits = coupling.ring_qubits(ring)
    couplers = coupling.ring_couplers(qubits) if n_layers > 1 else ()
    values: dict[str, tuple[float, ...]] = {}
    notes: list[str] = []
    for field in _NAMES:
        of_device: Known = getattr(coupling, field)
        usual = _usual(field, of_device)
        places = couplers if field.startswith("two_qubit") else qubits
        good = [_good(field, of_device[place]) for place in places]
        # Where there are no couplers, a calibration wants their numbers nevertheless.
        values[field] = tuple(usual if value is None else value for value in good) or (usual,) * len(qubits)
        bad = sorted({place for place, value in zip(places, good, strict=True) if value is None})
        if bad:
            notes.append(_note(coupling, field, bad, usual))
    t1, t2 = values["t1_us"], values["t2_us"]
    # Measured on different days, T2 may seem to be more than twice T1, which is in no qubit.
    values["t2_us"] = tuple(min(t2, 2 * t1) for t1, t2 in zip(t1, t2, strict=True))
    return RingProperties(values, tuple(notes))


def _good(field: str, value: float | None) -> float | None:
    """The value, unless it is a fault."""
    is_faulty = value is not None and field.endswith("error") and value >= FAULTY
    return None if is_faulty else value


def _usual(field: str, of_device: Known) -> float:
    """The median of the good ones; no error, and times that change nothing, if there are none."""
    return median(
        tuple(_good(field, value) for value in of_device), otherwise=math.inf if field in ("t1_us", "t2_us") else 0.0
    )


def _note(coupling: Coupling, field: str, bad: Sequence[int], usual: float) -> str:
    counted = f"{usual:.3g}{' µs' * field.endswith('us')}"
    if all(value is None for value in getattr(coupling, field)):
        return f"{coupling.name} does not tell the {_NAMES[field]}, which counts as {counted}"
    if field.startswith("two_qubit"):
        where = ", ".join(f"{first}–{second}" for first, second in (coupling.edges[place] for place in bad))
        noun = "coupler"
    else:
        where, noun = ", ".join(map(str, bad)), "qubit"
    return (
        f"{_NAMES[field]} of the {noun}{'s' * (len(bad) > 1)} {where} is faulty or unknown and counts as the median, "
        f"{counted}"
    )
