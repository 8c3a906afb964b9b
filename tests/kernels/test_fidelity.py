"""The kernel in pieces is the kernel in one piece; and the scores that several centroids of a class make."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels import alignment_gradient, centroid_kernel, class_scores, target_alignment
from mcquack.kernels.fidelity import CLASS_SCORE_CODES, centroid_slopes, pool_rows, spread_rows
from mcquack.randomness import stream
from mcquack.simulators.statevector import StatevectorEngine
from tests.oracles import gradient, oracle_kernel
from tests.problems import Problem, random_problem


def problem_of(n_samples: int) -> Problem:
    return random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=n_samples)


def kernel_of(problem: Problem) -> np.ndarray:
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    return centroid_kernel(engine, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias)


def test_kernel_is_the_fidelity_of_every_pair() -> None:
    problem = problem_of(30)
    assert isinstance(problem.feature_map, FeatureMap)
    expected = oracle_kernel(
        problem.feature_map, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias
    )
    assert_allclose(kernel_of(problem), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("rows_at_a_time", [1, 7, 16, 59, 60, 1000])
def test_pieces_change_nothing(rows_at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(60)
    whole = kernel_of(problem)
    monkeypatch.setattr(StatevectorEngine, "rows_at_once", rows_at_a_time)
    assert_array_equal(kernel_of(problem), whole)


def test_no_samples_give_no_rows() -> None:
    assert kernel_of(problem_of(0)).shape == (0, 3)


class Wide(StatevectorEngine):
    """As if there were statevectors of any width."""

    def check(self, feature_map: Circuit) -> None:
        pass


@pytest.mark.parametrize("n_qubits", [*range(1, 30), 124])
def test_pieces_are_large_enough_for_all_lanes_and_small_enough_for_memory(n_qubits: int) -> None:
    rows = Wide(FeatureMap(n_qubits=n_qubits, n_features=1, n_layers=1)).rows_at_once
    assert rows is not None
    assert rows >= 16
    assert rows == 16 or rows * 2**n_qubits * 8 <= 64 * 2**20


counts = st.integers(1, 4)
either_score = pytest.mark.parametrize("class_score", ["max", "sum"])


def fidelities(n_classes: int, k: int, *, n_samples: int = 6) -> FloatArray:
    return stream(n_classes, "fidelities", str(k)).uniform(size=(n_samples, n_classes * k))


def labels_of(K: FloatArray, n_classes: int) -> NDArray[np.int64]:
    return np.arange(len(K)) % n_classes


@given(n_classes=counts, k=counts)
def test_a_class_has_the_highest_of_its_fidelities_or_their_sum(n_classes: int, k: int) -> None:
    K = fidelities(n_classes, k)
    for row, highest, total in zip(
        K, class_scores(K, n_classes), class_scores(K, n_classes, class_score="sum"), strict=True
    ):
        for number in range(n_classes):
            own = row[number * k : (number + 1) * k]
            assert highest[number] == max(own)
            assert_allclose(total[number], sum(own))


@either_score
@given(n_classes=counts)
def test_with_one_centroid_per_class_scores_are_the_kernel(class_score: Any, n_classes: int) -> None:
    K = fidelities(n_classes, 1)
    assert class_scores(K, n_classes, class_score=class_score) is K
    assert_array_equal(centroid_slopes(K, K - 0.5, class_score=class_score), K - 0.5)


@either_score
@given(n_classes=counts, k=counts)
def test_slopes_meet_finite_differences(class_score: Any, n_classes: int, k: int) -> None:
    K = fidelities(n_classes, k)
    labels = labels_of(K, n_classes)

    def alignment(moved: FloatArray) -> float:
        return target_alignment(class_scores(moved, n_classes, class_score=class_score), labels)

    by_score = alignment_gradient(class_scores(K, n_classes, class_score=class_score), labels)
    slopes = centroid_slopes(K, by_score, class_score=class_score)
    assert_allclose(slopes, gradient(alignment, K), rtol=0, atol=1e-7)


@either_score
@given(n_classes=counts, k=counts)
def test_centroids_of_a_class_may_change_places(class_score: Any, n_classes: int, k: int) -> None:
    K = fidelities(n_classes, k)
    places = np.concatenate([k * number + stream(number, "places").permutation(k) for number in range(n_classes)])
    scores = class_scores(K, n_classes, class_score=class_score)
    assert_allclose(class_scores(K[:, places], n_classes, class_score=class_score), scores, rtol=1e-15)
    slopes = centroid_slopes(K, scores, class_score=class_score)
    assert_array_equal(centroid_slopes(K[:, places], scores, class_score=class_score), slopes[:, places])


@given(n_classes=counts, k=counts)
def test_copies_of_a_centroid_are_one_centroid(n_classes: int, k: int) -> None:
    """For the maximum to the last bit; the sum only becomes k times as large, which the alignment does not see."""
    K = fidelities(n_classes, 1)
    copies = np.repeat(K, k, axis=1)
    assert_array_equal(class_scores(copies, n_classes), K)
    total = class_scores(copies, n_classes, class_score="sum")
    assert_allclose(total, k * K, rtol=1e-14)
    labels = labels_of(K, n_classes)
    assert_allclose(target_alignment(total, labels), target_alignment(K, labels), rtol=1e-13)
    only_first = centroid_slopes(copies, K).reshape(len(K), n_classes, k)
    assert_array_equal(only_first[:, :, 0], K)
    assert not only_first[:, :, 1:].any()


@either_score
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(n_classes=counts, k=counts)
def test_compiled_rows_are_the_same(class_score: Any, dtype: type, n_classes: int, k: int) -> None:
    K: FloatArray = fidelities(n_classes, k).astype(dtype)
    K[0] = 0.5  # the first of equals
    scores: FloatArray = np.empty((len(K), n_classes), dtype)
    slopes = np.full_like(K, 7)
    pool_rows(K, CLASS_SCORE_CODES[class_score], scores)
    assert_allclose(scores, class_scores(K, n_classes, class_score=class_score), rtol=float(np.finfo(dtype).eps))
    slopes[:, ::k] = scores
    spread_rows(K, k, CLASS_SCORE_CODES[class_score], slopes)
    assert_array_equal(slopes, centroid_slopes(K, scores, class_score=class_score))


@either_score
def test_no_samples_have_no_scores(class_score: Any) -> None:
    assert class_scores(np.empty((0, 6)), 3, class_score=class_score).shape == (0, 3)
    assert centroid_slopes(np.empty((0, 6)), np.empty((0, 3)), class_score=class_score).shape == (0, 6)


@pytest.mark.parametrize(
    ("K", "n_classes", "class_score"),
    [
        (np.ones((2, 5)), 2, "max"),
        (np.ones((2, 2)), 3, "max"),
        (np.ones((2, 0)), 1, "max"),
        (np.ones(4), 2, "max"),
        (np.ones((2, 4)), 0, "max"),
        (np.ones((2, 4)), 2, "mean"),
        (np.ones((2, 2)), 2, None),
    ],
)
def test_what_gives_no_scores_is_refused(K: FloatArray, n_classes: int, class_score: Any) -> None:
    with pytest.raises(InvalidInputError):
        class_scores(K, n_classes, class_score=class_score)


@pytest.mark.parametrize("slopes", [np.ones((3, 2)), np.ones((2, 3)), np.ones(2), np.ones((2, 0))])
def test_slopes_of_another_shape_are_refused(slopes: FloatArray) -> None:
    with pytest.raises(InvalidInputError):
        centroid_slopes(np.ones((2, 4)), slopes)
