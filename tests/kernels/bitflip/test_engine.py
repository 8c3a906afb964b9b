from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels.measured import TolerantEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, TrainingSettings, train
from tests.problems import random_problem
from tests.simulators.hamming_oracle import oracle_weights
from tests.training.setups import FEATURE_MAP, clusters, start_of

PROBLEM = random_problem(FeatureMap(n_qubits=4, n_features=3, n_layers=2), n_samples=4, n_classes=2)


def double_statevectors(feature_map):
    return StatevectorEngine(feature_map, dtype=np.float64)


def encoded(engine):
    rows = (engine.encode(points, PROBLEM.weights, PROBLEM.bias) for points in (PROBLEM.X, PROBLEM.centroids))
    return tuple(rows)


@pytest.mark.parametrize("make", [RingEngine, double_statevectors])
def test_fidelities_count_outcomes_with_few_ones(make):
    expected = np.cumsum(oracle_weights(PROBLEM), axis=-1)
    for tolerance in range(5):
        engine = TolerantEngine(make(PROBLEM.feature_map), tolerance=tolerance)
        assert_allclose(engine.fidelities(*encoded(engine)), expected[..., tolerance], rtol=0, atol=1e-12)


def test_no_tolerance_is_the_engine_itself_with_any_number_of_layers():
    problem = random_problem(FeatureMap(n_qubits=3, n_features=3, n_layers=4))
    inner = RingEngine(problem.feature_map)
    engine = TolerantEngine(inner, tolerance=0)
    rows = engine.encode(problem.X, problem.weights, problem.bias)
    assert_array_equal(engine.fidelities(rows, rows), inner.fidelities(rows, rows))
    cotangent = np.ones((5, 5))
    for wrt in ("embedding", "centroids"):
        pulled = engine.pullback(rows, rows, cotangent, wrt=wrt)
        for left, right in zip(pulled, inner.pullback(rows, rows, cotangent, wrt=wrt), strict=True):
            assert_array_equal(left, right)


@pytest.mark.parametrize("tolerance", [1, 3, 4])
def test_pullback_is_what_shifted_circuits_of_the_other_simulator_give(tolerance):
    engine = TolerantEngine(RingEngine(PROBLEM.feature_map), tolerance=tolerance)
    shifted = ParameterShiftEngine(TolerantEngine(double_statevectors(PROBLEM.feature_map), tolerance=tolerance))
    for wrt in ("embedding", "centroids"):
        found = engine.pullback(*encoded(engine), PROBLEM.cotangent, wrt=wrt)
        expected = shifted.pullback(*encoded(shifted), PROBLEM.cotangent, wrt=wrt)
        for left, right in zip(found, expected, strict=True):
            assert (left is None) == (right is None)
            if left is not None:
                assert_allclose(left, right, rtol=0, atol=1e-12)


def test_training_through_the_seam_raises_the_alignment_of_the_tolerant_kernel():
    data = clusters(n_samples=20, n_classes=2)
    engine = TolerantEngine(RingEngine(FEATURE_MAP), tolerance=1)
    epochs = train(engine, data, start_of(data, spread=0.5), settings=TrainingSettings(lr_ka=0.05, batch_size=20))
    alignments = [epoch.report.alignment for epoch in islice(epochs, 5)]
    assert alignments[-1] > alignments[0]


@pytest.mark.parametrize("tolerance", [-1, 5, 1.5])
def test_more_flips_than_qubits_are_refused(tolerance):
    with pytest.raises(InvalidInputError, match="number of qubits 4"):
        TolerantEngine(RingEngine(PROBLEM.feature_map), tolerance=tolerance)


def test_a_cotangent_must_fit_the_kernel():
    engine = TolerantEngine(RingEngine(PROBLEM.feature_map), tolerance=2)
    with pytest.raises(InvalidInputError, match=r"\(4, 2\), got \(4, 3\)"):
        engine.pullback(*encoded(engine), np.zeros((4, 3)), wrt="centroids")
