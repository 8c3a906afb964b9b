"""The search for cycles finds what looking at every cycle finds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.hardware.layout import Coupling, best_ring, ring_lengths
from mcquack.hardware.layout.cycles import (
    TooManyStatesError,
    best_cycle,
    cannot_be_better,
    cycle_lengths,
    cyclic_part,
    grown_cycle,
    grown_lengths,
    open_edges,
    sweep_order,
)
from mcquack.hardware.layout.ring import usable_graph
from tests.hardware.layout.graphs import all_cycles, complete, couplings, heavy_hex, is_ring, square


@st.composite
def weighted_graphs(draw):
    n_vertices = draw(st.integers(1, 9))
    pairs = [(first, second) for first in range(n_vertices) for second in range(first + 1, n_vertices)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []
    numbers = st.integers(-20, 20).map(float)
    graph: dict[int, dict[int, float]] = {vertex: {} for vertex in range(n_vertices)}
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
            assert found is not None
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


# A sweep passes every vertex once, and lattices with few open edges.


@given(couplings())
def test_every_vertex_is_passed_once(coupling):
    graph = usable_graph(coupling, max_error=0.5, with_faulty=True)
    assert sorted(sweep_order(graph)) == sorted(graph)


@given(couplings())
def test_no_cycle_leaves_the_cyclic_part(coupling):
    graph = usable_graph(coupling, max_error=0.5, with_faulty=True)
    part = cyclic_part(graph)
    assert list(all_cycles(part)) == list(all_cycles(graph))
    assert all(len(others) >= 2 for others in part.values())


@pytest.mark.parametrize(("coupling", "most"), [(heavy_hex(), 6), (square(10, 12), 11), (complete(6), 9)])
def test_few_edges_are_open_at_a_time(coupling, most):
    graph = usable_graph(coupling, max_error=0.5, with_faulty=True)
    assert max(open_edges(graph, sweep_order(graph))) <= most


# Where an exact search is not possible, a cycle is still a cycle, and a good one.


def graph_of(coupling):
    return usable_graph(coupling, max_error=0.5, with_faulty=True)


@given(couplings())
def test_whatever_it_finds_is_a_cycle_of_the_device(coupling):
    graph = graph_of(coupling)
    lengths = {len(cycle) for cycle in all_cycles(graph)}
    assert set(grown_lengths(graph)) <= lengths
    for length in range(3, coupling.n_qubits + 2):
        found = grown_cycle(graph, dict.fromkeys(graph, 0.0), length)
        if found is not None:
            assert len(found) == length
            assert is_ring(coupling, tuple(found))


@pytest.mark.parametrize("n_qubits", [5, 12, 30])
def test_all_lengths_exist_where_all_are_coupled(n_qubits):
    assert grown_lengths(graph_of(complete(n_qubits))) == tuple(range(3, n_qubits + 1))


def test_a_lattice_without_odd_cycles_grows_by_two():
    assert grown_lengths(graph_of(square(6, 6))) == tuple(range(4, 37, 2))


def test_on_small_dense_devices_it_is_nearly_always_the_best_and_never_far_from_it():
    ratios = []
    for seed, length in product(range(21), range(3, 8)):
        coupling = complete(7)
        graph = graph_of(coupling)
        errors = np.random.default_rng(seed).uniform(0.001, 0.1, size=21)
        for (first, second), error in zip(coupling.edges, errors, strict=True):
            graph[first][second] = graph[second][first] = -error

        def loss(cycle, graph=graph):
            return -sum(graph[a][b] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))

        least = min(loss(cycle) for cycle in all_cycles(graph) if len(cycle) == length)
        ratios.append(loss(grown_cycle(graph, dict.fromkeys(graph, 0.0), length)) / least)
    assert np.mean(np.array(ratios) < 1 + 1e-9) >= 0.98
    assert max(ratios) < 1.125


def test_what_nothing_can_beat_is_known():
    graph = {vertex: {other: -1.0 for other in range(5) if other != vertex} for vertex in range(5)}
    assert cannot_be_better([0, 1, 2, 3], graph, dict.fromkeys(graph, -2.0))
    assert not cannot_be_better([0, 1, 2, 3], graph, {**dict.fromkeys(graph, -2.0), 4: -1.0})
    graph[0][1] = graph[1][0] = -0.5
    assert not cannot_be_better([0, 1, 2, 3], graph, dict.fromkeys(graph, -2.0))


@pytest.mark.parametrize(("n_qubits", "length"), [(6, 5), (6, 6), (40, 25)])
def test_a_simulator_without_errors_numbers_its_ring_as_its_qubits(n_qubits, length):
    ring = best_ring(complete(n_qubits), length)
    assert ring.qubits == tuple(range(length))
    assert ring.log_success == 0
    assert not ring.notes
    assert ring_lengths(complete(n_qubits)) == tuple(range(1, n_qubits + 1))


def test_a_dense_device_with_errors_says_that_not_all_rings_were_compared():
    edges = complete(12).edges
    generator = np.random.default_rng(0)
    coupling = Coupling(
        name="ions", n_qubits=12, edges=edges, two_qubit_error=tuple(generator.uniform(0.001, 0.1, len(edges)))
    )
    ring = best_ring(coupling, 9)
    assert is_ring(coupling, ring.qubits)
    assert ring.notes == ("ions has too many couplers to compare all rings: a better one may exist",)
    # Better than the numbering by far.
    assert ring.log_success > coupling.log_success(range(9)) / 2
