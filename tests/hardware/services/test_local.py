"""What runs on this computer measures what it must, the same each time, and forgets with the process."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import DeviceError, InvalidInputError, LayoutError, LostJobError
from mcquack.hardware.services.account import snapshot
from mcquack.hardware.services.opening import open_service, reopened
from mcquack.hardware.services.plan import Options
from mcquack.hardware.services.ring_device import ring_device
from mcquack.hardware.snapshot import coupling_of
from mcquack.simulators.noise.calibration import DeviceCalibration
from mcquack.simulators.samplers import NoisySampler
from tests.hardware.circuit.overlaps import of_itself, some_circuits
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
    service = open_service(name, n_qubits=len(ring), n_layers=2, options=HOW[how], seed=1, ring=ring)
    assert least_p_value(measured(service, circuits, shots=2_000), circuits) > LEAST_P_VALUE


@pytest.mark.parametrize(
    ("name", "n_qubits", "n_layers"), [("aer", 1, 2), ("fake_brisbane", 2, 3), ("fake_rome", 2, 2)]
)
def test_devices_with_other_gates_and_other_circuits_draw_the_same(name, n_qubits, n_layers):
    circuits = some_circuits(n_qubits, n_layers, seed=4)
    service = open_service(name, n_qubits=n_qubits, n_layers=n_layers, options=Options(noise="none"))
    assert least_p_value(measured(service, circuits, shots=2_000), circuits) > LEAST_P_VALUE


@pytest.mark.parametrize("how", ["v2", "executor", "twirled"])
def test_a_sample_that_is_its_centroid_gives_zeros_only(how):
    circuits = of_itself(some_circuits(4, 2, n_samples=2))
    bits = measured(open_service("aer", n_qubits=4, n_layers=2, options=HOW[how]), circuits, shots=100)
    assert not bits[[0, 3]].any()
    assert bits[[1, 2]].any()


def test_large_rings_are_drawn_from_tensors():
    circuits = of_itself(some_circuits(30, 2, n_samples=1))
    service = open_service("aer", n_qubits=30, n_layers=2)
    assert service.description["method"] == "matrix_product_state"
    bits = measured(service, circuits, shots=10)
    assert bits.shape == (1, 10, 4)
    assert not bits.any()


@pytest.mark.parametrize("noise", ["pauli", "full"])
def test_errors_are_those_of_the_noisy_twin(noise):
    n_qubits, shots = 4, 4_000
    circuits = of_itself(some_circuits(n_qubits, 2, n_samples=2, seed=5))
    options = Options(noise=noise)
    service = open_service(LATTICE, n_qubits=n_qubits, n_layers=2, options=options, seed=2, ring=SQUARE)
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
        service = open_service(LATTICE, n_qubits=4, n_layers=2, seed=seed, ring=SQUARE)
        return measured(service, circuits, shots=50, tag=tag)

    first = bits(0, "mcquack-a-0-1")
    assert np.array_equal(first, bits(0, "mcquack-a-0-1"))
    assert np.array_equal(first, bits(0, "mcquack-a-0-2"))  # sent again
    assert not np.array_equal(first, bits(1, "mcquack-a-0-1"))
    assert not np.array_equal(first, bits(0, "mcquack-b-0-1"))


def test_equal_circuits_of_a_job_are_drawn_apart():
    one = some_circuits(4, 2, n_samples=1, n_centroids=1)
    twice = OverlapCircuits(samples=np.repeat(one.samples, 2, axis=0), centroids=one.centroids)
    first, second = measured(open_service("aer", n_qubits=4, n_layers=2), twice, shots=100)
    assert not np.array_equal(first, second)


def test_jobs_wait_are_found_run_and_cancelled():
    service = open_service("aer", n_qubits=2, n_layers=2)
    angles = flat_angles(some_circuits(2, 2))
    first, second = (service.submit(angles, shots=3, tag=tag) for tag in ("a-1", "b-1"))
    assert (service.find("a-1"), service.find("b-1"), service.find("c-1")) == (first, second, None)
    service.cancel(second)
    assert service.status(second).state == "cancelled"
    with pytest.raises(DeviceError, match="is cancelled and has no outcomes"):
        service.outcomes(second)
    assert service.outcomes(first).shape == (4, 3, 1)
    service.cancel(first)  # stays as it is
    assert service.status(first).state == "done"


def test_a_new_process_knows_no_job():
    service = open_service("aer", n_qubits=2, n_layers=2)
    job_id = service.submit(flat_angles(some_circuits(2, 2)), shots=3, tag="a-1")
    later = pickle.loads(pickle.dumps(service))
    assert later.description == service.description
    assert later.find("a-1") is None
    for ask in (later.status, later.outcomes, later.cancel):
        with pytest.raises(LostJobError, match="have it sent again"):
            ask(job_id)


def test_a_new_process_never_takes_its_own_job_for_one_of_an_ended_one():
    """A ledger remembers the ids of jobs that ended with their process, and asks for them later."""
    old, new = (open_service("aer", n_qubits=2, n_layers=2) for _ in range(2))
    angles = flat_angles(some_circuits(2, 2))
    ended = [old.submit(angles, shots=3, tag=f"a-{number}") for number in range(3)]
    own = [new.submit(angles, shots=3, tag=f"b-{number}") for number in range(3)]
    assert not set(ended) & set(own)
    with pytest.raises(LostJobError):
        new.outcomes(ended[0])


@pytest.mark.parametrize("noise", ["pauli", "full", "none"])
def test_a_circuit_of_one_layer_runs_on_qubits_that_are_no_ring(noise):
    circuits = some_circuits(5, 1)
    service = open_service("fake_torino", n_qubits=5, n_layers=1, options=Options(noise=noise))
    with pytest.raises(LayoutError):  # the best five of this device are none
        coupling_of(snapshot("fake_torino")).ring_couplers(service.description["ring"])
    assert measured(service, circuits, shots=20).shape == (4, 20, 1)


def test_a_simulation_that_breaks_is_a_job_that_failed(monkeypatch):
    service = open_service("aer", n_qubits=2, n_layers=2)
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
    service = open_service(name, n_qubits=4, n_layers=2, options=options, seed=9, ring=SQUARE)
    told = json.loads(json.dumps(service.description))
    assert reopened(told).description == told
    assert copy.deepcopy(service).description == told
    assert str(told["ring"][0]) in repr(service)


def test_what_the_older_sampler_leaves_out_is_noted():
    told = open_service("aer", n_qubits=2, n_layers=2, options=Options(api="v2", measure_twirling=True)).description
    assert "twirling are left out" in told["notes"]
    told = open_service("aer", n_qubits=2, n_layers=2, options=Options(measure_twirling=True)).description
    assert told["notes"] == ""


def test_faults_on_the_ring_are_noted():
    options = Options(allow_faulty=True)
    service = open_service("fake_pittsburgh", n_qubits=124, n_layers=2, options=options)
    assert len(service.description["ring"]) == 124
    assert "two-qubit error of the couplers" in service.description["notes"]
    with pytest.raises(LayoutError, match="116"):
        open_service("fake_pittsburgh", n_qubits=124, n_layers=2)


def test_jobs_are_small_where_they_are_slow():
    def n_circuits(n_qubits, **options):
        service = open_service("fake_pittsburgh", n_qubits=n_qubits, n_layers=2, options=Options(**options))
        return service.limits.parameters // (9 * n_qubits)

    assert n_circuits(20) < n_circuits(20, noise="none") < n_circuits(12, noise="none")


@pytest.mark.parametrize("shots", [0, 1.5, True])
def test_shots_are_whole_numbers(shots):
    service = open_service("aer", n_qubits=2, n_layers=2)
    with pytest.raises(InvalidInputError, match="shots must be"):
        service.submit(flat_angles(some_circuits(2, 2)), shots=shots, tag="a-1")
