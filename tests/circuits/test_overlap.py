"""Overlap circuits are the angles of samples and centroids, and have a name by them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import FeatureMap, OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream

MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)


def circuits(dtype: type = np.float64) -> OverlapCircuits:
    """Those of five samples and two centroids, whose values float32 can hold."""
    random = stream(0, "overlap")
    w, b = random.integers(-8, 8, (2, *MAP.parameter_shape)).astype(dtype) / 4
    X, centroids = (random.integers(0, 8, (n, MAP.n_features)).astype(dtype) / 8 for n in (5, 2))
    return OverlapCircuits.of(MAP, X, centroids, weights=w, bias=b)


def test_they_have_the_size_of_their_map_and_of_the_kernel() -> None:
    found = circuits()
    assert (found.n_qubits, found.n_layers, found.shape) == (3, 2, (5, 2))
    assert found.samples.shape[1:] == found.centroids.shape[1:] == MAP.parameter_shape


def test_some_samples_keep_all_centroids() -> None:
    found = circuits()
    assert found[1:3].shape == (2, 2)
    assert_allclose(found[1:3].samples, found.samples[1:3])
    assert_allclose(found[1:3].centroids, found.centroids)


def test_the_digest_is_that_of_the_angles_in_full_precision() -> None:
    found = circuits()
    assert found.digest == circuits(np.float32).digest
    assert len({found.digest, found[:4].digest, found[::-1].digest}) == 3


@pytest.mark.parametrize("samples", [np.zeros((5, 2, 3)), np.zeros((5, 2, 3, 2)), np.full((5, 2, 3, 3), np.nan)])
def test_what_are_no_angles_is_refused(samples: np.ndarray) -> None:
    with pytest.raises(InvalidInputError, match="must be finite angles"):
        OverlapCircuits(samples=samples, centroids=np.zeros((2, 2, 3, 3)))


def test_both_pass_the_same_circuit() -> None:
    with pytest.raises(InvalidInputError, match="the same circuit"):
        OverlapCircuits(samples=np.zeros((5, 2, 3, 3)), centroids=np.zeros((2, 1, 3, 3)))
