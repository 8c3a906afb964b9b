"""A sweep passes every vertex once, and lattices with few open edges."""

import pytest
from hypothesis import given

from mcquack.hardware.layout.growing import most_open_edges, sweep_order
from mcquack.hardware.layout.properties import cyclic_part, usable_graph
from tests.hardware.layout.graphs import all_cycles, complete, couplings, heavy_hex, square


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
    assert most_open_edges(graph, sweep_order(graph)) <= most
