import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis import entanglement, haar_entanglement, meyer_wallach
from tests.problems import random_problem


def haar_states(n_qubits, n_states, seed=0):
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(n_states, 1 << n_qubits)) + 1j * rng.normal(size=(n_states, 1 << n_qubits))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def product_state(n_qubits, seed):
    state = np.ones(1)
    for factor in haar_states(1, n_qubits, seed):
        state = np.kron(state, factor)
    return state


@pytest.mark.parametrize("n_qubits", [1, 2, 3, 5])
def test_product_states_are_not_entangled_and_ghz_states_are_fully(n_qubits):
    products = np.array([product_state(n_qubits, seed) for seed in range(4)])
    assert_allclose(meyer_wallach(products), 0, atol=1e-12)
    ghz = np.zeros(1 << n_qubits)
    ghz[[0, -1]] = 1 / np.sqrt(2)
    assert_allclose(meyer_wallach(ghz), 1 if n_qubits > 1 else 0, atol=1e-12)


def test_a_w_state_has_its_known_entanglement():
    n = 4
    w = np.zeros(1 << n)
    w[[1 << q for q in range(n)]] = 1 / np.sqrt(n)
    assert_allclose(meyer_wallach(w), 4 * (n - 1) / n**2)


def test_local_rotations_entangle_nothing():
    states = haar_states(3, 5)
    rotation = np.linalg.qr(haar_states(1, 2, seed=7))[0]
    turned = np.einsum("ij,najb->naib", rotation, states.reshape(5, 2, 2, 2)).reshape(5, 8)
    assert_allclose(meyer_wallach(turned), meyer_wallach(states))


@pytest.mark.parametrize("n_qubits", [1, 2, 4, 6])
def test_haar_random_states_have_the_mean_of_the_formula(n_qubits):
    found = meyer_wallach(haar_states(n_qubits, 3000))
    assert found.mean() == pytest.approx(haar_entanglement(n_qubits), abs=5 * found.std() / np.sqrt(3000) + 1e-12)


def test_a_circuit_without_a_ring_entangles_nothing_and_a_deep_one_as_much_as_chance():
    flat, deep = (
        FeatureMap(n_qubits=4, n_features=3, n_layers=layers, final_entangler=layers > 1) for layers in (1, 12)
    )
    for feature_map, expected, tolerance in ((flat, 0.0, 1e-12), (deep, haar_entanglement(4), 0.05)):
        problem = random_problem(feature_map, n_samples=70, spread=3.0)
        engine = StatevectorEngine(feature_map, dtype=np.float64)
        found = entanglement(engine, problem.X, problem.weights, problem.bias)
        assert found.mean == pytest.approx(expected, abs=tolerance)
        assert (found.n_states, found.haar) == (70, haar_entanglement(4))


def test_what_is_no_state_is_refused():
    with pytest.raises(InvalidInputError, match=r"2\*\*n amplitudes"):
        meyer_wallach(np.ones((2, 3)))
    with pytest.raises(InvalidInputError, match="norm 1"):
        meyer_wallach(np.ones((2, 4)))
