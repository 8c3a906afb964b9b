"""For how many qubits a device has rings."""

from collections.abc import Sequence

from mcquack.checks import required_count
from mcquack.errors import LayoutError
from mcquack.hardware.layout.coupling import Coupling
from mcquack.hardware.layout.cycles import cycle_lengths
from mcquack.hardware.layout.growing import grown_lengths
from mcquack.hardware.layout.sweep import TooManyStatesError
from mcquack.hardware.layout.usable import FAULTY, cyclic_part, usable_graph


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
