"""The waiting times are those of a real compiler, and of counting by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.randomness import stream
from mcquack.simulators.noise import NOISELESS, PITTSBURGH, ring_schedule
from tests.simulators.noise.compiled import compiled, device, waiting_us


@pytest.mark.parametrize("n_qubits", [2, 3, 7, 124])
def test_qubits_wait_as_long_as_the_ring_takes_to_come_back(n_qubits):
    step = 0.088 + 0.032
    expected = np.zeros((5, n_qubits))
    expected[[1, 3], 0] = (n_qubits - 2) * step
    later = np.arange(1, n_qubits)
    expected[2, 1:] = 2 * (n_qubits - 1 - later) * step
    expected[4, 1:] = (later - 1) * step
    assert_allclose(ring_schedule(PITTSBURGH, n_qubits).idle_us, expected, atol=1e-9)


@pytest.mark.parametrize("slower_coupler", [None, 0, 2, 4])
def test_a_compiler_schedules_the_same(slower_coupler):
    n_qubits = 5
    durations = np.full(n_qubits, 0.088)
    if slower_coupler is not None:
        durations[slower_coupler] = 0.208
    sample, centroid = stream(0, "angles").uniform(0.3, 2.0, (2, 2, n_qubits, 3))
    target = device(n_qubits, sx_us=0.032, two_qubit_us=durations, readout_us=2.584)
    circuit = compiled(sample, centroid, target)
    schedule = ring_schedule(replace(NOISELESS, two_qubit_us=tuple(durations)), n_qubits)
    assert circuit.count_ops()["sx"] == 8 * n_qubits
    assert circuit.count_ops()["cz"] == 2 * n_qubits
    assert_allclose(schedule.idle_us, waiting_us(circuit), atol=1e-9)
    assert_allclose(schedule.duration_us, circuit.estimate_duration(target) * 1e6, atol=1e-9)


def test_the_circuit_of_the_paper_takes_as_long_as_its_compiled_form():
    # 32.8 µs on a snapshot of the device, where a few couplers are slower than most.
    assert_allclose(ring_schedule(PITTSBURGH, 124).duration_us, 32.8, atol=0.4)


def test_a_single_qubit_never_waits():
    schedule = ring_schedule(PITTSBURGH, 1)
    assert not schedule.idle_us.any()
    assert_allclose(schedule.duration_us, 2 * 0.032 + 2.584)
