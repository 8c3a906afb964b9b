"""As few jobs as the limits of a service allow hold all circuits, and what they cost is known before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Limits, Speed, estimate, job_ranges, readable_seconds
from mcquack.hardware.native import n_angles, two_qubit_depth
from mcquack.training import total_shots
from tests.hardware.overlaps import ring_map


@given(
    n_circuits=st.integers(0, 5_000),
    shots=st.integers(1, 500),
    size=st.tuples(st.integers(1, 40), st.integers(1, 2)),
    executions=st.integers(500, 200_000),
    parameters=st.integers(500, 200_000),
)
def test_every_circuit_is_in_one_job_in_order_and_no_job_exceeds_a_limit(
    n_circuits, shots, size, executions, parameters
):
    limits = Limits(executions=executions, parameters=parameters)
    n_qubits, n_layers = size
    n_parameters = n_angles(ring_map(n_qubits, n_layers))
    parts = job_ranges(n_circuits, shots=shots, circuit=ring_map(n_qubits, n_layers), limits=limits)
    assert [circuit for part in parts for circuit in part] == list(range(n_circuits))
    sizes = [len(part) for part in parts]
    assert all(1 <= size * shots <= executions and size * n_parameters <= parameters for size in sizes)
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    # One job less would have to exceed a limit.
    most = min(executions // shots, parameters // n_parameters)
    assert n_circuits > most * (len(parts) - 1) or n_circuits == 0


def test_the_limits_of_the_paper_s_service_hold_its_experiment_in_one_job():
    assert job_ranges(300, shots=100, circuit=ring_map(124, 2)) == (range(300),)
    assert len(job_ranges(9_000, shots=100, circuit=ring_map(124, 2))) == 2


def test_a_circuit_that_no_job_can_hold_is_refused():
    with pytest.raises(InvalidInputError, match=r"1000 shots.* 999"):
        job_ranges(3, shots=1000, circuit=ring_map(1, 1), limits=Limits(executions=999))
    with pytest.raises(InvalidInputError, match=r"1116 angles.* 1000"):
        job_ranges(3, shots=10, circuit=ring_map(124, 2), limits=Limits(parameters=1000))
    with pytest.raises(InvalidInputError, match="shots"):
        job_ranges(3, shots=0, circuit=ring_map(1, 1))


@pytest.mark.parametrize(
    "changes", [{"clops": 0}, {"rep_delay_us": -1}, {"two_qubit_us": "1"}, {"sx_us": float("inf")}]
)
def test_impossible_speeds_are_refused(changes):
    with pytest.raises(InvalidInputError, match=next(iter(changes))):
        Speed(**changes)


def test_the_duration_of_the_paper_s_circuit_is_that_of_its_schedule():
    # 32.8 µs, as scheduled by Qiskit on a snapshot of ibm_pittsburgh.
    assert Speed().execution_us(ring_map(124, 2)) == pytest.approx(32.8, rel=0.02)


# Their cost.

COUNTS = st.integers(1, 10_000)


@given(n_circuits=COUNTS, shots=COUNTS, n_qubits=st.integers(1, 156), n_layers=st.integers(1, 5), n_jobs=COUNTS)
def test_low_likely_and_high_are_in_order_and_more_work_takes_longer(n_circuits, shots, n_qubits, n_layers, n_jobs):
    found = estimate(n_circuits, shots, circuit=ring_map(n_qubits, n_layers), n_jobs=n_jobs)
    assert 0 < found.low <= found.by_repetition <= found.high
    assert found.executions == n_circuits * shots
    for more in (
        estimate(n_circuits + 1, shots, circuit=ring_map(n_qubits, n_layers), n_jobs=n_jobs),
        estimate(n_circuits, shots + 1, circuit=ring_map(n_qubits, n_layers), n_jobs=n_jobs),
        estimate(n_circuits, shots, circuit=ring_map(n_qubits + 1, n_layers + 1), n_jobs=n_jobs + 1),
    ):
        assert more.by_repetition > found.by_repetition
        assert more.by_paper >= found.by_paper


def test_only_rings_have_gates_on_two_qubits():
    assert two_qubit_depth(ring_map(124, 2)) == 248
    assert two_qubit_depth(ring_map(1, 3)) == two_qubit_depth(ring_map(5, 1)) == 0


def test_the_paper_s_experiment_by_each_rule():
    found = estimate(50 * 2, 100, circuit=ring_map(124, 2))
    assert found.by_repetition == pytest.approx(2 + 10_000 * 282.5e-6, rel=1e-3)
    assert found.by_clops == pytest.approx(10_000 * 248 / 250_000)
    assert found.by_paper == pytest.approx(200)


def test_one_job_for_each_circuit_is_the_pace_that_the_paper_tells_of():
    assert estimate(1, 100, circuit=ring_map(124, 2)).by_repetition == pytest.approx(2.0, rel=0.02)
    assert estimate(1, 100, circuit=ring_map(124, 2)).by_paper == pytest.approx(2.0)


def test_an_epoch_of_training_takes_the_827_hours_of_the_paper():
    feature_map = FeatureMap(n_features=248, n_qubits=124, n_layers=2)
    n_shots = total_shots(feature_map, n_classes=2, n_train=100, n_shots=100)
    found = estimate(n_shots // 100, 100, circuit=ring_map(124, 2))
    assert found.executions == n_shots
    assert found.by_paper / 3600 == pytest.approx(827, abs=1)


def test_a_device_is_taken_at_its_own_numbers():
    speed = Speed(clops=None, rep_delay_us=100, two_qubit_us=4, sx_us=0, readout_us=10)
    found = estimate(10, 100, circuit=ring_map(5, 2), n_jobs=3, speed=speed)
    assert found.by_repetition == pytest.approx(6.15)
    assert found.by_clops is None
    assert len(found.basis) == 2


def test_an_estimate_reads_as_a_sentence_and_says_what_it_rests_on():
    found = estimate(300, 100, circuit=ring_map(124, 2))
    assert str(found) == (
        "30,000 executions of 300 circuits in 1 job: about 10 s of QPU time, between 10 s and 10.0 min"
    )
    repetition, clops, paper = found.basis
    assert "32.5 µs for the circuit and 250 µs to reset" in repetition
    assert "250,000 layers per second and 248 layers" in clops
    assert "one job per circuit" in paper


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.5, "0.5 s"), (59.6, "60 s"), (312, "5.2 min"), (11_160, "3.1 h"), (2_977_200, "34.5 d")]
)
def test_seconds_are_told_in_the_unit_that_one_would_use(seconds, text):
    assert readable_seconds(seconds) == text


def test_nothing_to_run_costs_nothing():
    found = estimate(0, 100, circuit=ring_map(124, 2), n_jobs=0)
    assert (found.n_circuits, found.executions, found.n_jobs, found.low, found.high) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("n_circuits", {"n_circuits": -1}),
        ("n_circuits", {"n_circuits": 1.5}),
        ("shots", {"shots": 0}),
        ("n_jobs", {"n_jobs": 0}),
    ],
)
def test_impossible_numbers_are_refused(name, arguments):
    with pytest.raises(InvalidInputError, match=name):
        estimate(**{"n_circuits": 1, "shots": 1, "circuit": ring_map(3, 2), **arguments})
