"""Simple cycles of a wanted length and the largest total weight, exactly and without looking at every cycle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mcquack.hardware.layout.ordering import Graph
from mcquack.hardware.layout.sweep import CLOSED, START, Move, State, Step, TooManyStatesError, sweep

FloatArray = NDArray[np.float64]
Arrivals = dict[State, list[tuple[int, Move]]]

MOST_STATES = 10_000
"""At one step; there are dozens of them on a heavy-hex lattice of 156 qubits, thousands on a square one of 120."""

T = TypeVar("T")


def cycle_lengths(graph: Graph) -> tuple[int, ...]:
    """The numbers of vertices of all simple cycles, ascending."""
    found = 0  # bit l: there is a cycle of l vertices
    reached = {START: 1}  # bit l: there are paths of l vertices together
    for step in sweep(graph):
        following: dict[State, int] = {}
        for state, lengths in reached.items():
            for move in step.moves(state):
                following[move.target] = following.get(move.target, 0) | lengths << move.used
        found |= following.pop(CLOSED, 0)
        reached = _few_enough(following)
    return tuple(length for length in range(found.bit_length()) if found >> length & 1)


def best_cycle(graph: Graph, vertex_weights: Mapping[int, float], length: int) -> list[int] | None:
    """The cycle of this many vertices whose edges and vertices weigh the most together, or None if there is none."""
    states = [START]
    values = np.full((1, length + 1), -np.inf)  # the most that the paths of a state weigh, by their length
    values[0, 0] = 0.0
    layers: list[_Layer] = []
    best, end = -np.inf, None
    for step in sweep(graph):
        arrivals: Arrivals = {}
        for source, state in enumerate(states):
            for move in step.moves(state):
                arrivals.setdefault(move.target, []).append((source, move))
        for source, _ in arrivals.pop(CLOSED, ()):
            value = values[source, length - 1] + vertex_weights[step.vertex]
            if value > best:
                best, end = value, (len(layers), source)
        states = list(_few_enough(arrivals))
        weights = [graph[step.vertex][neighbour] for neighbour in step.forward]
        layer, values = _advanced(step, values, list(arrivals.values()), weights, vertex_weights[step.vertex])
        layers.append(layer)
    if end is None:
        return None
    n_layers, state_before = end
    return _joined(_taken_edges(layers[:n_layers], state_before, length - 1))


@dataclass(frozen=True, eq=False)
class _Layer:
    """The moves of one step to each state, and which of them was the best for each length."""

    step: Step
    arrivals: list[list[tuple[int, Move]]]
    choices: NDArray[np.unsignedinteger]  # (states, length + 1)


def _advanced(
    step: Step,
    values: FloatArray,
    arrivals: list[list[tuple[int, Move]]],
    edge_weights: Sequence[float],
    vertex_weight: float,
) -> tuple[_Layer, FloatArray]:
    """Takes, for each state and each length, the best of the moves that lead there."""
    best = np.full((len(arrivals), values.shape[1]), -np.inf)
    n_most = max(map(len, arrivals), default=0)
    choices = np.zeros(best.shape, dtype=np.min_scalar_type(n_most))
    for number in range(n_most):  # the first moves to all states at once, then the second ones
        rows = [row for row, to_row in enumerate(arrivals) if number < len(to_row)]
        came = [arrivals[row][number] for row in rows]
        gains = [vertex_weight * move.used + sum(edge_weights[edge] for edge in move.taken) for _, move in came]
        before = values[[source for source, _ in came]]
        longer = np.array([move.used for _, move in came])
        before[longer, 1:] = before[longer, :-1]
        before[longer, 0] = -np.inf
        offered = before + np.array(gains)[:, None]
        better = offered > best[rows]
        best[rows] = np.where(better, offered, best[rows])
        choices[rows] = np.where(better, number, choices[rows])
    return _Layer(step, arrivals, choices), best


def _taken_edges(layers: Sequence[_Layer], state: int, length: int) -> list[tuple[int, int]]:
    """Follows the choices back to the beginning."""
    edges = []
    for layer in reversed(layers):
        source, move = layer.arrivals[state][layer.choices[state, length]]
        edges += [(layer.step.vertex, layer.step.forward[edge]) for edge in move.taken]
        state, length = source, length - move.used
    return edges


def _joined(edges: Sequence[tuple[int, int]]) -> list[int]:
    """The vertices of a cycle in its order, from its edges in any."""
    neighbours: dict[int, list[int]] = {}
    for first, second in edges:
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    cycle = [edges[0][0], edges[0][1]]
    while len(cycle) < len(edges):
        one, other = neighbours[cycle[-1]]
        cycle.append(other if one == cycle[-2] else one)
    return cycle


def _few_enough(states: dict[State, T]) -> dict[State, T]:
    if len(states) > MOST_STATES:
        raise TooManyStatesError
    return states
