"""The compiled epochs against the same steps written out with the engine's own derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.training.optimizer import BETA_1, BETA_2, EPSILON
from mcquack.training.variational import (
    ClassLogits,
    VariationalParameters,
    VariationalSettings,
    VariationalState,
    VariationalTraining,
)
from mcquack.training.variational.training import cross_entropies
from tests.oracles import gradient
from tests.training.setups import FEATURE_MAP, clusters, engine_of

SETTINGS = VariationalSettings(
    lr_weights=0.05, lr_bias=0.02, decay_rate=0.9, reg_param_weights=0.03, reg_param_bias=0.01, batch_size=16, seed=5
)
SHARED = replace(SETTINGS, shared=True, passes_weights=2, passes_bias=1)
both = pytest.mark.parametrize("settings", [SETTINGS, SHARED], ids=["own", "shared"])


def class_logits(engine, X, parameters):
    return ClassLogits(engine, X, n_classes=parameters.n_classes)(parameters)


def start_of(data, *, shared, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    shape = FEATURE_MAP.parameter_shape
    weights = rng.normal(size=(1 if shared else data.n_classes, *shape)).astype(dtype)
    return VariationalState.start(
        VariationalParameters(weights, rng.normal(size=(data.n_classes, *shape)).astype(dtype))
    )


def trained(data, settings, *, n_epochs=2, dtype=np.float64, n_threads=None, active=None, validation=None):
    train = VariationalTraining(engine_of(dtype, n_threads), data, settings=settings, validation=validation)
    state = start_of(data, shared=settings.shared, dtype=dtype)
    state = state if active is None else replace(state, active=active)
    for _ in range(n_epochs):
        epoch = train(state)
        state = epoch.state
    return epoch


class Adam:
    """Kingma and Ba's algorithm, as they write it."""

    def __init__(self, shape):
        self.mean, self.square, self.step = np.zeros(shape), np.zeros(shape), 0

    def __call__(self, parameter, slope, rate):
        self.step += 1
        self.mean = BETA_1 * self.mean + (1 - BETA_1) * slope
        self.square = BETA_2 * self.square + (1 - BETA_2) * slope**2
        mean, square = self.mean / (1 - BETA_1**self.step), self.square / (1 - BETA_2**self.step)
        return parameter - rate * mean / (np.sqrt(square) + EPSILON)


def batch_slopes(engine, data, batch, parameters, own):
    """Derivatives of classifier ``own``'s weighted mean cross entropy on a batch."""
    encoded = engine.encode(data.X[batch], *parameters.of_class(own))
    z = engine.expectations(encoded, (0, 1))
    right = np.where(data.labels[batch] == own, 0, 1)
    rows = np.arange(len(batch))
    wrong = 1 / (1 + np.exp(z[rows, right] - z[rows, 1 - right]))
    cotangent = np.zeros_like(z)
    shares = data.row_weights[batch] / data.row_weights[batch].sum()
    cotangent[rows, right], cotangent[rows, 1 - right] = -shares * wrong, shares * wrong
    return engine.pull_expectations(encoded, cotangent, (0, 1))


def test_the_slopes_are_those_of_the_cross_entropy():
    data, engine = clusters(weighted=True), engine_of()
    state = start_of(data, shared=False)
    batch = np.arange(len(data.X))
    for own in range(data.n_classes):
        found = batch_slopes(engine, data, batch, state.parameters, own)

        def loss(bias, own=own):
            weights, _ = state.parameters.of_class(own)
            moved = VariationalParameters(weights[None].repeat(data.n_classes, 0), np.stack([bias] * data.n_classes))
            return cross_entropies(class_logits(engine, data.X, moved), data.labels, data.row_weights)[own]

        assert_allclose(found.bias, gradient(loss, state.parameters.bias[own]), atol=1e-8)


def test_an_epoch_of_classifiers_of_their_own_is_adam_on_their_cross_entropies():
    data, engine, n_epochs = clusters(weighted=True), engine_of(), 2
    parameters = start_of(data, shared=False).parameters
    weights, bias = parameters.weights.copy(), parameters.bias.copy()
    adams = [(Adam(weights[0].shape), Adam(bias[0].shape)) for _ in range(data.n_classes)]
    for epoch in range(n_epochs):
        rates = SETTINGS.learning_rates(epoch)
        (order,), _ = SETTINGS.orders(len(data.X), epoch)
        for first in range(0, len(order), SETTINGS.batch_size):
            for own, (of_weights, of_bias) in enumerate(adams):
                batch = order[first : first + SETTINGS.batch_size]
                slopes = batch_slopes(engine, data, batch, VariationalParameters(weights, bias), own)
                by_w = slopes.weights + 2 * SETTINGS.reg_param_weights * weights[own]
                by_b = slopes.bias + 2 * SETTINGS.reg_param_bias * bias[own]
                weights[own] = of_weights(weights[own], by_w, rates[0])
                bias[own] = of_bias(bias[own], by_b, rates[1])
    found = trained(data, SETTINGS, n_epochs=n_epochs).state.parameters
    assert_allclose(found.weights, weights, atol=1e-9)
    assert_allclose(found.bias, bias, atol=1e-9)


def test_an_epoch_with_shared_weights_moves_weights_first_and_biases_then():
    data, engine = clusters(weighted=True), engine_of()
    parameters = start_of(data, shared=True).parameters
    weights, bias = parameters.weights.copy(), parameters.bias.copy()
    of_weights, of_biases = Adam(weights.shape), [Adam(bias[0].shape) for _ in range(data.n_classes)]
    lr_weights, lr_bias = SHARED.learning_rates(0)
    weights_orders, bias_orders = SHARED.orders(len(data.X), 0)
    assert (len(weights_orders), len(bias_orders)) == (2, 1)
    for order in weights_orders:
        for first in range(0, len(order), SHARED.batch_size):
            batch = order[first : first + SHARED.batch_size]
            now = VariationalParameters(weights, bias)
            slopes = [batch_slopes(engine, data, batch, now, own).weights for own in range(data.n_classes)]
            weights = of_weights(weights, np.mean(slopes, axis=0) + 2 * SHARED.reg_param_weights * weights, lr_weights)
    for order in bias_orders:
        for first in range(0, len(order), SHARED.batch_size):
            batch = order[first : first + SHARED.batch_size]
            for own, adam in enumerate(of_biases):
                by_b = batch_slopes(engine, data, batch, VariationalParameters(weights, bias), own).bias
                bias[own] = adam(bias[own], by_b + 2 * SHARED.reg_param_bias * bias[own], lr_bias)
    found = trained(data, SHARED, n_epochs=1).state.parameters
    assert_allclose(found.weights, weights, atol=1e-9)
    assert_allclose(found.bias, bias, atol=1e-9)


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_nothing(settings, dtype, monkeypatch):
    monkeypatch.setattr("mcquack.simulators.statevector.base.FLOPS_WORTH_A_THREAD", 1.0)
    one, two = (trained(clusters(), settings, dtype=dtype, n_threads=n_threads) for n_threads in (1, 2))
    assert_array_equal(one.state.parameters.weights, two.state.parameters.weights)
    assert_array_equal(one.state.parameters.bias, two.state.parameters.bias)
    assert one.report.loss == two.report.loss


def test_a_classifier_of_its_own_knows_nothing_of_the_others():
    everyone = trained(clusters(), SETTINGS).state.parameters
    for own in range(3):
        alone = trained(clusters(), SETTINGS, active=np.arange(3) == own).state.parameters
        assert_array_equal(alone.weights[own], everyone.weights[own])
        untouched = start_of(clusters(), shared=False).parameters
        assert_array_equal(np.delete(alone.bias, own, axis=0), np.delete(untouched.bias, own, axis=0))


@both
def test_logits_are_the_expectations_behind_each_circuit(settings):
    data, engine = clusters(n_samples=37), engine_of()
    parameters = start_of(data, shared=settings.shared).parameters
    found = class_logits(engine, data.X, parameters)
    for own in range(data.n_classes):
        encoded = engine.encode(data.X, *parameters.of_class(own))
        assert_allclose(found[:, own], engine.expectations(encoded, (0, 1)), atol=1e-14)


@both
def test_what_is_reported_is_what_the_parameters_give(settings):
    data, validation = clusters(weighted=True), clusters(weighted=True, seed=1)
    epoch = trained(data, settings, validation=validation)
    for part, loss, accuracy in (
        (data, None, epoch.report.accuracy),
        (validation, epoch.report.validation_loss, epoch.report.validation_accuracy),
    ):
        logits = class_logits(engine_of(), part.X, epoch.state.parameters)
        hits = logits[..., 0].argmax(axis=1) == part.labels
        assert accuracy == pytest.approx(np.average(hits, weights=part.row_weights))
        if loss is not None:
            losses = cross_entropies(logits, part.labels, part.row_weights)
            assert epoch.report.loss == loss == pytest.approx(losses.mean())
            assert_allclose(epoch.watched, losses)


@both
def test_training_lowers_the_loss_and_leaves_its_start_alone(settings):
    data = clusters()
    start = start_of(data, shared=settings.shared)
    kept = start.parameters.weights.copy(), start.parameters.bias.copy()
    train = VariationalTraining(engine_of(), data, settings=replace(settings, reg_param_weights=0, reg_param_bias=0))
    losses = []
    state = start
    for _ in range(12):
        epoch = train(state)
        state = epoch.state
        losses.append(epoch.report.loss)
    assert losses[-1] < 0.8 * losses[0]
    assert_array_equal(start.parameters.weights, kept[0])
    assert_array_equal(start.parameters.bias, kept[1])


def test_parameters_of_another_shape_are_refused():
    train = VariationalTraining(engine_of(), clusters(), settings=SETTINGS)
    with pytest.raises(InvalidInputError, match=r"weights must have the shape \(3, 2, 3, 3\), got \(1, 2, 3, 3\)"):
        train(start_of(clusters(), shared=True))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"lr_weights": 0.0}, "lr_weights"),
        ({"decay_rate": np.inf}, "decay_rate"),
        ({"reg_param_bias": -1.0}, "reg_param_bias"),
        ({"batch_size": 0}, "batch_size"),
        ({"optimizer": "rprop"}, "optimizer"),
        ({"passes_bias": 1.5}, "passes_bias"),
        ({"passes_weights": 0, "passes_bias": 0}, "both 0"),
    ],
)
def test_impossible_settings_are_refused(changes, name):
    with pytest.raises(InvalidInputError, match=name):
        replace(SHARED, **changes)
