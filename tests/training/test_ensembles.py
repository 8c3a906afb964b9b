"""The compiled epochs against the same steps written out with the engine's own derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.training import Parameters
from mcquack.training.batches import Passes
from mcquack.training.ensembles import (
    ClassLogits,
    EnsembleState,
    VariationalSettings,
    VariationalTraining,
    cross_entropies,
)
from mcquack.training.reference import advance
from mcquack.training.state import TrainingState
from tests.oracles import gradient
from tests.training.setups import FEATURE_MAP, clusters, engine_of

SETTINGS = VariationalSettings(
    lr_weights=0.05, lr_bias=0.02, decay_rate=0.9, reg_param_weights=0.03, reg_param_bias=0.01, batch_size=16, seed=5
)
SHARED = replace(SETTINGS, shared=True, passes_weights=2, passes_bias=1)
both = pytest.mark.parametrize("settings", [SETTINGS, SHARED], ids=["own", "shared"])


def class_logits(engine, X, parameters):
    return ClassLogits(engine, X, n_classes=len(parameters.bias))(parameters)


def of_class(parameters, number):
    return parameters.weights[number % len(parameters.weights)], parameters.bias[number]


def start_of(data, *, shared, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    shape = FEATURE_MAP.parameter_shape
    weights = rng.normal(size=(1 if shared else data.n_classes, *shape)).astype(dtype)
    return EnsembleState.start(Parameters(weights, rng.normal(size=(data.n_classes, *shape)).astype(dtype)))


def trained(data, settings, *, n_epochs=2, dtype=np.float64, n_threads=None, active=None, validation=None):
    train = VariationalTraining(engine_of(dtype, n_threads), data, settings=settings, validation=validation)
    state = start_of(data, shared=settings.shared, dtype=dtype)
    state = state if active is None else replace(state, active=active)
    for _ in range(n_epochs):
        epoch = train(state)
        state = epoch.state
    return epoch


def batch_slopes(engine, data, batch, parameters, number, own=None):
    """Derivatives of the weighted mean cross entropy of classifier ``number``, which tells the class ``own``."""
    own = number if own is None else own
    encoded = engine.encode(data.X[batch], *of_class(parameters, number))
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
            weights, _ = of_class(state.parameters, own)
            moved = Parameters(weights[None].repeat(data.n_classes, 0), np.stack([bias] * data.n_classes))
            return cross_entropies(class_logits(engine, data.X, moved), data.labels, data.row_weights)[own]

        assert_allclose(found.bias, gradient(loss, state.parameters.bias[own]), atol=1e-8)


def referred(data, settings, *, n_epochs):
    """The same epochs by the reference trainer: of each classifier, or of all together where they share weights."""
    engine, start = engine_of(), start_of(data, shared=settings.shared)
    ridges = {"weights": settings.reg_param_weights, "bias": settings.reg_param_bias}

    def own_gradient(own):
        def gradient(parameters, batch, moves):
            both = Parameters(parameters.weights[None], parameters.bias[None])
            slopes = batch_slopes(engine, data, batch.rows, both, 0, own)
            return 0.0, {"weights": slopes.weights, "bias": slopes.bias}

        return gradient

    def shared_gradient(parameters, batch, moves):
        all_of_them = [batch_slopes(engine, data, batch.rows, parameters, own) for own in range(data.n_classes)]
        by_weights = np.mean([each.weights for each in all_of_them], axis=0, keepdims=True)
        return 0.0, {"weights": by_weights, "bias": np.stack([each.bias for each in all_of_them])}

    gradients = [shared_gradient] if settings.shared else [own_gradient(own) for own in range(data.n_classes)]
    found = []
    for training, loss_and_gradient in zip(start.trainings, gradients, strict=True):
        state: TrainingState = training
        for epoch in range(n_epochs):
            of_weights, of_bias = settings.n_passes
            first, second = [True, not settings.shared], [False, True]
            moves = np.array([[*pair, False, False, False] for pair in [first] * of_weights + [second] * of_bias])
            rates = np.array([*settings.learning_rates(epoch), 0.0, 0.0, 0.0])
            passes = Passes(settings.orders(len(data.X), epoch), moves, rates)
            state, _ = advance(state, passes, loss_and_gradient, settings=settings, ridges=ridges)
        found.append(state)
    return replace(start, trainings=found).parameters


@both
def test_epochs_are_those_of_the_reference_trainer(settings):
    data, n_epochs = clusters(weighted=True), 2
    found, expected = (
        trained(data, settings, n_epochs=n_epochs).state.parameters,
        referred(data, settings, n_epochs=n_epochs),
    )
    assert_allclose(found.weights, expected.weights, atol=1e-9)
    assert_allclose(found.bias, expected.bias, atol=1e-9)


def test_shared_weights_move_first_and_biases_then():
    assert SHARED.n_passes == (2, 1)
    assert SETTINGS.n_passes == (1, 0)
    assert SHARED.orders(45, 0).shape == (3, 45)


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
        encoded = engine.encode(data.X, *of_class(parameters, own))
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
    with pytest.raises(InvalidInputError, match=r"weights .*\(2, 3, 3\).*\(1, 2, 3, 3\)"):
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
