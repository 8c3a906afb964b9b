import numpy as np
import pytest
from mcquack.simulators.hamming import hamming_distributions, pull_hamming
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine
from tests.problems import random_problem

PROBLEM = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))


def test_every_simulator_gives_the_same_distributions():
    found = []
    for engine in (RingEngine(PROBLEM.feature_map), StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)):
        rows = (engine.encode(points, PROBLEM.weights, PROBLEM.bias) for points in (PROBLEM.X, PROBLEM.centroids))
        found.append(hamming_distributions(engine, *rows))
    assert_allclose(*found, rtol=0, atol=1e-13)


def test_engines_that_tell_no_weights_are_refused():
    engine = ParameterShiftEngine(RingEngine(PROBLEM.feature_map))
    rows = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    with pytest.raises(InvalidInputError, match="ParameterShiftEngine is neither"):
        hamming_distributions(engine, rows, rows)


def test_derivatives_that_an_engine_lacks_are_refused_with_a_way_out():
    engine = StatevectorEngine(PROBLEM.feature_map)
    rows = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    with pytest.raises(InvalidInputError, match=r"not from a StatevectorEngine.*ParameterShiftEngine\(TolerantEngine"):
        pull_hamming(engine, rows, rows, np.zeros((5, 5, 4)), wrt="centroids")
