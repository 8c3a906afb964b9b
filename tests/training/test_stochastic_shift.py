"""A few angles by lot: the parameter shift on average, and exactly where all are drawn."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, StochasticShiftEngine
from mcquack.training.shifts import _dealt, live_angles
from tests.problems import Problem, problems, random_problem
from tests.training.measured import given, pulled

PROBLEM = random_problem(FeatureMap(n_qubits=2, n_features=3, n_layers=2), n_samples=7, n_classes=3)
both_sides = pytest.mark.parametrize("wrt", ["embedding", "centroids"])


def exact(problem: Problem) -> StatevectorEngine:
    return StatevectorEngine(problem.feature_map, dtype=np.float64, n_threads=1)


@both_sides
@settings(max_examples=10)
@examples(problem=problems(max_qubits=3, max_layers=3, max_samples=8))
def test_all_angles_are_the_parameter_shift(wrt: Any, problem: Problem) -> None:
    full = pulled(ParameterShiftEngine(exact(problem)), problem, wrt=wrt)
    drawn = pulled(StochasticShiftEngine(exact(problem), n_angles=None, seed=3), problem, wrt=wrt)
    assert_allclose(given(drawn), given(full), rtol=0, atol=1e-12)


@both_sides
@pytest.mark.parametrize("n_angles", [1, 3])
def test_the_mean_over_draws_is_the_gradient(wrt: Any, n_angles: int) -> None:
    expected = given(pulled(exact(PROBLEM), PROBLEM, wrt=wrt))
    draws = np.array(
        [
            given(pulled(StochasticShiftEngine(exact(PROBLEM), n_angles=n_angles, seed=seed), PROBLEM, wrt=wrt))
            for seed in range(100)
        ]
    )
    errors = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert (errors > 0).sum() > len(errors) / 2
    assert np.all(np.abs(draws.mean(axis=0) - expected) <= 4.5 * errors + 1e-12)


@settings(max_examples=30)
@examples(n_rows=st.integers(1, 40), n_angles=st.integers(1, 10), seed=st.integers(0, 99))
def test_each_row_has_different_angles_and_all_angles_have_as_many_rows(n_rows: int, n_angles: int, seed: int) -> None:
    shifts = _dealt(live_angles(PROBLEM.feature_map), n_angles, n_rows, stream(seed, "deck"))
    assert len({shift.angle for shift in shifts}) == len(shifts)
    assert {shift.angle for shift in shifts} <= set(live_angles(PROBLEM.feature_map))
    assert_array_equal(np.bincount(np.concatenate([shift.rows for shift in shifts]), minlength=n_rows), n_angles)
    assert all(len(np.unique(shift.rows)) == len(shift.rows) for shift in shifts)
    sizes = [len(shift.rows) for shift in shifts] + [0] * (10 - len(shifts))
    assert max(sizes) - min(sizes) <= 1


def test_more_angles_are_closer() -> None:
    expected = given(pulled(exact(PROBLEM), PROBLEM, wrt="embedding"))

    def distance(n_angles: int) -> float:
        draws = [
            given(pulled(StochasticShiftEngine(exact(PROBLEM), n_angles=n_angles, seed=seed), PROBLEM, wrt="embedding"))
            for seed in range(12)
        ]
        return float(np.mean([np.sum((draw - expected) ** 2) for draw in draws]))

    assert distance(1) > distance(3) > distance(9) > 0


@pytest.mark.parametrize("n_angles", [0, -1, 1.5, True, 11])
def test_angles_are_counted_up_to_all_there_are(n_angles: Any) -> None:
    """Of twelve, two turn |0⟩ about z."""
    with pytest.raises(InvalidInputError, match="n_angles"):
        StochasticShiftEngine(exact(PROBLEM), n_angles=n_angles)
    with pytest.raises(InvalidInputError, match="seed"):
        StochasticShiftEngine(exact(PROBLEM), seed=-1)


MIXED = (
    Circuit(2, 2).h([0, 1]).crz((0, 1), w * x[0] + b("one")).rx([0, 1], [x[1], 2 * b("one")]).cry((1, 0), x[0] * x[1])
)


@both_sides
def test_the_mean_over_draws_is_the_gradient_of_any_circuit(wrt: Any) -> None:
    """Controlled rotations, shared biases, and angles that only one of the two sides asks for."""
    problem = random_problem(MIXED, n_samples=4, n_classes=2)
    engine = GateEngine(MIXED, dtype=np.float64)
    expected = given(pulled(engine, problem, wrt=wrt))
    draws = np.array([given(pulled(StochasticShiftEngine(engine, seed=seed), problem, wrt=wrt)) for seed in range(60)])
    errors = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - expected) <= 4.5 * errors + 1e-12)
    everything = StochasticShiftEngine(engine, n_angles=None)
    assert_allclose(given(pulled(everything, problem, wrt=wrt)), expected, rtol=0, atol=1e-12)
    assert StochasticShiftEngine(engine).cost(wrt).kernels_per_pullback == (8 if wrt == "embedding" else 4)
