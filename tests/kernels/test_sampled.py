"""An engine on a sampler: shares of shots behind the seam, few calls, and no derivatives."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import DeviceError, InvalidInputError
from mcquack.kernels import centroid_kernel
from mcquack.kernels import measured as sampled
from mcquack.kernels.bitflip import tolerant_kernel
from mcquack.kernels.measured import SampledEngine, TolerantEngine
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.simulators.statevector import StatevectorEngine
from tests.problems import random_problem
from tests.training.measured import Remembering

PROBLEM = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=40, spread=0.5)
PARAMETERS = {"weights": PROBLEM.weights, "bias": PROBLEM.bias}


class Telling:
    """A sampler that answers what it is told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> Any:
        return self.answer


def encoded(engine: SampledEngine) -> tuple[Any, Any]:
    return tuple(engine.encode(rows, **PARAMETERS) for rows in (PROBLEM.X, PROBLEM.centroids))  # type: ignore[return-value]


@pytest.mark.parametrize("tolerance", [0, 1, 3])
def test_many_shots_find_the_exact_kernel(tolerance: int) -> None:
    shots = 100_000
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=shots, tolerance=tolerance)
    exact = TolerantEngine(StatevectorEngine(PROBLEM.feature_map, dtype=np.float64), tolerance=tolerance)
    expected = centroid_kernel(exact, PROBLEM.X, PROBLEM.centroids, **PARAMETERS)
    found = centroid_kernel(engine, PROBLEM.X, PROBLEM.centroids, **PARAMETERS)
    assert_allclose(found, expected, rtol=0, atol=5 * 0.5 / np.sqrt(shots))
    assert_allclose(found * shots, np.rint(found * shots), rtol=0, atol=1e-6)


def test_fidelities_are_the_tolerant_kernel_of_the_counts() -> None:
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=50, tolerance=1)
    counts = engine.hamming_counts(*encoded(engine))
    assert counts.shape == (40, 3, 4)
    assert_array_equal(engine.fidelities(*encoded(engine)), tolerant_kernel(counts, 1))


def test_all_rows_go_in_one_call() -> None:
    """On a device each call is a job and waits in a queue."""
    feature_map = FeatureMap(n_qubits=26, n_features=26, n_layers=1)
    problem = random_problem(feature_map, n_samples=50, spread=0.1)
    sampler = Remembering()
    engine = SampledEngine(sampler, feature_map, shots=5)
    centroid_kernel(engine, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias)
    assert sampler.shapes == [(50, 3)]


def test_more_rows_than_memory_go_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "_ANGLES_AT_ONCE", 16 * 3 * 18)
    sampler = Remembering()
    engine = SampledEngine(sampler, PROBLEM.feature_map, shots=5)
    assert engine.hamming_counts(*encoded(engine)).sum() == 40 * 3 * 5
    assert sampler.shapes == [(16, 3), (16, 3), (8, 3)]


def test_no_rows_are_not_asked_about() -> None:
    sampler = Remembering()
    engine = SampledEngine(sampler, PROBLEM.feature_map, shots=5)
    assert centroid_kernel(engine, PROBLEM.X[:0], PROBLEM.centroids, **PARAMETERS).shape == (0, 3)
    assert engine.fidelities(engine.encode(PROBLEM.X[:0], **PARAMETERS), encoded(engine)[1]).shape == (0, 3)
    assert sampler.shapes == []


def test_rows_of_different_parameters_stand_side_by_side() -> None:
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5)
    parts = [engine.encode(PROBLEM.X[:3], PROBLEM.weights, PROBLEM.bias + turn) for turn in (0.0, 1.0)]
    together = engine.stacked(parts)
    assert len(together) == 6
    assert_array_equal(together.angles, np.concatenate([part.angles for part in parts]))


def test_single_precision_is_raised_before_angles_are_made() -> None:
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5)
    single = engine.encode(*(array.astype(np.float32) for array in (PROBLEM.X, PROBLEM.weights, PROBLEM.bias)))
    assert single.angles.dtype == np.float64
    assert single.features.dtype == np.float32


@pytest.mark.parametrize("wrt", ["embedding", "centroids"])
def test_derivatives_are_refused_with_who_has_them(wrt: Any) -> None:
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5)
    with pytest.raises(
        InvalidInputError, match=r"no derivatives.*SpsaEngine.*StochasticShiftEngine.*ParameterShiftEngine"
    ):
        engine.pullback(*encoded(engine), PROBLEM.cotangent, wrt=wrt)


# Samplers of others


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((40, 3, 3), dtype=int), r"Telling must give whole numbers of the shape \(40, 3, 4\), got"),
        (np.full((40, 3, 4), 1.25), "must give whole numbers"),
        (None, "must give whole numbers"),
        (np.ones((40, 3, 4), dtype=int), "must count 5 shots for each circuit"),
        (np.broadcast_to([6, -1, 0, 0], (40, 3, 4)), "must count 5 shots for each circuit"),
    ],
)
def test_answers_that_are_no_counts_are_refused(answer: Any, message: str) -> None:
    engine = SampledEngine(Telling(answer), PROBLEM.feature_map, shots=5)
    with pytest.raises(DeviceError, match=message):
        engine.fidelities(*encoded(engine))


@pytest.mark.parametrize("shots", [None, 0, 1.5, True])
def test_shots_are_needed(shots: Any) -> None:
    with pytest.raises(InvalidInputError, match="shots must be a whole number of at least 1, since a sampler counts"):
        SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=shots)


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InvalidInputError, match="sampler must be one with hamming_counts"):
        SampledEngine("fake_pittsburgh", PROBLEM.feature_map, shots=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="tolerance must be a whole number from 0"):
        SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5, tolerance=4)
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5)
    with pytest.raises(InvalidInputError, match="bias must have the shape"):
        engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias[:1])
