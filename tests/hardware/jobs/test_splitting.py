import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Limits, split


@given(
    n_circuits=st.integers(0, 5_000),
    shots=st.integers(1, 500),
    n_parameters=st.integers(0, 500),
    executions=st.integers(500, 200_000),
    parameters=st.integers(500, 200_000),
)
def test_every_circuit_is_in_one_job_in_order_and_no_job_exceeds_a_limit(
    n_circuits, shots, n_parameters, executions, parameters
):
    limits = Limits(executions=executions, parameters=parameters)
    parts = split(n_circuits, shots=shots, n_parameters=n_parameters, limits=limits)
    assert [circuit for part in parts for circuit in part] == list(range(n_circuits))
    sizes = [len(part) for part in parts]
    assert all(1 <= size * shots <= executions and size * n_parameters <= parameters for size in sizes)
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    # One job less would have to exceed a limit.
    most = min(executions // shots, parameters // max(n_parameters, 1))
    assert n_circuits > most * (len(parts) - 1) or n_circuits == 0


def test_the_limits_of_the_paper_s_service_hold_its_experiment_in_one_job():
    assert split(300, shots=100, n_parameters=1116, limits=Limits()) == (range(300),)
    assert len(split(9_000, shots=100, n_parameters=1116, limits=Limits())) == 2


def test_a_circuit_that_no_job_can_hold_is_refused():
    with pytest.raises(InvalidInputError, match=r"1000 shots .* 999 executions: take at most 999 shots"):
        split(3, shots=1000, n_parameters=5, limits=Limits(executions=999))
    with pytest.raises(InvalidInputError, match=r"1116 angles .* 1000: take fewer qubits"):
        split(3, shots=10, n_parameters=1116, limits=Limits(parameters=1000))
    with pytest.raises(InvalidInputError, match="shots"):
        split(3, shots=0, n_parameters=5, limits=Limits())
