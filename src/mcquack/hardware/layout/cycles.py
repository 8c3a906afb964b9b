"""Simple cycles of a wanted length and the largest total weight, exactly and without looking at every cycle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.hardware.layout.growing import Graph, most_open_edges, sweep_order

# What a search for cycles has to remember while it passes the vertices of a graph one by one. Of the choices made so
# far only this matters: which of the open edges, between passed vertices and the others, are taken, and which two of
# them are ends of the same path. Choices that agree in that are one state (frontier-based search). A lattice of
# qubits has few states although it has hundreds of thousands of cycles.

State = tuple[int, ...]
"""For each open edge 0, or the number of its path; paths are numbered as they appear."""

START: State = ()
CLOSED: State = (-1,)
"""A cycle, and nothing beside it."""


MOST_OPEN_EDGES = 16
"""With more, states multiply beyond all bounds; the lattices of today's devices have at most 12."""


class TooManyStatesError(Exception):
    """The graph has too many edges for an exact search."""


class Move(NamedTuple):
    """From one state to the next: whether the vertex is on a path now, and by which of its new open edges."""

    target: State
    used: bool
    taken: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A vertex, the vertices to which its new open edges lead, and all that can be done with it in a state."""

    vertex: int
    forward: tuple[int, ...]
    moves: Callable[[State], tuple[Move, ...]]


def sweep(graph: Graph) -> Iterator[Step]:
    """The steps through all vertices, in an order that keeps few edges open."""
    order = sweep_order(graph)
    if most_open_edges(graph, order) > MOST_OPEN_EDGES:
        raise TooManyStatesError
    place = {vertex: position for position, vertex in enumerate(order)}
    ends: list[int] = []  # the later ones of the open edges
    moves = cache(_moves)  # along a lattice the same situations come again
    for position, vertex in enumerate(order):
        back = tuple(index for index, end in enumerate(ends) if end == vertex)
        later = (neighbour for neighbour in graph[vertex] if place[neighbour] > position)
        forward = tuple(sorted(later, key=place.__getitem__))
        yield Step(vertex=vertex, forward=forward, moves=partial(moves, back, len(forward)))
        ends = [end for end in ends if end != vertex] + list(forward)


def _moves(back: tuple[int, ...], n_forward: int, state: State) -> tuple[Move, ...]:
    """A vertex has two taken edges or none."""
    paths = [state[index] for index in back if state[index]]
    rest = [path for index, path in enumerate(state) if index not in back]
    if not paths:
        fresh = max(state, default=0) + 1
        pairs = (_grown(rest, n_forward, dict.fromkeys(pair, fresh)) for pair in combinations(range(n_forward), 2))
        return Move(_grown(rest, n_forward, {}).target, False, ()), *pairs
    if len(paths) == 1:
        return tuple(_grown(rest, n_forward, {edge: paths[0]}) for edge in range(n_forward))
    if len(paths) > 2:
        return ()
    first, second = paths
    if first == second:
        return () if any(rest) else (Move(CLOSED, True, ()),)
    return (_grown([first if path == second else path for path in rest], n_forward, {}),)


def _grown(rest: list[int], n_forward: int, taken: dict[int, int]) -> Move:
    """The state behind a vertex of which these new edges are taken, by these paths."""
    numbers = {0: 0}
    open_edges = [*rest, *(taken.get(edge, 0) for edge in range(n_forward))]
    return Move(tuple(numbers.setdefault(path, len(numbers)) for path in open_edges), True, tuple(taken))


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
