"""A coupling checks itself, and estimates the success of any ring on it."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError, LayoutError
from mcquack.hardware.layout import Coupling, best_ring, ring_lengths
from mcquack.hardware.layout.coupling import idle_steps, properties_along
from mcquack.simulators.noise import NOISELESS, DeviceCalibration
from mcquack.simulators.noise.calibration import SX_PULSES, ring_schedule
from mcquack.simulators.noise.trajectories import idle_fidelities, pauli_probabilities
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
    assert replace(TRIANGLE, sx_error=tuple(np.array([0.001, 0.002, 0.003, 1.0]))) == TRIANGLE
    assert len({TRIANGLE, replace(TRIANGLE)}) == 1


@pytest.mark.parametrize("edges", [((0, 0),), ((0, 4),), ((-1, 0),), ((0, 1.0),), ((0, 1, 2),), ((True, 0),)])
def test_a_coupler_joins_two_qubits_of_the_device(edges):
    with pytest.raises(InvalidInputError, match="between 0 and 3"):
        Coupling(name="bad", n_qubits=4, edges=edges)


def test_a_coupler_is_named_once():
    with pytest.raises(InvalidInputError, match=r"\(0, 1\)"):
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
        replace(TRIANGLE, **{field: (None, value, *[None] * (size - 2))})  # type: ignore[arg-type]


@pytest.mark.parametrize(("field", "size"), [("two_qubit_error", 4), ("sx_error", 3)])
def test_fields_have_a_number_for_each_or_none(field, size):
    with pytest.raises(InvalidInputError, match=rf"{field} .*; got {size}"):
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
        ((0, 1, 3), "1 and 3"),
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


# The estimate of success counts what the noisy simulator simulates.


def one_pair(**known):
    return Coupling(name="pair", n_qubits=2, edges=((0, 1),), **known)


@pytest.mark.parametrize("n_qubits", [2, 3, 4, 7, 124])
def test_waiting_is_that_of_the_schedule(n_qubits):
    schedule = ring_schedule(replace(NOISELESS, sx_us=0.0, two_qubit_us=1.0), n_qubits)
    assert_allclose(idle_steps(n_qubits, n_layers=2), schedule.idle_us.sum(axis=0))


def test_nothing_waits_without_rings():
    assert not idle_steps(1, n_layers=3).any()
    assert not idle_steps(5, n_layers=1).any()


def test_more_layers_add_waiting_for_whole_rings():
    assert_allclose(np.diff([idle_steps(6, n_layers=layers) for layers in (2, 3, 4)], axis=0), 2 * (6 - 2))


def test_pulses_are_those_of_the_paper():
    scores = one_pair(sx_error=(0.01,) * 2).qubit_scores(2)
    assert_allclose(scores, sum(SX_PULSES) * np.log(1 - 1.5 * 0.01), rtol=1e-12)


def test_a_gate_that_forgets_its_input_is_right_by_chance():
    for error in (0.75, 1.0):
        assert_allclose(np.exp(one_pair(two_qubit_error=(error,)).coupler_scores(2)), 1 / 16**2)
    assert_allclose(np.exp(one_pair(sx_error=(1.0,) * 2).qubit_scores(1)), 1 / 4**2)
    assert_allclose(np.exp(one_pair(readout_error=(1.0,) * 2).qubit_scores(1)), 1 / 2)


def test_errors_while_waiting_are_those_of_the_channel():
    t1, t2, moment = 100.0, 70.0, 1e-3
    chances = pauli_probabilities(idle_fidelities(np.array([moment]), np.array([t1]), np.array([t2])))
    waiting = one_pair(t1_us=(t1,) * 2, t2_us=(t2,) * 2, two_qubit_us=(moment,)).idle_errors_per_step
    assert_allclose(waiting, chances.sum(), rtol=1e-4)
    assert not one_pair(t1_us=(np.inf,) * 2, t2_us=(np.inf,) * 2, two_qubit_us=(1.0,)).idle_errors_per_step.any()


# What is told along a ring is a calibration for the noisy simulator.

SQUARE = Coupling(
    name="square",
    n_qubits=5,
    edges=((0, 1), (1, 2), (2, 3), (0, 3), (3, 4)),
    two_qubit_error=(0.01, 0.02, 0.03, 0.04, 0.05),
    sx_error=(0.001, 0.002, 0.003, 0.004, 0.005),
    readout_error=(0.1, 0.2, 0.3, 0.4, 0.45),
    t1_us=(100.0, 200.0, 300.0, 400.0, 500.0),
    t2_us=(150.0,) * 5,
    two_qubit_us=(0.1, 0.2, 0.3, 0.4, 0.5),
    sx_us=(0.05,) * 5,
    readout_us=(1.0,) * 5,
)


def test_numbers_are_in_the_order_of_the_ring():
    values, notes = properties_along(SQUARE, (2, 1, 0, 3))
    assert values == {
        "sx_error": (0.003, 0.002, 0.001, 0.004),
        "two_qubit_error": (0.02, 0.01, 0.04, 0.03),
        "readout_error": (0.3, 0.2, 0.1, 0.4),
        "t1_us": (300.0, 200.0, 100.0, 400.0),
        "t2_us": (150.0,) * 4,
        "sx_us": (0.05,) * 4,
        "two_qubit_us": (0.2, 0.1, 0.4, 0.3),
        "readout_us": (1.0,) * 4,
    }
    assert notes == ()


def test_a_fault_counts_as_the_median_of_the_good_ones_and_is_told():
    broken = replace(SQUARE, two_qubit_error=(1.0, 0.02, None, 0.04, 0.05), sx_error=(0.001, 0.002, 0.003, 1.0, 0.005))
    values, notes = properties_along(broken, (0, 1, 2, 3))
    assert values["two_qubit_error"] == (0.04, 0.02, 0.04, 0.04)
    assert values["sx_error"] == (0.001, 0.002, 0.003, 0.0025)
    assert notes == (
        "SX error of the qubit 3 is faulty or unknown and counts as the median, 0.0025",
        "two-qubit error of the couplers 0–1, 2–3 is faulty or unknown and counts as the median, 0.04",
    )


def test_what_a_device_does_not_tell_does_nothing_and_is_told():
    values, notes = properties_along(replace(SQUARE, t1_us=(), readout_us=(), readout_error=()), (0, 1, 2, 3))
    assert values["t1_us"] == (math.inf,) * 4
    assert values["readout_us"] == values["readout_error"] == (0.0,) * 4
    assert notes == (
        "square does not tell the readout error, which counts as 0",
        "square does not tell the T1, which counts as inf µs",
        "square does not tell the duration of the readout, which counts as 0 µs",
    )


def test_t2_is_at_most_twice_t1():
    values, _ = properties_along(replace(SQUARE, t2_us=(350.0,) * 5), (0, 1, 2, 3))
    assert values["t2_us"] == (200.0, 350.0, 350.0, 350.0)


def test_what_is_no_ring_has_no_properties():
    with pytest.raises(LayoutError, match="2 and 0"):
        properties_along(SQUARE, (0, 1, 2))


def test_one_layer_needs_qubits_but_no_couplers():
    values, notes = properties_along(SQUARE, (0, 2, 4), n_layers=1)
    assert values["readout_error"] == (0.1, 0.3, 0.45)
    assert values["two_qubit_error"] == (0.03,) * 3
    assert notes == ()
    assert DeviceCalibration(**values).n_qubits == 3
    with pytest.raises(LayoutError, match="different qubits between 0 and 4"):
        properties_along(SQUARE, (0, 5), n_layers=1)


@given(couplings())
def test_every_ring_of_every_device_is_a_calibration(coupling):
    for length in ring_lengths(coupling, allow_faulty=True):
        ring = best_ring(coupling, length, allow_faulty=True)
        values, _ = properties_along(coupling, ring.qubits)
        assert set(values) == {field.name for field in fields(DeviceCalibration)}
        assert DeviceCalibration(**values).n_qubits == length
