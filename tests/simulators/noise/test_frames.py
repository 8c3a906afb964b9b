"""Paulis pushed to the end of a ring are what the ring makes of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.randomness import stream
from mcquack.simulators.noise.sampling import clock_of, draw_ring, next_error, ring_errors
from tests.oracles import after_cnot, after_gate, after_ring

GATES = {"I": np.eye(2), "X": np.array([[0, 1], [1, 0]]), "Z": np.diag([1, -1])}
GATES["Y"] = GATES["X"] @ GATES["Z"]
# Bounds under which that Pauli is drawn for certain.
CERTAIN = {"I": [0, 0, 0], "X": [1, 1, 1], "Y": [0, 1, 1], "Z": [0, 0, 1]}


def after_paulis(states, names):
    for qubit, name in enumerate(names):
        states = after_gate(states, GATES[name].astype(complex), qubit)
    return states


def as_names(frame):
    return ["IXZY"[x + 2 * z] for x, z in frame]


def drawn(names, *, pair_chances=None, seed=0):
    """The frame after a ring with these Paulis before, within and after."""
    n_qubits = len(names[0])
    bounds = np.array([[CERTAIN[name] for name in place] for place in names], dtype=float)
    frame = np.empty((n_qubits, 2), dtype=np.uint8)
    chances = np.zeros(n_qubits) if pair_chances is None else pair_chances
    draw_ring(stream(seed, "frame"), ring_errors(bounds, chances), frame)
    return frame


def assert_equal_up_to_sign(left, right):
    sign = np.sign(np.sum(left * right.conj()).real)
    assert_array_equal(left, sign * right)


@pytest.mark.parametrize("n_qubits", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_what_came_before_a_ring_is_pushed_through_it(n_qubits, seed):
    before = stream(seed, "before").choice(list("IXYZ"), n_qubits)
    after = as_names(drawn([before, "I" * n_qubits, "I" * n_qubits]))
    units = np.eye(2**n_qubits, dtype=complex)
    assert_equal_up_to_sign(after_ring(after_paulis(units, before)), after_paulis(after_ring(units), after))


@pytest.mark.parametrize("n_qubits", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_what_happens_within_a_ring_lies_between_the_two_gates_of_each_qubit(n_qubits, seed):
    within, end = stream(seed, "within").choice(list("IXYZ"), (2, n_qubits))
    after = as_names(drawn(["I" * n_qubits, within, end]))
    units = np.eye(2**n_qubits, dtype=complex)
    states = units
    seen = set()
    for control in range(n_qubits):
        for qubit in (control, (control + 1) % n_qubits):
            if qubit in seen:
                states = after_gate(states, GATES[within[qubit]].astype(complex), qubit)
            seen.add(qubit)
        states = after_cnot(states, control, (control + 1) % n_qubits)
    assert_equal_up_to_sign(after_paulis(states, end), after_paulis(after_ring(units), after))


def test_a_pair_errs_in_fifteen_ways_alike():
    last_pair_only = np.array([0.0, 0.0, 0.75])
    frames = [drawn(["III"] * 3, pair_chances=last_pair_only, seed=seed) for seed in range(4000)]
    assert all(not frame[1].any() for frame in frames)
    ways, times = np.unique([frame[[0, 2]].ravel() for frame in frames], axis=0, return_counts=True)
    assert len(ways) == 16
    # The first in order is the identity. Five deviations of a binomial count: about 14.
    assert abs(times[0] - 1000) < 140
    assert np.all(np.abs(times[1:] - 200) < 70)


def test_errors_happen_in_every_place_with_its_chance_and_apart():
    chances = np.array([0.0, 0.3, 0.01, 1.0, 0.0, 0.6, 0.002, 0.5])
    clock, generator, n_runs = clock_of(chances), stream(0, "places"), 20_000
    happened = np.zeros((n_runs, len(chances)))
    for run in happened:
        place = next_error(generator, clock, -1)
        while place < len(chances):
            run[place] = 1
            place = next_error(generator, clock, place)
    deviation = np.sqrt(chances * (1 - chances) / n_runs)
    assert np.all(np.abs(happened.mean(axis=0) - chances) <= 5 * deviation)
    uncertain = (chances > 0) & (chances < 1)
    correlation = np.corrcoef(happened[:, uncertain], rowvar=False)
    assert np.all(np.abs(correlation - np.eye(uncertain.sum())) < 5 / np.sqrt(n_runs))
