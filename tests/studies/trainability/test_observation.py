"""Derivatives of losses and kernel entries, and their statistics."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import target_alignment
from mcquack.simulators.engine import Engine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.observation import (
    GROUPS,
    fidelity_gradients,
    gradient_statistics,
    grouped_statistics,
    loss_gradients,
)
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import Parameters, TrainingData

FEATURE_MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
ENGINES: dict[str, Engine[Any]] = {
    "statevector": StatevectorEngine(FEATURE_MAP, dtype=np.float64, n_threads=1),
    "ring": RingEngine(FEATURE_MAP, n_threads=1),
}
SETTINGS = TrainingSettings(reg_param_weights=0.02, reg_param_bias=0.03, reg_param_co=0.1, feature_range=(-1.0, 1.0))


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(1)
    return TrainingData(rng.uniform(-1, 1, (7, 4)), np.array([0, 1, 1, 0, 1, 0, 0]), rng.uniform(0.5, 2, 7), 2)


@pytest.fixture(scope="module")
def parameters():
    rng = np.random.default_rng(2)
    weights, bias = rng.normal(size=(2, *FEATURE_MAP.parameter_shape))
    return Parameters(weights, bias, rng.uniform(-1.2, 1.2, (2, 4)))  # some outside the range, where CO has a penalty


def kernel(engine, batch, parameters):
    weights, bias = parameters.weights, parameters.bias
    return engine.fidelities(engine.encode(batch.X, weights, bias), engine.encode(parameters.centroids, weights, bias))


def slope(function, parameters, group, place, step=1e-5):
    """By central differences."""
    values = []
    for sign in (1, -1):
        moved = getattr(parameters, group).copy()
        moved[place] += sign * step
        values.append(function(replace(parameters, **{group: moved})))
    return (values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("group", GROUPS)
def test_loss_gradients_meet_finite_differences(name, group, batch, parameters):
    engine = ENGINES[name]

    def loss(moved):
        alignment = target_alignment(kernel(engine, batch, moved), batch.labels, row_weights=batch.row_weights)
        if group == "centroids":
            outside = np.maximum(np.abs(moved.centroids) - 1, 0).sum()
            return 1 - alignment + SETTINGS.reg_param_co * outside
        return 1 - alignment + 0.02 * np.sum(moved.weights**2) + 0.03 * np.sum(moved.bias**2)

    at_start, found = loss_gradients(engine, batch, parameters, settings=SETTINGS)
    if group != "centroids":
        assert_allclose(at_start, loss(parameters))
    shape = getattr(parameters, group).shape
    for place in (tuple(0 for _ in shape), tuple(size - 1 for size in shape)):
        assert_allclose(found[group][place], slope(loss, parameters, group, place), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("group", GROUPS)
def test_fidelity_gradients_meet_finite_differences(group, batch, parameters):
    engine = ENGINES["statevector"]
    for entry, found in enumerate(fidelity_gradients(engine, batch, parameters, n_entries=3)):
        column = entry % 2
        first = (column, 1) if group == "centroids" else (1, 2, 0)
        expected = slope(lambda moved, e=entry, c=column: kernel(engine, batch, moved)[e, c], parameters, group, first)
        place = (0, 1) if group == "centroids" else first
        assert_allclose(found[group][place], expected, rtol=1e-5, atol=1e-8)


def test_entries_are_those_of_the_first_samples(batch, parameters):
    engine = ENGINES["ring"]
    few, more, all_of_them = (
        list(fidelity_gradients(engine, batch, parameters, n_entries=count)) for count in (3, 5, 100)
    )
    assert [len(found) for found in (few, more, all_of_them)] == [3, 5, 7]
    for one, other in zip(few, more, strict=False):
        for group in GROUPS:
            assert_allclose(one[group], other[group])


def test_both_engines_have_the_same_statistics(batch, parameters):
    of_loss = [
        grouped_statistics([loss_gradients(engine, batch, parameters, settings=SETTINGS)[1]])
        for engine in ENGINES.values()
    ]
    of_entries = [
        grouped_statistics(fidelity_gradients(engine, batch, parameters, n_entries=4)) for engine in ENGINES.values()
    ]
    for one, other in (of_loss, of_entries):
        assert list(one) == list(GROUPS)
        for group in GROUPS:
            for name in ("mean", "std", "mean_abs", "norm"):
                assert_allclose(getattr(one[group], name), getattr(other[group], name), rtol=1e-9)


def test_the_mean_square_is_that_of_mean_and_deviation():
    gradients = np.random.default_rng(0).normal(1, 2, (5, 3, 4))
    for chosen in (gradients[:1], gradients):
        found = gradient_statistics(chosen)
        assert found.n == 12
        assert_allclose(found.mean_square, found.mean**2 + found.std**2)
        assert_allclose(found.mean_square, np.mean(chosen**2))
        assert found.mean_abs <= np.sqrt(found.mean_square)


def test_a_gradient_given_twice_has_the_statistics_of_one():
    gradient = np.arange(6.0)
    assert gradient_statistics([gradient, gradient]) == gradient_statistics([gradient])


def test_derivatives_that_are_no_numbers_are_refused():
    with pytest.raises(InvalidInputError, match="not finite"):
        gradient_statistics([np.array([1.0, np.nan])])


def test_fidelities_that_all_vanish_are_refused(batch, parameters):
    class Dark(StatevectorEngine):
        def fidelities(self, samples, centroids):
            return np.zeros((len(samples), len(centroids)))

    with pytest.raises(InvalidInputError, match="fewer qubits"):
        loss_gradients(Dark(FEATURE_MAP, dtype=np.float64), batch, parameters, settings=SETTINGS)
