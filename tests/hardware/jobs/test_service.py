"""As few jobs as the limits of a service allow hold all circuits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Limits, Speed, job_ranges
from mcquack.hardware.native import n_angles
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
