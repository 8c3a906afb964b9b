"""Kernels as a device would measure them: shots, tolerance, ties, and training on the tolerant kernel."""

from typing import Any

import numpy as np
import pytest
from mcquack.models.engines import Measurement, check_measurement, new_engine
from mcquack.simulators.hamming import hamming_distributions
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier
from mcquack.errors import InvalidInputError
from mcquack.kernels.bitflip import mean_hamming, predicted_classes, tolerant_kernel
from mcquack.kernels.losses import target_alignment
from mcquack.models import engines as inference
from mcquack.simulators.samplers import sampled_hamming
from mcquack.training.state import Parameters

X, Y = make_blobs(30, n_features=12, centers=3, cluster_std=3.0, random_state=0)
N_QUBITS = 6
both_engines = pytest.mark.parametrize("engine", ["statevector", "ring"])


def shallow(**settings: Any) -> McQuackClassifier:
    """Six qubits and twelve features: two layers."""
    return McQuackClassifier(
        **{"n_qubits": N_QUBITS, "n_repetitions": 1, "epochs": 2, "dtype": "float64", "random_state": 0, **settings}
    )


@pytest.fixture(scope="module")
def fitted() -> McQuackClassifier:
    return shallow().fit(X, Y)


def measuring(model: McQuackClassifier, **settings: Any) -> McQuackClassifier:
    """The same trained model, read in another way."""
    other = shallow(**settings)
    other.__dict__.update({name: value for name, value in vars(model).items() if name.endswith("_") or name[0] == "_"})
    return other


def distributions(model: McQuackClassifier) -> np.ndarray:
    engine = new_engine("ring", model.feature_map_, dtype="float64", n_threads=1)
    rows = (engine.encode(points, model.weights_, model.bias_) for points in (model._scaled_rows(X), model.centroids_))
    return hamming_distributions(engine, *rows)


# Exact


@both_engines
def test_no_tolerance_is_the_fidelity(fitted: McQuackClassifier, engine: str) -> None:
    found = measuring(fitted, engine=engine, bitflip_tolerance=0).transform(X)
    assert_allclose(found, fitted.transform(X), rtol=0, atol=1e-12)


@both_engines
def test_tolerating_every_flip_is_no_measurement(fitted: McQuackClassifier, engine: str) -> None:
    found = measuring(fitted, engine=engine, bitflip_tolerance=N_QUBITS).transform(X)
    assert_allclose(found, 1, rtol=0, atol=1e-12)


@both_engines
def test_tolerance_counts_outcomes_with_few_ones(fitted: McQuackClassifier, engine: str) -> None:
    P = distributions(fitted)
    for tolerance in range(N_QUBITS + 1):
        found = measuring(fitted, engine=engine, bitflip_tolerance=tolerance).transform(X)
        assert_allclose(found, P[..., : tolerance + 1].sum(axis=-1), rtol=0, atol=1e-12)


@both_engines
def test_many_samples_are_measured_as_few(fitted: McQuackClassifier, engine: str, monkeypatch: Any) -> None:
    expected = measuring(fitted, engine=engine, shots=20, bitflip_tolerance=2).transform(X)
    monkeypatch.setattr(inference, "_ROWS_AT_ONCE", 7)
    assert_array_equal(measuring(fitted, engine=engine, shots=20, bitflip_tolerance=2).transform(X), expected)


@pytest.mark.parametrize("settings", [{"shots": 5}, {"bitflip_tolerance": 1}, {"shots": 5, "bitflip_tolerance": 1}])
def test_no_samples_have_an_empty_kernel(fitted: McQuackClassifier, settings: dict[str, Any]) -> None:
    measurement = Measurement(shots=settings.get("shots"), tolerance=settings.get("bitflip_tolerance"), seed=0)
    engine = new_engine("ring", fitted.feature_map_, dtype="float64", n_threads=1)
    parameters = Parameters(fitted.weights_, fitted.bias_, fitted.centroids_)
    assert measurement.kernel(engine, np.empty((0, 12)), parameters).shape == (0, 3)


# Shots


@both_engines
@pytest.mark.parametrize("tolerance", [None, 2])
def test_shots_are_decided_by_the_seed(engine: str, tolerance: int | None) -> None:
    settings = {"engine": engine, "shots": 30, "bitflip_tolerance": tolerance}
    model = shallow(**settings).fit(X, Y)
    first = model.transform(X)
    assert_array_equal(model.transform(X), first)
    assert_array_equal(shallow(**settings).fit(X, Y).transform(X), first)
    assert not np.array_equal(shallow(**settings, random_state=1).fit(X, Y).transform(X), first)
    assert_allclose(30 * first, np.round(30 * first), rtol=0, atol=1e-12)


@both_engines
@pytest.mark.parametrize("tolerance", [None, 0, 2])
def test_shots_come_close_to_the_exact_kernel(fitted: McQuackClassifier, engine: str, tolerance: int | None) -> None:
    """Within five standard deviations, and the closer the more there are."""
    exact = measuring(fitted, engine=engine, bitflip_tolerance=tolerance).transform(X)
    apart = []
    for shots in (100, 10_000, 1_000_000):
        sampled = measuring(fitted, engine=engine, bitflip_tolerance=tolerance, shots=shots).transform(X)
        spread = np.sqrt(exact * (1 - exact) / shots)
        assert (np.abs(sampled - exact) <= 5 * spread + 1 / shots).all()
        apart.append(np.abs(sampled - exact).mean())
    assert apart[0] > 3 * apart[1] > 9 * apart[2]


def test_shots_leave_training_as_it_is() -> None:
    exact, sampled = shallow().fit(X, Y), shallow(shots=3, bitflip_tolerance=1).fit(X, Y)
    assert_array_equal(sampled.weights_, exact.weights_)
    assert_array_equal(sampled.centroids_, exact.centroids_)


# Ties


def test_equal_shares_go_to_the_class_of_fewer_ones(fitted: McQuackClassifier) -> None:
    """Tolerating every flip makes all shares equal: the mean number of ones alone decides."""
    model = measuring(fitted, shots=40, bitflip_tolerance=N_QUBITS)
    counts = sampled_hamming(distributions(fitted), shots=40, seed=fitted._seed)
    assert_array_equal(model.transform(X), np.ones((30, 3)))
    predicted = model.predict(X)
    assert_array_equal(predicted, mean_hamming(counts).argmin(axis=1))
    assert len(np.unique(predicted)) == 3


@both_engines
@pytest.mark.parametrize("tolerance", [0, 1, 3])
def test_classes_of_few_shots_are_those_of_the_kernel_and_then_of_the_mean_weight(
    fitted: McQuackClassifier, engine: str, tolerance: int
) -> None:
    counts = sampled_hamming(distributions(fitted), shots=4, seed=fitted._seed)
    kernel = tolerant_kernel(counts, tolerance)
    assert (kernel == kernel.max(axis=1, keepdims=True)).sum(axis=1).max() > 1, "there should be ties to break"
    model = measuring(fitted, engine=engine, shots=4, bitflip_tolerance=tolerance)
    assert_allclose(model.transform(X), kernel, rtol=0, atol=1e-12)
    assert_array_equal(model.predict(X), predicted_classes(counts, tolerance))


def test_ties_are_only_told_for_shots_with_a_tolerance(fitted: McQuackClassifier) -> None:
    engine = new_engine("ring", fitted.feature_map_, dtype="float64", n_threads=1)
    parameters = Parameters(fitted.weights_, fitted.bias_, fitted.centroids_)
    rows = fitted._scaled_rows(X)
    for settings in ({}, {"shots": 5}, {"tolerance": 2}):
        assert Measurement(**settings).kernel_and_ties(engine, rows, parameters)[1] is None
    kernel, ties = Measurement(shots=5, tolerance=2).kernel_and_ties(engine, rows, parameters)
    assert ties is not None
    assert ties.shape == kernel.shape
    assert (ties <= 0).all()


# Training on the tolerant kernel


def test_training_raises_the_alignment_of_the_kernel_it_tolerates() -> None:
    settings = {"engine": "ring", "epochs": 15, "bitflip_tolerance": 2, "patience": None}
    model = shallow(training_tolerance=2, **settings).fit(X, Y)
    alignments = [row["alignment"] for row in model.history_]
    assert alignments[-1] > alignments[0] + 0.02
    best = model.history_[model.best_epoch_ - 1]["alignment"]
    assert_allclose(target_alignment(model.transform(X), Y), best, rtol=1e-9)


def test_a_training_tolerance_of_0_is_training_on_fidelities() -> None:
    plain, tolerant = (shallow(engine="ring", training_tolerance=b).fit(X, Y) for b in (None, 0))
    assert_array_equal(tolerant.weights_, plain.weights_)
    assert_array_equal(tolerant.centroids_, plain.centroids_)


def test_wide_circuits_are_trained_on_the_tolerant_kernel() -> None:
    rows, labels = make_blobs(10, n_features=60, centers=2, cluster_std=6.0, random_state=0)
    model = McQuackClassifier(
        n_qubits=30, epochs=4, training_tolerance=6, bitflip_tolerance=6, shots=100, random_state=0
    ).fit(rows, labels)
    assert model.history_[-1]["alignment"] > model.history_[0]["alignment"]
    assert model.score(rows, labels) > 0.8


def test_statevectors_have_no_training_tolerance() -> None:
    for settings in ({"engine": "statevector"}, {"engine": "auto"}):
        with pytest.raises(InvalidInputError, match=r'training_tolerance needs engine="ring"'):
            shallow(training_tolerance=1, **settings).fit(X, Y)


def test_deeper_circuits_have_no_tolerance_on_the_ring() -> None:
    with pytest.raises(InvalidInputError, match=r"at most 2 layers, and this one has 4"):
        shallow(engine="ring", n_repetitions=2, training_tolerance=1).fit(X, Y)
    model = shallow(engine="ring", n_repetitions=2, bitflip_tolerance=1).fit(X, Y)
    with pytest.raises(InvalidInputError, match=r"at most 2 layers, and this one has 4"):
        model.predict(X)


# Refusals


@pytest.mark.parametrize("value", [0, -1, 1.5, "10", True, np.nan, [10]])
def test_impossible_shots_are_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"shots must be None, for exact values, or a whole number.*got"):
        check_measurement(value, {}, n_qubits=N_QUBITS)
    with pytest.raises(InvalidInputError, match="shots must be"):
        shallow(shots=value).fit(X, Y)


@pytest.mark.parametrize("name", ["bitflip_tolerance", "training_tolerance"])
@pytest.mark.parametrize("value", [-1, N_QUBITS + 1, 1.5, "2", True, np.nan, [2]])
def test_impossible_tolerances_are_refused_by_name(name: str, value: Any) -> None:
    expected = rf"{name} must be None or a whole number from 0 to n_qubits = 6, got"
    with pytest.raises(InvalidInputError, match=expected):
        check_measurement(None, {name: value}, n_qubits=N_QUBITS)
    with pytest.raises(InvalidInputError, match=expected):
        shallow(engine="ring", **{name: value}).fit(X, Y)


@pytest.mark.parametrize("settings", [{"shots": np.int64(7)}, {"bitflip_tolerance": np.int32(2)}, {"shots": 7}])
def test_whole_numbers_of_every_kind_are_taken(fitted: McQuackClassifier, settings: dict[str, Any]) -> None:
    assert measuring(fitted, **settings).predict(X).shape == (30,)
