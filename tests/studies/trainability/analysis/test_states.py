"""Expressibility, entanglement and concentration beside Haar-random states."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import Circuit, b, line, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.library import MAPS, circuit_named, hardware_efficient, reuploading
from mcquack.errors import InvalidInputError
from mcquack.simulators import engine_of
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis.states import (
    entanglement,
    expressibility,
    haar_entanglement,
    haar_log_moments,
    kernel_concentration,
    meyer_wallach,
    pair_log_fidelities,
    random_circuit_fidelities,
)
from tests.problems import random_problem


def haar_fidelities(n_qubits, n_pairs, seed=0):
    """Distributed as those of Haar-random states: density (D - 1)(1 - F)^(D - 2)."""
    return np.random.default_rng(seed).beta(1, 2**n_qubits - 1, size=n_pairs)


@pytest.mark.parametrize("n_qubits", [1, 2, 5, 10, 14])
def test_haar_random_fidelities_diverge_by_no_more_than_chance(n_qubits):
    found = [expressibility(haar_fidelities(n_qubits, 4000, seed), n_qubits) for seed in range(5)]
    assert np.mean(found) == pytest.approx(0, abs=3e-3)
    assert all(each >= -19 / 8000 for each in found)  # the divergence itself is never negative


def test_states_that_are_all_equal_diverge_as_far_as_bins_can_tell():
    assert expressibility(np.ones(500), 4, n_bins=16) == pytest.approx(np.log(16) - 15 / 1000)


def test_deeper_circuits_come_closer_to_haar():
    found = [
        expressibility(
            random_circuit_fidelities(FeatureMap(n_qubits=5, n_features=2, n_layers=layers), n_pairs=1500), 5
        )
        for layers in (1, 2, 8)
    ]
    assert found[0] > 0.2
    assert found[0] > found[1] > found[2]
    assert found[2] == pytest.approx(0, abs=0.01)


def test_random_circuits_are_those_of_the_feature_map():
    feature_map = FeatureMap(n_qubits=3, n_features=2, n_layers=2)
    rng_angles = random_circuit_fidelities(feature_map, n_pairs=300, seed=1)
    engine = StatevectorEngine(feature_map, dtype=np.float64)
    rng = np.random.default_rng(5)
    zeros, point = np.zeros(feature_map.parameter_shape), np.zeros((1, 2))
    one_by_one = []
    for _ in range(300):
        left, right = (
            engine.encode(point, zeros, rng.uniform(0, 2 * np.pi, size=feature_map.parameter_shape)) for _ in range(2)
        )
        one_by_one.append(engine.fidelities(left, right)[0, 0])
    assert rng_angles.mean() == pytest.approx(np.mean(one_by_one), abs=0.03)
    assert rng_angles.std() == pytest.approx(np.std(one_by_one), abs=0.03)


def test_more_pairs_of_the_same_stream_begin_alike():
    feature_map = FeatureMap(n_qubits=2, n_features=1, n_layers=1)
    assert (
        random_circuit_fidelities(feature_map, n_pairs=128) == random_circuit_fidelities(feature_map, n_pairs=256)[:128]
    ).all()


def test_any_circuit_with_the_gates_of_the_paper_is_as_expressive():
    feature_map = FeatureMap(n_qubits=3, n_features=2, n_layers=2)
    same = feature_map + Circuit(3, 2)
    one, other = [random_circuit_fidelities(circuit, n_pairs=600, seed=2) for circuit in (feature_map, same)]
    assert_allclose(one, other, atol=1e-9)  # the same draws, through another engine


def test_constant_angles_rest_and_equal_ones_turn_together():
    fixed = Circuit(2, 1).rx([0, 1], 0.3).cz(0, 1)
    assert_allclose(random_circuit_fidelities(fixed, n_pairs=5), 1)
    undone = Circuit(1, 1).rx(0, b("turn")).h(0).rz(0, b("turn")).h(0)  # rotates twice about the same axis
    together = random_circuit_fidelities(undone, n_pairs=400, seed=3)
    twice = Circuit(1, 1).rx(0, b).h(0).rz(0, b).h(0)
    apart = random_circuit_fidelities(twice, n_pairs=400, seed=3)
    for found in (together, apart):  # cos² of a uniform angle
        assert found.mean() == pytest.approx(0.5, abs=0.06)
        assert found.var() == pytest.approx(1 / 8, abs=0.03)
    opposite = Circuit(1, 1).rz(0, w("gain") * x[0]).rz(0, -w("gain") * x[0])
    assert_allclose(random_circuit_fidelities(opposite, n_pairs=5), 1)


def test_random_amplitudes_are_as_far_apart_as_real_vectors_are():
    found = random_circuit_fidelities(Circuit(3, 8, start="amplitudes"), n_pairs=2000)
    assert found.mean() == pytest.approx(1 / 8, abs=0.01)
    assert found.var() == pytest.approx(2 * 7 / (8**2 * 10), abs=0.01)


@pytest.mark.parametrize("builder", [hardware_efficient, reuploading])
def test_deeper_maps_of_the_library_come_closer_to_haar(builder):
    few, many = (
        expressibility(random_circuit_fidelities(builder(3, 3, n_repetitions=times), n_pairs=800), 3)
        for times in (1, 4)
    )
    assert few > many + 0.05
    assert many == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("name", MAPS)
def test_every_map_of_the_library_has_an_expressibility_and_an_entangling_power(name):
    circuit = circuit_named(name, n_features=4, n_qubits=3)
    fidelities = random_circuit_fidelities(circuit, n_pairs=60)
    assert fidelities.shape == (60,)
    assert 0 <= fidelities.min() <= fidelities.max() <= 1
    rng = np.random.default_rng(0)
    engine: Any = engine_of("auto", circuit).on(circuit)
    parameters = rng.normal(size=circuit.weights_shape), rng.normal(size=circuit.bias_shape)
    found = entanglement(engine, rng.uniform(size=(5, 4)), *parameters)
    assert found.shape == (5,)
    assert 0.01 < found.mean() <= 1


def test_pairs_that_a_circuit_joins_are_entangled_and_others_are_not():
    bell = Circuit(4, 1).h([0, 2]).cnot([(0, 1), (2, 3)])
    for circuit, expected in ((bell, 1.0), (Circuit(4, 1).h(range(4)), 0.0), (Circuit(4, 1).h(0).cnot(line(4)), 1.0)):
        engine = GateEngine(circuit, dtype="float64")
        assert_allclose(entanglement(engine, np.zeros((2, 1)), np.zeros(0), np.zeros(0)), expected, atol=1e-12)


def test_what_is_no_fidelity_is_refused():
    for wrong in ([], [1.5], [-0.1], [np.nan]):
        with pytest.raises(InvalidInputError, match="from 0 to 1"):
            expressibility(wrong, 3)


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
        assert found.mean() == pytest.approx(expected, abs=tolerance)
        assert found.shape == (70,)


def test_what_is_no_state_is_refused():
    with pytest.raises(InvalidInputError, match=r"2\*\*n amplitudes"):
        meyer_wallach(np.ones((2, 3)))
    with pytest.raises(InvalidInputError, match="norm 1"):
        meyer_wallach(np.ones((2, 4)))


def test_mean_and_variance_are_those_of_the_fidelities():
    fidelities = np.random.default_rng(0).uniform(size=200)
    found = kernel_concentration(np.log(fidelities))
    assert found["mean"] == pytest.approx(fidelities.mean())
    assert found["variance"] == pytest.approx(fidelities.var())
    assert found["relative_std"] == pytest.approx(fidelities.std() / fidelities.mean())
    assert found["log_std"] == pytest.approx(np.log(fidelities).std())


def test_a_common_factor_below_all_numbers_is_no_obstacle():
    logs = np.log(np.random.default_rng(0).uniform(size=50))
    one, other = kernel_concentration(logs), kernel_concentration(logs - 3000)
    assert other["log_mean"] == pytest.approx(one["log_mean"] - 3000)
    assert other["log_variance"] == pytest.approx(one["log_variance"] - 6000)
    assert other["relative_std"] == pytest.approx(one["relative_std"])
    assert other["mean"] == 0.0
    assert all(math.isfinite(value) for value in other.values())


@pytest.mark.parametrize("n_qubits", [1, 3, 8])
def test_haars_moments_are_those_of_haar_random_states(n_qubits):
    fidelities = np.random.default_rng(1).beta(1, 2**n_qubits - 1, size=200_000)
    log_mean, log_variance = haar_log_moments(n_qubits)
    assert math.exp(log_mean) == pytest.approx(fidelities.mean(), rel=0.02)
    assert math.exp(log_variance) == pytest.approx(fidelities.var(), rel=0.03)
    assert kernel_concentration(np.log(fidelities))["log_mean"] == pytest.approx(log_mean, rel=0.02)


def test_haars_moments_exist_for_thousands_of_qubits():
    assert_allclose(haar_log_moments(5000), [-5000 * math.log(2), -10000 * math.log(2)])


def test_pairs_are_the_entries_above_the_diagonal_on_every_engine():
    feature_map = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
    problem = random_problem(feature_map, n_samples=6)
    engine = StatevectorEngine(feature_map, dtype=np.float64)
    encoded = engine.encode(problem.X, problem.weights, problem.bias)
    K = engine.fidelities(encoded, encoded)
    for each in (engine, RingEngine(feature_map)):
        logs = pair_log_fidelities(each, problem.X, problem.weights, problem.bias)
        assert_allclose(np.exp(logs), K[np.triu_indices(6, 1)], atol=1e-10)


def test_a_kernel_of_a_hundred_and_more_qubits_concentrates_exponentially():
    sizes, found = (50, 100, 200, 400), []
    for n in sizes:
        feature_map = FeatureMap(n_qubits=n, n_features=n, n_layers=1, final_entangler=False)
        problem = random_problem(feature_map, n_samples=6)
        logs = pair_log_fidelities(RingEngine(feature_map), problem.X, problem.weights, problem.bias)
        found.append(kernel_concentration(logs))
    per_qubit = [each["log_median"] / n for n, each in zip(sizes, found, strict=True)]
    assert_allclose(per_qubit, per_qubit[-1], rtol=0.3)
    assert found[-1]["log_median"] < -50


def test_equal_states_do_not_vary_and_orthogonal_ones_count_as_zero():
    same = kernel_concentration(np.zeros(5))
    assert (same["mean"], same["variance"], same["relative_std"]) == (1.0, 0.0, 0.0)
    assert "log_variance" not in same
    half = kernel_concentration([0.0, -math.inf])
    assert (half["mean"], half["variance"], half["log_median"]) == (0.5, 0.25, 0.0)


def test_what_has_no_pairs_is_refused():
    with pytest.raises(InvalidInputError, match="at most 0"):
        kernel_concentration([-math.inf])
    with pytest.raises(InvalidInputError, match="at most 0"):
        kernel_concentration([0.5])
    with pytest.raises(InvalidInputError, match="two samples"):
        pair_log_fidelities(RingEngine(FeatureMap(n_qubits=2, n_features=1, n_layers=1)), [[0.0]], [], [])
