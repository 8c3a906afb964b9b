"""Settings check themselves when made."""

import dataclasses
from typing import Any

import pytest
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.training import TrainingSettings
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
        ("optimizer", "adamw"),
        ("optimizer", None),
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
    with pytest.raises(InvalidInputError, match="trains nothing"):
        TrainingSettings(epochs_ka=0, epochs_co=0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"epochs_ka": 0},
        {"epochs_co": 0},
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
