"""Heavy cycles of graphs with too many edges for an exact search: grown from short ones, then improved."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray

# In which order a search should pass the qubits of a device, so that few couplers are half passed at any time.

Graph = Mapping[int, Mapping[int, float]]

_MOST_ORDERINGS = 48


def sweep_order(graph: Graph) -> list[int]:
    """All vertices, one after the other, with as few edges as it finds between the passed ones and the others.

    The best of greedy sweeps from many starts and of the numbering itself, which on most devices goes row by row.
    """
    vertices = sorted(graph)
    starts = vertices[:: max(1, -(-len(vertices) // _MOST_ORDERINGS))]
    orders = [vertices, *(_greedy_order(graph, start) for start in starts)]
    return min(orders, key=lambda order: _effort(graph, order))


def _greedy_order(graph: Graph, start: int) -> list[int]:
    """Next is always the vertex that opens the fewest edges; among equals the one that has waited longest."""
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


def most_open_edges(graph: Graph, order: Sequence[int]) -> int:
    """Between the passed vertices and the others, when there are the most."""
    return max(_open_edges(graph, order), default=0)


def _effort(graph: Graph, order: Sequence[int]) -> float:
    """Grows like the states that a search meets: exponentially with the open edges, step by step."""
    return float(sum(2.5 ** min(n_open, 500) for n_open in _open_edges(graph, order)))


def _open_edges(graph: Graph, order: Sequence[int]) -> Iterator[int]:
    place = {vertex: step for step, vertex in enumerate(order)}
    n_open = 0
    for step, vertex in enumerate(order):
        later = sum(place[neighbour] > step for neighbour in graph[vertex])
        n_open += 2 * later - len(graph[vertex])
        yield n_open


_MOST_STARTS = 16
_MOST_IMPROVEMENTS = 1000
_LEAST_GAIN = 1e-8  # less may be rounding


def grown_cycle(graph: Graph, vertex_weights: Mapping[int, float], length: int) -> list[int] | None:
    """A cycle of this many vertices with a large weight of vertices and edges, or None if none was found."""
    if length > len(graph):
        return None
    vertices, weights = _shared_weights(graph, vertex_weights)
    starts = _short_cycles(graph, vertices, weights)
    found = [cycle for start in starts for cycle in _growing(start, weights, length) if len(cycle) == length]
    if not found:
        return None
    best = max((_improved(cycle, weights) for cycle in found), key=lambda cycle: _total(cycle, weights))
    return [vertices[place] for place in best]


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


def grown_lengths(graph: Graph) -> tuple[int, ...]:
    """The lengths of the cycles that growing meets, ascending."""
    vertices, weights = _shared_weights(graph, dict.fromkeys(graph, 0.0))
    starts = _short_cycles(graph, vertices, weights)
    return tuple(sorted({len(cycle) for start in starts for cycle in _growing(start, weights, len(vertices))}))


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


def _short_cycles(graph: Graph, vertices: Sequence[int], weights: FloatArray) -> Iterator[list[int]]:
    """A shortest cycle through each of the heaviest edges."""
    place = {vertex: position for position, vertex in enumerate(vertices)}
    edges = np.argwhere(np.triu(np.isfinite(weights), k=1))
    heaviest = np.argsort(-weights[edges[:, 0], edges[:, 1]], kind="stable")[:_MOST_STARTS]
    for first, last in edges[heaviest].tolist():
        path = _shortest_detour(graph, vertices[first], vertices[last])
        if path is not None:
            yield [place[vertex] for vertex in path]


def _shortest_detour(graph: Graph, first: int, last: int) -> list[int] | None:
    """Between two neighbours, but not by their edge."""
    came_from = {first: first}
    waiting = deque([first])
    while waiting:
        vertex = waiting.popleft()
        for neighbour in graph[vertex]:
            if neighbour not in came_from and (vertex, neighbour) != (first, last):
                came_from[neighbour] = vertex
                waiting.append(neighbour)
    if last not in came_from:
        return None
    path = [last]
    while path[-1] != first:
        path.append(came_from[path[-1]])
    return path


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
