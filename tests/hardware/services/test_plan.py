"""A plan is plain JSON in one direction, and the same plan in the other."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.errors import InvalidInputError
from mcquack.hardware.services.plan import Options, Plan


@st.composite
def plans(draw):
    ring = draw(st.lists(st.integers(0, 155), min_size=1, max_size=8, unique=True))
    return Plan(
        backend=draw(st.sampled_from(["aer", "ibm_pittsburgh"])),
        n_qubits=len(ring),
        n_layers=draw(st.integers(1, 4)),
        ring=tuple(ring),
        options=Options(measure_twirling=draw(st.booleans())),
        seed=draw(st.none() | st.integers(0, 2**40)),
    )


@given(plans())
def test_a_description_is_json_and_gives_the_plan_back(plan):
    told = json.loads(json.dumps(plan.description(notes="none"), allow_nan=False))
    assert Plan.of(told) == plan == pickle.loads(pickle.dumps(plan))


def test_a_description_tells_all_that_decides_what_is_measured():
    plan = Plan(backend="aer", n_qubits=2, n_layers=3, ring=(5, 4), seed=1)
    told = plan.description(method="automatic")
    deciding = {"decoupling", "measure_twirling", "randomizations", "api", "noise"}
    assert {"backend", "n_qubits", "n_layers", "ring", "seed", "method", *deciding} <= set(told)
    assert all(told[name] for name in ("qiskit", "qiskit_aer", "qiskit_ibm_runtime"))


@pytest.mark.parametrize("seed", [None, 0])
def test_what_decides_nothing_is_not_in_a_description(seed):
    """Else what was measured in a batch, or on a ring that was found otherwise, would be paid for again."""
    plan = Plan(backend="ibm_rome", n_qubits=2, n_layers=2, ring=(0, 1), seed=seed)
    for changes in ({"mode": "session"}, {"max_error": 0.1}, {"allow_faulty": True}):
        assert replace(plan, options=Options(**changes)).description() == plan.description()
    noisy = replace(plan, options=Options(noise="full"))
    assert (noisy.description() == plan.description()) == (seed is None)


def test_versions_are_those_of_the_first_opening():
    # Otherwise results that were paid for could not be fetched after an update.
    told = Plan(backend="aer", n_qubits=1, n_layers=1, ring=(0,)).description() | {"qiskit": "1.0"}
    assert Plan.of(told).description()["qiskit"] == "1.0"


@pytest.mark.parametrize("ring", [(0,), (0, 0), (0, -1), (0, 1, 2), (0.5, 1)])
def test_a_ring_must_have_a_qubit_for_each_of_the_circuit(ring):
    with pytest.raises(InvalidInputError, match="2 different qubits"):
        Plan(backend="aer", n_qubits=2, n_layers=1, ring=ring)


def test_descriptions_of_something_else_are_refused():
    with pytest.raises(InvalidInputError, match="must name backend"):
        Plan.of({"n_qubits": 2})


@pytest.mark.parametrize("angles", [np.zeros(6), np.zeros((2, 5)), np.zeros((0, 6)), np.full((1, 6), np.nan)])
def test_angles_of_another_circuit_are_refused(angles):
    with pytest.raises(InvalidInputError, match=r"shape \(circuits, 6\) for 2 qubits and 1 layers"):
        Plan(backend="aer", n_qubits=2, n_layers=1, ring=(0, 1)).checked_angles(angles)
