import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.samplers import sampled_fidelities, sampled_hamming

KERNEL = stream(0, "kernel").uniform(size=(30, 4))
DISTRIBUTIONS = stream(0, "distributions").dirichlet(np.ones(6), size=(30, 4))


def test_sampled_fidelities_are_shares_of_the_shots():
    sampled = sampled_fidelities(KERNEL, shots=50, seed=0)
    assert sampled.shape == KERNEL.shape
    assert_allclose(sampled * 50, np.rint(sampled * 50), atol=1e-12)
    assert np.all((sampled >= 0) & (sampled <= 1))


def test_sampled_weights_count_every_shot():
    counts = sampled_hamming(DISTRIBUTIONS, shots=50, seed=0)
    assert counts.shape == DISTRIBUTIONS.shape
    assert counts.dtype == np.int64
    assert_array_equal(counts.sum(axis=-1), 50)


def test_many_shots_find_the_exact_numbers():
    shots = 10**6
    errors = (sampled_fidelities(KERNEL, shots=shots, seed=1) - KERNEL) / np.sqrt(KERNEL * (1 - KERNEL) / shots)
    assert np.abs(errors).max() < 4
    assert 0.8 < errors.std() < 1.2
    deviations = np.sqrt(DISTRIBUTIONS * (1 - DISTRIBUTIONS) / shots)
    errors = (sampled_hamming(DISTRIBUTIONS, shots=shots, seed=1) / shots - DISTRIBUTIONS) / deviations
    assert np.abs(errors).max() < 4.5
    assert 0.8 < errors.std() < 1.2


@pytest.mark.parametrize(("sample", "exact"), [(sampled_fidelities, KERNEL), (sampled_hamming, DISTRIBUTIONS)])
def test_a_seed_fixes_the_shots(sample, exact):
    assert_array_equal(sample(exact, shots=20, seed=3), sample(exact, shots=20, seed=3))
    assert np.any(sample(exact, shots=20, seed=3) != sample(exact, shots=20, seed=4))


def test_certain_outcomes_have_no_noise():
    assert_array_equal(sampled_fidelities([[0.0, 1.0]], shots=7, seed=0), [[0, 1]])
    assert_array_equal(sampled_hamming([0.0, 1.0, 0.0], shots=7, seed=0), [0, 7, 0])


def test_rounding_of_single_precision_is_forgiven():
    assert_array_equal(sampled_fidelities(np.array([[1 + 1e-6, -1e-7]]), shots=7, seed=0), [[1, 0]])
    off = (DISTRIBUTIONS * (1 + 1e-6)).astype(np.float32)
    assert_array_equal(sampled_hamming(off, shots=9, seed=0).sum(axis=-1), 9)


@pytest.mark.parametrize("shots", [0, -1, 2.5, True])
def test_shots_are_whole_numbers(shots):
    for sample, exact in ((sampled_fidelities, KERNEL), (sampled_hamming, DISTRIBUTIONS)):
        with pytest.raises(InvalidInputError, match="shots"):
            sample(exact, shots=shots, seed=0)


def test_what_is_no_probability_is_refused():
    with pytest.raises(InvalidInputError, match=r"between 0 and 1, got values from 0\.5 to 2"):
        sampled_fidelities([[0.5, 2.0]], shots=5, seed=0)
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        sampled_hamming([np.nan, 1.0], shots=5, seed=0)
    with pytest.raises(InvalidInputError, match="sum to 1"):
        sampled_hamming([0.5, 0.4], shots=5, seed=0)
