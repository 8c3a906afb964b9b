"""A coupling checks itself, and estimates the success of any ring on it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError, LayoutError
from mcquack.hardware.layout import Coupling
from tests.hardware.layout.graphs import complete, couplings, heavy_hex

TRIANGLE = Coupling(
    name="triangle",
    n_qubits=4,
    edges=((1, 0), (1, 2), (2, 0)),
    two_qubit_error=(0.01, 0.02, 0.03),
    sx_error=(0.001, 0.002, 0.003, 1.0),
    readout_error=(0.1, 0.2, None, 0.5),
)


def test_edges_have_no_direction_and_what_is_not_given_is_not_known():
    assert TRIANGLE.edges == ((0, 1), (1, 2), (0, 2))
    assert TRIANGLE.coupler(2, 1) == TRIANGLE.coupler(1, 2) == 1
    assert TRIANGLE.coupler(0, 3) is None
    assert TRIANGLE.t1_us == (None,) * 4
    assert TRIANGLE.two_qubit_us == (None,) * 3
    assert replace(TRIANGLE, sx_error=np.array([0.001, 0.002, 0.003, 1.0])) == TRIANGLE
    assert len({TRIANGLE, replace(TRIANGLE)}) == 1


@pytest.mark.parametrize("edges", [((0, 0),), ((0, 4),), ((-1, 0),), ((0, 1.0),), ((0, 1, 2),), ((True, 0),)])
def test_a_coupler_joins_two_qubits_of_the_device(edges):
    with pytest.raises(InvalidInputError, match="a coupler must be two different qubits between 0 and 3"):
        Coupling(name="bad", n_qubits=4, edges=edges)


def test_a_coupler_is_named_once():
    with pytest.raises(InvalidInputError, match=r"each coupler once, got \(0, 1\) twice"):
        Coupling(name="bad", n_qubits=4, edges=((0, 1), (1, 0)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("two_qubit_error", 1.1),
        ("sx_error", -0.1),
        ("readout_error", math.nan),
        ("t1_us", 0.0),
        ("t2_us", -1.0),
        ("two_qubit_us", math.inf),
        ("sx_us", "1"),
        ("readout_us", True),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_its_field(field, value):
    size = 3 if field.startswith("two_qubit") else 4
    with pytest.raises(InvalidInputError, match=rf"{field}\[1\] must be .* or None, got"):
        replace(TRIANGLE, **{field: (None, value, *[None] * (size - 2))})


@pytest.mark.parametrize(("field", "size"), [("two_qubit_error", 4), ("sx_error", 3)])
def test_fields_have_a_number_for_each_or_none(field, size):
    with pytest.raises(InvalidInputError, match=rf"{field} must have one number for each .*; got {size}"):
        replace(TRIANGLE, **{field: (0.1,) * size})


def test_faults_are_errors_from_the_given_one_on():
    assert TRIANGLE.faulty_qubits(0.5) == (3,)
    assert TRIANGLE.faulty_qubits(0.2) == (1, 3)
    assert TRIANGLE.faulty_couplers(0.5) == ()
    assert TRIANGLE.faulty_couplers(0.02) == ((1, 2), (0, 2))


def test_the_success_of_a_ring_by_hand():
    pulses = sum(8 * math.log(1 - 1.5 * error) for error in (0.001, 0.002, 0.003))
    readout = sum(math.log(1 - error) for error in (0.1, 0.2, 0.2))  # the median of what is known
    couplers = sum(2 * math.log(1 - 1.25 * error) for error in (0.01, 0.02, 0.03))
    assert_allclose(TRIANGLE.log_success((0, 1, 2)), pulses + readout + couplers, rtol=1e-12)
    timed = replace(TRIANGLE, t1_us=(100.0,) * 4, t2_us=(50.0,) * 4, two_qubit_us=(0.4,) * 3, sx_us=(0.1,) * 4)
    waiting = (2 + 2 + 1) * 0.5 * (1 / 400 + 1 / 100)
    assert_allclose(timed.log_success((0, 1, 2)), pulses + readout + couplers - waiting, rtol=1e-12)


def test_two_qubits_use_their_coupler_twice_and_one_layer_none():
    assert_allclose(
        TRIANGLE.log_success((0, 1)) - TRIANGLE.qubit_scores(2)[:2].sum(), 4 * math.log(1 - 1.25 * 0.01), rtol=1e-12
    )
    assert_allclose(TRIANGLE.log_success((0, 3), n_layers=1), TRIANGLE.qubit_scores(1)[[0, 3]].sum())


def test_nothing_known_is_no_error():
    assert heavy_hex().log_success([0]) == 0
    assert complete(5).log_success(range(5)) == 0


@given(couplings(), st.integers(1, 4))
def test_success_is_a_chance_even_with_faults(coupling, n_layers):
    for first, second in coupling.edges:
        value = coupling.log_success((first, second), n_layers=n_layers)
        assert -math.inf < value <= 0


@pytest.mark.parametrize(
    ("ring", "message"),
    [
        ((0, 1, 3), "no coupler between the qubits 1 and 3"),
        ((0, 1, 1), "different qubits"),
        ((0, 1, 4), "between 0 and 3, got \\[0, 1, 4\\]"),
        ((), "different qubits"),
    ],
)
def test_what_is_no_ring_is_refused(ring, message):
    with pytest.raises(LayoutError, match=message):
        TRIANGLE.log_success(ring)


@pytest.mark.parametrize("ring", [(), (0, 0), (0, 4), (-1, 0)])
def test_qubits_are_checked_where_couplers_do_not_matter_as_well(ring):
    with pytest.raises(LayoutError, match="different qubits between 0 and 3"):
        TRIANGLE.log_success(ring, n_layers=1)
