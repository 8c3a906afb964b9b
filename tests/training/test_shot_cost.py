"""What training runs on, and how many shots it takes: known before they are sent."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import ShotBudgetError
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.simulators.shots import SampledEngine, Shots, TolerantEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import (
    ParameterShiftEngine,
    SpsaEngine,
    StochasticShiftEngine,
    TrainingSettings,
    epoch_shots,
    step_shots,
    total_shots,
    train,
    training_engine,
)
from mcquack.training.loop import affords, require_affordable
from tests.training.measured import LinearEngine
from tests.training.setups import FEATURE_MAP, clusters, start_of

SAMPLER = SimulatedSampler()
WIDE = FeatureMap(n_qubits=124, n_features=248, n_layers=2, final_entangler=False)


@pytest.mark.parametrize(
    ("engine", "kinds"),
    [
        (StatevectorEngine(), [StatevectorEngine]),
        (RingEngine(), [RingEngine]),
        (Shots(5), [StatevectorEngine]),
        (Shots(5, engine="ring"), [RingEngine]),
        (Shots(engine="ring", training_tolerance=1), [TolerantEngine, RingEngine]),
        (Shots(gradient="spsa"), [SpsaEngine, StatevectorEngine]),
        (Shots(gradient="spsa", training_tolerance=1), [SpsaEngine, TolerantEngine, StatevectorEngine]),
        (Shots(gradient="parameter_shift", engine="ring"), [ParameterShiftEngine, RingEngine]),
        (SampledEngine(SAMPLER, shots=5), [SpsaEngine, SampledEngine]),
        (SampledEngine(SAMPLER, shots=5, gradient="stochastic_shift"), [StochasticShiftEngine, SampledEngine]),
        (SampledEngine(SAMPLER, shots=5, gradient="parameter_shift"), [ParameterShiftEngine, SampledEngine]),
    ],
    ids=repr,
)
def test_training_runs_on_what_was_asked_for(engine: Any, kinds: list[type]) -> None:
    found: Any = training_engine(engine.on(FEATURE_MAP))
    seen = []
    while found is not None:
        assert found.feature_map == FEATURE_MAP
        seen.append(type(found))
        found = getattr(found, "engine", None)
    assert seen == kinds


@pytest.mark.parametrize("gradient", ["spsa", "stochastic_shift"])
def test_draws_come_from_the_seed(gradient: Any) -> None:
    found: Any = training_engine(SampledEngine(SAMPLER, FEATURE_MAP, shots=5, gradient=gradient), seed=7)
    assert found.seed == 7


@pytest.mark.parametrize("tolerance", [None, 1])
def test_a_sampler_measures_the_kernel_that_is_trained(tolerance: int | None) -> None:
    engine = SampledEngine(SAMPLER, FEATURE_MAP, shots=7, training_tolerance=tolerance, tolerance=2)
    found: Any = training_engine(engine)
    assert (found.engine.shots, found.engine.tolerance or 0) == (7, tolerance or 0)
    assert found.shots_per_entry == 7


def test_a_budget_is_known_to_what_training_runs_on() -> None:
    engine = SampledEngine(SAMPLER, FEATURE_MAP, shots=7, budget=100)
    found = training_engine(engine, spent=60)
    assert (found.budget, found.spent, engine.spent) == (100, 60, 0)
    assert affords(found, 40)
    assert not affords(found, 41)
    require_affordable(found, 40)
    with pytest.raises(ShotBudgetError, match=r"41 .*100.* 60\b"):
        require_affordable(found, 41)
    assert affords(training_engine(SampledEngine(SAMPLER, FEATURE_MAP, shots=7)), 10**15)


@pytest.mark.parametrize("method", [ParameterShiftEngine, StochasticShiftEngine, SpsaEngine])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"batch_size": 4},
        {"epochs_ka": 2, "epochs_co": 0},
        {"epochs_ka": 0, "n_centroids_per_class": 2},
        {"epochs_ka": 2, "steps": "joint", "batch_size": 4},
    ],
)
def test_an_epoch_spends_what_was_told(method: Any, changed: dict[str, Any]) -> None:
    data, held_out = clusters(n_samples=9), clusters(n_samples=6, seed=1)
    settings = replace(TrainingSettings(), **changed)
    engine = method(SampledEngine(SAMPLER, FEATURE_MAP, shots=2))
    start = start_of(data, k=settings.n_centroids_per_class)
    list(itertools.islice(train(engine, data, start, settings=settings, validation=held_out), 2))
    told = epoch_shots(
        engine,
        n_samples=9,
        n_centroids=3 * settings.n_centroids_per_class,
        epochs_ka=settings.epochs_ka,
        epochs_co=settings.epochs_co,
        steps=settings.steps,
        n_validation=6,
    )
    assert engine.spent == 2 * told


def test_the_papers_epoch_costs_what_each_method_makes_of_it() -> None:
    """100 samples, two classes and 100 shots on 124 qubits: 20,000 shots for a kernel."""
    sizes: dict[str, Any] = {"n_samples": 100, "n_centroids": 2}
    behind = LinearEngine(WIDE, shots=100)
    assert step_shots(ParameterShiftEngine(behind), **sizes, wrt="embedding") == 20_000 * (1 + 4 * 620)
    assert step_shots(SpsaEngine(behind), **sizes, wrt="embedding") == 60_000
    assert step_shots(StochasticShiftEngine(behind, n_angles=2), **sizes, wrt="centroids") == 100_000
    assert epoch_shots(SpsaEngine(behind), **sizes) == 140_000
    assert epoch_shots(StochasticShiftEngine(behind), **sizes) == 180_000
    full = epoch_shots(ParameterShiftEngine(behind), **sizes)
    assert full == 20_000 * (3 + 6 * 620)
    assert full < total_shots(WIDE, n_classes=2, n_train=100, n_shots=100)
