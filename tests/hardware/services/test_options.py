"""Options check themselves, and share out shots so that none is lost or added."""

import json
import pickle
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.circuits import Circuit, b, x
from mcquack.errors import InvalidInputError, StoreError
from mcquack.hardware.services.options import Options, Setup
from tests.hardware.overlaps import ring_map

GENERAL = Circuit(2, 2).rx([0, 1], [x[0], x[1] + b]).cz((0, 1))


@given(shots=st.integers(1, 5_000), most=st.integers(1, 64))
def test_shots_are_split_into_as_many_equal_parts_as_allowed(shots, most):
    ways, each = Options(randomizations=most).split(shots)
    assert ways * each == shots
    assert ways <= most
    assert not any(shots % more == 0 for more in range(ways + 1, min(most, shots) + 1))


def test_a_hundred_shots_stay_a_hundred():
    assert Options().split(100) == (25, 4)
    assert Options().split(101) == (1, 101)


def test_shots_that_can_hardly_be_twirled_are_told_with_some_that_can():
    twirled = Options(measure_twirling=True)
    assert twirled.twirling_note(101) == (
        "101 shots can be twirled in one way only, which is no twirling; take 96 or 128"
    )
    assert twirled.twirling_note(106) == "106 shots can be twirled only in 2 random ways; take 96 or 128"
    for shots in (1, 2, 31, 96, 100, 1000):
        assert twirled.twirling_note(shots) == ""
    assert Options().twirling_note(101) == Options(measure_twirling=True, randomizations=1).twirling_note(101) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decoupling", "XYZ"),
        ("decoupling", ["XX"]),
        ("api", "v1"),
        ("mode", "queue"),
        ("noise", "some"),
        ("measure_twirling", 1),
        ("allow_faulty", None),
        ("randomizations", 0),
        ("max_error", 0.0),
        ("max_error", 1.5),
        ("max_error", "low"),
    ],
)
def test_each_option_says_what_it_takes(name, value):
    with pytest.raises(InvalidInputError, match=f"{name} must be .*, got"):
        Options(**{name: value})


@given(
    st.builds(
        Options,
        decoupling=st.sampled_from([None, "XX", "XpXm", "XY4"]),
        measure_twirling=st.booleans(),
        randomizations=st.integers(1, 100),
        api=st.sampled_from(["auto", "v2", "executor"]),
        mode=st.sampled_from(["job", "batch", "session"]),
        max_error=st.floats(1e-6, 1),
        noise=st.sampled_from(["full", "pauli", "none"]),
    )
)
def test_settings_give_the_options_back(options):
    assert Options.of({"backend": "aer", **asdict(options)}) == options


# A setup is plain JSON in one direction, and the same setup in the other.


@st.composite
def setups(draw):
    ring = draw(st.lists(st.integers(0, 155), min_size=1, max_size=8, unique=True))
    return Setup(
        backend=draw(st.sampled_from(["aer", "ibm_pittsburgh"])),
        circuit=ring_map(len(ring), draw(st.integers(1, 4))),
        ring=tuple(ring),
        options=Options(measure_twirling=draw(st.booleans())),
        seed=draw(st.none() | st.integers(0, 2**40)),
    )


@given(setups())
def test_a_description_is_json_and_gives_the_setup_back(setup):
    told = json.loads(json.dumps(setup.description(notes="none"), allow_nan=False))
    assert Setup.of(told) == setup == pickle.loads(pickle.dumps(setup))


def test_a_description_tells_all_that_decides_what_is_measured():
    setup = Setup(backend="aer", circuit=ring_map(2, 3), ring=(5, 4), seed=1)
    told = setup.description(method="automatic")
    deciding = {"decoupling", "measure_twirling", "randomizations", "api", "noise"}
    assert {"backend", "n_qubits", "n_layers", "ring", "seed", "method", *deciding} <= set(told)
    assert all(told[name] for name in ("qiskit", "qiskit_aer", "qiskit_ibm_runtime"))


@pytest.mark.parametrize("seed", [None, 0])
def test_what_decides_nothing_is_not_in_a_description(seed):
    """Else what was measured in a batch, or on a ring that was found otherwise, would be paid for again."""
    setup = Setup(backend="ibm_rome", circuit=ring_map(2, 2), ring=(0, 1), seed=seed)
    for changes in ({"mode": "session"}, {"max_error": 0.1}, {"allow_faulty": True}):
        assert replace(setup, options=Options(**changes)).description() == setup.description()
    noisy = replace(setup, options=Options(noise="full"))
    assert (noisy.description() == setup.description()) == (seed is None)


def test_versions_are_those_of_the_first_opening():
    # Otherwise results that were paid for could not be fetched after an update.
    told = Setup(backend="aer", circuit=ring_map(1, 1), ring=(0,)).description() | {"qiskit": "1.0"}
    assert Setup.of(told).description()["qiskit"] == "1.0"


@pytest.mark.parametrize("ring", [(0,), (0, 0), (0, -1), (0, 1, 2), (0.5, 1)])
def test_a_ring_must_have_a_qubit_for_each_of_the_circuit(ring):
    with pytest.raises(InvalidInputError, match="2 different qubits"):
        Setup(backend="aer", circuit=ring_map(2, 1), ring=ring)


def test_descriptions_of_something_else_are_refused():
    with pytest.raises(InvalidInputError, match="must name backend"):
        Setup.of({"n_qubits": 2})


@pytest.mark.parametrize("angles", [np.zeros(6), np.zeros((2, 5)), np.zeros((0, 6)), np.full((1, 6), np.nan)])
def test_angles_of_another_circuit_are_refused(angles):
    with pytest.raises(InvalidInputError, match=r"shape \(circuits, 6\) for 2 qubits and 1 layers"):
        Setup(backend="aer", circuit=ring_map(2, 1), ring=(0, 1)).checked_angles(angles)


def test_a_circuit_without_layers_is_told_by_its_gates():
    setup = Setup(backend="aer", circuit=GENERAL, ring=(0, 1))
    with pytest.raises(InvalidInputError, match=r"\(circuits, 4\) for 2 qubits and 3 gates"):
        setup.checked_angles(np.zeros((1, 1)))


@pytest.mark.parametrize("damaged", [5, "{", "[]", '{"n_qubits": 2}', ["a"]])
def test_a_damaged_circuit_is_told_as_damage(damaged):
    told = Setup(backend="aer", circuit=GENERAL, ring=(0, 1)).description()
    with pytest.raises(StoreError, match="cannot be read"):
        Setup.of({**told, "circuit": damaged})
