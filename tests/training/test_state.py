"""The state of training, its parameters, and where they and the centroids start."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.training import (
    Parameters,
    TrainingData,
    TrainingSettings,
    TrainingState,
    class_means,
    initial_centroids,
    initial_embedding,
)
from mcquack.training.compiled import CompiledEpochs
from tests.problems import feature_maps
from tests.training.setups import FloatArray, bits, clusters, copied, engine_of, start_of

LABELS = np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("X", "labels", "row_weights"),
    [
        (np.ones((2, 5)), LABELS, np.ones(3)),
        (np.ones((3, 5)), LABELS[:2], np.ones(3)),
        (np.ones((3, 5)), LABELS, np.ones(4)),
    ],
)
def test_samples_labels_and_weights_come_in_equal_numbers(
    X: np.ndarray, labels: np.ndarray, row_weights: np.ndarray
) -> None:
    with pytest.raises(InvalidInputError, match=r"\d samples"):
        TrainingData(X, labels, row_weights, 2)


def test_training_needs_samples() -> None:
    with pytest.raises(InvalidInputError, match="sample"):
        TrainingData(np.ones((0, 5)), LABELS[:0], np.ones(0), 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_hold_the_whole_state(dtype: type) -> None:
    data = clusters()
    for state in (
        start_of(data, dtype=dtype),
        CompiledEpochs(engine_of(dtype), data, TrainingSettings())(start_of(data, dtype=dtype)).state,
    ):
        again = copied(state)
        assert bits(again) == bits(state)
        assert again.epoch == state.epoch
        assert isinstance(again.epoch, int)


def test_training_starts_without_memory() -> None:
    data = clusters()
    state = TrainingState.start(start_of(data).parameters)
    assert state.epoch == 0
    assert not state.steps.any()
    for name in ("weights", "bias", "centroids"):
        for moment in state.moments[name]:
            assert moment.shape == getattr(state.parameters, name).shape
            assert not moment.any()


def embedding(feature_map: Circuit, X: FloatArray | None = None, **changed: Any) -> tuple[FloatArray, FloatArray]:
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


def centroids(data: TrainingData, k: int, **settings: object) -> FloatArray:
    """By class: (M, k, d)."""
    found = initial_centroids(data, TrainingSettings(n_centroids_per_class=k, **settings))  # type: ignore[arg-type]
    assert found.shape == (data.n_classes * k, data.X.shape[1])
    return found.reshape(data.n_classes, k, -1)


def spread(data: TrainingData, found: FloatArray) -> float:
    """Weighted squared distances to the nearest centroid of the own class."""
    apart = ((data.X[:, None] - found[data.labels]) ** 2).sum(axis=2)
    return float(np.sum(data.row_weights * apart.min(axis=1)))


def pairs(*, weighted: bool = False, seed: int = 0) -> TrainingData:
    """Two clusters far apart in each of two classes."""
    rng = stream(seed, "pairs")
    middles = np.array([[0.1, 0.1], [0.9, 0.9], [0.1, 0.9], [0.9, 0.1]])
    cluster = np.arange(60) % 4
    X = middles[cluster] + rng.uniform(-0.05, 0.05, size=(60, 2))
    return TrainingData(X, cluster // 2, rng.uniform(0.5, 2, size=60) if weighted else np.ones(60), 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_one_centroid_is_the_mean(weighted: bool) -> None:
    data = clusters(weighted=weighted)
    means = class_means(data.X, data.labels, data.n_classes, data.row_weights)
    assert initial_centroids(data, TrainingSettings()).tobytes() == means.tobytes()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_clusters_within_a_class_are_found(weighted: bool, seed: int) -> None:
    data = pairs(weighted=weighted, seed=seed)
    cluster = 2 * data.labels + (data.X[:, 0] > 0.5)
    expected = class_means(data.X, cluster, 4, data.row_weights).reshape(2, 2, 2)
    for found, wanted in zip(centroids(data, 2, seed=seed), expected, strict=True):
        assert_allclose(found[np.argsort(found[:, 0])], wanted, rtol=0, atol=1e-12)


@given(k=st.integers(2, 5), seed=st.integers(0, 100))
def test_more_centroids_lie_closer(k: int, seed: int) -> None:
    data = clusters(weighted=True, seed=seed)
    assert spread(data, centroids(data, k, seed=seed)) < spread(data, centroids(data, 1))


@pytest.mark.parametrize("k", [2, 3, 20])
def test_the_seed_decides_where_centroids_start(k: int) -> None:
    data = clusters()
    first, again, other = (centroids(data, k, seed=seed) for seed in (5, 5, 6))
    assert first.tobytes() == again.tobytes()
    assert (first != other).any()


def test_order_and_repeats_of_samples_change_nothing() -> None:
    data = clusters()
    order = stream(0, "order").permutation(len(data.X))
    often = 1 + order % 3
    counted = replace(data, row_weights=often.astype(float))
    rows = np.repeat(np.arange(len(data.X)), often)[stream(1, "order").permutation(often.sum())]
    repeated = TrainingData(data.X[rows], data.labels[rows], np.ones(len(rows)), data.n_classes)
    assert_array_equal(centroids(counted, 3), centroids(repeated, 3))


def test_samples_without_weight_do_not_count() -> None:
    data = clusters()
    used = np.arange(len(data.X)) % 7 > 0
    fewer = TrainingData(data.X[used], data.labels[used], data.row_weights[used], data.n_classes)
    assert_array_equal(centroids(replace(data, row_weights=used.astype(float)), 2), centroids(fewer, 2))


@pytest.mark.parametrize("n_distinct", [1, 2, 3])
def test_a_class_of_few_samples_starts_at_these_and_close_to_its_mean(n_distinct: int) -> None:
    X = np.array([[0.2, 0.4], [0.6, 0.8], [0.5, 0.1]])[np.arange(9) % n_distinct]
    data = TrainingData(X, np.zeros(9, np.int64), np.ones(9), 1)
    (found,) = centroids(data, 5)
    assert_array_equal(found[:n_distinct], np.unique(X, axis=0))
    assert_allclose(found[n_distinct:], np.broadcast_to(X.mean(axis=0), (5 - n_distinct, 2)), rtol=0, atol=0.05)


def test_a_class_without_samples_starts_close_to_the_middle_of_all() -> None:
    data = replace(clusters(), n_classes=4)
    middle = np.broadcast_to(data.X.mean(axis=0), (3, data.X.shape[1]))
    assert_allclose(centroids(data, 3)[3], middle, rtol=0, atol=0.05)


@pytest.mark.parametrize("n_distinct", [1, 2, 40])
def test_no_two_centroids_are_equal(n_distinct: int) -> None:
    """The sum would move equal ones alike for ever."""
    X = stream(0, "rows").uniform(size=(n_distinct, 3))[np.arange(80) % n_distinct]
    data = TrainingData(X, np.zeros(80, np.int64), np.ones(80), 2)
    for found in centroids(data, 4):
        assert len(np.unique(found, axis=0)) == 4


# Where parameters of any circuit start

AFFINE = (
    Circuit(2, 2)
    .rx(0, 2 * w * x[0] + 4 * b - 1)  # a bias for itself
    .ry([0, 1], [x[1] + b("both"), w(start=2) * x[0] * x[1] + b("both", start=0)])  # one that two angles share
    .rz(0, b("alone", start=3))  # no feature
    .rz(1, w("steep", start=5) * x[0])  # no bias
)


def test_the_papers_circuit_starts_with_the_numbers_it_always_had() -> None:
    feature_map, X = FeatureMap(n_qubits=3, n_features=4, n_layers=2), clusters().X[:, :4].astype(np.float32)
    drawn = [stream(5, name).normal(scale=np.sqrt(1 / 18), size=(2, 3, 3)) for name in ("weights", "bias")]
    for found, expected in zip(embedding(feature_map, X, seed=5), drawn, strict=True):
        assert_array_equal(found, expected)
    weights, bias = embedding(feature_map, X, seed=5, init_strategy="wx+b=0")
    assert_array_equal(weights, drawn[0])
    assert_array_equal(bias, -drawn[0] * X.mean(axis=0)[feature_map.feature_index])


def test_parameters_of_a_circuit_start_around_their_starts() -> None:
    seeds = [embedding(AFFINE, seed=seed) for seed in range(400)]
    weights, bias = (np.array(arrays) for arrays in zip(*seeds, strict=True))
    assert weights.shape[1:] == AFFINE.weights_shape
    assert_allclose(weights.mean(axis=0), AFFINE.weight_starts, atol=0.1)
    assert_allclose(bias.mean(axis=0), AFFINE.bias_starts, atol=0.1)
    assert_allclose(weights.var(axis=0), 1 / 5, rtol=0.3)  # five angles are trained
    assert_allclose(bias.var(axis=0), 1 / 5, rtol=0.3)
    for array in embedding(AFFINE, init_small=False):
        assert_array_equal(array, 1)


@pytest.mark.parametrize("init_small", [True, False])
def test_biases_take_away_the_mean_angle_where_there_is_one(init_small: bool) -> None:
    X = stream(0, "rows").uniform(size=(20, 2))
    drawn = embedding(AFFINE, X, init_small=init_small)
    weights, bias = embedding(AFFINE, X, init_small=init_small, init_strategy="wx+b=0")
    angles = AFFINE.angles(X, weights, bias).mean(axis=0)
    assert angles[0] == pytest.approx(0, abs=1e-12)
    assert angles[1] + angles[2] == pytest.approx(0, abs=1e-12)
    assert_array_equal(weights, drawn[0])
    assert_array_equal(bias[2], drawn[1][2])


def test_a_circuit_without_parameters_starts_with_none() -> None:
    for strategy in ("default", "wx+b=0"):
        weights, bias = embedding(Circuit(1, 1).rx(0, x[0]), init_strategy=strategy)
        assert weights.shape == bias.shape == (0,)
