import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip import (
    accuracies_by_tolerance,
    classes_by_mean_hamming,
    mean_hamming,
    predicted_classes,
    tolerant_kernel,
    training_tolerance,
)
from mcquack.randomness import stream


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
        with pytest.raises(InvalidInputError, match="two or more centroids"):
            training_tolerance(np.ones(shape, dtype=int), np.zeros(shape[0], dtype=int))


def test_weights_of_another_shape_are_refused():
    for rule in (lambda weights: predicted_classes(weights, 1), classes_by_mean_hamming):
        with pytest.raises(InvalidInputError, match="3 axes"):
            rule(np.ones((3, 4)))
