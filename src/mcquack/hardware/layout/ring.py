"""The best ring of a device for so many qubits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.errors import LayoutError
from mcquack.hardware.layout.coupling import Coupling, idle_steps
from mcquack.hardware.layout.cycles import TooManyStatesError, best_cycle, cycle_lengths
from mcquack.hardware.layout.growing import Graph, cannot_be_better, grown_cycle, grown_lengths, numbered_cycle
from mcquack.hardware.layout.properties import COST_OF_A_FAULT, FAULTY, cyclic_part, usable_graph

# For how many qubits a device has rings.


def ring_lengths(
    coupling: Coupling, *, max_error: float = FAULTY, n_layers: int = 2, allow_faulty: bool = False
) -> tuple[int, ...]:
    """For how many qubits there is a ring, ascending; 1 is a qubit, and 2 a coupler.

    A circuit of one layer has no CNOTs, so that any qubits do. On a device with very many couplers, where no exact
    search is possible, these are the lengths that a search step by step finds.
    """
    graph = usable_graph(coupling, max_error=max_error, with_faulty=allow_faulty)
    if required_count("n_layers", n_layers) == 1:
        return tuple(range(1, len(graph) + 1))
    small = [1] * bool(graph) + [2] * any(graph.values())
    cyclic = cyclic_part(graph)
    try:
        return (*small, *cycle_lengths(cyclic))
    except TooManyStatesError:
        return (*small, *grown_lengths(cyclic))


def no_such_ring(coupling: Coupling, length: int, *, max_error: float, n_layers: int) -> LayoutError:
    """What to raise where there is no ring of this length: it says which there are, with and without faults."""
    every = ring_lengths(coupling, max_error=max_error, n_layers=n_layers, allow_faulty=True)
    good = ring_lengths(coupling, max_error=max_error, n_layers=n_layers)
    if length in every:
        others = f"another number of qubits ({listed(good)}), " if good else ""
        return LayoutError(
            f"every ring of {length} qubits on {coupling.name} has couplers or qubits with an error of {max_error:g} "
            f"or more. Choose {others}a higher max_error, or allow faulty ones."
        )
    faultless = f"without faulty ones of {listed(good)}" if good else "none without faulty ones"
    without = "" if every == good else f", and {faultless}"
    return LayoutError(
        f"{coupling.name} has no ring of {length} qubits, but rings of {listed(every)}{without}. Choose one of these "
        "lengths, or another device."
    )


def listed(lengths: Sequence[int]) -> str:
    """Ascending numbers as text; four or more that are equally far apart are told by their ends."""
    parts: list[str] = []
    rest = list(lengths)
    while rest:
        n_even = 1
        while n_even < len(rest) and rest[n_even] - rest[n_even - 1] == rest[1] - rest[0]:
            n_even += 1
        step = rest[1] - rest[0] if n_even > 1 else 1
        if n_even < 4:
            n_even = 1
        parts.append(
            str(rest[0])
            if n_even == 1
            else f"{rest[0]} to {rest[n_even - 1]}" + (f" in steps of {step}" if step > 1 else "")
        )
        rest = rest[n_even:]
    return ", ".join(parts) or "none"


@dataclass(frozen=True, kw_only=True)
class Ring:
    """Qubits of a device of which each is coupled to the next and the last to the first; the first is qubit 0.

    ``log_success`` is the logarithm of the estimated chance of a run without any error; ``notes`` say what else is to
    be known of the ring, such as faulty couplers in it.
    """

    qubits: tuple[int, ...]
    log_success: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.qubits)

    @property
    def success(self) -> float:
        """The estimated chance of a run without any error."""
        return math.exp(self.log_success)


def best_ring(
    coupling: Coupling, length: int, *, max_error: float = FAULTY, n_layers: int = 2, allow_faulty: bool = False
) -> Ring:
    """The ring of ``length`` qubits on which U†(c) U(x) most likely runs without an error, by the last calibration.

    No qubit or coupler with an error of ``max_error`` or more is in it; if there is no such ring and faulty ones are
    allowed, it has as few of them as can be. It starts where the qubits that wait longest wait best. The choice is
    exact, with the mean waiting time for all; on a device with too many couplers for that, the notes say so. A circuit
    of one layer has no CNOTs and gets the best qubits, wherever they are.
    """
    length, n_layers = required_count("length", length), required_count("n_layers", n_layers)
    for with_faulty in (False, True) if allow_faulty else (False,):
        graph = usable_graph(coupling, max_error=max_error, with_faulty=with_faulty, n_layers=n_layers)
        weights = _qubit_weights(coupling, length, max_error=max_error, n_layers=n_layers)
        found, is_best = _best_cycle(graph, weights, length) if n_layers > 1 else _best_qubits(graph, weights, length)
        if found is not None:
            qubits = _turned(found, coupling.idle_errors_per_step, n_layers=n_layers)
            notes = _fault_notes(coupling, qubits, max_error=max_error, n_layers=n_layers)
            if not is_best:
                notes = (*notes, f"{coupling.name} has too many couplers to compare all rings: a better one may exist")
            return Ring(qubits=qubits, log_success=coupling.log_success(qubits, n_layers=n_layers), notes=notes)
    raise no_such_ring(coupling, length, max_error=max_error, n_layers=n_layers)


Found = tuple[list[int] | None, bool]
"""Qubits in the order of their ring, and whether there are surely none better."""


def _best_cycle(graph: Graph, weights: dict[int, float], length: int) -> Found:
    if length == 1:
        return _best_qubits(graph, weights, length)
    if length == 2:
        return _best_pair(graph, weights), True
    graph = cyclic_part(graph)
    # On a simulator without errors every ring is as good, so it may be one that is easy to read.
    numbered = numbered_cycle(graph, weights, length)
    if numbered is not None and cannot_be_better(numbered, graph, weights):
        return numbered, True
    try:
        return best_cycle(graph, weights, length), True
    except TooManyStatesError:
        found = grown_cycle(graph, weights, length)
        return found, found is not None and cannot_be_better(found, graph, weights)


def _best_pair(graph: Graph, weights: dict[int, float]) -> list[int] | None:
    """Both CNOTs of a ring of two qubits are on the same coupler."""
    totals = {
        (first, second): 2 * score + weights[first] + weights[second]
        for first, others in graph.items()
        for second, score in others.items()
        if first < second
    }
    if not totals:
        return None
    best = max(totals, key=totals.__getitem__)
    return [*best]


def _best_qubits(graph: Graph, weights: dict[int, float], length: int) -> Found:
    best = sorted(graph, key=lambda qubit: (-weights[qubit], qubit))[:length]
    return (sorted(best) if len(best) == length else None), True


def _qubit_weights(coupling: Coupling, length: int, *, max_error: float, n_layers: int) -> dict[int, float]:
    """The scores of qubits, each waiting for the mean time: where a ring starts is decided when it is known."""
    waiting = idle_steps(length, n_layers=n_layers).mean() * coupling.idle_errors_per_step
    weights = dict(enumerate((coupling.qubit_scores(n_layers) - waiting).tolist()))
    for qubit in coupling.faulty_qubits(max_error):
        weights[qubit] -= COST_OF_A_FAULT
    return weights


def _turned(cycle: Sequence[int], idle_errors: FloatArray, *, n_layers: int) -> tuple[int, ...]:
    """The ring from the start, and in the direction, that make waiting cost the least.

    If that makes no difference, it starts at its smallest qubit, towards the smaller neighbour of that.
    """
    steps = idle_steps(len(cycle), n_layers=n_layers)
    places = (np.arange(len(cycle))[:, None] + np.arange(len(cycle))) % len(cycle)
    turns = np.array(cycle)[np.concatenate([places, places[:, ::-1]])]
    costs = idle_errors[turns] @ steps
    # Equal costs may differ by rounding.
    return tuple(min(turns[costs <= costs.min() * (1 + 1e-12)].tolist()))


def _fault_notes(coupling: Coupling, ring: Sequence[int], *, max_error: float, n_layers: int) -> tuple[str, ...]:
    used = {coupling.edges[place] for place in coupling.ring_couplers(ring)} if n_layers > 1 else set()
    faults = {
        "coupler": [f"{first}–{second}" for first, second in sorted(used & set(coupling.faulty_couplers(max_error)))],
        "qubit": [str(qubit) for qubit in sorted(set(ring) & set(coupling.faulty_qubits(max_error)))],
    }
    return tuple(
        f"faulty {noun}{'s' * (len(names) > 1)} in the ring: {', '.join(names)}"
        for noun, names in faults.items()
        if names
    )
