"""Where training starts from."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream
from mcquack.training import Parameters, class_means, initial_embedding
from tests.problems import feature_maps

FloatArray = NDArray[np.floating]


def embedding(feature_map: FeatureMap, X: FloatArray | None = None, **changed: Any) -> tuple[FloatArray, FloatArray]:
    rows = np.zeros((1, feature_map.n_features)) if X is None else X
    settings: dict[str, Any] = {"init_small": True, "init_strategy": "default", "seed": 0, "dtype": np.float64}
    return initial_embedding(feature_map, rows, **(settings | changed))


@pytest.mark.parametrize(("n_qubits", "n_layers"), [(1, 3000), (6, 500), (10, 300)])
def test_small_values_have_variance_one_over_3nL(n_qubits: int, n_layers: int) -> None:
    weights, bias = embedding(FeatureMap(n_qubits=n_qubits, n_features=2, n_layers=n_layers))
    for values in (weights, bias):
        assert values.shape == (n_layers, n_qubits, 3)
        assert_allclose(values.var(), 1 / (3 * n_qubits * n_layers), rtol=0.1)
        assert abs(values.mean()) < 4 * np.sqrt(1 / (3 * n_qubits * n_layers) / values.size)
    assert abs(np.corrcoef(weights.ravel(), bias.ravel())[0, 1]) < 0.05


def test_the_other_start_is_ones() -> None:
    for values in embedding(FeatureMap(n_qubits=3, n_features=2, n_layers=2), init_small=False):
        assert_array_equal(values, np.ones((2, 3, 3)))


def test_the_seed_decides() -> None:
    feature_map = FeatureMap(n_qubits=3, n_features=2, n_layers=2)
    first, again, other = (embedding(feature_map, seed=seed) for seed in (5, 5, 6))
    assert_array_equal(first, again)
    assert (np.array(first) != np.array(other)).all()


@given(feature_map=feature_maps(), init_small=st.booleans(), weighted=st.booleans(), n_samples=st.integers(1, 20))
def test_wx_plus_b_is_zero_on_average(
    feature_map: FeatureMap, init_small: bool, weighted: bool, n_samples: int
) -> None:
    rng = stream(n_samples, "first batch")
    X = rng.uniform(size=(n_samples, feature_map.n_features))
    row_weights = rng.uniform(0.1, 2, size=n_samples) if weighted else None
    weights, bias = embedding(feature_map, X, row_weights=row_weights, init_small=init_small, init_strategy="wx+b=0")
    angles = feature_map.angles(X, weights, bias)
    assert_allclose(np.average(angles, axis=0, weights=row_weights), 0, atol=1e-12)
    assert_array_equal(weights, embedding(feature_map, X, init_small=init_small)[0])


@pytest.mark.parametrize("strategy", ["default", "wx+b=0"])
@pytest.mark.parametrize("init_small", [True, False])
def test_values_have_the_type_asked_for(strategy: str, init_small: bool) -> None:
    feature_map = FeatureMap(n_qubits=3, n_features=2, n_layers=2)
    for values in embedding(feature_map, init_small=init_small, init_strategy=strategy, dtype=np.float32):
        assert values.dtype == np.float32


def test_centroids_start_at_the_means_of_their_classes() -> None:
    X = np.array([[0.0, 1.0], [2.0, 3.0], [10.0, 20.0]])
    means = class_means(X, np.array([0, 0, 1]), 2, np.ones(3))
    assert_allclose(means, [[1, 2], [10, 20]])


def test_a_class_without_samples_or_weight_starts_in_the_middle_of_all() -> None:
    X = np.array([[0.0, 1.0], [2.0, 3.0], [10.0, 20.0]])
    means = class_means(X, np.array([0, 0, 2]), 4, np.array([1.0, 1.0, 0.0]))
    assert_allclose(means, [[1, 2]] * 4)
    assert_allclose(class_means(X, np.array([0, 0, 1]), 3, np.ones(3))[2], [4, 8])


@given(counts=st.lists(st.integers(0, 3), min_size=4, max_size=10))
def test_whole_weights_count_samples_as_often(counts: list[int]) -> None:
    rng = stream(len(counts), "samples")
    X, labels = rng.normal(size=(len(counts), 3)), rng.integers(2, size=len(counts))
    repeated = class_means(np.repeat(X, counts, axis=0), np.repeat(labels, counts), 2, np.ones(sum(counts)))
    assert_allclose(class_means(X, labels, 2, np.array(counts, dtype=float)), repeated, atol=1e-12)


def test_a_copy_shares_no_memory() -> None:
    parameters = Parameters(np.ones((1, 2, 3)), np.ones((1, 2, 3)), np.ones((2, 4)))
    copy = parameters.copy()
    for name in ("weights", "bias", "centroids"):
        assert_array_equal(getattr(copy, name), getattr(parameters, name))
        assert not np.shares_memory(getattr(copy, name), getattr(parameters, name))
