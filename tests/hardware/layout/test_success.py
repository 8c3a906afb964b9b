"""The estimate of success counts what the noisy simulator simulates."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.hardware.layout.coupling import coupler_log_success, idle_rates, idle_steps, qubit_log_success
from mcquack.simulators.noise import NOISELESS
from mcquack.simulators.noise.calibration import SX_PULSES, ring_schedule
from mcquack.simulators.noise.trajectories import idle_fidelities, pauli_probabilities


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
    errors = np.array([0.01])
    assert_allclose(
        qubit_log_success(errors, np.zeros(1), n_layers=2), sum(SX_PULSES) * np.log(1 - 1.5 * 0.01), rtol=1e-12
    )


def test_a_gate_that_forgets_its_input_is_right_by_chance():
    assert_allclose(np.exp(coupler_log_success(np.array([0.75, 1.0]), n_layers=2)), 1 / 16**2)
    assert_allclose(np.exp(qubit_log_success(np.array([1.0]), np.zeros(1), n_layers=1)), 1 / 4**2)
    assert_allclose(np.exp(qubit_log_success(np.zeros(1), np.array([1.0]), n_layers=1)), 1 / 2)


def test_errors_while_waiting_are_those_of_the_channel():
    t1, t2, moment = np.array([100.0]), np.array([70.0]), 1e-3
    chances = pauli_probabilities(idle_fidelities(np.array([moment]), t1, t2))
    assert_allclose(idle_rates(t1, t2) * moment, chances.sum(), rtol=1e-4)
    assert not idle_rates(np.array([np.inf]), np.array([np.inf])).any()
