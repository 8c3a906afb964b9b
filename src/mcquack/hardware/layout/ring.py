"""The best ring of a device for so many qubits, and for how many qubits there is one."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mcquack.checks import is_number, require, required_count
from mcquack.errors import LayoutError, LayoutWarning, Setting
from mcquack.hardware.layout import cycles
from mcquack.hardware.layout.coupling import FAULTY, Coupling, idle_steps, properties_along
from mcquack.hardware.layout.cycles import Graph, TooManyStatesError

# Far more than all errors of a ring can cost together, so that the number of faults counts first.
_COST_OF_A_FAULT = 1e6


@dataclass(frozen=True, kw_only=True)
class Ring:
    """Qubits of a device in the order of the circuit's, each coupled to the next and the last to the first."""

    qubits: tuple[int, ...]
    log_success: float
    notes: tuple[str, ...] = ()  # what else is to be known of it, such as faulty couplers in it

    def __len__(self) -> int:
        return len(self.qubits)

    @property
    def success(self) -> float:
        return math.exp(self.log_success)


def best_ring(
    coupling: Coupling, length: int, *, max_error: float = FAULTY, n_layers: int = 2, allow_faulty: bool = False
) -> Ring:
    """The ring of ``length`` qubits on which U†(c) U(x) most likely runs without an error, by the last calibration.

    It starts where the qubits that wait longest wait best. The choice is exact, with the mean waiting time for all; on
    a device with too many couplers for that, the notes say so. A circuit of one layer has no CNOTs and gets the best
    qubits, wherever they are.

    Parameters
    ----------
    coupling : the device.
    length, n_layers : how many qubits the ring has, and how many layers the feature map.
    max_error : no qubit or coupler with such an error or a larger one is in the ring.
    allow_faulty : whether to take a ring with as few faults as can be if there is none without.

    Raises
    ------
    LayoutError
        If there is no such ring; it says for how many qubits there are rings.

    Examples
    --------
    >>> square = Coupling(name="square", n_qubits=5, edges=((0, 1), (1, 2), (2, 3), (3, 0), (3, 4)))
    >>> best_ring(square, 4).qubits
    (0, 1, 2, 3)
    """
    length, n_layers = required_count("length", length), required_count("n_layers", n_layers)
    # Each qubit waits for the mean time: where a ring starts is decided when it is known.
    waiting = idle_steps(length, n_layers=n_layers).mean() * coupling.idle_errors_per_step
    weights = dict(enumerate((coupling.qubit_scores(n_layers) - waiting).tolist()))
    for with_faulty in (False, True) if allow_faulty else (False,):
        graph = usable_graph(coupling, max_error=max_error, with_faulty=with_faulty, n_layers=n_layers)
        costs = dict.fromkeys(coupling.faulty_qubits(max_error), _COST_OF_A_FAULT)
        scores = {qubit: weights[qubit] - costs.get(qubit, 0.0) for qubit in graph}
        found, is_best = _best_qubits(graph, scores, length, as_ring=n_layers > 1)
        if found is not None:
            qubits = _turned(found, coupling, n_layers=n_layers)
            notes = _fault_notes(coupling, qubits, max_error=max_error, n_layers=n_layers)
            if not is_best:
                notes.append(f"{coupling.name} has too many couplers to compare all rings: a better one may exist")
            log_success = coupling.log_success(qubits, n_layers=n_layers)
            return Ring(qubits=qubits, log_success=log_success, notes=tuple(notes))
    raise _no_such_ring(coupling, length, max_error=max_error, n_layers=n_layers)


def simulated_ring(
    coupling: Coupling, length: int, *, max_error: float = FAULTY, n_layers: int = 2, allow_faulty: bool = False
) -> Ring:
    """The ring of ``best_ring`` for a simulation of the device, which is refused none for faults.

    A simulation can do without the faults of a device: ``properties_along`` puts the median of the others in their
    place. Whoever rehearses is therefore given the ring with the fewest faults if there is none without.

    Parameters
    ----------
    coupling, length, max_error, n_layers : as for ``best_ring``.
    allow_faulty : whether faults are expected, so that nobody is warned of them.

    Warns
    -----
    LayoutWarning
        If there are faults in the ring and they were not allowed; it says what took their place.

    Examples
    --------
    >>> from dataclasses import replace
    >>> square = Coupling(name="square", n_qubits=4, edges=((0, 1), (1, 2), (2, 3), (3, 0)))
    >>> broken = replace(square, two_qubit_error=(0.01, 1.0, 0.01, 0.01))
    >>> simulated_ring(broken, 4, allow_faulty=True).notes
    ('faulty coupler in the ring: 1–2',)
    """
    ring = best_ring(coupling, length, max_error=max_error, n_layers=n_layers, allow_faulty=True)
    faults = _fault_notes(coupling, ring.qubits, max_error=max_error, n_layers=n_layers)
    if faults and not allow_faulty:
        replaced = properties_along(coupling, ring.qubits, n_layers=n_layers).notes
        told = "; ".join((*faults, *replaced))
        warnings.warn(
            f"every ring of {length} qubits on {coupling.name} has couplers or qubits with an error of {max_error:g} "
            f"or more, and the simulation takes the one with the fewest: {told}. On the device itself such a ring is "
            "refused unless faults are allowed.",
            LayoutWarning,
            stacklevel=2,
        )
    return ring


def ring_lengths(
    coupling: Coupling, *, max_error: float = FAULTY, n_layers: int = 2, allow_faulty: bool = False
) -> tuple[int, ...]:
    """For how many qubits there is a ring, ascending; 1 is a qubit, and 2 a coupler.

    A circuit of one layer has no CNOTs, so that any qubits do. On a device with very many couplers, where no exact
    search is possible, these are the lengths that a search step by step finds.

    >>> ring_lengths(Coupling(name="square", n_qubits=5, edges=((0, 1), (1, 2), (2, 3), (3, 0), (3, 4))))
    (1, 2, 4)
    """
    graph = usable_graph(coupling, max_error=max_error, with_faulty=allow_faulty)
    if required_count("n_layers", n_layers) == 1:
        return tuple(range(1, len(graph) + 1))
    small = [1] * bool(graph) + [2] * any(graph.values())
    cyclic = cycles.cyclic_part(graph)
    try:
        return (*small, *cycles.cycle_lengths(cyclic))
    except TooManyStatesError:
        return (*small, *cycles.grown_lengths(cyclic))


def fits_heavy_hex(length: int) -> bool:
    """Whether a heavy-hex lattice, as most devices of IBM have it, has a ring of so many qubits if it is large enough.

    One cell of the lattice is a ring of 12 qubits, two neighbours are one of 20, and larger groups have 4 more each.
    A qubit alone and a coupler count too, as for ``ring_lengths``.

    >>> [length for length in range(1, 30) if fits_heavy_hex(length)]
    [1, 2, 12, 20, 24, 28]
    """
    return length in (1, 2, 12) or (length >= 20 and length % 4 == 0)


def nearest_lengths(length: int, lengths: Iterable[int]) -> tuple[int, ...]:
    """The next shorter and the next longer one of these lengths, as far as there are such.

    >>> nearest_lengths(16, (1, 2, 12, 20, 24))
    (12, 20)
    """
    known = sorted(lengths)
    shorter = [each for each in known if each < length][-1:]
    return (*shorter, *[each for each in known if each > length][:1])


def usable_graph(coupling: Coupling, *, max_error: float, with_faulty: bool, n_layers: int = 2) -> Graph:
    """The qubits and couplers of a device that a ring may pass, these with their scores, less the price of a fault."""
    # Not-a-number is in no range.
    require(is_number(max_error) and 0 < max_error <= math.inf, "max_error", "a number above 0", max_error)
    faulty_qubits, faulty_couplers = set(coupling.faulty_qubits(max_error)), set(coupling.faulty_couplers(max_error))
    graph: dict[int, dict[int, float]] = {
        qubit: {} for qubit in range(coupling.n_qubits) if with_faulty or qubit not in faulty_qubits
    }
    for (first, second), score in zip(coupling.edges, coupling.coupler_scores(n_layers).tolist(), strict=True):
        is_faulty = (first, second) in faulty_couplers
        if first in graph and second in graph and (with_faulty or not is_faulty):
            graph[first][second] = graph[second][first] = score - _COST_OF_A_FAULT * is_faulty
    return graph


def _best_qubits(
    graph: Graph, weights: dict[int, float], length: int, *, as_ring: bool
) -> tuple[list[int] | None, bool]:
    """Qubits in the order of their ring, if there is one, and whether there are surely none better."""
    if length == 1 or not as_ring:
        best = sorted(graph, key=lambda qubit: (-weights[qubit], qubit))[:length]
        return (sorted(best) if len(best) == length else None), True
    if length == 2:  # both CNOTs of a ring of two qubits are on the same coupler
        pairs = [(first, second) for first, others in graph.items() for second in others if first < second]
        total = {pair: 2 * graph[pair[0]][pair[1]] + weights[pair[0]] + weights[pair[1]] for pair in pairs}
        return ([*max(total, key=total.__getitem__)] if total else None), True
    graph = cycles.cyclic_part(graph)
    # On a simulator without errors every ring is as good, so it may be one that is easy to read.
    numbered = cycles.numbered_cycle(graph, weights, length)
    if numbered is not None and cycles.cannot_be_better(numbered, graph, weights):
        return numbered, True
    try:
        return cycles.best_cycle(graph, weights, length), True
    except TooManyStatesError:
        found = cycles.grown_cycle(graph, weights, length)
        return found, found is not None and cycles.cannot_be_better(found, graph, weights)


def _turned(cycle: Sequence[int], coupling: Coupling, *, n_layers: int) -> tuple[int, ...]:
    """The ring from the start, and in the direction, that make waiting cost the least, or else by its numbers."""
    places = (np.arange(len(cycle))[:, None] + np.arange(len(cycle))) % len(cycle)
    turns = np.array(cycle)[np.concatenate([places, places[:, ::-1]])]
    costs = coupling.idle_errors_per_step[turns] @ idle_steps(len(cycle), n_layers=n_layers)
    # Equal costs may differ by rounding.
    return tuple(min(turns[costs <= costs.min() * (1 + 1e-12)].tolist()))


def _fault_notes(coupling: Coupling, ring: Sequence[int], *, max_error: float, n_layers: int) -> list[str]:
    used = {coupling.edges[place] for place in coupling.ring_couplers(ring)} if n_layers > 1 else set()
    faults = {
        "coupler": [f"{first}–{second}" for first, second in sorted(used & set(coupling.faulty_couplers(max_error)))],
        "qubit": [str(qubit) for qubit in sorted(set(ring) & set(coupling.faulty_qubits(max_error)))],
    }
    return [
        f"faulty {noun}{'s' * (len(names) > 1)} in the ring: {', '.join(names)}"
        for noun, names in faults.items()
        if names
    ]


def _no_such_ring(coupling: Coupling, length: int, *, max_error: float, n_layers: int) -> LayoutError:
    every = ring_lengths(coupling, max_error=max_error, n_layers=n_layers, allow_faulty=True)
    good = ring_lengths(coupling, max_error=max_error, n_layers=n_layers)
    if length in every:
        others = f"another number of qubits ({listed(good)}), " if good else ""
        return LayoutError(
            f"every ring of {length} qubits on {coupling.name} has couplers or qubits with an error of {max_error:g} "
            f"or more. Choose {others}a higher ",
            Setting("max_error"),
            ", or ",
            Setting("allow_faulty", True),
            ".",
        )
    faultless = f"without faulty ones of {listed(good)}" if good else "none without faulty ones"
    without = "" if every == good else f", and {faultless}"
    nearest = " or ".join(map(str, nearest_lengths(length, good or every)))
    return LayoutError(
        f"{coupling.name} has no ring of {length} qubits, but rings of {listed(every)}{without}. Choose one of these "
        f"lengths{f', as {nearest},' if nearest else ','} or another device."
    )


def listed(lengths: Sequence[int]) -> str:
    """Ascending numbers as text; four or more that are equally far apart are told by their ends."""
    parts: list[str] = []
    rest = list(lengths)
    while rest:
        steps = np.diff(rest)
        n_even = int(np.argmax(np.append(steps != steps[:1], True))) + 1
        if n_even >= 4:
            parts.append(f"{rest[0]} to {rest[n_even - 1]}" + f" in steps of {steps[0]}" * int(steps[0] > 1))
        else:
            parts.append(str(rest[0]))
            n_even = 1
        rest = rest[n_even:]
    return ", ".join(parts) or "none"
