"""Shifted circuits give the derivatives of the adjoint; and how many shots a device would need for them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators.engine import Wrt
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, total_shots
from tests.problems import Problem, problems


@pytest.mark.parametrize("wrt", ["embedding", "centroids"])
@settings(max_examples=15)
@given(problem=problems(max_qubits=5, max_layers=3, max_samples=20))
def test_parameter_shift_is_the_adjoint(wrt: Wrt, problem: Problem) -> None:
    adjoint = StatevectorEngine(problem.feature_map, dtype=np.float64)
    shifted = ParameterShiftEngine(adjoint)
    samples = adjoint.encode(problem.X, problem.weights, problem.bias)
    centroids = adjoint.encode(problem.centroids, problem.weights, problem.bias)
    left, right = (engine.pullback(samples, centroids, problem.cotangent, wrt=wrt) for engine in (shifted, adjoint))
    for one, other in zip(left, right, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_allclose(one, other, rtol=0, atol=1e-11)


def test_shots_of_the_papers_device_experiment() -> None:
    """124 qubits, two layers, 248 features, two classes: 1.488e8 shots for one epoch."""
    feature_map = FeatureMap(n_qubits=124, n_features=248, n_layers=2, final_entangler=False)
    assert total_shots(feature_map, n_classes=2, n_train=100, n_shots=100) == 148_800_000


@given(
    n_epochs=st.integers(1, 10),
    n_train=st.integers(1, 10**6),
    n_classes=st.integers(1, 50),
    n_shots=st.integers(1, 10**6),
    epochs_ka=st.integers(0, 3),
    epochs_co=st.integers(0, 3),
)
def test_shots_are_linear_in_everything_that_is_repeated(
    n_epochs: int, n_train: int, n_classes: int, n_shots: int, epochs_ka: int, epochs_co: int
) -> None:
    feature_map = FeatureMap(n_qubits=4, n_features=7, n_layers=2)
    D, d = 48, 7
    shots = total_shots(
        feature_map,
        n_classes=n_classes,
        n_train=n_train,
        n_shots=n_shots,
        n_epochs=n_epochs,
        epochs_ka=epochs_ka,
        epochs_co=epochs_co,
    )
    assert shots == 2 * n_epochs * n_train * n_classes * n_shots * (2 * epochs_ka * D + 3 * epochs_co * d)
