"""Shots are known before they are sent, and none is sent beyond the budget."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError, ShotBudgetError
from mcquack.kernels.measured import SampledEngine
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.training import (
    MeteredSampler,
    ParameterShiftEngine,
    SpsaEngine,
    StochasticShiftEngine,
    TrainingSettings,
    epoch_shots,
    step_shots,
    total_shots,
    train,
)
from tests.training.measured import LinearEngine, Remembering
from tests.training.setups import FEATURE_MAP, clusters, start_of

CIRCUITS = OverlapCircuits(samples=np.ones((4, 2, 3, 3)), centroids=np.zeros((2, 2, 3, 3)))
WIDE = FeatureMap(n_qubits=124, n_features=248, n_layers=2, final_entangler=False)


def test_shots_are_circuits_times_shots() -> None:
    meter = MeteredSampler(SimulatedSampler())
    counts = meter.hamming_counts(CIRCUITS, shots=10)
    assert_array_equal(counts, SimulatedSampler().hamming_counts(CIRCUITS, shots=10))
    assert meter.spent == 80
    meter.hamming_counts(CIRCUITS[:1], shots=3)
    assert meter.spent == 86


def test_the_budget_may_be_used_up_but_not_exceeded() -> None:
    sampler = Remembering()
    meter = MeteredSampler(sampler, budget=200, spent=20)
    meter.hamming_counts(CIRCUITS, shots=10)
    meter.hamming_counts(CIRCUITS, shots=12)
    assert meter.spent == 196
    with pytest.raises(
        ShotBudgetError, match=r"4 × 2 circuits with 1 shots are 8 shots.*budget of 200 only 4 are left"
    ):
        meter.hamming_counts(CIRCUITS, shots=1)
    assert (meter.spent, len(sampler.shapes)) == (196, 2)
    meter.hamming_counts(CIRCUITS[:1], shots=2)
    assert meter.spent == 200
    assert not meter.affords(1)


@pytest.mark.parametrize("settings", [{"budget": 0}, {"budget": 1.5}, {"budget": True}, {"spent": -1}])
def test_budgets_are_counts(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="must be a whole number"):
        MeteredSampler(SimulatedSampler(), **settings)


@pytest.mark.parametrize("method", [ParameterShiftEngine, StochasticShiftEngine, SpsaEngine])
@pytest.mark.parametrize(
    "changed", [{}, {"batch_size": 4}, {"epochs_ka": 2, "epochs_co": 0}, {"epochs_ka": 0, "n_centroids_per_class": 2}]
)
def test_an_epoch_spends_what_was_told(method: Any, changed: dict[str, Any]) -> None:
    data, held_out = clusters(n_samples=9), clusters(n_samples=6, seed=1)
    settings = replace(TrainingSettings(), **changed)
    meter = MeteredSampler(SimulatedSampler())
    engine = method(SampledEngine(meter, FEATURE_MAP, shots=2))
    start = start_of(data, k=settings.n_centroids_per_class)
    list(itertools.islice(train(engine, data, start, settings=settings, validation=held_out), 2))
    told = epoch_shots(
        engine,
        n_samples=9,
        n_centroids=3 * settings.n_centroids_per_class,
        n_shots=2,
        epochs_ka=settings.epochs_ka,
        epochs_co=settings.epochs_co,
        n_validation=6,
    )
    assert meter.spent == 2 * told


def test_the_papers_epoch_costs_what_each_method_makes_of_it() -> None:
    """100 samples, two classes and 100 shots on 124 qubits: 20,000 shots for a kernel."""
    sizes = {"n_samples": 100, "n_centroids": 2, "n_shots": 100}
    behind = LinearEngine(WIDE)
    assert step_shots(ParameterShiftEngine(behind), **sizes, wrt="embedding") == 20_000 * (1 + 4 * 620)
    assert step_shots(SpsaEngine(behind), **sizes, wrt="embedding") == 60_000
    assert step_shots(StochasticShiftEngine(behind, n_angles=2), **sizes, wrt="centroids") == 100_000
    assert epoch_shots(SpsaEngine(behind), **sizes) == 140_000
    assert epoch_shots(StochasticShiftEngine(behind), **sizes) == 180_000
    full = epoch_shots(ParameterShiftEngine(behind), **sizes)
    assert full == 20_000 * (3 + 6 * 620)
    assert full < total_shots(WIDE, n_classes=2, n_train=100, n_shots=100)
