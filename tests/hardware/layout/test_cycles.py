"""The search for cycles finds what looking at every cycle finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.hardware.layout.cycles import TooManyStatesError, best_cycle, cycle_lengths
from mcquack.hardware.layout.properties import usable_graph
from tests.hardware.layout.graphs import all_cycles, complete, heavy_hex, square


@st.composite
def weighted_graphs(draw):
    n_vertices = draw(st.integers(1, 9))
    pairs = [(first, second) for first in range(n_vertices) for second in range(first + 1, n_vertices)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []
    numbers = st.integers(-20, 20).map(float)
    graph = {vertex: {} for vertex in range(n_vertices)}
    for first, second in edges:
        graph[first][second] = graph[second][first] = draw(numbers)
    return graph, {vertex: draw(numbers) for vertex in graph}


def weight(graph, vertex_weights, cycle):
    steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    return sum(graph[first][second] for first, second in steps) + sum(vertex_weights[vertex] for vertex in cycle)


@given(weighted_graphs())
def test_all_lengths_are_found_and_no_others(weighted):
    graph, _ = weighted
    assert cycle_lengths(graph) == tuple(sorted({len(cycle) for cycle in all_cycles(graph)}))


@given(weighted_graphs())
def test_the_best_cycle_of_every_length_weighs_as_much_as_the_best_of_all(weighted):
    graph, vertex_weights = weighted
    every = list(all_cycles(graph))
    for length in range(3, len(graph) + 1):
        weights = [weight(graph, vertex_weights, cycle) for cycle in every if len(cycle) == length]
        found = best_cycle(graph, vertex_weights, length)
        if not weights:
            assert found is None
        else:
            assert len(set(found)) == len(found) == length
            assert weight(graph, vertex_weights, found) == max(weights)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(2, 16), (4, 8), (5, 13)])
def test_lattices_have_the_lengths_that_enumeration_finds(n_rows, n_columns):
    graph = usable_graph(heavy_hex(n_rows, n_columns), max_error=0.5, with_faulty=False)
    every = list(all_cycles(graph))
    assert every
    assert cycle_lengths(graph) == tuple(sorted({len(cycle) for cycle in every}))


def test_a_square_lattice_of_a_hundred_qubits_is_no_trouble():
    graph = usable_graph(square(8, 13), max_error=0.5, with_faulty=False)
    assert cycle_lengths(graph) == tuple(range(4, 105, 2))


def test_too_many_couplers_are_noticed_before_the_search():
    graph = usable_graph(complete(40), max_error=0.5, with_faulty=False)
    with pytest.raises(TooManyStatesError):
        cycle_lengths(graph)
    with pytest.raises(TooManyStatesError):
        best_cycle(graph, dict.fromkeys(graph, 0.0), 20)


def test_too_many_states_are_noticed_during_the_search():
    graph = usable_graph(complete(8), max_error=0.5, with_faulty=False)
    with pytest.raises(TooManyStatesError):
        cycle_lengths(graph)
