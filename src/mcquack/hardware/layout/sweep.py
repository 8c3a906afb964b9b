"""What a search for cycles has to remember while it passes the vertices of a graph one by one.

Of the choices made so far only this matters: which of the open edges, between passed vertices and the others, are
taken, and which two of them are ends of the same path. Choices that agree in that are one state (frontier-based
search). A lattice of qubits has few states although it has hundreds of thousands of cycles.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

from mcquack.hardware.layout.ordering import Graph, most_open_edges, sweep_order

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
