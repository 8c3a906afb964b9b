"""A calibration says what it cannot be, and which field is to blame."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.simulators.noise import AACHEN, NOISELESS, PITTSBURGH, DeviceCalibration

RATES = ["sx_error", "two_qubit_error", "readout_error"]
TIMES = ["t1_us", "t2_us"]
DURATIONS = ["sx_us", "two_qubit_us", "readout_us"]


def changed(**fields: Any) -> DeviceCalibration:
    """The calibration of one device with other values, which may be lists, arrays, or what is refused."""
    return replace(PITTSBURGH, **fields)


@pytest.mark.parametrize("field", [*RATES, *TIMES, *DURATIONS])
@pytest.mark.parametrize("value", [-0.1, math.nan, "0.1", None, True, [], [0.1, "0.1"], np.zeros((2, 2))])
def test_a_value_that_cannot_be_is_refused_by_its_field(field, value):
    with pytest.raises(InvalidInputError, match=field):
        changed(**{field: value})


@pytest.mark.parametrize(("field", "value"), [("sx_error", 0.51), ("two_qubit_error", 1.0), ("readout_error", 0.6)])
def test_an_error_beyond_losing_everything_is_refused(field, value):
    with pytest.raises(InvalidInputError, match=field):
        changed(**{field: value})
    with pytest.raises(InvalidInputError, match=rf"{field}\[2\].*{value}"):
        changed(**{field: [0.0, 0.1, value]})


@pytest.mark.parametrize("field", TIMES)
def test_coherence_may_last_forever_but_not_no_time(field):
    assert getattr(replace(NOISELESS, **{field: math.inf}), field) == math.inf
    with pytest.raises(InvalidInputError, match=field):
        replace(NOISELESS, **{field: 0.0})


@pytest.mark.parametrize("field", DURATIONS)
def test_no_gate_lasts_forever(field):
    with pytest.raises(InvalidInputError, match=field):
        changed(**{field: math.inf})


def test_t2_is_at_most_twice_t1():
    changed(t1_us=100, t2_us=200)
    with pytest.raises(InvalidInputError, match=r"t2_us.*201\.0.*100\.0"):
        changed(t1_us=100, t2_us=201)
    with pytest.raises(InvalidInputError, match=r"t2_us\[1\].*300\.0.*100\.0"):
        changed(t1_us=100, t2_us=[150, 300, 400])


def test_all_fields_are_for_the_same_qubits():
    with pytest.raises(InvalidInputError, match=r"sx_error for 3.*readout_error for 2"):
        changed(sx_error=[0.1] * 3, readout_error=[0.1] * 2)


def test_one_number_serves_any_ring_and_a_list_only_its_own():
    assert PITTSBURGH.n_qubits is None
    assert_array_equal(PITTSBURGH.per_qubit("sx_error", 3), [1.777e-4] * 3)
    listed = changed(sx_error=np.array([0.1, 0.2, 0.3]))
    assert listed.n_qubits == 3
    assert_array_equal(listed.per_qubit("sx_error", 3), [0.1, 0.2, 0.3])
    with pytest.raises(InvalidInputError, match=r"3 qubits.*4"):
        listed.per_qubit("readout_error", 4)


def test_a_calibration_is_a_plain_value():
    listed = changed(sx_error=np.array([0.1, 0.2]))
    assert listed == changed(sx_error=[0.1, 0.2])
    assert len({listed, replace(listed)}) == 1


def test_scaling_moves_all_noise_together_and_leaves_the_schedule():
    twice = changed(readout_error=[0.01, 0.02]).scaled(2)
    assert twice == DeviceCalibration(
        sx_error=2 * 1.777e-4,
        two_qubit_error=2 * 1.472e-3,
        readout_error=(0.02, 0.04),
        t1_us=301.81 / 2,
        t2_us=339.51 / 2,
    )
    assert AACHEN.scaled(1) == AACHEN
    assert AACHEN.scaled(0) == NOISELESS
    with pytest.raises(InvalidInputError, match="readout_error"):
        AACHEN.scaled(100)
    bad_factors: list[Any] = [-1, math.nan, math.inf, "2"]
    for factor in bad_factors:
        with pytest.raises(InvalidInputError, match="factor"):
            AACHEN.scaled(factor)


def test_the_devices_of_the_paper():
    assert PITTSBURGH.two_qubit_error == 1.472e-3
    assert AACHEN.two_qubit_error == 1.848e-3
    for name in (*RATES, "two_qubit_us"):
        assert np.all(PITTSBURGH.per_qubit(name, 124) <= AACHEN.per_qubit(name, 124))
