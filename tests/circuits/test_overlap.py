"""Overlap circuits are the angles of samples and centroids, and have a name by them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import Circuit, FeatureMap, OverlapCircuits, b, w, x
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from tests.hardware.overlaps import paper_overlaps, ring_map

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
    with pytest.raises(InvalidInputError, match="samples"):
        OverlapCircuits(samples=samples, centroids=np.zeros((2, 2, 3, 3)), circuit=ring_map(3, 2))


def test_both_pass_the_same_circuit() -> None:
    with pytest.raises(InvalidInputError, match="centroids"):
        paper_overlaps(np.zeros((5, 2, 3, 3)), np.zeros((2, 1, 3, 3)))


def test_names_of_the_papers_circuits_never_change() -> None:
    """Ledgers on disk know what they have measured by them."""
    angles = np.arange(12.0).reshape(1, 2, 2, 3) / 8
    assert paper_overlaps(angles, angles[:, ::-1]).digest == "560b77be2757a02b"


# Any circuit


GENERAL = Circuit(2, 2).rx([0, 1], w * x[0] + b).rzz((0, 1), x[0] * x[1]).cnot(0, 1)


def general(circuit: Circuit = GENERAL) -> OverlapCircuits:
    X, centroids = np.linspace(0, 1, 6).reshape(3, 2), np.linspace(-1, 0, 4).reshape(2, 2)
    return OverlapCircuits.of(circuit, X, centroids, weights=np.array([0.5, 2.0]), bias=np.array([0.1, 0.2]))


def test_any_circuit_has_overlaps() -> None:
    found = general()
    assert found.samples.shape == (3, 3)
    assert found.shape == (3, 2)
    assert (found.n_qubits, found.n_layers, found.circuit) == (2, 1, GENERAL)
    assert found[:1].circuit == GENERAL


def test_of_the_papers_map_the_numbers_of_qubits_and_layers_matter_alone() -> None:
    found, other = circuits(), FeatureMap(n_qubits=3, n_features=1, n_layers=2, final_entangler=False)
    named = OverlapCircuits(samples=found.samples, centroids=found.centroids, circuit=other)
    assert named.circuit == found.circuit == FeatureMap.of_angles(n_qubits=3, n_layers=2)
    assert named.digest == found.digest


def test_a_map_of_angles_has_its_features_as_angles() -> None:
    feature_map = FeatureMap.of_angles(n_qubits=3, n_layers=2)
    angles, shape = np.arange(36.0).reshape(2, 18), feature_map.parameter_shape
    found = feature_map.angles(angles, np.ones(shape), np.zeros(shape))
    assert_allclose(found, angles.reshape(2, *shape))


def test_the_digest_tells_circuits_apart_that_have_the_same_angles() -> None:
    other = Circuit(2, 2).rx([0, 1], w * x[0] + b).rzz((0, 1), x[0] * x[1]).cnot(1, 0)
    assert_allclose(general().samples, general(other).samples)
    assert general().digest != general(other).digest
    assert general().digest == general(Circuit.from_json(GENERAL.to_json())).digest


def test_angles_are_those_of_the_circuit() -> None:
    with pytest.raises(InvalidInputError, match=r"\(number, 3\).*\(1, 2\)"):
        OverlapCircuits(samples=np.zeros((1, 2)), centroids=np.zeros((1, 3)), circuit=GENERAL)


def test_a_start_that_is_no_gate_is_refused() -> None:
    amplitudes = Circuit(2, 2, start="amplitudes").rx(0, x[0])
    with pytest.raises(InvalidInputError, match="amplitudes"):
        OverlapCircuits(samples=np.zeros((1, 1)), centroids=np.zeros((1, 1)), circuit=amplitudes)
