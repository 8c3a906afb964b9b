"""Heavy cycles of a wanted length: exactly, without looking at every cycle, or grown where there are too many.

The exact search passes the vertices of a graph one by one. Of the choices made so far only this matters: which of the
open edges, between passed vertices and the others, are taken, and which two of them are ends of the same path. Choices
that agree in that are one state (frontier-based search). A lattice of qubits has few states although it has hundreds of
thousands of cycles. Graphs with too many edges for that get cycles grown from short ones, and improved step by step.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray

Graph = Mapping[int, Mapping[int, float]]
"""The neighbours of each vertex, with the weights of the edges to them."""

State = tuple[int, ...]
"""For each open edge 0, or the number of its path; paths are numbered as they appear."""

T = TypeVar("T")

_START: State = ()
_CLOSED: State = (-1,)  # a cycle, and nothing beside it

# With more, states multiply beyond all bounds; the lattices of today's devices have at most 12.
_MOST_OPEN_EDGES = 16
# At one step; there are dozens of them on a heavy-hex lattice of 156 qubits, thousands on a square one of 120.
_MOST_STATES = 10_000
_MOST_ORDERINGS = 48
_MOST_STARTS = 16
_MOST_IMPROVEMENTS = 1000
_LEAST_GAIN = 1e-8  # less may be rounding


class TooManyStatesError(Exception):
    """The graph has too many edges for an exact search."""


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


def cycle_lengths(graph: Graph) -> tuple[int, ...]:
    """The numbers of vertices of all simple cycles, ascending."""
    found = 0  # bit l: there is a cycle of l vertices
    reached = {_START: 1}  # bit l: there are paths of l vertices together
    for step in _sweep(graph):
        following: dict[State, int] = {}
        for state, lengths in reached.items():
            for move in step.moves(state):
                following[move.target] = following.get(move.target, 0) | lengths << move.used
        found |= following.pop(_CLOSED, 0)
        reached = _few_enough(following)
    return tuple(length for length in range(found.bit_length()) if found >> length & 1)


def best_cycle(graph: Graph, vertex_weights: Mapping[int, float], length: int) -> list[int] | None:
    """The cycle of this many vertices whose edges and vertices weigh the most together, or None if there is none."""
    states = [_START]
    values = np.full((1, length + 1), -np.inf)  # the most that the paths of a state weigh, by their length
    values[0, 0] = 0.0
    layers: list[_Layer] = []
    best, end = -np.inf, None
    for step in _sweep(graph):
        arrivals: dict[State, list[tuple[int, _Move]]] = {}
        for source, state in enumerate(states):
            for move in step.moves(state):
                arrivals.setdefault(move.target, []).append((source, move))
        for source, _ in arrivals.pop(_CLOSED, ()):
            value = values[source, length - 1] + vertex_weights[step.vertex]
            if value > best:
                best, end = value, (len(layers), source)
        states = list(_few_enough(arrivals))
        weights = [graph[step.vertex][neighbour] for neighbour in step.forward]
        values, choices = _advanced(values, list(arrivals.values()), weights, vertex_weights[step.vertex])
        layers.append(_Layer(step, list(arrivals.values()), choices))
    if end is None:
        return None
    n_layers, state_before = end
    return _joined(_taken_edges(layers[:n_layers], state_before, length - 1))


class _Move(NamedTuple):
    """From one state to the next: whether the vertex is on a path now, and by which of its new open edges."""

    target: State
    used: bool
    taken: tuple[int, ...]


class _Step(NamedTuple):
    """A vertex, the vertices to which its new open edges lead, and all that can be done with it in a state."""

    vertex: int
    forward: tuple[int, ...]
    moves: Callable[[State], tuple[_Move, ...]]


class _Layer(NamedTuple):
    """The moves of one step to each state, and which of them was the best for each length: (states, length + 1)."""

    step: _Step
    arrivals: list[list[tuple[int, _Move]]]
    choices: NDArray[np.unsignedinteger]


def _sweep(graph: Graph) -> Iterator[_Step]:
    order = sweep_order(graph)
    if max(open_edges(graph, order), default=0) > _MOST_OPEN_EDGES:
        raise TooManyStatesError
    place = {vertex: position for position, vertex in enumerate(order)}
    ends: list[int] = []  # the later ones of the open edges
    moves = cache(_moves)  # along a lattice the same situations come again
    for position, vertex in enumerate(order):
        back = tuple(index for index, end in enumerate(ends) if end == vertex)
        later = (neighbour for neighbour in graph[vertex] if place[neighbour] > position)
        forward = tuple(sorted(later, key=place.__getitem__))
        yield _Step(vertex, forward, partial(moves, back, len(forward)))
        ends = [end for end in ends if end != vertex] + list(forward)


def sweep_order(graph: Graph) -> list[int]:
    """All vertices in the order of the numbering, or of a greedy sweep, with the fewest edges open on the way."""
    vertices = sorted(graph)
    starts = vertices[:: max(1, -(-len(vertices) // _MOST_ORDERINGS))]
    orders = [vertices, *(_greedy_order(graph, start) for start in starts)]
    # The states that a search meets grow exponentially with the open edges, step by step.
    return min(orders, key=lambda order: float(sum(2.5 ** min(n_open, 500) for n_open in open_edges(graph, order))))


def open_edges(graph: Graph, order: Sequence[int]) -> list[int]:
    """The number of edges between the passed vertices and the others, after each step."""
    place = {vertex: step for step, vertex in enumerate(order)}
    return list(accumulate(sum(1 if place[o] > place[v] else -1 for o in graph[v]) for v in order))


def _greedy_order(graph: Graph, start: int) -> list[int]:
    order: list[int] = []
    n_passed_neighbours = {start: 0}  # of those that wait, in the order in which they came
    rest = dict.fromkeys(sorted(graph))
    while rest:
        if not n_passed_neighbours:
            n_passed_neighbours[next(iter(rest))] = 0
        vertex = min(n_passed_neighbours, key=lambda v: len(graph[v]) - 2 * n_passed_neighbours[v])
        del n_passed_neighbours[vertex], rest[vertex]
        order.append(vertex)
        for neighbour in graph[vertex]:
            if neighbour in rest:
                n_passed_neighbours[neighbour] = n_passed_neighbours.get(neighbour, 0) + 1
    return order


def _moves(back: tuple[int, ...], n_forward: int, state: State) -> tuple[_Move, ...]:
    paths = [state[index] for index in back if state[index]]
    rest = [path for index, path in enumerate(state) if index not in back]
    if not paths:
        fresh = max(state, default=0) + 1
        pairs = (_after(rest, n_forward, dict.fromkeys(pair, fresh)) for pair in combinations(range(n_forward), 2))
        return _after(rest, n_forward, {})._replace(used=False), *pairs
    if len(paths) == 1:
        return tuple(_after(rest, n_forward, {edge: paths[0]}) for edge in range(n_forward))
    if len(paths) > 2:
        return ()
    first, second = paths
    if first == second:
        return () if any(rest) else (_Move(_CLOSED, True, ()),)
    return (_after([first if path == second else path for path in rest], n_forward, {}),)


def _after(rest: list[int], n_forward: int, taken: dict[int, int]) -> _Move:
    numbers = {0: 0}
    paths = [*rest, *(taken.get(edge, 0) for edge in range(n_forward))]
    return _Move(tuple(numbers.setdefault(path, len(numbers)) for path in paths), True, tuple(taken))


def _advanced(
    values: FloatArray, arrivals: list[list[tuple[int, _Move]]], edge_weights: Sequence[float], vertex_weight: float
) -> tuple[FloatArray, NDArray[np.unsignedinteger]]:
    """The best of the moves that lead to each state, for each length: what it weighs, and which it is."""
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
    return best, choices


def _taken_edges(layers: Sequence[_Layer], state: int, length: int) -> list[tuple[int, int]]:
    edges = []
    for step, arrivals, choices in reversed(layers):
        source, move = arrivals[state][choices[state, length]]
        edges += [(step.vertex, step.forward[edge]) for edge in move.taken]
        state, length = source, length - move.used
    return edges


def _joined(edges: Sequence[tuple[int, int]]) -> list[int]:
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
    if len(states) > _MOST_STATES:
        raise TooManyStatesError
    return states


# Cycles that are grown, where an exact search is not possible.


def grown_cycle(graph: Graph, vertex_weights: Mapping[int, float], length: int) -> list[int] | None:
    """A cycle of this many vertices with a large weight of vertices and edges, or None if none was found."""
    vertices, weights = _shared_weights(graph, vertex_weights)
    starts = _short_cycles(weights) if length <= len(graph) else ()
    found = [cycle for start in starts for cycle in _growing(start, weights, length) if len(cycle) == length]
    if not found:
        return None
    best = max((_improved(cycle, weights) for cycle in found), key=lambda cycle: _total(cycle, weights))
    return [vertices[place] for place in best]


def grown_lengths(graph: Graph) -> tuple[int, ...]:
    """The lengths of the cycles that growing meets, ascending."""
    _, weights = _shared_weights(graph, dict.fromkeys(graph, 0.0))
    every = (cycle for start in _short_cycles(weights) for cycle in _growing(start, weights, len(graph)))
    return tuple(sorted({len(cycle) for cycle in every}))


def numbered_cycle(graph: Graph, vertex_weights: Mapping[int, float], length: int) -> list[int] | None:
    """The heaviest vertices as they are numbered, if that is a cycle."""
    chosen = sorted(sorted(graph, key=lambda vertex: (-vertex_weights[vertex], vertex))[:length])
    steps = zip(chosen, [*chosen[1:], *chosen[:1]], strict=True)
    is_cycle = len(chosen) == length and all(second in graph[first] for first, second in steps)
    return chosen if is_cycle else None


def cannot_be_better(cycle: Sequence[int], graph: Graph, vertex_weights: Mapping[int, float]) -> bool:
    """Whether no cycle can weigh more, for there are no heavier vertices or edges."""
    edges = sum(graph[first][second] for first, second in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    own = edges + sum(vertex_weights[vertex] for vertex in cycle)
    heaviest = max(max(others.values()) for others in graph.values()) + max(vertex_weights[v] for v in graph)
    return bool(own >= len(cycle) * heaviest - _LEAST_GAIN)


def _shared_weights(graph: Graph, vertex_weights: Mapping[int, float]) -> tuple[list[int], FloatArray]:
    """The vertices and a matrix by their places: edges with half of each end, and minus infinity between others."""
    vertices = sorted(graph)
    place = {vertex: position for position, vertex in enumerate(vertices)}
    weights = np.full((len(vertices), len(vertices)), -np.inf)
    for vertex, neighbours in graph.items():
        for neighbour, weight in neighbours.items():
            ends = (vertex_weights[vertex] + vertex_weights[neighbour]) / 2
            weights[place[vertex], place[neighbour]] = weight + ends
    return vertices, weights


def _short_cycles(weights: FloatArray) -> Iterator[list[int]]:
    edges = np.argwhere(np.triu(np.isfinite(weights), k=1))
    heaviest = np.argsort(-weights[edges[:, 0], edges[:, 1]], kind="stable")[:_MOST_STARTS]
    for first, last in edges[heaviest].tolist():
        came_from, waiting = {first: first}, deque([first])
        while waiting:
            vertex = waiting.popleft()
            for neighbour in np.flatnonzero(np.isfinite(weights[vertex])).tolist():
                if neighbour not in came_from and (vertex, neighbour) != (first, last):
                    came_from[neighbour] = vertex
                    waiting.append(neighbour)
        if last in came_from:
            path = [last]
            while path[-1] != first:
                path.append(came_from[path[-1]])
            yield path


def _growing(cycle: list[int], weights: FloatArray, length: int) -> Iterator[list[int]]:
    """The cycle, then with one or two more vertices at a time where they weigh the most, up to the length."""
    while len(cycle) <= length:
        yield cycle
        others = np.setdiff1d(np.arange(len(weights)), cycle)
        room = length - len(cycle)
        grown = _with_one_more(cycle, others, weights) if room >= 1 else None
        if grown is None and room >= 2:  # as in graphs without odd cycles
            grown = _with_two_more(cycle, others, weights)
        if grown is None:
            return
        cycle = grown


def _with_one_more(cycle: list[int], others: NDArray[np.intp], weights: FloatArray) -> list[int] | None:
    current, following = np.array(cycle), np.roll(cycle, -1)
    gains = weights[np.ix_(current, others)] + weights[np.ix_(following, others)] - weights[cycle, following][:, None]
    if not np.isfinite(gains).any():
        return None
    place, other = np.unravel_index(gains.argmax(), gains.shape)
    return [*cycle[: place + 1], int(others[other]), *cycle[place + 1 :]]


def _with_two_more(cycle: list[int], others: NDArray[np.intp], weights: FloatArray) -> list[int] | None:
    best, grown = -np.inf, None
    for place, (vertex, after) in enumerate(zip(cycle, [*cycle[1:], cycle[0]], strict=True)):
        firsts, seconds = (others[np.isfinite(weights[end, others])] for end in (vertex, after))
        gains = weights[vertex, firsts][:, None] + weights[np.ix_(firsts, seconds)] + weights[after, seconds]
        if gains.size and gains.max() - weights[vertex, after] > best:
            first, second = np.unravel_index(gains.argmax(), gains.shape)
            best = gains[first, second] - weights[vertex, after]
            grown = [*cycle[: place + 1], int(firsts[first]), int(seconds[second]), *cycle[place + 1 :]]
    return grown


def _improved(cycle: list[int], weights: FloatArray) -> list[int]:
    """Exchanges a vertex for one outside, or turns a part of the cycle round, as long as either helps."""
    for _ in range(_MOST_IMPROVEMENTS):
        candidate = max(_exchanged(cycle, weights), _turned(cycle, weights), key=lambda other: _total(other, weights))
        if _total(candidate, weights) <= _total(cycle, weights) + _LEAST_GAIN:
            break
        cycle = candidate
    return cycle


def _exchanged(cycle: list[int], weights: FloatArray) -> list[int]:
    others = np.setdiff1d(np.arange(len(weights)), cycle)
    if not len(others):
        return cycle
    before, after = np.roll(cycle, 1), np.roll(cycle, -1)
    lost = weights[before, cycle] + weights[cycle, after]
    gains = weights[np.ix_(before, others)] + weights[np.ix_(after, others)] - lost[:, None]
    place, other = np.unravel_index(gains.argmax(), gains.shape)
    return [*cycle[:place], int(others[other]), *cycle[place + 1 :]]


def _turned(cycle: list[int], weights: FloatArray) -> list[int]:
    current, following = np.array(cycle), np.roll(cycle, -1)
    steps = weights[current, following]
    gains = weights[np.ix_(current, current)] + weights[np.ix_(following, following)] - steps[:, None] - steps
    gains[np.tril_indices(len(cycle))] = -np.inf
    first, last = np.unravel_index(gains.argmax(), gains.shape)
    return [*cycle[: first + 1], *cycle[first + 1 : last + 1][::-1], *cycle[last + 1 :]]


def _total(cycle: Sequence[int], weights: FloatArray) -> float:
    return float(weights[list(cycle), np.roll(cycle, -1)].sum())
