"""What engines that take derivatives from values share, and the shifts that give those of the adjoint."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Wrt
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, SpsaEngine, StochasticShiftEngine, total_shots
from mcquack.training import shifts as from_values
from mcquack.training.shifts import drawn_for, kernels_of
from tests.problems import Problem, problems, random_problem
from tests.training.measured import Remembering, given, pulled, sampled

PROBLEM = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=5, n_classes=2, spread=0.5)
N_ANGLES = 15  # 18, of which three turn |0⟩ about z
METHODS = (ParameterShiftEngine, StochasticShiftEngine, SpsaEngine)
every_method = pytest.mark.parametrize("method", METHODS)
both_sides = pytest.mark.parametrize("wrt", ["embedding", "centroids"])


@both_sides
@pytest.mark.parametrize(
    ("method", "settings", "n_kernels"),
    [
        (ParameterShiftEngine, {}, {"embedding": 4 * N_ANGLES, "centroids": 2 * N_ANGLES}),
        (StochasticShiftEngine, {}, {"embedding": 4, "centroids": 2}),
        (StochasticShiftEngine, {"n_angles": 4}, {"embedding": 16, "centroids": 8}),
        (SpsaEngine, {}, {"embedding": 2, "centroids": 2}),
        (SpsaEngine, {"n_directions": 3}, {"embedding": 6, "centroids": 6}),
    ],
)
def test_a_pullback_measures_what_it_says(
    method: Any, settings: dict[str, Any], n_kernels: dict[str, int], wrt: Any
) -> None:
    sampler = Remembering()
    engine = method(sampled(PROBLEM, sampler), **settings)
    pulled(engine, PROBLEM, wrt=wrt)
    assert engine.kernels_per_pullback(wrt) == n_kernels[wrt]
    assert sampler.n_circuits == n_kernels[wrt] * 5 * 2


@pytest.mark.parametrize(
    ("method", "wrt", "n_calls"),
    [
        (ParameterShiftEngine, "embedding", 2),
        (ParameterShiftEngine, "centroids", 1),
        (StochasticShiftEngine, "embedding", 2),
        (StochasticShiftEngine, "centroids", 1),
        (SpsaEngine, "embedding", 2),
        (SpsaEngine, "centroids", 1),
    ],
)
def test_a_sampler_is_called_once_or_twice(method: Any, wrt: Any, n_calls: int) -> None:
    """Where samples and centroids move at once their kernels have nothing in common, and are two calls."""
    sampler = Remembering()
    pulled(method(sampled(PROBLEM, sampler)), PROBLEM, wrt=wrt)
    assert len(sampler.shapes) == n_calls


def test_more_rows_than_memory_are_more_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_values, "_ANGLES_AT_ONCE", 12 * 18)
    sampler = Remembering()
    pulled(ParameterShiftEngine(sampled(PROBLEM, sampler)), PROBLEM, wrt="embedding")
    assert sampler.shapes == [(5, 12)] * 5 + [(10, 2)] * 15


@pytest.mark.parametrize("side", ["samples", "centroids"])
def test_kernels_come_in_the_order_of_their_parts(side: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined or one by one, for parts of different lengths."""
    monkeypatch.setattr(from_values, "_ANGLES_AT_ONCE", 4 * 18)
    exact = StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)
    many = sampled(PROBLEM, Remembering(), shots=40_000)
    pieces = [PROBLEM.X[:1], PROBLEM.X[1:4], PROBLEM.X[2:], PROBLEM.X[:2]]
    found = []
    for engine in (exact, many):
        others = engine.encode(PROBLEM.centroids, PROBLEM.weights, PROBLEM.bias)
        parts = [engine.encode(rows, PROBLEM.weights, PROBLEM.bias) for rows in pieces]
        found.append(list(kernels_of(engine, parts, others, side=side)))
    assert [kernel.shape[0 if side == "samples" else 1] for kernel in found[0]] == [1, 3, 3, 2]
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=0, atol=0.015)


@every_method
@both_sides
def test_the_same_call_has_the_same_answer(method: Any, wrt: Any) -> None:
    engine = method(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64))
    again = method(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64))
    assert_array_equal(given(pulled(engine, PROBLEM, wrt=wrt)), given(pulled(again, PROBLEM, wrt=wrt)))


def test_draws_depend_on_seed_purpose_and_data() -> None:
    engine = StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)
    samples = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    moved = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias + 1e-9)
    calls = [
        (0, "a", samples, samples),
        (1, "a", samples, samples),
        (0, "b", samples, samples),
        (0, "a", moved, samples),
    ]
    draws = [tuple(drawn_for(*call).integers(2**32, size=3)) for call in calls]
    assert len(set(draws)) == 4
    assert tuple(drawn_for(*calls[0]).integers(2**32, size=3)) == draws[0]


@every_method
def test_values_are_those_of_the_engine_behind(method: Any) -> None:
    engine = StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)
    samples = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    assert_array_equal(method(engine).fidelities(samples, samples), engine.fidelities(samples, samples))
    assert method(engine).feature_map == PROBLEM.feature_map
    assert not method(engine).takes_all_rows
    assert method(sampled(PROBLEM, Remembering())).takes_all_rows


@every_method
def test_only_what_is_trained_has_derivatives(method: Any) -> None:
    engine = method(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64))
    with pytest.raises(InvalidInputError, match="wrt must be"):
        pulled(engine, PROBLEM, wrt="samples")
    samples = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    with pytest.raises(InvalidInputError, match="cotangent must have the kernel's shape"):
        engine.pullback(samples, samples, PROBLEM.cotangent, wrt="embedding")


@pytest.mark.parametrize("wrt", ["embedding", "centroids"])
@settings(max_examples=15)
@examples(problem=problems(max_qubits=5, max_layers=3, max_samples=20))
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


@examples(
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
