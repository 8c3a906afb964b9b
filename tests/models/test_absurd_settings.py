"""Settings that cannot be meant are refused by name, before anything of their size is made."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier
from mcquack.checks import MOST, MOST_OF_ALL, is_number, required_count
from mcquack.errors import InvalidInputError, McQuackError
from mcquack.kernels import SampledEngine, Shots
from mcquack.models import (
    DressedQuantumCircuitClassifier,
    MatchedNeuralNetwork,
    MultilayerPerceptron,
    SharedVariationalClassifier,
    VariationalEnsembleClassifier,
)
from mcquack.simulators import RingEngine, SimulatedSampler, StatevectorEngine
from mcquack.training.settings import TrainingSettings, decayed

X, Y = make_blobs(20, n_features=3, centers=2, random_state=0)
SMALL: dict[str, Any] = {"n_qubits": 2, "n_repetitions": 1, "epochs": 1, "random_state": 0}
HUGE = [10**30, 10**400, 10**5000, 2**63, np.uint64(2**64 - 1)]
ODD = [float("inf"), float("-inf"), float("nan"), -1, 0.5, True, "1", None, [1]]


def shown(value: Any) -> str:
    return f"{value.bit_length()} bits" if isinstance(value, int) else repr(value)


@pytest.mark.parametrize("value", HUGE, ids=shown)
@pytest.mark.parametrize("name", ["n_qubits", "n_repetitions", "epochs", "batch_size", "patience", "n_starts"])
def test_endless_counts_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=name):
        McQuackClassifier(**{**SMALL, name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [*HUGE, 10**6], ids=shown)
def test_endless_centroids_and_starts_are_refused(value: Any) -> None:
    for name in ("n_centroids_per_class", "n_starts", "n_repetitions"):
        with pytest.raises(InvalidInputError, match=f"{name} .* {MOST[name]:,}"):
            McQuackClassifier(**{**SMALL, name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [*HUGE, 10**12 + 1, *ODD[:-2]], ids=shown)
def test_endless_shots_are_refused_wherever_they_are_said(value: Any) -> None:
    for made in (lambda: Shots(value), lambda: SampledEngine(SimulatedSampler(), shots=value)):
        with pytest.raises(InvalidInputError, match="shots"):
            made()
    assert Shots(10**12).shots == 10**12


@pytest.mark.parametrize("value", HUGE, ids=shown)
def test_endless_threads_and_budgets_are_refused(value: Any) -> None:
    for engine in (StatevectorEngine, RingEngine):
        with pytest.raises(InvalidInputError, match="n_threads"):
            engine(n_threads=value)
    with pytest.raises(InvalidInputError, match="budget"):
        SampledEngine(SimulatedSampler(), shots=5, budget=value)


@pytest.mark.parametrize("name", ["lr_ka", "decay_rate", "reg_param_weights", "input_noise"])
def test_rates_are_numbers_that_a_float_can_stand_for(name: str) -> None:
    assert is_number(10**30)
    assert not is_number(10**400)
    for value in (10**400, 10**5000, float("inf"), float("nan")):
        with pytest.raises(InvalidInputError, match=name):
            McQuackClassifier(**SMALL | {name: value}).fit(X, Y)


def test_rates_that_grow_beyond_all_numbers_are_infinite() -> None:
    assert decayed(10**30, 3) == pytest.approx(1e90)
    assert decayed(10**30, 100) == decayed(1e30, 100) == np.inf
    assert TrainingSettings(decay_rate=10**30).learning_rates(100) == (np.inf, np.inf)


def test_counts_are_those_of_arrays() -> None:
    assert required_count("samples", np.uint64(7)) == 7
    assert required_count("samples", MOST_OF_ALL) == 2**63 - 1
    with pytest.raises(InvalidInputError, match=r"samples .* 9,223,372,036,854,775,807"):
        required_count("samples", 2**63)
    with pytest.raises(InvalidInputError, match="16,610 bits"):
        required_count("samples", 10**5000)


@pytest.mark.parametrize(
    ("kind", "given_settings"),
    [
        (DressedQuantumCircuitClassifier, {"batch_size": 10**9}),
        (DressedQuantumCircuitClassifier, {"n_layers": 10**9}),
        (MatchedNeuralNetwork, {"n_parameters": 10**9}),
        (MatchedNeuralNetwork, {"n_qubits": 10**9}),
        (MultilayerPerceptron, {"hidden_layer_sizes": (10**9,)}),
        *((kind, {"batch_size": 2**63}) for kind in (MultilayerPerceptron, VariationalEnsembleClassifier)),
    ],
    ids=str,
)
def test_other_models_refuse_what_no_memory_holds(kind: Any, given_settings: dict[str, Any]) -> None:
    (name,) = given_settings
    with pytest.raises(InvalidInputError, match=name):
        kind(**given_settings).fit(X, Y)


def test_small_integers_of_numpy_do_not_overflow() -> None:
    """Seventy centroids of each of two classes are more than eight bits hold."""
    counts = {"n_qubits": 2, "epochs": 1, "epochs_ka": 3, "batch_size": 100, "n_centroids_per_class": 70}
    small, plain = (
        McQuackClassifier(**SMALL | {name: kind(count) for name, count in counts.items()}).fit(X, Y)
        for kind in (np.int8, int)
    )
    assert_array_equal(small.transform(X), plain.transform(X))
    counted: dict[str, Any] = {"epochs_ka": np.int8(3), "batch_size": np.uint8(9)}
    assert TrainingSettings(**counted).batch_size.__class__ is int


# Whatever is set, a model is trained or a typed error says what is wrong: never an overflow or a want of memory.

WILD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([*HUGE, *ODD, 2**31, 2**62, 10**12, 1e308, 5e-324, -0.0, np.float32("inf"), np.int8(3), 10**6]),
    st.integers(),
    st.floats(),
)
NAMES = {
    McQuackClassifier: [
        *("n_qubits", "n_repetitions", "epochs_ka", "epochs_co", "lr_ka", "lr_co", "decay_rate", "reg_param_weights"),
        *("reg_param_bias", "reg_param_co", "batch_size", "patience", "n_centroids_per_class", "input_noise"),
        *("feature_drop", "n_components", "scale", "class_weight", "validation_fraction", "random_state", "loss"),
    ],
    VariationalEnsembleClassifier: ["n_qubits", "n_repetitions", "lr", "decay_rate", "batch_size", "patience"],
    SharedVariationalClassifier: ["epochs_shared", "epochs_class", "lr_shared", "lr_class", "reg_param_bias"],
}
MEANT = {"n_qubits": 6, "n_repetitions": 20, "n_centroids_per_class": 50, "epochs_ka": 3, "epochs_co": 3}


def can_be_trained_in_a_moment(name: str, value: Any) -> bool:
    """Counts that are possible, and take their time, are no accident; they are left out."""
    return name not in MEANT or not is_number(value) or not MEANT[name] < value <= MOST.get(name, 10**5)


def tried(kind: Any, given_settings: dict[str, Any]) -> None:
    usual = {"random_state": 0, **SMALL} if kind is not SharedVariationalClassifier else {**SMALL, "n_qubits": 2}
    try:
        kind(**{**usual, **given_settings}).fit(X, Y).predict(X)
    except McQuackError as error:
        assert str(error)  # noqa: PT017


@st.composite
def wild_settings(draw: Any) -> tuple[Any, dict[str, Any]]:
    kind = draw(st.sampled_from(list(NAMES)))
    names = draw(st.lists(st.sampled_from(NAMES[kind]), min_size=1, max_size=3, unique=True))
    return kind, {name: draw(WILD.filter(partial(can_be_trained_in_a_moment, name))) for name in names}


@pytest.mark.parametrize("kind", [McQuackClassifier, VariationalEnsembleClassifier, SharedVariationalClassifier])
@pytest.mark.parametrize("name", ["reg_param_weights", "reg_param_bias"])
def test_penalties_are_numbers_of_any_kind(kind: Any, name: str) -> None:
    whole, plain = (kind(**{**SMALL, name: value}).fit(X, Y).weights_ for value in (10**20, 1e20))
    assert_array_equal(whole, plain)


@pytest.mark.filterwarnings("ignore::Warning")
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(wild=wild_settings())
def test_wild_settings_train_or_are_refused(wild: tuple[Any, dict[str, Any]]) -> None:
    tried(*wild)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::Warning")
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(wild=wild_settings())
def test_many_wild_settings_train_or_are_refused(wild: tuple[Any, dict[str, Any]]) -> None:
    tried(*wild)
