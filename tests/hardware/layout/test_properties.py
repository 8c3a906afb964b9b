"""What is told along a ring is a calibration for the noisy simulator."""

import math
from dataclasses import fields, replace

import pytest
from hypothesis import given

from mcquack.errors import LayoutError
from mcquack.hardware.layout import Coupling, best_ring, ring_lengths
from mcquack.hardware.layout.properties import properties_along
from mcquack.simulators.noise import DeviceCalibration
from tests.hardware.layout.graphs import couplings

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


def test_what_is_no_ring_is_refused():
    with pytest.raises(LayoutError, match="no coupler between the qubits 2 and 0"):
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
