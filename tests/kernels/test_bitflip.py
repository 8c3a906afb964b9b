"""Kernels that tolerate bit flips: what they are, what they predict, and which tolerance is the best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip import (
    Calibration,
    accuracies_by_tolerance,
    calibrate,
    classes_by_mean_hamming,
    mean_hamming,
    predicted_classes,
    tolerant_kernel,
    tolerant_kernels,
    training_tolerance,
)
from mcquack.randomness import stream

counted = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 9)), elements=st.integers(0, 100)
).map(lambda counts: counts + (counts.sum(axis=-1, keepdims=True) == 0))


@given(counts=counted)
def test_more_tolerance_never_lowers_the_kernel_and_all_of_it_makes_one(counts):
    kernels = tolerant_kernels(counts)
    assert kernels.shape == counts.shape
    assert np.all(np.diff(kernels, axis=-1) >= 0)
    assert_array_equal(kernels[..., -1], 1)


@given(counts=counted)
def test_no_tolerance_is_the_share_of_zeros(counts):
    assert_array_equal(tolerant_kernel(counts, 0), counts[..., 0] / counts.sum(axis=-1))


@given(counts=counted)
def test_counts_and_their_shares_have_the_same_kernel(counts):
    shares = counts / counts.sum(axis=-1, keepdims=True)
    for tolerance in range(counts.shape[-1]):
        assert_allclose(tolerant_kernel(shares, tolerance), tolerant_kernel(counts, tolerance), rtol=0, atol=1e-14)
    assert_allclose(mean_hamming(shares), mean_hamming(counts), rtol=1e-12)


def test_mean_weights_are_sums_over_tolerances():
    """Σ_k k P(k) = Σ_b (1 - k^b)."""
    counts = np.array([[3, 0, 1, 4], [0, 0, 0, 2]])
    assert_allclose(mean_hamming(counts), (1 - tolerant_kernels(counts)).sum(axis=-1))


@pytest.mark.parametrize("tolerance", [-1, 4, 1.0, True, None])
def test_a_tolerance_is_a_possible_number_of_flips(tolerance):
    with pytest.raises(InvalidInputError, match=r"tolerance .*\b3\b"):
        tolerant_kernel(np.ones((2, 2, 4)), tolerance)


@pytest.mark.parametrize("weights", [[1, -1], [np.nan, 1], [np.inf, 1], [True, False], ["a", "b"], [0, 0], [], 3])
def test_what_counts_no_ones_is_refused(weights):
    with pytest.raises(InvalidInputError, match=r"hamming|outcome"):
        tolerant_kernels(weights)


# Rules of prediction


def noisy_counts(*, n_samples=60, n_classes=3, n_qubits=30, own=0.42, others=0.5, shots=50):
    """Labels, and weights that are a little smaller with the centroid of the own class."""
    labels = stream(0, "labels").integers(n_classes, size=n_samples)
    chances = np.where(labels[:, None] == np.arange(n_classes), own, others)
    ones = stream(0, "ones").binomial(n_qubits, chances[..., None], size=(n_samples, n_classes, shots))
    return labels, np.apply_along_axis(np.bincount, -1, ones, minlength=n_qubits + 1)


def test_the_largest_kernel_wins_where_there_is_one():
    _, counts = noisy_counts()
    for tolerance in (8, 12, 15):
        kernel = tolerant_kernel(counts, tolerance)
        alone = np.sum(kernel == kernel.max(axis=1, keepdims=True), axis=1) == 1
        assert alone.any()
        assert_array_equal(predicted_classes(counts, tolerance)[alone], kernel.argmax(axis=1)[alone])


def test_ties_go_to_the_smaller_mean_weight():
    counts = np.array([[[0, 0, 0, 4], [0, 0, 2, 2], [0, 0, 3, 1]], [[1, 0, 0, 3], [1, 3, 0, 0], [0, 4, 0, 0]]])
    assert_array_equal(predicted_classes(counts, 0), [2, 1])
    assert_array_equal(predicted_classes(counts, 3), [2, 1])


@pytest.mark.parametrize("tolerance", [0, 30])
def test_without_a_kernel_to_compare_mean_weights_decide_alone(tolerance):
    _, counts = noisy_counts()
    assert_array_equal(predicted_classes(counts, tolerance), classes_by_mean_hamming(counts))
    assert_array_equal(classes_by_mean_hamming(counts), mean_hamming(counts).argmin(axis=1))


def test_accuracies_are_those_of_the_predictions():
    labels, counts = noisy_counts()
    accuracies = accuracies_by_tolerance(counts, labels)
    assert accuracies.shape == (31,)
    for tolerance in (0, 10, 14, 30):
        assert accuracies[tolerance] == np.mean(predicted_classes(counts, tolerance) == labels)


def test_the_training_rule_takes_the_best_accuracy():
    labels, counts = noisy_counts()
    accuracies = accuracies_by_tolerance(counts, labels)
    assert accuracies[training_tolerance(counts, labels)] == accuracies.max()


def test_of_equally_accurate_tolerances_the_middle_one_is_taken():
    near, far = np.eye(11, dtype=int)[2], np.eye(11, dtype=int)[8]
    counts, labels = np.array([[near, far], [far, near]]), np.array([0, 1])
    assert_array_equal(accuracies_by_tolerance(counts, labels), 1)
    assert training_tolerance(counts, labels) == 5


@pytest.mark.parametrize("labels", [[0, 1], np.zeros(60), np.full(60, 3), np.full(60, -1), ["a"] * 60, [[0]] * 60])
def test_labels_are_numbers_of_centroids(labels):
    _, counts = noisy_counts()
    with pytest.raises(InvalidInputError, match="labels"):
        training_tolerance(counts, labels)


def test_a_choice_needs_two_centroids_and_a_sample():
    for shape in ((2, 1, 4), (0, 2, 4)):
        with pytest.raises(InvalidInputError, match="shape"):
            training_tolerance(np.ones(shape, dtype=int), np.zeros(shape[0], dtype=int))


def test_weights_of_another_shape_are_refused():
    for rule in (lambda weights: predicted_classes(weights, 1), classes_by_mean_hamming):
        with pytest.raises(InvalidInputError, match="axes"):
            rule(np.ones((3, 4)))


# Calibration


def binomial_counts(*, n_classes=3, n_qubits=20, on=0.2, off=0.5, shots=200, seed=0):
    """Weights between class means as if every bit flipped by itself, less often on the diagonal."""
    chances = np.where(np.eye(n_classes, dtype=bool), on, off)
    ones = stream(seed, "ones").binomial(n_qubits, chances[..., None], size=(n_classes, n_classes, shots))
    return np.apply_along_axis(np.bincount, -1, ones, minlength=n_qubits + 1)


def at(*weights, n_qubits=10):
    """All shots at these weights: (diagonal, off-diagonal) of two classes."""
    diagonal, off_diagonal = (np.eye(n_qubits + 1, dtype=int)[weight] * 100 for weight in weights)
    return np.array([[diagonal, off_diagonal], [off_diagonal, diagonal]])


def test_curves_are_means_on_and_off_the_diagonal():
    counts = binomial_counts()
    found, kernels = calibrate(counts, n_resamples=5), tolerant_kernels(counts)
    for b in range(21):
        kernel = kernels[..., b]
        assert_allclose(found.diagonal[b], np.trace(kernel) / 3)
        assert_allclose(found.off_diagonal[b], (kernel.sum() - np.trace(kernel)) / 6)
    assert_allclose(found.difference, found.diagonal - found.off_diagonal)


def test_pairs_of_one_class_are_neither_on_nor_off_the_diagonal():
    counts = binomial_counts(n_classes=4)
    found, kernels = calibrate(counts, labels=["a", "b", "a", "b"], n_resamples=5), tolerant_kernels(counts)
    others = [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)]
    assert_allclose(found.off_diagonal, np.mean([kernels[pair] for pair in others], axis=0))
    assert_allclose(found.diagonal, calibrate(counts, n_resamples=5).diagonal)
    with pytest.raises(InvalidInputError, match="labels"):
        calibrate(counts, labels=[1, 1, 1, 1])
    with pytest.raises(InvalidInputError, match=r"\b4\b"):
        calibrate(counts, labels=[0, 1])


def test_the_best_tolerance_has_the_largest_difference():
    found = calibrate(binomial_counts(), n_resamples=5)
    assert found.difference[found.tolerance] == found.difference.max()
    assert 5 <= found.tolerance <= 9


def test_a_flat_criterion_is_cut_in_the_middle_of_the_mean_weights():
    """Any b from 0 to 7 separates perfectly, but samples lie further from their class than its mean does."""
    assert calibrate(at(0, 8), n_resamples=5).tolerance == 4
    assert calibrate(at(2, 5), n_resamples=5).tolerance == 3
    assert calibrate(at(0, 1), n_resamples=5).tolerance == 0


def test_differences_within_rounding_are_ties():
    exact = at(0, 8) / 100
    exact[0, 1, 0], exact[1, 0, 0] = 1e-26, 1e-13
    assert calibrate(exact).tolerance == 4


def test_exact_distributions_have_no_interval():
    counts = binomial_counts()
    exact = calibrate(counts / counts.sum(axis=-1, keepdims=True))
    assert (exact.interval, exact.band) == (None, None)
    assert exact.tolerance == calibrate(counts, n_resamples=5).tolerance


def bounds(found: Calibration) -> tuple[tuple[int, int], FloatArray]:
    """The interval and the band of what was counted."""
    assert found.interval is not None
    assert found.band is not None
    return found.interval, found.band


def test_the_interval_holds_the_best_tolerance_and_narrows_with_shots():
    few, many = (calibrate(binomial_counts(shots=shots), n_resamples=200) for shots in (20, 5000))
    widths = []
    for found in (few, many):
        (low, high), band = bounds(found)
        assert low <= found.tolerance <= high
        assert band.shape == (2, 21)
        assert np.all(band[0] <= band[1])
        widths.append((high - low, np.mean(band[1] - band[0])))
    assert np.all(np.less(widths[1], widths[0]))


def test_more_confidence_needs_a_wider_interval():
    (low, high), (lower, higher) = (
        bounds(calibrate(binomial_counts(shots=30), confidence=c, n_resamples=200))[0] for c in (0.5, 0.99)
    )
    assert lower <= low <= high <= higher
    assert (lower, higher) != (low, high)


def test_a_seed_fixes_the_interval():
    counts = binomial_counts(shots=20)
    first, second, other = (calibrate(counts, n_resamples=50, seed=seed) for seed in (0, 0, 1))
    assert first.interval == second.interval
    assert_array_equal(first.band, second.band)
    assert np.any(first.band != other.band)


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 1, 5), (4, 5), (2, 2, 2, 5)])
def test_other_than_square_weights_are_refused(shape):
    with pytest.raises(InvalidInputError, match=r"shape|axes"):
        calibrate(np.ones(shape))


@pytest.mark.parametrize("settings", [{"confidence": 1.0}, {"confidence": 0}, {"n_resamples": 0}])
def test_impossible_settings_are_refused_by_name(settings):
    with pytest.raises(InvalidInputError, match=next(iter(settings))):
        calibrate(binomial_counts(), **settings)
