"""What runs on this computer measures what it must, the same each time, and forgets with the process."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from qiskit.circuit import Delay
from qiskit.quantum_info import PTM, SuperOp
from qiskit_aer.noise import thermal_relaxation_error
from scipy.stats import chi2_contingency

from mcquack.errors import DeviceError, InvalidInputError, LayoutError, LayoutWarning, LostJobError
from mcquack.hardware.services.account import coupling_of, snapshot
from mcquack.hardware.services.general import overlap_template
from mcquack.hardware.services.local import idle_noise, noise_model, noiseless_ring, relaxation, ring_device, scheduled
from mcquack.hardware.services.opening import open_service, reopened
from mcquack.hardware.services.options import Options
from mcquack.hardware.services.program import placed
from mcquack.simulators.noise.calibration import DeviceCalibration, ring_schedule
from mcquack.simulators.samplers import NoisySampler
from tests.hardware.overlaps import of_itself, paper_overlaps, ring_map, some_circuits
from tests.hardware.services.measuring import LEAST_P_VALUE, flat_angles, least_p_value

LATTICE = "fake_nighthawk"
SQUARE = (0, 1, 11, 10)  # given, since the best of a lattice takes a search

HOW = {
    "v2": Options(api="v2", noise="none"),
    "executor": Options(api="executor", noise="none"),
    "decoupled": Options(decoupling="XY4", noise="none"),
    "twirled": Options(measure_twirling=True, randomizations=4, noise="none"),
    "both": Options(decoupling="XX", measure_twirling=True, randomizations=4, noise="none"),
}


def measured(service, circuits, *, shots, tag="mcquack-1-0-1"):
    job_id = service.submit(flat_angles(circuits), shots=shots, tag=tag)
    assert service.status(job_id).state == "done", service.status(job_id).message
    return service.outcomes(job_id)


def hamming_counts(bits, n_qubits):
    weights = np.bitwise_count(bits).sum(axis=-1)
    return np.array([np.bincount(of_one, minlength=n_qubits + 1) for of_one in weights])


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(("name", "ring"), [("aer", (0, 1, 2)), (LATTICE, SQUARE)])
def test_without_errors_bits_are_drawn_from_the_exact_probabilities(name, ring, how):
    circuits = some_circuits(len(ring), 2, seed=3)
    service = open_service(name, circuit=ring_map(len(ring), 2), options=HOW[how], seed=1, ring=ring)
    assert least_p_value(measured(service, circuits, shots=2_000), circuits) > LEAST_P_VALUE


@pytest.mark.parametrize(
    ("name", "n_qubits", "n_layers"), [("aer", 1, 2), ("fake_brisbane", 2, 3), ("fake_rome", 2, 2)]
)
def test_devices_with_other_gates_and_other_circuits_draw_the_same(name, n_qubits, n_layers):
    circuits = some_circuits(n_qubits, n_layers, seed=4)
    service = open_service(name, circuit=ring_map(n_qubits, n_layers), options=Options(noise="none"))
    assert least_p_value(measured(service, circuits, shots=2_000), circuits) > LEAST_P_VALUE


@pytest.mark.parametrize("how", ["v2", "executor", "twirled"])
def test_a_sample_that_is_its_centroid_gives_zeros_only(how):
    circuits = of_itself(some_circuits(4, 2, n_samples=2))
    bits = measured(open_service("aer", circuit=ring_map(4, 2), options=HOW[how]), circuits, shots=100)
    assert not bits[[0, 3]].any()
    assert bits[[1, 2]].any()


def test_large_rings_are_drawn_from_tensors():
    circuits = of_itself(some_circuits(30, 2, n_samples=1))
    service = open_service("aer", circuit=ring_map(30, 2))
    assert service.description["method"] == "matrix_product_state"
    bits = measured(service, circuits, shots=10)
    assert bits.shape == (1, 10, 4)
    assert not bits.any()


@pytest.mark.parametrize("noise", ["pauli", "full"])
def test_errors_are_those_of_the_noisy_twin(noise):
    n_qubits, shots = 4, 4_000
    circuits = of_itself(some_circuits(n_qubits, 2, n_samples=2, seed=5))
    options = Options(noise=noise)
    service = open_service(LATTICE, circuit=ring_map(n_qubits, 2), options=options, seed=2, ring=SQUARE)
    properties = ring_device(snapshot(LATTICE), SQUARE).properties
    ours = hamming_counts(measured(service, circuits, shots=shots), n_qubits)
    twin = NoisySampler(DeviceCalibration(**properties.values), seed=2)
    theirs = twin.hamming_counts(circuits, shots=shots).reshape(-1, n_qubits + 1)
    assert ours[[0, 3], 1:].sum() > 20
    for row in zip(ours, theirs, strict=True):
        table = np.array(row)
        common = table.sum(axis=0) >= 10
        pooled = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
        assert chi2_contingency(pooled[:, pooled.any(axis=0)]).pvalue > LEAST_P_VALUE


def test_seed_and_tag_decide_the_outcomes():
    circuits = some_circuits(4, 2)

    def bits(seed, tag):
        service = open_service(LATTICE, circuit=ring_map(4, 2), seed=seed, ring=SQUARE)
        return measured(service, circuits, shots=50, tag=tag)

    first = bits(0, "mcquack-a-0-1")
    assert np.array_equal(first, bits(0, "mcquack-a-0-1"))
    assert np.array_equal(first, bits(0, "mcquack-a-0-2"))  # sent again
    assert not np.array_equal(first, bits(1, "mcquack-a-0-1"))
    assert not np.array_equal(first, bits(0, "mcquack-b-0-1"))


def test_equal_circuits_of_a_job_are_drawn_apart():
    one = some_circuits(4, 2, n_samples=1, n_centroids=1)
    twice = paper_overlaps(np.repeat(one.samples, 2, axis=0), one.centroids)
    first, second = measured(open_service("aer", circuit=ring_map(4, 2)), twice, shots=100)
    assert not np.array_equal(first, second)


def test_jobs_wait_are_found_run_and_cancelled():
    service = open_service("aer", circuit=ring_map(2, 2))
    angles = flat_angles(some_circuits(2, 2))
    first, second = (service.submit(angles, shots=3, tag=tag) for tag in ("a-1", "b-1"))
    assert (service.find("a-1"), service.find("b-1"), service.find("c-1")) == (first, second, None)
    service.cancel(second)
    assert service.status(second).state == "cancelled"
    with pytest.raises(DeviceError, match="cancelled"):
        service.outcomes(second)
    assert service.outcomes(first).shape == (4, 3, 1)
    service.cancel(first)  # stays as it is
    assert service.status(first).state == "done"


def test_a_new_process_knows_no_job():
    service = open_service("aer", circuit=ring_map(2, 2))
    job_id = service.submit(flat_angles(some_circuits(2, 2)), shots=3, tag="a-1")
    later = pickle.loads(pickle.dumps(service))
    assert later.description == service.description
    assert later.find("a-1") is None
    for ask in (later.status, later.outcomes, later.cancel):
        with pytest.raises(LostJobError, match="sent again"):
            ask(job_id)


def test_a_new_process_never_takes_its_own_job_for_one_of_an_ended_one():
    """A ledger remembers the ids of jobs that ended with their process, and asks for them later."""
    old, new = (open_service("aer", circuit=ring_map(2, 2)) for _ in range(2))
    angles = flat_angles(some_circuits(2, 2))
    ended = [old.submit(angles, shots=3, tag=f"a-{number}") for number in range(3)]
    own = [new.submit(angles, shots=3, tag=f"b-{number}") for number in range(3)]
    assert not set(ended) & set(own)
    with pytest.raises(LostJobError):
        new.outcomes(ended[0])


@pytest.mark.parametrize("noise", ["pauli", "full", "none"])
def test_a_circuit_of_one_layer_runs_on_qubits_that_are_no_ring(noise):
    circuits = some_circuits(5, 1)
    service = open_service("fake_torino", circuit=ring_map(5, 1), options=Options(noise=noise))
    with pytest.raises(LayoutError):  # the best five of this device are none
        coupling_of(snapshot("fake_torino")).ring_couplers(service.description["ring"])
    assert measured(service, circuits, shots=20).shape == (4, 20, 1)


def test_a_simulation_that_breaks_is_a_job_that_failed(monkeypatch):
    service = open_service("aer", circuit=ring_map(2, 2))
    job_id = service.submit(flat_angles(some_circuits(2, 2)), shots=3, tag="a-1")
    monkeypatch.setattr("mcquack.hardware.services.local.sent", lambda *values, **options: 1 / 0)
    status = service.status(job_id)
    assert (status.state, "ZeroDivisionError" in status.message) == ("failed", True)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("aer", Options()),
        (LATTICE, Options(decoupling="XX", measure_twirling=True)),
        (LATTICE, Options(api="v2", decoupling="XX", mode="batch", noise="full")),
    ],
)
def test_a_description_opens_the_same_service(name, options):
    service = open_service(name, circuit=ring_map(4, 2), options=options, seed=9, ring=SQUARE)
    told = json.loads(json.dumps(service.description))
    assert reopened(told).description == told
    assert copy.deepcopy(service).description == told
    assert str(told["ring"][0]) in repr(service)


def test_what_the_older_sampler_leaves_out_is_noted():
    told = open_service("aer", circuit=ring_map(2, 2), options=Options(api="v2", measure_twirling=True)).description
    assert "twirling are left out" in told["notes"]
    told = open_service("aer", circuit=ring_map(2, 2), options=Options(measure_twirling=True)).description
    assert told["notes"] == ""


def test_faults_on_the_ring_are_noted():
    options = Options(allow_faulty=True)
    service = open_service("fake_pittsburgh", circuit=ring_map(124, 2), options=options)
    assert len(service.description["ring"]) == 124
    assert "two-qubit error of the couplers" in service.description["notes"]
    with pytest.warns(LayoutWarning, match=r"faulty coupler.* median") as told:
        same = open_service("fake_pittsburgh", circuit=ring_map(124, 2))
    assert same.description == service.description
    assert service.description["notes"] in str(told[0].message)


def test_jobs_are_small_where_they_are_slow():
    def n_circuits(n_qubits, **options):
        service = open_service("fake_pittsburgh", circuit=ring_map(n_qubits, 2), options=Options(**options))
        return service.limits.parameters // (9 * n_qubits)

    assert n_circuits(20) < n_circuits(20, noise="none") < n_circuits(12, noise="none")


@pytest.mark.parametrize("shots", [0, 1.5, True])
def test_shots_are_whole_numbers(shots):
    service = open_service("aer", circuit=ring_map(2, 2))
    with pytest.raises(InvalidInputError, match="shots must be"):
        service.submit(flat_angles(some_circuits(2, 2)), shots=shots, tag="a-1")


# The errors of a simulated ring are those of its calibration, where and when they happen.

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
    circuit = placed(overlap_template(ring_map(4, 2)), range(4), target)
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
    circuit = placed(overlap_template(ring_map(4, 2)), range(4), device.target)
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
    assert model is not None
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
    circuit = placed(overlap_template(ring_map(3, 2)), range(3), device.target)
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
