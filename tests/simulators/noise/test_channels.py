"""Pauli channels have the error that a calibration reports, and are the twirl of what a waiting qubit suffers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.simulators.noise import NOISELESS, PITTSBURGH
from mcquack.simulators.noise.trajectories import (
    depolarising_fidelity,
    idle_fidelities,
    pauli_probabilities,
    ring_noise,
)

PAULIS = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])


def pauli_transfer(kraus):
    """By how much each Pauli shrinks under the twirl of these Kraus operators."""
    return np.array([sum(np.trace(P @ K @ P @ K.conj().T) for K in kraus).real / 2 for P in PAULIS[1:]])


def relaxation_and_dephasing(time, t1, t2):
    decay = 1 - np.exp(-time / t1)
    # What relaxation leaves of the coherence is its square root; dephasing does the rest.
    flip = (1 - np.exp(-time / t2) / np.sqrt(1 - decay)) / 2
    damping = [np.array([[1, 0], [0, np.sqrt(1 - decay)]]), np.array([[0, np.sqrt(decay)], [0, 0]])]
    dephasing = [np.sqrt(1 - flip) * PAULIS[0], np.sqrt(flip) * PAULIS[3]]
    return [second @ first for first in damping for second in dephasing]


@pytest.mark.parametrize(("time", "t1", "t2"), [(0.0, 3, 2), (1.3, 3, 2), (0.4, 1, 2), (50.0, 2, 1)])
def test_idling_is_twirled_relaxation_and_dephasing(time, t1, t2):
    fidelities = idle_fidelities(np.array(time), np.array(t1), np.array(t2))
    assert_allclose(fidelities, pauli_transfer(relaxation_and_dephasing(time, t1, t2)), atol=1e-12)
    assert pauli_probabilities(fidelities).sum() <= 1


def test_nothing_happens_to_a_qubit_that_never_relaxes():
    assert_allclose(idle_fidelities(np.array(5.0), np.array(np.inf), np.array(np.inf)), 1)


@pytest.mark.parametrize("n_qubits", [1, 2])
@pytest.mark.parametrize("share", [0.0, 0.003, 0.4, 1.0])
def test_a_gate_has_the_average_error_it_reports(n_qubits, share):
    dimension = 2**n_qubits
    error = share * (dimension - 1) / dimension
    # The average fidelity of a Pauli channel follows from the chance that nothing happens.
    chance = (1 - depolarising_fidelity(np.array(error), n_qubits=n_qubits)) * (1 - dimension**-2.0)
    assert_allclose(1 - (dimension * (1 - chance) + 1) / (dimension + 1), error, atol=1e-15)


def test_probabilities_give_the_fidelities_back():
    chances = np.array([0.1, 0.02, 0.3])
    fidelities = 1 - 2 * np.array([chances[1] + chances[2], chances[0] + chances[2], chances[0] + chances[1]])
    assert_allclose(pauli_probabilities(fidelities), chances)


def test_a_noiseless_ring_has_no_errors():
    assert all(not chances.any() for chances in ring_noise(NOISELESS, 5))


def test_more_noise_is_more_of_every_error():
    for less, more in zip(ring_noise(PITTSBURGH, 6), ring_noise(PITTSBURGH.scaled(2), 6), strict=True):
        assert np.all(less <= more)
    assert np.all(ring_noise(PITTSBURGH, 6).pauli_bounds[..., -1] <= 1)
