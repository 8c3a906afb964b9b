"""Simultaneous perturbation: exact along its direction, unbiased over directions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.arrays import FloatArray
from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Engine
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import SpsaEngine
from tests.problems import Problem, random_problem
from tests.training.measured import LinearEngine, given, pulled

PROBLEM = random_problem(FeatureMap(n_qubits=2, n_features=3, n_layers=2), n_samples=7, n_classes=3)
LINEAR = LinearEngine(PROBLEM.feature_map)
both_sides = pytest.mark.parametrize("wrt", ["embedding", "centroids"])


def exact(problem: Problem) -> StatevectorEngine:
    return StatevectorEngine(problem.feature_map, dtype=np.float64, n_threads=1)


def by_centroids(engine: Engine[Any], problem: Problem) -> FloatArray:
    found = pulled(engine, problem, wrt="centroids").centroids
    assert found is not None
    return found


@pytest.mark.parametrize("step", [None, 1e-3, 0.5, 7.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_linear_function_has_its_slope_along_the_direction(step: float | None, seed: int) -> None:
    """Δ (Δ·g): all entries have the size of the slope, whatever the step."""
    found = given(pulled(SpsaEngine(LINEAR, step=step, seed=seed), PROBLEM, wrt="embedding"))
    gradient = given(pulled(LINEAR, PROBLEM, wrt="embedding"))
    assert_allclose(np.abs(found), np.sign(found) @ gradient, rtol=1e-9)


@pytest.mark.parametrize("step", [None, 0.5])
def test_each_centroid_has_a_slope_of_its_own(step: float | None) -> None:
    found, gradient = (by_centroids(engine, PROBLEM) for engine in (SpsaEngine(LINEAR, step=step), LINEAR))
    for mine, true in zip(found, gradient, strict=True):
        assert_allclose(np.abs(mine), np.sign(mine) @ true, rtol=1e-9)
    assert len(np.unique(np.abs(found).round(9))) == 3


@both_sides
@pytest.mark.parametrize("n_directions", [1, 3])
def test_the_mean_over_draws_is_the_gradient(wrt: Any, n_directions: int) -> None:
    expected = given(pulled(exact(PROBLEM), PROBLEM, wrt=wrt))
    draws = np.array(
        [
            given(pulled(SpsaEngine(exact(PROBLEM), n_directions=n_directions, step=1e-3, seed=seed), PROBLEM, wrt=wrt))
            for seed in range(150)
        ]
    )
    errors = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(errors > 0)
    assert np.all(np.abs(draws.mean(axis=0) - expected) <= 4.5 * errors)


def test_more_directions_are_closer() -> None:
    expected = given(pulled(exact(PROBLEM), PROBLEM, wrt="embedding"))

    def distance(n_directions: int) -> float:
        draws = [
            given(pulled(SpsaEngine(exact(PROBLEM), n_directions=n_directions, seed=seed), PROBLEM, wrt="embedding"))
            for seed in range(15)
        ]
        return float(np.mean([np.sum((draw - expected) ** 2) for draw in draws]))

    assert distance(1) > distance(4) > distance(16)


@pytest.mark.parametrize(("n_qubits", "n_layers", "step"), [(1, 2, 1 / np.sqrt(5)), (124, 2, 1 / np.sqrt(620))])
def test_the_step_shrinks_with_the_angles(n_qubits: int, n_layers: int, step: float) -> None:
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=3, n_layers=n_layers)
    assert SpsaEngine(LinearEngine(feature_map)).step == pytest.approx(step)


def test_centroids_without_weights_have_no_slope() -> None:
    still = random_problem(PROBLEM.feature_map, spread=0.0)
    assert_allclose(by_centroids(SpsaEngine(exact(still)), still), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"n_directions": 0}, "n_directions"),
        ({"n_directions": 1.5}, "n_directions"),
        ({"step": 0.0}, "step"),
        ({"step": np.nan}, "step"),
        ({"step": "small"}, "step"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        SpsaEngine(LINEAR, **settings)


MIXED = (
    Circuit(2, 3).h([0, 1]).crz((0, 1), w * x[0] + b("one")).rx([0, 1], [x[1], 2 * b("one")]).cry((1, 0), x[2] * x[1])
)


@both_sides
@pytest.mark.parametrize("circuit", [MIXED, Circuit(2, 3, start="amplitudes").ry([0, 1], b).cnot(0, 1)])
def test_any_circuit_has_the_slope_along_the_direction(circuit: Circuit, wrt: Any) -> None:
    """What one direction gives is Δ (Δ·g), here with g from the parameters or features moved one by one."""
    problem = random_problem(circuit, n_samples=3, n_classes=1)
    engine = GateEngine(circuit, dtype=np.float64)

    def value(parameters: Any) -> float:
        weights, bias, centroids = np.split(parameters, np.cumsum([circuit.n_weights, circuit.n_bias]))
        kernel = engine.kernel(problem.X, centroids[None], weights=weights, bias=bias)
        return float(np.sum(problem.cotangent * kernel))

    start = np.concatenate([problem.weights, problem.bias, problem.centroids[0]])
    steps = 1e-5 * np.eye(len(start))
    slopes = np.array([(value(start + step) - value(start - step)) / 2e-5 for step in steps])
    slopes = slopes[: -circuit.n_features] if wrt == "embedding" else slopes[-circuit.n_features :]
    found = given(pulled(SpsaEngine(engine, step=1e-4), problem, wrt=wrt))
    assert_allclose(np.abs(found), abs(np.sign(found) @ slopes), rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1.0, 0.01])
@pytest.mark.parametrize("padding", [0.0, 0.01])
def test_the_mean_over_draws_is_the_gradient_by_amplitudes(size: float, padding: float) -> None:
    """Whatever the length of their vectors is, which decides nothing but how far a step turns them."""
    circuit = Circuit(2, 3, start="amplitudes", padding=padding).ry([0, 1], 1e-3 * w * x[0] + b).cnot(0, 1)
    problem = random_problem(circuit, n_samples=4, n_classes=2)
    problem = replace(problem, centroids=size * problem.centroids)
    engine = GateEngine(circuit, dtype=np.float64)
    expected, found = (by_centroids(each, problem) for each in (engine, SpsaEngine(engine, n_directions=500)))
    assert np.linalg.norm(found - expected) < 0.15 * np.linalg.norm(expected)
