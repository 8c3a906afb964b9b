"""Settings check themselves when made; the order of the samples comes from seed and epoch alone."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.training import TrainingSettings
from mcquack.training.batches import epoch_orders
from mcquack.training.settings import MAX_PASSES

NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs_ka", -1),
        ("epochs_co", -1),
        ("epochs_ka", MAX_PASSES + 1),
        ("epochs_co", MAX_PASSES + 1),
        *((name, value) for name in ("lr_ka", "lr_co", "decay_rate") for value in (0, -0.1, NAN, INFINITY)),
        *((f"reg_param_{name}", value) for name in ("weights", "bias", "co") for value in (-1e-9, NAN, INFINITY)),
        ("batch_size", 0),
        ("batch_size", -5),
        ("n_centroids_per_class", 0),
        ("n_centroids_per_class", 1.5),
        ("loss", "hinge"),
        ("loss", None),
        ("optimizer", "adagrad"),
        ("schedule", "linear"),
        ("input_noise", -0.1),
        ("feature_drop", 1.0),
        ("epochs", -1),
        ("optimizer", None),
        ("steps", "both"),
        ("steps", None),
        ("feature_range", (1, 0)),
        ("feature_range", (1, 1)),
        ("feature_range", (NAN, 1)),
    ],
)
def test_impossible_settings_are_refused_by_name_and_value(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        TrainingSettings(**{name: value})
    assert name in str(refusal.value)
    assert repr(value) in str(refusal.value)


def test_an_epoch_does_something() -> None:
    with pytest.raises(InvalidInputError, match="epochs_co"):
        TrainingSettings(epochs_ka=0, epochs_co=0)
    with pytest.raises(InvalidInputError, match="epochs_ka"):
        TrainingSettings(epochs_ka=0, steps="joint")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"epochs_ka": 0},
        {"epochs_co": 0},
        {"epochs_co": 0, "steps": "joint"},
        {"reg_param_weights": 0, "reg_param_bias": 0, "reg_param_co": 0},
        {"batch_size": 1},
        {"feature_range": (-1, 1)},
        {"decay_rate": 1.5},
    ],
)
def test_the_edges_of_what_is_possible_are_taken(settings: dict[str, Any]) -> None:
    TrainingSettings(**settings)


def test_settings_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        TrainingSettings().lr_ka = 1  # type: ignore[misc]


def test_rates_decay_once_per_epoch() -> None:
    settings = TrainingSettings(lr_ka=0.1, lr_co=0.2, decay_rate=0.5)
    assert_allclose([settings.learning_rates(epoch) for epoch in range(3)], [[0.1, 0.2], [0.05, 0.1], [0.025, 0.05]])
    assert TrainingSettings(lr_ka=0.1, lr_co=0.2).learning_rates(1000) == (0.1, 0.2)


seeds, numbers = st.integers(0, 2**32 - 1), st.integers(0, 10_000)


@given(n_samples=st.integers(1, 200), epoch=numbers, epochs_ka=st.integers(0, 3), seed=seeds)
def test_every_pass_visits_every_sample_once(n_samples: int, epoch: int, epochs_ka: int, seed: int) -> None:
    settings = TrainingSettings(epochs_ka=epochs_ka, batch_size=10, seed=seed)
    kao, co = epoch_orders(n_samples, epoch, settings)
    assert kao.shape == (epochs_ka, n_samples)
    for order in (*kao, co):
        assert order.dtype == np.int64
        assert_array_equal(np.sort(order), np.arange(n_samples))


@given(epoch=numbers, seed=seeds)
def test_nothing_but_seed_and_epoch_decides(epoch: int, seed: int) -> None:
    few = TrainingSettings(batch_size=10, seed=seed)
    other = TrainingSettings(
        batch_size=7, seed=seed, epochs_ka=3, epochs_co=2, lr_ka=1, optimizer="sgd", decay_rate=0.5, reg_param_co=1
    )
    left, right = epoch_orders(50, epoch, few), epoch_orders(50, epoch, other)
    assert_array_equal(left[0][0], right[0][0])
    assert_array_equal(left[1], right[1])


@given(epoch=numbers, seed=seeds)
def test_orders_differ_between_passes_phases_epochs_and_seeds(epoch: int, seed: int) -> None:
    """Two of 50! orders agree by chance never."""
    settings = TrainingSettings(epochs_ka=2, batch_size=10, seed=seed)
    orders = [*epoch_orders(50, epoch, settings)[0], epoch_orders(50, epoch, settings)[1]]
    orders += [epoch_orders(50, epoch + 1, settings)[1], *epoch_orders(50, epoch + 1, settings)[0]]
    orders.append(epoch_orders(50, epoch, TrainingSettings(batch_size=10, seed=seed + 1))[1])
    assert len({order.tobytes() for order in orders}) == len(orders)


def test_a_single_batch_keeps_its_order() -> None:
    kao, co = epoch_orders(10, 3, TrainingSettings(batch_size=10))
    for order in (*kao, co):
        assert_array_equal(order, np.arange(10))
