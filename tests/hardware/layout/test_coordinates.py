"""Qubits are drawn where their device has them."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.hardware.layout import Coupling
from mcquack.hardware.layout.coordinates import qubit_positions
from tests.hardware.layout.graphs import complete, couplings, heavy_hex, square


def coupler_lengths(coupling):
    positions = qubit_positions(coupling)
    return np.array([np.linalg.norm(positions[first] - positions[second]) for first, second in coupling.edges])


@pytest.mark.parametrize("coupling", [heavy_hex(), heavy_hex(7, 15), square(4, 6), square(1, 5)])
def test_lattices_have_rows_and_columns(coupling):
    positions = qubit_positions(coupling)
    assert_array_equal(positions, np.round(positions))
    assert_array_equal(coupler_lengths(coupling), 1)
    assert len({tuple(place) for place in positions}) == coupling.n_qubits


def test_a_lattice_with_a_broken_coupler_looks_the_same():
    whole = heavy_hex()
    edges = tuple(edge for edge in whole.edges if edge not in {(5, 6), (25, 37)})
    broken = Coupling(name="broken", n_qubits=whole.n_qubits, edges=edges)
    assert_array_equal(qubit_positions(broken), qubit_positions(whole))


def test_a_lattice_that_would_stand_lies():
    positions = qubit_positions(square(7, 3))
    assert np.ptp(positions[:, 0]) == 6


@given(couplings())
def test_no_two_qubits_of_any_device_stand_on_one_another(coupling):
    positions = qubit_positions(coupling)
    assert positions.shape == (coupling.n_qubits, 2)
    assert np.all(np.isfinite(positions))
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    assert distances[~np.eye(coupling.n_qubits, dtype=bool)].min() > 0.2


def test_any_numbering_of_a_lattice_is_spread_evenly():
    order = np.random.default_rng(0).permutation(30)
    lattice = square(5, 6)
    shuffled = Coupling(
        name="shuffled", n_qubits=30, edges=tuple((order[first], order[second]) for first, second in lattice.edges)
    )
    lengths = coupler_lengths(shuffled)
    assert 0.5 < lengths.min() <= lengths.max() < 1.6
    assert_array_equal(qubit_positions(shuffled), qubit_positions(shuffled))


def test_all_coupled_to_all_stand_on_a_circle():
    positions = qubit_positions(complete(9))
    radii = np.linalg.norm(positions - positions.mean(axis=0), axis=1)
    assert_allclose(radii, radii[0])


def test_parts_stand_side_by_side():
    two = Coupling(name="two", n_qubits=6, edges=((0, 1), (1, 2), (3, 4), (4, 5)))
    positions = qubit_positions(two)
    assert positions[:3, 0].max() < positions[3:, 0].min()
