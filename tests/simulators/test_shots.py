"""Engines that measure: a sampler's shares of shots behind the seam, tolerant kernels, and shots in use alone."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import x
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import DeviceError, InvalidInputError, ShotBudgetError
from mcquack.kernels import centroid_kernel
from mcquack.kernels.bitflip import tolerant_kernel
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import SimulatedSampler
from mcquack.simulators.shots import SampledEngine, Shots, TolerantEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import ParameterShiftEngine, TrainingSettings, train
from tests.hardware.overlaps import paper_overlaps
from tests.problems import random_problem
from tests.random_circuits import random_circuit, random_point
from tests.simulators.hamming_oracle import oracle_weights
from tests.training.measured import Remembering
from tests.training.setups import FEATURE_MAP, clusters, start_of

PROBLEM = random_problem(FeatureMap(n_qubits=3, n_features=4, n_layers=2), n_samples=40, spread=0.5)
SMALL = random_problem(FeatureMap(n_qubits=4, n_features=3, n_layers=2), n_samples=4, n_classes=2)
PARAMETERS = {"weights": PROBLEM.weights, "bias": PROBLEM.bias}


class Telling:
    """A sampler that answers what it is told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> Any:
        return self.answer


def encoded(engine: Engine[Any]) -> tuple[Any, Any]:
    samples, centroids = (engine.encode(rows, **PARAMETERS) for rows in (PROBLEM.X, PROBLEM.centroids))
    return samples, centroids


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


@pytest.mark.parametrize("tolerance", [0, 2])
def test_many_shots_of_any_circuit_find_its_exact_kernel(tolerance: int) -> None:
    shots, circuit = 100_000, random_circuit(4, n_qubits=3, n_features=2)
    X, weights, bias = random_point(circuit, 4, n_rows=5)
    engine = SampledEngine(SimulatedSampler(), circuit, shots=shots, tolerance=tolerance)
    exact = TolerantEngine(GateEngine(circuit, dtype=np.float64), tolerance=tolerance)
    found, expected = (one.kernel(X, X[:2], weights=weights, bias=bias) for one in (engine, exact))
    assert_allclose(found, expected, rtol=0, atol=5 * 0.5 / np.sqrt(shots))


def test_amplitudes_of_samples_are_refused_before_anything_is_counted() -> None:
    with pytest.raises(InvalidInputError, match="amplitudes"):
        SampledEngine(SimulatedSampler(), shots=10).on(Circuit(2, 4, start="amplitudes").h(0))


def test_all_rows_go_in_one_call() -> None:
    """On a device each call is a job and waits in a queue."""
    feature_map = FeatureMap(n_qubits=26, n_features=26, n_layers=1)
    problem = random_problem(feature_map, n_samples=50, spread=0.1)
    sampler = Remembering()
    engine = SampledEngine(sampler, feature_map, shots=5)
    centroid_kernel(engine, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias)
    assert sampler.shapes == [(50, 3)]


def test_more_rows_than_memory_go_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SampledEngine, "angles_at_once", 16 * 3 * 18)
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
    with pytest.raises(InvalidInputError, match=r"SpsaEngine.*StochasticShiftEngine.*ParameterShiftEngine"):
        engine.pullback(*encoded(engine), PROBLEM.cotangent, wrt=wrt)


# Samplers of others


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((40, 3, 3), dtype=int), r"Telling.*\(40, 3, 4\).*\(40, 3, 3\)"),
        (np.full((40, 3, 4), 1.25), "float64"),
        (None, "object"),
        (np.ones((40, 3, 4), dtype=int), "Telling.*5 shots"),
        (np.broadcast_to([6, -1, 0, 0], (40, 3, 4)), "Telling.*5 shots"),
    ],
)
def test_answers_that_are_no_counts_are_refused(answer: Any, message: str) -> None:
    engine = SampledEngine(Telling(answer), PROBLEM.feature_map, shots=5)
    with pytest.raises(DeviceError, match=message):
        engine.fidelities(*encoded(engine))


@pytest.mark.parametrize("shots", [None, 0, 1.5, True])
def test_shots_are_needed(shots: Any) -> None:
    with pytest.raises(InvalidInputError, match="shots"):
        SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=shots)


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InvalidInputError, match=r"hamming_counts.*fake_pittsburgh"):
        SampledEngine("fake_pittsburgh", PROBLEM.feature_map, shots=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"tolerance.*4"):
        SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5, tolerance=4)
    engine = SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5)
    with pytest.raises(InvalidInputError, match="bias"):
        engine.encode(PROBLEM.X, PROBLEM.weights, PROBLEM.bias[:1])


# Exact tolerant kernels


def double_statevectors(feature_map):
    return StatevectorEngine(feature_map, dtype=np.float64)


def both_sides(engine: Engine[Any]) -> tuple[Any, Any]:
    samples, centroids = (engine.encode(rows, SMALL.weights, SMALL.bias) for rows in (SMALL.X, SMALL.centroids))
    return samples, centroids


@pytest.mark.parametrize("make", [RingEngine, double_statevectors])
def test_fidelities_count_outcomes_with_few_ones(make):
    expected = np.cumsum(oracle_weights(SMALL), axis=-1)
    for tolerance in range(5):
        engine = TolerantEngine(make(SMALL.feature_map), tolerance=tolerance)
        assert_allclose(engine.fidelities(*both_sides(engine)), expected[..., tolerance], rtol=0, atol=1e-12)


def test_no_tolerance_is_the_engine_itself_with_any_number_of_layers():
    problem = random_problem(FeatureMap(n_qubits=3, n_features=3, n_layers=4))
    inner = RingEngine(problem.feature_map)
    engine = TolerantEngine(inner, tolerance=0)
    rows = engine.encode(problem.X, problem.weights, problem.bias)
    assert_array_equal(engine.fidelities(rows, rows), inner.fidelities(rows, rows))
    cotangent = np.ones((5, 5))
    for wrt in ("embedding", "centroids"):
        pulled = engine.pullback(rows, rows, cotangent, wrt=wrt)
        for left, right in zip(pulled, inner.pullback(rows, rows, cotangent, wrt=wrt), strict=True):
            assert_array_equal(left, right)


@pytest.mark.parametrize("tolerance", [1, 3, 4])
def test_pullback_is_what_shifted_circuits_of_the_other_simulator_give(tolerance):
    engine = TolerantEngine(RingEngine(SMALL.feature_map), tolerance=tolerance)
    shifted = ParameterShiftEngine(TolerantEngine(double_statevectors(SMALL.feature_map), tolerance=tolerance))
    for wrt in ("embedding", "centroids"):
        found = engine.pullback(*both_sides(engine), SMALL.cotangent, wrt=wrt)
        expected = shifted.pullback(*both_sides(shifted), SMALL.cotangent, wrt=wrt)
        for left, right in zip(found, expected, strict=True):
            assert (left is None) == (right is None)
            if left is not None and right is not None:
                assert_allclose(left, right, rtol=0, atol=1e-12)


def test_training_through_the_seam_raises_the_alignment_of_the_tolerant_kernel():
    data = clusters(n_samples=20, n_classes=2)
    engine = TolerantEngine(RingEngine(FEATURE_MAP), tolerance=1)
    epochs = train(engine, data, start_of(data, spread=0.5), settings=TrainingSettings(lr_ka=0.05, batch_size=20))
    alignments = [epoch.report.alignment for epoch in islice(epochs, 5)]
    assert alignments[-1] > alignments[0]


@pytest.mark.parametrize("tolerance", [-1, 5, 1.5])
def test_more_flips_than_qubits_are_refused(tolerance):
    with pytest.raises(InvalidInputError, match="number of qubits 4"):
        TolerantEngine(RingEngine(SMALL.feature_map), tolerance=tolerance)


def test_a_cotangent_must_fit_the_tolerant_kernel():
    engine = TolerantEngine(RingEngine(SMALL.feature_map), tolerance=2)
    with pytest.raises(InvalidInputError, match=r"\(4, 2\), got \(4, 3\)"):
        engine.pullback(*both_sides(engine), np.zeros((4, 3)), wrt="centroids")


# Shots that training counts


def test_shots_are_circuits_times_shots() -> None:
    engine = SampledEngine(SimulatedSampler(), SMALL.feature_map, shots=10)
    samples, centroids = both_sides(engine)
    counts = engine.hamming_counts(samples, centroids)
    circuits = paper_overlaps(samples.angles, centroids.angles)
    assert_array_equal(counts, SimulatedSampler().hamming_counts(circuits, shots=10))
    assert engine.spent == 4 * 2 * 10
    engine.fidelities(engine.encode(SMALL.X[:1], SMALL.weights, SMALL.bias), centroids)
    assert engine.spent == 80 + 20


def test_the_budget_may_be_used_up_but_not_exceeded() -> None:
    sampler = Remembering()
    meter = SampledEngine(sampler, SMALL.feature_map, shots=10, budget=210).for_training(spent=20)
    samples, centroids = both_sides(meter)
    meter.fidelities(samples, centroids)
    meter.fidelities(samples, centroids)
    assert meter.spent == 180
    with pytest.raises(ShotBudgetError, match=r"4 × 2.*80.*210.*30"):
        meter.fidelities(samples, centroids)
    assert (meter.spent, len(sampler.shapes)) == (180, 2)
    meter.fidelities(meter.encode(SMALL.X[:1], SMALL.weights, SMALL.bias), centroids)
    assert meter.spent == 200
    with pytest.raises(ShotBudgetError, match="10"):
        meter.measured(SMALL.X[:1], SMALL.centroids, weights=SMALL.weights, bias=SMALL.bias)


def test_the_budget_is_that_of_training_alone() -> None:
    engine = SampledEngine(SimulatedSampler(), SMALL.feature_map, shots=10, budget=1)
    assert engine.fidelities(*both_sides(engine)).shape == (4, 2)
    assert engine.for_training().spent == 0


@pytest.mark.parametrize("budget", [0, 1.5, True, 1e6, "many"])
def test_budgets_are_counts(budget: Any) -> None:
    with pytest.raises(InvalidInputError, match="budget"):
        SampledEngine(SimulatedSampler(), SMALL.feature_map, shots=5, budget=budget)


@pytest.mark.parametrize("spent", [-1, 1.5, None])
def test_what_is_spent_is_a_count(spent: Any) -> None:
    with pytest.raises(InvalidInputError, match="spent"):
        SampledEngine(SimulatedSampler(), SMALL.feature_map, shots=5).for_training(spent=spent)


@pytest.mark.parametrize("gradient", ["adjoint", None, ["spsa"]])
def test_gradients_have_names(gradient: Any) -> None:
    message = "'exact'.*'parameter_shift'.*'stochastic_shift'.*'spsa'"
    with pytest.raises(InvalidInputError, match=message):
        SampledEngine(SimulatedSampler(), shots=5, gradient=gradient)
    with pytest.raises(InvalidInputError, match=message):
        Shots(gradient=gradient)


def test_counts_have_no_exact_derivatives() -> None:
    with pytest.raises(InvalidInputError, match="spsa"):
        SampledEngine(SimulatedSampler(), shots=5, gradient="exact")


# Shots in use alone


def read(engine: Any) -> Any:
    bound = engine.on(PROBLEM.feature_map, seed=3)
    return bound.measured(PROBLEM.X, PROBLEM.centroids, **PARAMETERS)


@pytest.mark.parametrize("settings", [{"shots": 5}, {"tolerance": 1}, {"shots": 5, "tolerance": 1}], ids=str)
def test_no_samples_have_an_empty_kernel(settings: dict[str, Any]) -> None:
    engine = Shots(**settings, engine="ring").on(PROBLEM.feature_map)
    assert engine.measured(PROBLEM.X[:0], PROBLEM.centroids, **PARAMETERS).kernel.shape == (0, 3)


ALL = np.arange(40)


@pytest.mark.parametrize("engine", ["ring", "statevector"])
def test_whatever_is_counted_or_tolerated_says_what_decides_ties(engine: Any) -> None:
    some: list[dict[str, Any]] = [
        {"shots": 5},
        {"shots": 5, "tolerance": 0},
        {"tolerance": 2},
        {"shots": 5, "tolerance": 2},
    ]
    for settings in some:
        found = read(Shots(**settings, engine=engine))
        ties = found.ties_of(ALL)
        assert ties.shape == found.kernel.shape
        assert ((ties >= -3) & (ties <= 0)).all()
    for tolerance in (None, 0):
        assert read(Shots(tolerance=tolerance, engine=engine)).ties is None


def test_what_decides_a_row_does_not_depend_on_the_others() -> None:
    found = read(Shots(5, engine="ring"))
    assert_array_equal(found.ties_of(ALL)[7:9], found.ties_of(np.array([7, 8])))


@pytest.mark.parametrize("shots", [1, 7, 2000])
def test_a_tolerance_of_0_is_none(shots: int) -> None:
    plain, tolerant = (read(Shots(shots, tolerance=b, engine="ring")) for b in (None, 0))
    assert_array_equal(plain.kernel, tolerant.kernel)
    assert_array_equal(plain.ties_of(ALL), tolerant.ties_of(ALL))


def test_zeros_and_then_ones_are_counts_of_the_whole_distribution() -> None:
    """Mean numbers of ones within five standard deviations, and none where all shots found zeros."""
    engine, shots = Shots(4000, engine=RingEngine(dtype="float64")), 4000
    found, exact = read(engine), engine.on(PROBLEM.feature_map).exact
    assert isinstance(exact, RingEngine)
    P = exact.hamming_distributions(*encoded(exact))
    ones = np.arange(4)
    means = P @ ones
    spread = np.sqrt((P @ ones**2 - means**2) / shots)
    assert (np.abs(-found.ties_of(ALL) - means) <= 5 * spread + 1e-9).all()
    assert (np.abs(found.ties_of(ALL)[found.kernel == 1]) == 0).all()


def test_engines_that_count_no_ones_leave_ties_to_the_first_class() -> None:
    """The ring knows fidelities of four layers, but distributions of two alone."""
    deep = FeatureMap(n_qubits=3, n_features=2, n_layers=3)
    assert not RingEngine(deep).counts_ones
    assert RingEngine(PROBLEM.feature_map).counts_ones
    engine = Shots(5, engine="ring").on(deep)
    zeros = np.zeros(deep.weights_shape)
    assert engine.measured(np.zeros((2, 2)), np.zeros((1, 2)), weights=zeros, bias=zeros).ties is None


# Streams


def parts_of(engine: Any, *rows: slice) -> list[Any]:
    bound = engine.on(PROBLEM.feature_map, seed=3)
    return [bound.measured(PROBLEM.X[some], PROBLEM.centroids, **PARAMETERS).kernel for some in rows]


@pytest.mark.parametrize("tolerance", [None, 1])
def test_the_same_call_draws_the_same_shots_and_any_other_draws_anew(tolerance: int | None) -> None:
    engine = Shots(500, tolerance=tolerance, engine="ring")
    once, again, fewer = parts_of(engine, slice(None), slice(None), slice(0, 20))
    assert_array_equal(once, again)
    assert (fewer != once[:20]).any()
    bound = engine.on(PROBLEM.feature_map, seed=3)
    other = bound.measured(PROBLEM.X, PROBLEM.centroids[::-1], **PARAMETERS).kernel
    assert (other[:, ::-1] != once).any()
    reseeded = engine.on(PROBLEM.feature_map, seed=4).measured(PROBLEM.X, PROBLEM.centroids, **PARAMETERS).kernel
    assert (reseeded != once).any()


@pytest.mark.parametrize("tolerance", [None, 1])
def test_errors_of_one_call_say_nothing_of_those_of_another(tolerance: int | None) -> None:
    """Correlations over 400 pairs of entries, with a standard deviation of 0.05 if they are none."""
    X = stream(0, "rows").uniform(size=(400, PROBLEM.feature_map.n_features))
    exact, shots = (
        Shots(shots, tolerance=tolerance, engine="ring").on(PROBLEM.feature_map, seed=0) for shots in (None, 100)
    )
    errors = [
        (shots.measured(part, *others, **PARAMETERS).kernel - exact.measured(part, *others, **PARAMETERS).kernel)[:, 0]
        for part, *others in ((X[:200], PROBLEM.centroids), (X[200:], PROBLEM.centroids), (X[:200], X[:3]))
    ]
    assert abs(np.asarray(np.corrcoef(errors))[np.triu_indices(3, 1)]).max() < 5 / np.sqrt(200)


def test_nothing_said_is_the_engine_inside() -> None:
    exact = StatevectorEngine(PROBLEM.feature_map, dtype="float64")
    expected = exact.kernel(PROBLEM.X, PROBLEM.centroids, **PARAMETERS)
    for tolerance in (None, 0):
        shots = Shots(tolerance=tolerance, engine=StatevectorEngine(dtype="float64"))
        assert_array_equal(read(shots).kernel, expected)


@pytest.mark.parametrize("settings", [{}, {"shots": 5}, {"tolerance": 1}, {"shots": 5, "tolerance": 1}], ids=str)
def test_fidelities_behind_the_seam_are_those_that_are_measured(settings: dict[str, Any]) -> None:
    engine = Shots(**settings, engine="ring").on(PROBLEM.feature_map, seed=3)
    assert_array_equal(engine.fidelities(*encoded(engine)), read(Shots(**settings, engine="ring")).kernel)


def test_derivatives_are_those_of_the_kernel_that_training_aligns() -> None:
    engine = Shots(5, tolerance=3, training_tolerance=1, engine="ring").on(PROBLEM.feature_map)
    expected = TolerantEngine(RingEngine(PROBLEM.feature_map), tolerance=1)
    for wrt in ("embedding", "centroids"):
        found = engine.pullback(*encoded(engine), PROBLEM.cotangent, wrt=wrt)
        for left, right in zip(found, expected.pullback(*encoded(expected), PROBLEM.cotangent, wrt=wrt), strict=True):
            assert_array_equal(left, right)


@pytest.mark.parametrize("value", [0, -1, 1.5, "10", True, np.nan, [10]])
def test_impossible_shots_are_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="shots"):
        Shots(value)


@pytest.mark.parametrize("name", ["tolerance", "training_tolerance"])
@pytest.mark.parametrize("value", [-1, 1.5, "2", True, np.nan, [2]])
def test_impossible_tolerances_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"^{name}"):
        Shots(engine="ring", **{name: value})
    with pytest.raises(InvalidInputError, match="tolerance"):
        SampledEngine(SimulatedSampler(), PROBLEM.feature_map, shots=5, **{name: value})


def test_a_tolerance_of_training_is_refused_with_what_the_circuit_can_have() -> None:
    engine = Shots(training_tolerance=1)
    for circuit, other in ((PROBLEM.feature_map, 'engine="ring", or '), (Circuit(2, 1).rx([0, 1], x[0]), "")):
        with pytest.raises(InvalidInputError, match=f'{other}gradient="parameter_shift".*"spsa"'):
            engine.check(circuit)


@pytest.mark.parametrize("name", ["tolerance", "training_tolerance"])
def test_more_flips_than_qubits_are_refused_by_name(name: str) -> None:
    flips: dict[str, Any] = {name: 4}
    engine = Shots(engine="ring", **flips)
    with pytest.raises(InvalidInputError, match=rf"^{name}.*n_qubits = 3.*4"):
        engine.on(PROBLEM.feature_map)


@pytest.mark.parametrize("settings", [{"shots": np.int64(7)}, {"tolerance": np.int32(2)}, {"shots": 7}])
def test_whole_numbers_of_every_kind_are_taken(settings: dict[str, Any]) -> None:
    assert read(Shots(**settings)).kernel.shape == (40, 3)


@pytest.mark.parametrize("engine", ["mps", None, RingEngine])
def test_what_is_inside_is_an_engine(engine: Any) -> None:
    with pytest.raises(InvalidInputError, match="'auto'"):
        Shots(5, engine=engine)


def test_shots_of_shots_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"Shots\(.*6"):
        Shots(5, engine=Shots(6))


def test_a_sampler_is_told() -> None:
    assert repr(SampledEngine(SimulatedSampler(seed=3), shots=5)).startswith("SampledEngine(SimulatedSampler(seed=3")
