"""The best ring is one of the device, has no fault that it need not have, and none is better."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError, LayoutError, LayoutWarning
from mcquack.hardware.layout import Coupling, best_ring, ring_lengths, simulated_ring
from mcquack.hardware.layout.cycles import best_cycle
from mcquack.hardware.layout.ring import fits_heavy_hex, listed, nearest_lengths, usable_graph
from tests.hardware.layout.graphs import all_cycles, couplings, heavy_hex, is_ring


def turns(qubits):
    """From every start, in both directions."""
    starts = [tuple(np.roll(qubits, -start).tolist()) for start in range(len(qubits))]
    return [*starts, *(turn[::-1] for turn in starts)]


def mean_log_success(coupling, qubits, n_layers):
    return np.mean([coupling.log_success(turn, n_layers=n_layers) for turn in turns(qubits)])


def candidates(coupling, length, *, with_faulty):
    graph = usable_graph(coupling, max_error=0.5, with_faulty=with_faulty)
    if length == 1:
        return [(qubit,) for qubit in graph]
    if length == 2:
        return [(first, second) for first in graph for second in graph[first] if first < second]
    return [tuple(cycle) for cycle in all_cycles(graph) if len(cycle) == length]


@given(couplings(), st.integers(2, 3))
def test_no_ring_is_better(coupling, n_layers):
    for length in range(1, coupling.n_qubits + 1):
        every = candidates(coupling, length, with_faulty=False)
        assert (length in ring_lengths(coupling)) == bool(every)
        if not every:
            with pytest.raises(LayoutError):
                best_ring(coupling, length, n_layers=n_layers)
            continue
        ring = best_ring(coupling, length, n_layers=n_layers)
        assert len(ring) == length
        assert length == 1 or is_ring(coupling, ring.qubits)
        assert not ring.notes
        best = max(mean_log_success(coupling, qubits, n_layers) for qubits in every)
        assert_allclose(mean_log_success(coupling, ring.qubits, n_layers), best, rtol=1e-9, atol=1e-12)
        # Of this ring, no start and no direction is better, and the estimate is its own.
        assert ring.log_success == coupling.log_success(ring.qubits, n_layers=n_layers)
        from_all = [coupling.log_success(turn, n_layers=n_layers) for turn in turns(ring.qubits)]
        assert_allclose(ring.log_success, max(from_all), rtol=1e-9, atol=1e-12)
        assert_allclose(ring.success, math.exp(ring.log_success))


@given(couplings())
def test_faults_are_allowed_only_where_needed_and_as_few_as_can_be(coupling):
    def n_faults(qubits):
        used = {coupling.edges[place] for place in coupling.ring_couplers(qubits)}
        # A coupler of two qubits is used for both of their CNOTs.
        n_couplers = len(used & set(coupling.faulty_couplers(0.5)))
        return n_couplers * (2 if len(qubits) == 2 else 1) + len(set(qubits) & set(coupling.faulty_qubits(0.5)))

    for length in ring_lengths(coupling, allow_faulty=True):
        ring = best_ring(coupling, length, allow_faulty=True)
        assert n_faults(ring.qubits) == min(map(n_faults, candidates(coupling, length, with_faulty=True)))
        assert bool(ring.notes) == bool(n_faults(ring.qubits))
        assert (not ring.notes) == (length in ring_lengths(coupling))


@given(couplings(), st.integers(1, 8))
def test_one_layer_takes_the_best_qubits_wherever_they_are(coupling, length):
    good = set(range(coupling.n_qubits)) - set(coupling.faulty_qubits(0.5))
    assert ring_lengths(coupling, n_layers=1) == tuple(range(1, len(good) + 1))
    if length > len(good):
        with pytest.raises(LayoutError):
            best_ring(coupling, length, n_layers=1)
        return
    ring = best_ring(coupling, length, n_layers=1)
    scores = coupling.qubit_scores(1)
    assert set(ring.qubits) <= good
    assert_allclose(ring.log_success, sum(sorted((scores[qubit] for qubit in good), reverse=True)[:length]), atol=1e-12)


def test_the_longest_ring_of_heavy_hex_is_the_only_one():
    lattice = heavy_hex()
    assert lattice.n_qubits == 156
    assert ring_lengths(lattice) == (1, 2, 12, *range(20, 125, 4))
    ring = best_ring(lattice, 124)
    assert is_ring(lattice, ring.qubits)
    used = {lattice.edges[place] for place in lattice.ring_couplers(ring.qubits)}
    graph = {qubit: dict(others) for qubit, others in usable_graph(lattice, max_error=0.5, with_faulty=False).items()}
    # Whoever avoids one of its couplers gains: no other ring does.
    for first, second in used:
        graph[first][second] = graph[second][first] = -1.0
    other = best_cycle(graph, dict.fromkeys(graph, 0.0), 124)
    assert other is not None
    assert set(other) == set(ring.qubits)


def test_without_a_difference_a_ring_starts_at_its_smallest_qubit():
    ring = best_ring(heavy_hex(), 124).qubits
    assert ring[0] == min(ring)
    assert ring[1] < ring[-1]


def test_it_starts_where_those_that_wait_longest_wait_best():
    square = Coupling(
        name="square",
        n_qubits=4,
        edges=((0, 1), (1, 2), (2, 3), (0, 3)),
        t1_us=(1000.0, 1000.0, 1.0, 1000.0),
        two_qubit_us=(0.1,) * 4,
    )
    ring = best_ring(square, 4).qubits
    assert ring.index(2) == 3  # in the last place, which waits least
    assert best_ring(replace(square, t1_us=()), 4).qubits == (0, 1, 2, 3)


def test_a_bad_coupler_is_avoided_if_another_ring_of_the_length_exists():
    lattice = heavy_hex()
    ring = best_ring(lattice, 60)
    worst = lattice.ring_couplers(ring.qubits)[7]
    errors = [0.001] * len(lattice.edges)
    errors[worst] = 0.1
    other = best_ring(replace(lattice, two_qubit_error=tuple(errors)), 60)
    assert worst not in lattice.ring_couplers(other.qubits)


def with_faults(lattice, *, couplers=(), qubits=()):
    return replace(
        lattice,
        two_qubit_error=tuple(1.0 if edge in couplers else 0.001 for edge in lattice.edges),
        readout_error=tuple(1.0 if qubit in qubits else 0.01 for qubit in range(lattice.n_qubits)),
    )


def test_the_notes_name_the_faults():
    lattice = with_faults(heavy_hex(), couplers=[(149, 150), (15, 19)], qubits=[35])
    assert best_ring(lattice, 124, allow_faulty=True).notes == (
        "faulty couplers in the ring: 15–19, 149–150",
        "faulty qubit in the ring: 35",
    )
    assert not best_ring(lattice, 100, allow_faulty=True).notes


def test_a_simulation_is_refused_no_ring_for_faults_and_says_what_took_their_place():
    lattice = with_faults(heavy_hex(), couplers=[(15, 19)])
    with pytest.warns(LayoutWarning, match=r"124 .*15–19; .*median, 0\.001"):
        ring = simulated_ring(lattice, 124)
    assert ring == best_ring(lattice, 124, allow_faulty=True) == simulated_ring(lattice, 124, allow_faulty=True)
    # Without faults there is nothing to be warned of, and where there is no ring at all no simulation has one.
    assert simulated_ring(lattice, 100) == best_ring(lattice, 100)
    with pytest.raises(LayoutError, match="126 qubits"):
        simulated_ring(lattice, 126)


def test_a_length_that_no_ring_has_is_told_with_those_that_exist():
    with pytest.raises(LayoutError) as told:
        best_ring(with_faults(heavy_hex(), couplers=[(15, 19)]), 126)
    assert str(told.value) == (
        "heavy-hex has no ring of 126 qubits, but rings of 1, 2, 12, 20 to 124 in steps of 4, and without faulty ones "
        "of 1, 2, 12, 20 to 116 in steps of 4. Choose one of these lengths, as 116, or another device."
    )


def test_rings_of_a_heavy_hex_lattice_are_known_without_a_device():
    longest = 124
    assert ring_lengths(heavy_hex()) == tuple(filter(fits_heavy_hex, range(1, longest + 1)))


@pytest.mark.parametrize(("length", "expected"), [(16, (12, 20)), (0, (1,)), (30, (24,)), (12, (2, 20))])
def test_the_nearest_lengths_are_on_both_sides(length, expected):
    assert nearest_lengths(length, (24, 1, 12, 2, 20)) == expected


def test_a_length_with_faults_only_is_told_with_those_without():
    with pytest.raises(LayoutError) as told:
        best_ring(with_faults(heavy_hex(), couplers=[(15, 19)]), 124)
    assert str(told.value) == (
        "every ring of 124 qubits on heavy-hex has couplers or qubits with an error of 0.5 or more. Choose another "
        "number of qubits (1, 2, 12, 20 to 116 in steps of 4), a higher max_error, or allow_faulty=True."
    )


def test_a_device_without_any_good_qubit_is_told_so():
    broken = replace(heavy_hex(), readout_error=(1.0,) * 156)
    with pytest.raises(LayoutError, match=r"12 .* 0\.5 .*max_error"):
        best_ring(broken, 12)
    with pytest.raises(LayoutError, match=r"steps of 4, and none"):
        best_ring(broken, 13)


@pytest.mark.parametrize("arguments", [{"length": 0}, {"length": 2.0}, {"n_layers": 0}, {"max_error": 0}])
def test_settings_are_checked(arguments):
    with pytest.raises(InvalidInputError, match=next(iter(arguments))):
        best_ring(heavy_hex(), **{"length": 12, **arguments})


def test_no_number_is_no_limit():
    with pytest.raises(InvalidInputError, match="max_error"):
        ring_lengths(heavy_hex(), max_error=math.nan)


# Lengths are told briefly.


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        ((), "none"),
        ((5,), "5"),
        ((1, 2, 12), "1, 2, 12"),
        ((1, 2, 3), "1, 2, 3"),
        ((1, 2, 3, 4), "1 to 4"),
        ((1, 2, 12, 20, 24, 28, 32), "1, 2, 12, 20 to 32 in steps of 4"),
        ((1, 2, 3, 4, 6, 8, 10, 12), "1 to 4, 6 to 12 in steps of 2"),
    ],
)
def test_even_steps_are_told_by_their_ends(lengths, text):
    assert listed(lengths) == text


@given(st.sets(st.integers(1, 40)).map(sorted))
def test_the_text_says_all_and_no_more(lengths):
    said: list[int] = []
    for part in listed(lengths).split(", ") if lengths else []:
        first, _, rest = part.partition(" to ")
        last, _, step = rest.partition(" in steps of ")
        said += range(int(first), int(last or first) + 1, int(step or 1))
    assert said == lengths
