"""Kernel-target alignment, its bound, its invariances and its derivative; and the losses that training makes small."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.errors import InvalidInputError
from mcquack.kernels import Alignment, CrossEntropy, alignment_gradient, ideal_kernel, loss_of, target_alignment
from mcquack.kernels.losses import LOSSES, LogCrossEntropy, class_shares, loss_row, loss_rule, loss_terms
from mcquack.randomness import stream
from tests.oracles import gradient

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def alignment_by_hand(K: FloatArray, labels: IntArray) -> float:
    """The paper's formula, term by term."""
    ideal = np.array([[1.0 if label == m else -1.0 for m in range(K.shape[1])] for label in labels])
    return float(np.sum(K * ideal) / np.sqrt(np.sum(K * K) * np.sum(ideal * ideal)))


def perfect_kernel(labels: IntArray, n_classes: int) -> FloatArray:
    """Fidelity 1 with the own centroid, 0 with all others."""
    return np.eye(n_classes)[labels]


@st.composite
def kernels(draw: st.DrawFn, max_samples: int = 12) -> tuple[FloatArray, IntArray]:
    """Fidelities with labels; a class may be missing."""
    n_samples, n_classes = draw(st.integers(1, max_samples)), draw(st.integers(1, 6))
    rng = stream(draw(st.integers(0, 2**32 - 1)), "kernel")
    return rng.uniform(size=(n_samples, n_classes)), rng.integers(n_classes, size=n_samples)


def random_weights(n_samples: int) -> FloatArray:
    return stream(n_samples, "row weights").uniform(0, 3, size=n_samples)


# Values


@given(kernel=kernels())
def test_alignment_is_the_formula_of_the_paper(kernel: tuple[FloatArray, IntArray]) -> None:
    assert_allclose(target_alignment(*kernel), alignment_by_hand(*kernel), rtol=1e-12)


@given(kernel=kernels())
def test_alignment_is_bounded_by_the_number_of_classes(kernel: tuple[FloatArray, IntArray]) -> None:
    K, labels = kernel
    assert -1 <= target_alignment(K, labels) <= 1 / np.sqrt(K.shape[1]) + 1e-12


@given(kernel=kernels())
def test_the_perfect_kernel_reaches_the_bound(kernel: tuple[FloatArray, IntArray]) -> None:
    K, labels = kernel
    n_classes = K.shape[1]
    best = target_alignment(perfect_kernel(labels, n_classes), labels)
    assert_allclose(best, 1 / np.sqrt(n_classes), rtol=1e-12)
    assert target_alignment(K, labels) <= best + 1e-12


@given(kernel=kernels(), scale=st.floats(1e-3, 1e3))
def test_positive_factors_change_nothing(kernel: tuple[FloatArray, IntArray], scale: float) -> None:
    K, labels = kernel
    weights = random_weights(len(labels))
    expected = target_alignment(K, labels, row_weights=weights)
    assert_allclose(target_alignment(scale * K, labels, row_weights=weights), expected, rtol=1e-10)
    assert_allclose(target_alignment(K, labels, row_weights=scale * weights), expected, rtol=1e-10)


@given(kernel=kernels(), data=st.data())
def test_names_of_classes_and_order_of_samples_change_nothing(
    kernel: tuple[FloatArray, IntArray], data: st.DataObject
) -> None:
    K, labels = kernel
    new_name = np.array(data.draw(st.permutations(range(K.shape[1]))))
    order = np.array(data.draw(st.permutations(range(len(labels)))))
    renamed = np.empty_like(K)
    renamed[:, new_name] = K
    found = target_alignment(renamed[order], new_name[labels][order])
    assert_allclose(found, target_alignment(K, labels), rtol=1e-10)


def test_merging_two_of_three_classes_scores_below_the_ideal() -> None:
    """With labels taken as numbers 0, 1, 2 others score the merger 0.894 above the ideal 0.577."""
    labels = np.repeat([0, 1, 2], 20)
    ideal = perfect_kernel(labels, 3)
    merged = ideal.copy()
    merged[labels > 0, 1] = merged[labels > 0, 2] = 1
    assert_allclose(target_alignment(ideal, labels), 1 / np.sqrt(3))
    assert target_alignment(merged, labels) < target_alignment(ideal, labels) - 0.1


@given(kernel=kernels(), data=st.data())
def test_any_merger_of_classes_scores_below_the_ideal(kernel: tuple[FloatArray, IntArray], data: st.DataObject) -> None:
    n_classes = kernel[0].shape[1] + 1
    labels = np.arange(3 * n_classes) % n_classes
    first, second = data.draw(st.permutations(range(n_classes)))[:2]
    merged = perfect_kernel(labels, n_classes)
    both = np.isin(labels, [first, second])
    merged[both, first] = merged[both, second] = 1
    assert target_alignment(merged, labels) < 1 / np.sqrt(n_classes) - 1e-3


@given(labels=st.lists(st.integers(0, 4), max_size=10))
def test_ideal_kernel_is_one_for_the_own_class_and_minus_one_for_others(labels: list[int]) -> None:
    ideal = ideal_kernel(np.array(labels, dtype=np.int64), 5)
    assert ideal.shape == (len(labels), 5)
    for row, label in zip(ideal, labels, strict=True):
        assert_array_equal(row, [1 if m == label else -1 for m in range(5)])


# Weights


@given(kernel=kernels(), data=st.data())
def test_a_whole_weight_counts_a_row_as_often(kernel: tuple[FloatArray, IntArray], data: st.DataObject) -> None:
    K, labels = kernel
    counts = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels))))
    repeated = target_alignment(np.repeat(K, counts, axis=0), np.repeat(labels, counts))
    assert_allclose(target_alignment(K, labels, row_weights=counts), repeated, rtol=1e-10)


@given(kernel=kernels())
def test_no_weights_are_equal_weights(kernel: tuple[FloatArray, IntArray]) -> None:
    K, labels = kernel
    assert target_alignment(K, labels, row_weights=np.ones(len(K))) == target_alignment(K, labels)


@pytest.mark.parametrize(
    ("K", "weights"),
    [(np.zeros((4, 3)), None), (np.ones((4, 3)), np.zeros(4)), (np.ones((0, 3)), None), (np.eye(4, 3), [0, 0, 0, 1])],
    ids=["zero kernel", "zero weights", "no samples", "weight on zeros"],
)
def test_where_alignment_is_undefined_it_is_zero_and_flat(K: FloatArray, weights: Any) -> None:
    labels = np.zeros(len(K), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert target_alignment(K, labels, row_weights=weights) == 0
        assert_array_equal(alignment_gradient(K, labels, row_weights=weights), np.zeros(K.shape))


# The derivative


@given(kernel=kernels(max_samples=5), weighted=st.booleans())
def test_gradient_meets_finite_differences(kernel: tuple[FloatArray, IntArray], weighted: bool) -> None:
    K, labels = kernel
    K = K + 0.1  # away from zero, where alignment has no derivative
    weights = random_weights(len(labels)) if weighted else None
    expected = gradient(lambda moved: target_alignment(moved, labels, row_weights=weights), K)
    assert_allclose(alignment_gradient(K, labels, row_weights=weights), expected, rtol=0, atol=1e-7)


@given(kernel=kernels())
def test_the_perfect_kernel_is_a_maximum_among_fidelities(kernel: tuple[FloatArray, IntArray]) -> None:
    """No slope along the kernel itself; own entries cannot gain, others only by becoming negative."""
    K, labels = kernel
    perfect = perfect_kernel(labels, K.shape[1])
    slopes = alignment_gradient(perfect, labels)
    assert_allclose(np.sum(slopes * perfect), 0, atol=1e-12)
    assert (slopes[perfect == 0] < 0).all()


@given(kernel=kernels())
def test_gradient_has_no_part_along_the_kernel(kernel: tuple[FloatArray, IntArray]) -> None:
    """Because a factor changes nothing."""
    K, labels = kernel
    assert_allclose(np.sum(alignment_gradient(K, labels) * K), 0, atol=1e-10)


# Handling


def test_numbers_of_any_type_are_taken() -> None:
    labels = np.array([0, 1, 1])
    K = np.array([[1, 0], [0, 1], [1, 1]])
    expected = alignment_by_hand(K.astype(float), labels)
    for kernel in (K, K.tolist(), K.astype(np.float32), np.asfortranarray(K, dtype=np.float64)):
        assert_allclose(target_alignment(kernel, labels), expected)
    for other in (labels.tolist(), labels.astype(np.int8), labels.astype(np.uint32)):
        assert_allclose(target_alignment(K, other), expected)


@pytest.mark.parametrize("function", [target_alignment, alignment_gradient])
@pytest.mark.parametrize(
    ("K", "labels", "weights"),
    [
        (np.ones((4, 2)), [0, 1, 0], None),
        (np.ones(3), [0, 1, 0], None),
        (np.ones((3, 2)), [0, 1, 2], None),
        (np.ones((3, 2)), [0, -1, 1], None),
        (np.ones((3, 2)), [0.0, 1.0, 1.0], None),
        (np.ones((3, 2)), ["a", "b", "a"], None),
        (np.ones((3, 2)), [[0], [1], [1]], None),
        (np.ones((3, 2)), [0, 1, 1], [1, 1]),
        (np.ones((3, 2)), [0, 1, 1], [[1], [1], [1]]),
        (np.ones((3, 2)), [0, 1, 1], [1, 1, -1]),
    ],
    ids=[
        "more rows than labels",
        "kernel without columns",
        "label beyond the classes",
        "negative label",
        "labels that are no whole numbers",
        "labels that are no numbers",
        "labels in a column",
        "too few weights",
        "weights in a column",
        "negative weight",
    ],
)
def test_bad_input_is_refused(function: Any, K: Any, labels: Any, weights: Any) -> None:
    with pytest.raises(InvalidInputError):
        function(K, labels, row_weights=weights)


def test_inputs_stay_as_they_are() -> None:
    rng = stream(0, "kernel")
    K, labels, weights = rng.uniform(size=(5, 3)), rng.integers(3, size=5), rng.uniform(size=5)
    before = K.copy(), labels.copy(), weights.copy()
    alignment_gradient(K, labels, row_weights=weights)
    for array, copy in zip((K, labels, weights), before, strict=True):
        assert_array_equal(array, copy)


# Losses as values


@pytest.mark.parametrize("kind", [Alignment, CrossEntropy])
@pytest.mark.parametrize("class_score", ["mean", None, 0, ["max"]])
def test_other_scores_are_refused_by_name_and_value(kind: Any, class_score: Any) -> None:
    with pytest.raises(InvalidInputError, match="class_score"):
        kind(class_score=class_score)


@pytest.mark.parametrize("beta", [0, -1.0, float("nan"), float("inf"), "10", None])
def test_the_sharpness_of_the_cross_entropy_is_positive(beta: Any) -> None:
    with pytest.raises(InvalidInputError, match="beta"):
        CrossEntropy(beta=beta)


@pytest.mark.parametrize("name", ["alignment", "cross_entropy"])
def test_names_stand_for_losses_with_their_defaults(name: Any) -> None:
    assert loss_of(name) == LOSSES[name]()
    assert loss_of(LOSSES[name](class_score="sum")).class_score == "sum"
    assert LOSSES[name]() == LOSSES[name]() != LOSSES[name](class_score="sum")


@pytest.mark.parametrize("choice", ["hinge", "", None, 1, Alignment, abs, np.mean, ["alignment"]])
def test_what_is_no_loss_is_refused(choice: Any) -> None:
    with pytest.raises(InvalidInputError, match="loss"):
        loss_of(choice)


@given(kernel=kernels(), weighted=st.booleans())
def test_the_alignment_loss_is_one_minus_the_alignment(kernel: tuple[FloatArray, IntArray], weighted: bool) -> None:
    K, labels = kernel
    weights = random_weights(len(labels)) if weighted else np.ones(len(labels))
    value, slopes = Alignment()(K, labels, weights)
    assert value == 1 - target_alignment(K, labels, row_weights=weights)
    assert_array_equal(slopes, -alignment_gradient(K, labels, row_weights=weights))


@given(kernel=kernels(), beta=st.floats(0.1, 100))
def test_the_cross_entropy_is_that_of_a_softmax(kernel: tuple[FloatArray, IntArray], beta: float) -> None:
    K, labels = kernel
    weights = random_weights(len(labels)) + 0.01
    shares = np.exp(beta * K) / np.exp(beta * K).sum(axis=1, keepdims=True)
    expected = -np.average(np.log(shares[np.arange(len(K)), labels]), weights=weights)
    value, slopes = CrossEntropy(beta=beta)(K, labels, weights)
    assert_allclose(value, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(slopes.sum(axis=1), 0, atol=1e-10)  # because a constant for all classes changes nothing
    assert_allclose(CrossEntropy(beta=beta)(K + 7.0, labels, weights)[0], value, rtol=1e-9, atol=1e-9)


def test_the_cross_entropy_bears_scores_of_any_size_and_no_weights_at_all() -> None:
    value, slopes = CrossEntropy(beta=1e6)(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]), np.ones(2))
    assert_allclose(value, 5e5)
    assert np.isfinite(slopes).all()
    value, slopes = CrossEntropy()(np.eye(2), np.array([0, 1]), np.zeros(2))
    assert value == 0
    assert_array_equal(slopes, np.zeros((2, 2)))


@pytest.mark.parametrize(
    "loss",
    [
        Alignment(),
        CrossEntropy(beta=3.0),
        CrossEntropy(smoothing=0.3, learned=True),
        LogCrossEntropy(),
        LogCrossEntropy(beta=2.0, floor=0.1, smoothing=0.2, learned=True),
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stride", [1, 3])
def test_compiled_losses_are_the_same(loss: Any, dtype: type, stride: int) -> None:
    rng = stream(0, "compiled losses")
    S: FloatArray = rng.uniform(size=(7, 4)).astype(dtype)
    labels, weights = rng.integers(4, size=7), rng.uniform(size=7)
    value, slopes = loss(S, labels, weights)
    rule = loss_rule(loss)
    terms = loss_terms(rule, S, labels, weights)
    assert_allclose(terms[0], value, rtol=1e-6 if dtype is np.float32 else 1e-12)
    for row in range(len(S)):
        found = np.zeros(4 * stride)
        loss_row(rule, terms, S[row], labels[row], weights[row], found, stride)
        assert_allclose(found[::stride], slopes[row], rtol=0, atol=1e-6 if dtype is np.float32 else 1e-13)
        assert_array_equal(found.reshape(4, stride)[:, 1:], 0)
    if getattr(loss, "learned", False):
        assert_allclose(terms[2], loss.slope_by_beta(S, labels, weights), rtol=1e-5 if dtype is np.float32 else 1e-10)


@pytest.mark.parametrize("kind", [CrossEntropy, LogCrossEntropy])
@given(kernel=kernels())
def test_the_slope_by_beta_meets_finite_differences(kind: Any, kernel: tuple[FloatArray, IntArray]) -> None:
    K, labels = kernel
    weights = random_weights(len(labels))
    found = kind(beta=2.0, smoothing=0.1).slope_by_beta(K, labels, weights)
    expected = gradient(lambda beta: kind(beta=float(beta[0]), smoothing=0.1)(K, labels, weights)[0], np.array([2.0]))
    assert_allclose(found, expected[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize("loss", [Alignment(), CrossEntropy(), LogCrossEntropy(), LogCrossEntropy(beta=3.0)], ids=repr)
@given(kernel=kernels())
def test_shares_sum_to_one_in_the_order_of_the_scores(loss: Any, kernel: tuple[FloatArray, IntArray]) -> None:
    K, _ = kernel
    found = class_shares(K, loss)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(found.argmax(axis=1), K.argmax(axis=1))


@given(kernel=kernels())
def test_smoothing_is_a_mixture_with_labels_of_all_classes(kernel: tuple[FloatArray, IntArray]) -> None:
    K, labels = kernel
    weights, n_classes = random_weights(len(labels)), K.shape[1]
    sharp = CrossEntropy()(K, labels, weights)[0]
    of_all = [CrossEntropy()(K, np.full_like(labels, number), weights)[0] for number in range(n_classes)]
    mixed = 0.7 * sharp + 0.3 * np.mean(of_all)
    assert_allclose(CrossEntropy(smoothing=0.3)(K, labels, weights)[0], mixed, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("wrong", [{"smoothing": 1.0}, {"smoothing": -0.1}, {"learned": 1}, {"beta": 0}, {"beta": "1"}])
@pytest.mark.parametrize("kind", [CrossEntropy, LogCrossEntropy])
def test_impossible_cross_entropies_are_refused(kind: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        kind(**wrong)
    with pytest.raises(InvalidInputError, match="floor"):
        LogCrossEntropy(floor=0)


@pytest.mark.parametrize("size", [1e-300, 1e-307, 1e-310, 1e-320, 5e-324])
def test_the_alignment_of_tiny_fidelities_has_finite_slopes(size):
    value, slopes = Alignment()(np.full((3, 2), size), np.array([0, 1, 1]), np.ones(3))
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()
