"""Where an exact search is not possible, a cycle is still a cycle, and a good one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.hardware.layout import Coupling, best_ring, ring_lengths
from mcquack.hardware.layout.growing import cannot_be_better, grown_cycle, grown_lengths
from mcquack.hardware.layout.properties import usable_graph
from tests.hardware.layout.graphs import all_cycles, complete, couplings, is_ring, square


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


@given(seed=st.integers(0, 20), length=st.integers(3, 7))
def test_on_small_dense_devices_it_is_as_good_as_the_best_or_nearly(seed, length):
    generator = np.random.default_rng(seed)
    errors = generator.uniform(0.001, 0.1, size=21)
    coupling = complete(7)
    graph = graph_of(coupling)
    for (first, second), error in zip(coupling.edges, errors, strict=True):
        graph[first][second] = graph[second][first] = -error

    def weight(cycle):
        return sum(graph[a][b] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))

    best = max(weight(cycle) for cycle in all_cycles(graph) if len(cycle) == length)
    found = grown_cycle(graph, dict.fromkeys(graph, 0.0), length)
    assert weight(found) >= 1.05 * best  # weights are negative


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
