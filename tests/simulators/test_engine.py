"""What all engines have from their base class: circuits bound later, pieces of kernels, and distributions of ones."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels import SampledEngine, Shots, TolerantEngine
from mcquack.simulators import limited_threads
from mcquack.simulators.engine import Engine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, SpsaEngine, StochasticShiftEngine
from tests.problems import random_problem

PROBLEM = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2))
PARAMETERS = {"weights": PROBLEM.weights, "bias": PROBLEM.bias}
OTHER = FeatureMap(n_qubits=2, n_features=4, n_layers=2)
UNBOUND: dict[str, Engine[Any]] = {
    "statevector": StatevectorEngine(dtype="float64", n_threads=2),
    "ring": RingEngine(dtype="float64", n_threads=3),
    "shots": Shots(50, tolerance=1, engine="ring"),
    "sampled": SampledEngine(SimulatedSampler(), shots=50, tolerance=1, budget=10**6, dtype="float64"),
}
every_engine = pytest.mark.parametrize("engine", UNBOUND.values(), ids=UNBOUND)


# The interface

SIX = {"check", "encode", "fidelities", "pullback", "expectations", "cost"}


def engine_classes(kind: type[Engine[Any]] = Engine) -> list[type[Engine[Any]]]:
    found = [each for below in kind.__subclasses__() for each in (below, *engine_classes(below))]
    return sorted({each for each in found if each.__module__.startswith("mcquack.")}, key=lambda each: each.__name__)


@pytest.mark.parametrize("kind", engine_classes())
def test_an_engine_overrides_nothing_but_six_methods_and_data(kind: type[Engine[Any]]) -> None:
    own = {name for name in vars(kind).keys() & vars(Engine).keys() if not name.startswith("__")}
    assert own - Engine.__annotations__.keys() - {"_abc_impl"} <= SIX


def test_all_other_methods_of_an_engine_are_final() -> None:
    public = {name: value for name, value in vars(Engine).items() if not name.startswith("_")}
    methods = {name: value for name, value in public.items() if name not in Engine.__annotations__}
    free = {name for name, value in methods.items() if not getattr(getattr(value, "fget", value), "__final__", False)}
    assert free == SIX
    assert Engine.__abstractmethods__ == {"encode", "fidelities", "pullback"}


# Distributions of numbers of ones


def test_every_simulator_gives_the_same_distributions() -> None:
    found = []
    engines: list[Any] = [RingEngine(PROBLEM.feature_map), StatevectorEngine(PROBLEM.feature_map, dtype=np.float64)]
    for engine in engines:
        rows = (engine.encode(points, PROBLEM.weights, PROBLEM.bias) for points in (PROBLEM.X, PROBLEM.centroids))
        found.append(engine.hamming_distributions(*rows))
    left, right = found
    assert_allclose(left, right, rtol=0, atol=1e-13)


def test_engines_that_tell_no_numbers_of_ones_are_refused() -> None:
    engine = ParameterShiftEngine(RingEngine(PROBLEM.feature_map))
    rows = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    with pytest.raises(InvalidInputError, match=r"ParameterShiftEngine.*RingEngine"):
        TolerantEngine(engine, tolerance=1).fidelities(rows, rows)


def test_derivatives_that_an_engine_lacks_are_refused_with_a_way_out() -> None:
    engine = StatevectorEngine(PROBLEM.feature_map)
    rows = engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)
    message = r"StatevectorEngine.*ParameterShiftEngine\(TolerantEngine"
    with pytest.raises(InvalidInputError, match=message):
        engine.pull_hamming(rows, rows, np.zeros((5, 5, 4)), wrt="centroids")


# Circuits


@every_engine
def test_an_engine_without_a_circuit_says_how_to_give_it_one(engine: Engine[Any]) -> None:
    with pytest.raises(InvalidInputError, match=rf"{type(engine).__name__}.*engine\.on"):
        engine.feature_map  # noqa: B018
    with pytest.raises(InvalidInputError, match=r"engine\.on"):
        engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias)


@every_engine
def test_a_circuit_is_given_to_a_copy(engine: Engine[Any]) -> None:
    bound = engine.on(PROBLEM.feature_map)
    assert type(bound) is type(engine)
    assert bound.feature_map == PROBLEM.feature_map
    assert bound.on(OTHER).feature_map == OTHER
    assert bound.feature_map == PROBLEM.feature_map
    with pytest.raises(InvalidInputError, match=r"engine\.on"):
        engine.feature_map  # noqa: B018


@every_engine
def test_settings_stay_with_another_circuit(engine: Engine[Any]) -> None:
    bound, again = engine.on(PROBLEM.feature_map), engine.on(OTHER).on(PROBLEM.feature_map)
    for one in (bound, again):
        assert one.dtype == engine.dtype
        assert (one.gradient, one.shots_per_entry, one.budget) == (
            engine.gradient,
            engine.shots_per_entry,
            engine.budget,
        )
        assert getattr(one, "n_threads", None) == getattr(engine, "n_threads", None)
    left, right = (one.kernel(PROBLEM.X, PROBLEM.centroids, **PARAMETERS) for one in (bound, again))
    assert_array_equal(left, right)


@every_engine
def test_nothing_of_another_circuit_is_left(engine: Engine[Any]) -> None:
    used = engine.on(OTHER)
    used.encode(PROBLEM.X, np.ones(OTHER.weights_shape), np.ones(OTHER.bias_shape))
    again, fresh = (
        one.on(PROBLEM.feature_map).kernel(PROBLEM.X, PROBLEM.centroids, **PARAMETERS) for one in (used, engine)
    )
    assert_array_equal(again, fresh)


def test_engines_around_others_keep_their_settings_with_another_circuit() -> None:
    inner = RingEngine(OTHER)
    for engine in (
        TolerantEngine(inner, tolerance=2),
        SpsaEngine(inner, n_directions=3, step=0.2),
        StochasticShiftEngine(inner, n_angles=2),
    ):
        bound = engine.on(PROBLEM.feature_map)
        assert bound.settings() == engine.settings()
        assert bound.engine == inner.on(PROBLEM.feature_map)
    assert SpsaEngine(inner).on(PROBLEM.feature_map).step == SpsaEngine(RingEngine(PROBLEM.feature_map)).step


@pytest.mark.parametrize("engine", [StatevectorEngine(dtype="float64", n_threads=2), RingEngine(n_threads=3)])
def test_settings_make_the_same_engine(engine: Any) -> None:
    again = type(engine)(**engine.settings())
    assert again.settings() == engine.settings() == {"dtype": engine.dtype.name, "n_threads": engine.n_threads}
    written = f"dtype={engine.dtype.name!r}, n_threads={engine.n_threads}"
    assert repr(again) == repr(engine) == f"{type(engine).__name__}({written})"


@every_engine
def test_engines_are_equal_that_answer_alike(engine: Engine[Any]) -> None:
    """So that clones and loaded models can be compared by their settings."""
    again = copy.deepcopy(engine)
    assert again == engine
    assert hash(again) == hash(engine)
    assert pickle.loads(pickle.dumps(engine)) == engine
    assert engine.on(OTHER) == again.on(OTHER) != engine != engine.on(PROBLEM.feature_map)
    assert engine not in [other for other in UNBOUND.values() if other is not engine]
    assert engine != "ring"


def test_other_settings_make_other_engines() -> None:
    engines = [
        StatevectorEngine(),
        StatevectorEngine(dtype="float64"),
        StatevectorEngine(n_threads=1),
        RingEngine(),
        Shots(5),
        Shots(6),
        Shots(5, engine="ring"),
        Shots(5, engine=RingEngine()),
        Shots(5).on(OTHER, seed=1),
        Shots(5).on(OTHER, seed=2),
        SampledEngine(SimulatedSampler(), shots=5),
        SampledEngine(SimulatedSampler(seed=1), shots=5),
        TolerantEngine(RingEngine(OTHER), tolerance=1),
        TolerantEngine(RingEngine(OTHER), tolerance=2),
        SpsaEngine(RingEngine(OTHER), seed=1),
        SpsaEngine(RingEngine(OTHER), seed=2),
    ]
    for place, engine in enumerate(engines):
        assert [other == engine for other in engines] == [number == place for number in range(len(engines))]


@pytest.mark.parametrize(
    ("engine", "feature_map", "supported"),
    [
        (StatevectorEngine(), FeatureMap(n_qubits=20, n_features=2, n_layers=100), True),
        (StatevectorEngine(), FeatureMap(n_qubits=21, n_features=2, n_layers=1), False),
        (RingEngine(), FeatureMap(n_qubits=124, n_features=2, n_layers=4), True),
        (RingEngine(), FeatureMap(n_qubits=124, n_features=2, n_layers=5), False),
        (RingEngine(), FeatureMap(n_qubits=1, n_features=2, n_layers=50), True),
        (RingEngine(), FeatureMap(n_qubits=100_001, n_features=2, n_layers=1), False),
        (Shots(), FeatureMap(n_qubits=124, n_features=2, n_layers=2), True),
        (Shots(engine="statevector"), FeatureMap(n_qubits=124, n_features=2, n_layers=2), False),
        (Shots(tolerance=4), FeatureMap(n_qubits=3, n_features=2, n_layers=2), False),
    ],
    ids=str,
)
def test_what_is_not_supported_is_refused(engine: Engine[Any], feature_map: FeatureMap, supported: bool) -> None:
    if supported:
        engine.check(feature_map)
        assert engine.on(feature_map).feature_map == feature_map
        return
    for refused in (lambda: engine.check(feature_map), lambda: engine.on(feature_map)):
        with pytest.raises(InvalidInputError):
            refused()


@pytest.mark.parametrize("kind", [StatevectorEngine, RingEngine])
@pytest.mark.parametrize("dtype", ["float16", "int64", "complex128", int])
def test_other_types_are_refused(kind: Any, dtype: Any) -> None:
    with pytest.raises(InvalidInputError, match="dtype"):
        kind(dtype=dtype)


@pytest.mark.parametrize("kind", [StatevectorEngine, RingEngine])
@pytest.mark.parametrize("n_threads", [0, -1, 1.5, "2", True])
def test_threads_are_counted(kind: Any, n_threads: Any) -> None:
    with pytest.raises(InvalidInputError, match="n_threads"):
        kind(n_threads=n_threads)


def test_threads_are_counted_when_an_engine_gets_its_circuit() -> None:
    engine = RingEngine()
    before = engine.n_threads
    with limited_threads(1):
        assert engine.on(PROBLEM.feature_map).n_threads == 1
    assert engine.on(PROBLEM.feature_map).n_threads == before


# Kernels and costs


def test_engines_on_others_run_in_the_same_pieces() -> None:
    engines: list[Engine[Any]] = [RingEngine(PROBLEM.feature_map), StatevectorEngine(PROBLEM.feature_map)]
    for inner in engines:
        for outer in (TolerantEngine(inner, tolerance=1), SpsaEngine(inner)):
            assert outer.rows_at_once == inner.rows_at_once
    counting = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5)
    assert SpsaEngine(counting).rows_at_once is counting.rows_at_once is None


def test_simulators_cost_no_shots() -> None:
    for engine in (RingEngine(PROBLEM.feature_map), StatevectorEngine(PROBLEM.feature_map)):
        assert (engine.shots_per_entry, engine.budget, engine.spent) == (0, None, 0)
        assert engine.cost("embedding").kernels_per_pullback == engine.cost("centroids").kernels_per_pullback == 0
        assert engine.for_training() is engine


@pytest.mark.parametrize("kind", [RingEngine, StatevectorEngine])
def test_a_simulator_measures_its_kernel_and_leaves_ties_alone(kind: Any) -> None:
    engine = kind(PROBLEM.feature_map, dtype="float64")
    kernel, ties = engine.measured(PROBLEM.X, PROBLEM.centroids, **PARAMETERS)
    assert_array_equal(kernel, engine.kernel(PROBLEM.X, PROBLEM.centroids, **PARAMETERS))
    assert ties is None
