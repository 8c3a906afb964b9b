"""Where training gets its derivatives, on simulators and on samplers, and what an epoch costs."""

from typing import Any

import numpy as np
import pytest
from mcquack.models.gradients import chosen_gradient
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier
from mcquack.errors import InvalidInputError
from mcquack.kernels.measured import SampledEngine, TolerantEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, SpsaEngine, StochasticShiftEngine

X, Y = make_blobs(12, n_features=4, centers=2, cluster_std=2.0, random_state=0)
SAMPLER = SimulatedSampler(seed=1)


def small(**settings: Any) -> McQuackClassifier:
    return McQuackClassifier(
        **{"n_qubits": 2, "n_repetitions": 1, "epochs": 3, "dtype": "float64", "random_state": 0, **settings}
    )


def run_of(model: McQuackClassifier) -> Any:
    model._check_settings()
    return model._run(model._plan(model._checked_samples(X, Y, None, anew=True), going_on=False))


@pytest.mark.parametrize(
    ("name", "runs_on", "expected"),
    [
        ("auto", "statevector", "exact"),
        ("auto", "ring", "exact"),
        ("auto", "sampler", "spsa"),
        ("parameter_shift", "sampler", "parameter_shift"),
        ("spsa", "ring", "spsa"),
    ],
)
def test_auto_is_exact_where_that_can_be(name: Any, runs_on: Any, expected: str) -> None:
    assert chosen_gradient(name, runs_on) == expected


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ({}, [StatevectorEngine]),
        ({"engine": "ring"}, [RingEngine]),
        ({"engine": "ring", "training_tolerance": 1}, [TolerantEngine, RingEngine]),
        ({"gradient": "spsa"}, [SpsaEngine, StatevectorEngine]),
        ({"gradient": "spsa", "training_tolerance": 1}, [SpsaEngine, TolerantEngine, StatevectorEngine]),
        ({"gradient": "parameter_shift", "engine": "ring"}, [ParameterShiftEngine, RingEngine]),
        ({"engine": SAMPLER, "shots": 5}, [SpsaEngine, SampledEngine]),
        ({"engine": SAMPLER, "shots": 5, "gradient": "stochastic_shift"}, [StochasticShiftEngine, SampledEngine]),
        ({"engine": SAMPLER, "shots": 5, "gradient": "parameter_shift"}, [ParameterShiftEngine, SampledEngine]),
    ],
    ids=str,
)
def test_training_runs_on_what_was_asked_for(settings: dict[str, Any], kinds: list[type]) -> None:
    engine = run_of(small(**settings)).engine
    for kind in kinds:
        assert isinstance(engine, kind)
        engine = getattr(engine, "engine", None)


@pytest.mark.parametrize("tolerance", [None, 1])
def test_a_sampler_measures_the_kernel_that_is_trained(tolerance: int | None) -> None:
    engine = run_of(small(engine=SAMPLER, shots=7, training_tolerance=tolerance, bitflip_tolerance=2)).engine.engine
    assert (engine.shots, engine.tolerance) == (7, tolerance or 0)


@pytest.mark.parametrize("engine", ["statevector", "ring"])
@pytest.mark.parametrize("settings", [{}, {"training_tolerance": 1}], ids=str)
def test_shifted_parameters_train_as_exact_derivatives_do(engine: Any, settings: dict[str, Any]) -> None:
    """With a tolerance the statevector engine has no exact ones, and needs none."""
    exact = small(engine="ring", **settings).fit(X, Y)
    shifted = small(engine=engine, gradient="parameter_shift", **settings).fit(X, Y)
    for name in ("weights_", "bias_", "centroids_"):
        assert_allclose(getattr(shifted, name), getattr(exact, name), rtol=0, atol=1e-7)
    assert shifted.shots_ == 0


@pytest.mark.parametrize("gradient", ["stochastic_shift", "spsa"])
def test_estimates_train_on_simulators_too(gradient: Any) -> None:
    model = small(gradient=gradient, epochs=40, batch_size=4, patience=None).fit(X, Y)
    assert 1 - model._best_loss > model.history_[0]["alignment"] + 0.1


@pytest.mark.parametrize(
    ("gradient", "n_kernels"), [("spsa", 7), ("stochastic_shift", 9), ("parameter_shift", 3 + 6 * 10)]
)
def test_an_epoch_costs_what_is_told_before(gradient: Any, n_kernels: int) -> None:
    """Two layers of two qubits have twelve angles, of which two turn |0⟩ about z."""
    model = small(engine=SAMPLER, shots=5, gradient=gradient, epochs=2)
    told = model.epoch_shots(X, Y)
    assert told == n_kernels * len(X) * 2 * 5
    assert not hasattr(model, "centroids_")
    assert model.fit(X, Y).shots_ == 2 * told
    with_validation = model.epoch_shots(X, Y, validation_data=(X[:3], Y[:3]))
    assert with_validation == told + 3 * 2 * 5
    assert small().epoch_shots(X, Y) == 0


def test_asking_for_the_cost_changes_nothing() -> None:
    generator = np.random.RandomState(5)
    model = small(engine=SAMPLER, shots=5, random_state=generator, validation_fraction=0.25)
    assert model.epoch_shots(X, Y) == model.epoch_shots(X, Y) > 0
    assert generator.randint(2**31) == np.random.RandomState(5).randint(2**31)
    assert not [name for name in vars(model) if name.endswith("_")]


# Refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gradient": "adjoint"}, "gradient must be 'auto' or 'exact' or 'parameter_shift'"),
        ({"gradient": None}, "gradient must be"),
        ({"gradient": ["spsa"]}, "gradient must be"),
        ({"shot_budget": 0}, "shot_budget must be None or a whole number of at least 1"),
        ({"shot_budget": 1e6}, "shot_budget must be"),
        ({"engine": SAMPLER, "shots": 5, "gradient": "exact"}, 'no exact derivatives; use gradient="spsa"'),
        ({"engine": SAMPLER}, "shots must be a whole number of at least 1 where a sampler is the engine, got None"),
        ({"engine": SAMPLER, "shots": 0}, "shots must be"),
        ({"training_tolerance": 1}, 'training_tolerance needs engine="ring"'),
        ({"engine": SimulatedSampler, "shots": 5}, "engine must be 'auto' or 'statevector' or 'ring', or a sampler"),
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any], message: str) -> None:
    model = small(**settings)
    for use in (
        lambda: model.fit(X, Y),
        lambda: model.epoch_shots(X, Y),
        lambda: model.partial_fit(X, Y, np.unique(Y)),
    ):
        with pytest.raises(InvalidInputError, match=message):
            use()
