from functools import partial
from typing import Any

import numpy as np
from hypothesis import given, settings
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector.hamming import hamming_distributions
from tests.problems import Problem, problems, random_problem
from tests.simulators.hamming_oracle import oracle_weights


def distributions(problem: Problem, dtype: Any = np.float64) -> Any:
    engine = StatevectorEngine(problem.feature_map, dtype=dtype)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    centroids = engine.encode(problem.centroids, problem.weights, problem.bias)
    return engine.hamming_distributions(samples, centroids)


@settings(max_examples=15)
@given(problem=problems(max_qubits=5, max_samples=4))
def test_distributions_are_the_measured_ones_for_any_number_of_layers(problem: Problem) -> None:
    assert_allclose(distributions(problem), oracle_weights(problem), rtol=0, atol=1e-12)


def test_single_precision_gives_probabilities_too() -> None:
    problem = random_problem(FeatureMap(n_qubits=4, n_features=4, n_layers=3))
    found = distributions(problem, np.float32)
    assert found.dtype == np.float64
    assert_allclose(found.sum(axis=-1), 1, rtol=0, atol=1e-14)
    assert_allclose(found, oracle_weights(problem), rtol=0, atol=1e-5)


def test_chunks_do_not_show() -> None:
    problem = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
    engine = StatevectorEngine(problem.feature_map, dtype=np.float64)
    states = engine.statevectors(engine.encode(problem.X, problem.weights, problem.bias))
    angles = problem.feature_map.angles(problem.centroids, problem.weights, problem.bias)
    run = partial(hamming_distributions, problem.feature_map, states, angles, by_layers=True)
    whole, *chunks = (run(at_once=at_once) for at_once in (1 << 20, 1, 16))
    for found in chunks:
        assert_allclose(found, whole, rtol=0, atol=1e-15)


def test_both_engines_agree_on_wide_circuits() -> None:
    problem = random_problem(FeatureMap(n_qubits=12, n_features=24, n_layers=2), n_samples=2, n_classes=2)
    engine = RingEngine(problem.feature_map)
    rows = (engine.encode(points, problem.weights, problem.bias) for points in (problem.X, problem.centroids))
    assert_allclose(distributions(problem), engine.hamming_distributions(*rows), rtol=0, atol=1e-13)
