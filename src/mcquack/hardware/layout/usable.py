"""What of a device a ring may pass."""

import math

from mcquack.checks import is_number, require
from mcquack.hardware.layout.coupling import Coupling
from mcquack.hardware.layout.ordering import Graph

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
