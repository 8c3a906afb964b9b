import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip import calibrate, tolerant_kernels
from mcquack.randomness import stream


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
    with pytest.raises(InvalidInputError, match="all labels are the same"):
        calibrate(counts, labels=[1, 1, 1, 1])
    with pytest.raises(InvalidInputError, match="each of 4 means"):
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
    assert exact.interval is exact.band is None
    assert exact.tolerance == calibrate(counts, n_resamples=5).tolerance


def test_the_interval_holds_the_best_tolerance_and_narrows_with_shots():
    few, many = (calibrate(binomial_counts(shots=shots), n_resamples=200) for shots in (20, 5000))
    for found in (few, many):
        low, high = found.interval
        assert low <= found.tolerance <= high
        assert found.band.shape == (2, 21)
        assert np.all(found.band[0] <= found.band[1])
    assert many.interval[1] - many.interval[0] < few.interval[1] - few.interval[0]
    assert np.mean(many.band[1] - many.band[0]) < np.mean(few.band[1] - few.band[0])


def test_more_confidence_needs_a_wider_interval():
    narrow, wide = (calibrate(binomial_counts(shots=30), confidence=c, n_resamples=200) for c in (0.5, 0.99))
    assert wide.interval[0] <= narrow.interval[0] <= narrow.interval[1] <= wide.interval[1]
    assert wide.interval != narrow.interval


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
