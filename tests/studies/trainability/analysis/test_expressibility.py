import numpy as np
import pytest

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis import expressibility, random_circuit_fidelities


def haar_fidelities(n_qubits, n_pairs, seed=0):
    """Distributed as those of Haar-random states: density (D - 1)(1 - F)^(D - 2)."""
    return np.random.default_rng(seed).beta(1, 2**n_qubits - 1, size=n_pairs)


@pytest.mark.parametrize("n_qubits", [1, 2, 5, 10, 14])
@pytest.mark.parametrize("bins", ["haar", "uniform"])
def test_haar_random_fidelities_diverge_by_no_more_than_chance(n_qubits, bins):
    found = [expressibility(haar_fidelities(n_qubits, 4000, seed), n_qubits, bins=bins) for seed in range(5)]
    assert np.mean([each.excess for each in found]) == pytest.approx(0, abs=3e-3)
    assert all(each.divergence >= 0 for each in found)


def test_states_that_are_all_equal_diverge_as_far_as_bins_can_tell():
    found = expressibility(np.ones(500), 4, n_bins=16)
    assert found.divergence == pytest.approx(np.log(16))
    narrow = expressibility(np.ones(500), 2, bins="uniform", n_bins=75)
    assert narrow.divergence == pytest.approx(3 * np.log(75))


def test_deeper_circuits_come_closer_to_haar():
    found = [
        expressibility(
            random_circuit_fidelities(FeatureMap(n_qubits=5, n_features=2, n_layers=layers), n_pairs=1500), 5
        ).excess
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


def test_what_is_no_fidelity_is_refused():
    for wrong in ([], [1.5], [-0.1], [np.nan]):
        with pytest.raises(InvalidInputError, match="from 0 to 1"):
            expressibility(wrong, 3)
