"""In which order a search should pass the qubits of a device, so that few couplers are half passed at any time."""

from collections.abc import Iterator, Mapping, Sequence

Graph = Mapping[int, Mapping[int, float]]

_MOST_STARTS = 48


def sweep_order(graph: Graph) -> list[int]:
    """All vertices, one after the other, with as few edges as it finds between the passed ones and the others.

    The best of greedy sweeps from many starts and of the numbering itself, which on most devices goes row by row.
    """
    vertices = sorted(graph)
    starts = vertices[:: max(1, -(-len(vertices) // _MOST_STARTS))]
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
