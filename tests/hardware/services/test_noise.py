"""The errors of a simulated ring are those of its calibration, where and when they happen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from qiskit.circuit import Delay
from qiskit.quantum_info import PTM, SuperOp
from qiskit_aer.noise import thermal_relaxation_error

from mcquack.hardware.native import overlap_template, placed
from mcquack.hardware.services.account import snapshot
from mcquack.hardware.services.local import idle_noise, noise_model, relaxation, scheduled
from mcquack.hardware.services.ring_device import noiseless_ring, ring_device
from mcquack.simulators.noise.calibration import DeviceCalibration, ring_schedule

RING = (0, 1, 11, 10)  # of a lattice of squares


def lattice():
    return ring_device(snapshot("fake_nighthawk"), RING)


@given(time=st.floats(0, 500), t1=st.floats(1, 1e3), share=st.floats(0.01, 2))
def test_waiting_is_thermal_relaxation_twirled_over_the_paulis(time, t1, share):
    t2 = t1 * share
    found = np.real(PTM(SuperOp(relaxation(time, t1_us=t1, t2_us=t2))).data)
    exact = np.real(PTM(SuperOp(thermal_relaxation_error(t1, min(t2, 2 * t1), time))).data)
    assert_allclose(found, np.diag(np.diag(exact)), atol=1e-9)


def test_qubits_wait_as_long_as_the_noisy_twin_says():
    device = lattice()
    target = device.target
    circuit = placed(overlap_template(4, 2), range(4), target)
    # The twin knows the times that were rounded to the clock.
    rounded = {
        "sx_us": [target["sx"][(q,)].duration * 1e6 for q in range(4)],
        "two_qubit_us": [target["cz"][(q, (q + 1) % 4)].duration * 1e6 for q in range(4)],
    }
    twin = DeviceCalibration(**device.properties.values | {name: tuple(us) for name, us in rounded.items()})
    timed = scheduled(circuit, target)
    waits, started = np.zeros(4), set()
    for instruction in timed.data:
        qubits = [timed.find_bit(qubit).index for qubit in instruction.qubits]
        if isinstance(instruction.operation, Delay):
            waits[qubits[0]] += instruction.operation.duration * target.dt * 1e6 * (qubits[0] in started)
        elif instruction.operation.name != "barrier":
            started.update(qubits)
    assert waits.max() > 0.1
    assert_allclose(waits, ring_schedule(twin, 4).idle_us.sum(axis=0), atol=1e-9)


def test_pauli_errors_stand_for_every_wait_but_the_first():
    device = lattice()
    circuit = placed(overlap_template(4, 2), range(4), device.target)
    noisy = idle_noise(device, "pauli")(circuit)
    counts = noisy.count_ops()
    assert "delay" not in counts
    assert sum(n for name, n in counts.items() if name not in circuit.count_ops()) > 0
    assert {name: n for name, n in counts.items() if name in circuit.count_ops()} == dict(circuit.count_ops())
    seen: set[int] = set()
    for instruction in noisy.data:
        qubits = {noisy.find_bit(qubit).index for qubit in instruction.qubits}
        if instruction.operation.name not in circuit.count_ops():
            assert qubits <= seen
        seen |= qubits


def test_gates_err_as_often_as_the_calibration_says():
    device = lattice()
    model = noise_model(device, "pauli")
    errors = {(name, qubits): error for name, by in model._local_quantum_errors.items() for qubits, error in by.items()}
    for pair in device.pairs:
        error = SuperOp(errors["cz", pair])
        process = np.real(np.trace(error.data)) / 16
        assert_allclose(1 - (4 * process + 1) / 5, device.properties.values["two_qubit_error"][device.coupler(pair)])
    for qubit in range(4):
        process = np.real(np.trace(SuperOp(errors["sx", (qubit,)]).data)) / 4
        assert_allclose(1 - (2 * process + 1) / 3, device.properties.values["sx_error"][qubit], atol=1e-12)
        assert errors["x", (qubit,)] == errors["sx", (qubit,)]


def test_without_errors_nothing_is_changed():
    device = noiseless_ring(3)
    circuit = placed(overlap_template(3, 2), range(3), device.target)
    assert noise_model(device, "none") is None
    assert idle_noise(device, "pauli")(circuit) is circuit
    assert idle_noise(lattice(), "none")(circuit) is circuit


@pytest.mark.parametrize("n_qubits", [1, 2, 3, 5])
def test_a_ring_knows_its_couplers_from_both_sides(n_qubits):
    device = noiseless_ring(n_qubits)
    assert len(device.pairs) == {1: 0, 2: 2}.get(n_qubits, 2 * n_qubits)
    for first, second in device.pairs:
        place = device.coupler((first, second))
        assert {place, (place + 1) % n_qubits} == {first, second}


def test_couplers_beside_the_ring_are_left_out():
    # Six qubits around two squares, with a coupler across.
    device = ring_device(snapshot("fake_nighthawk"), (0, 1, 2, 12, 11, 10))
    assert {frozenset(pair) for pair in device.pairs} == {frozenset((q, (q + 1) % 6)) for q in range(6)}


def test_faults_count_as_the_median_and_are_noted():
    target = snapshot("fake_pittsburgh").target
    faulty = next(pair for pair, known in target["cz"].items() if known.error == 1)
    device = ring_device(snapshot("fake_pittsburgh"), faulty)
    assert all(error < 0.1 for error in device.properties.values["two_qubit_error"])
    assert "two-qubit error of the coupler" in " ".join(device.properties.notes)
    assert all(math.isfinite(known.error) for known in device.target["cz"].values())
