"""Where the centroids start: at the means, or within each class where k-means puts them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.randomness import stream
from mcquack.training import TrainingData, TrainingSettings, class_means, initial_centroids
from tests.training.setups import FloatArray, clusters


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
def test_the_seed_decides(k: int) -> None:
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
