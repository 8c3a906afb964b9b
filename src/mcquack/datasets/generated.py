"""What all generators share: their settings are checked, and their samples divided, in one way."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import RandomState

from mcquack.checks import is_number, is_whole_number, require
from mcquack.datasets.dataset import Dataset, Part, one_at_a_time
from mcquack.errors import InvalidInputError

LABELS = (-1, 1)
CLASS_NAMES = ("-1", "+1")
_ROUNDS = 100


def required_at_least(name: str, value: Any, least: float) -> None:
    """Refuses a number below ``least``, and what is no number."""
    require(is_number(value) and least <= value < np.inf, name, f"a number of at least {least}", value)


def halves(n_samples: int) -> tuple[int, int]:
    """How many samples of each class; the second class has one more if the number is odd."""
    return n_samples // 2, n_samples - n_samples // 2


def collected(draw: Callable[[], Part], *, counts: tuple[int, int]) -> Part:
    """The first samples of each class among as many draws as it takes; the classes come one after the other."""
    drawn = draw()
    for _ in range(_ROUNDS):
        found = [np.flatnonzero(drawn.y == label)[:count] for label, count in zip(LABELS, counts, strict=True)]
        if all(len(rows) == count for rows, count in zip(found, counts, strict=True)):
            rows = np.concatenate(found)
            return Part(drawn.X[rows], drawn.y[rows])
        more = draw()
        drawn = Part(np.concatenate([drawn.X, more.X]), np.concatenate([drawn.y, more.y]))
    raise InvalidInputError(
        f"of {len(drawn.y):,} points drawn, hardly any fall into one of the classes; choose other parameters."
    )


def generated(
    name: str, draw: Callable[[RandomState], Part], *, test: float, seed: int, standardise: bool = False
) -> Dataset:
    """Samples drawn from a seed, of which a share is set apart for testing by the same stream.

    ``standardise`` gives each feature the mean 0 and the variance 1 over the training part.
    """
    require(is_whole_number(seed) and 0 <= seed < 2**32, "seed", "a whole number from 0 to 2**32 - 1", seed)
    require(is_number(test) and 0 <= test < 1, "test", "a share of at least 0 and below 1", test)
    random = RandomState(seed)
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused below
        samples = draw(random)
        _check_finite(samples, name=name)
        _check_division(len(samples.y), test=test, name=name)
        dataset = divided(name, samples, random=random, test=test, origin=f"generated from seed {seed}")
        dataset = dataset.scaled("standard") if standardise else dataset
    for part in dataset.parts.values():
        _check_finite(part, name=name)
    return dataset


def _check_finite(samples: Part, *, name: str) -> None:
    if not np.isfinite(samples.X).all():
        raise InvalidInputError(
            f"{name}: with these parameters some values are too large to be computed with; choose smaller ones."
        )


def _check_division(n_samples: int, *, test: float, name: str) -> None:
    n_test = math.ceil(n_samples * test)
    if n_test >= n_samples:
        raise InvalidInputError(
            f"{name}: a test share of {test} takes {n_test} of {n_samples} samples, which leaves none to train on; ask "
            "for more samples or a smaller share."
        )


def standardised(samples: Part) -> Part:
    """Each feature with the mean 0 and the variance 1 over all samples, as the QML benchmark suite has published them.

    A test part that is taken from them has had a say in its own scale, so nothing else here does it.
    """
    with one_at_a_time:
        from sklearn.preprocessing import StandardScaler

    return Part(StandardScaler().fit_transform(samples.X), samples.y)


def divided(name: str, samples: Part, *, random: RandomState, test: float, origin: str) -> Dataset:
    """The samples in two parts, in the way of the QML benchmark suite: by chance, whatever their class."""
    with one_at_a_time:
        from sklearn.model_selection import train_test_split

    train, held_out = samples, None
    if test > 0:
        X_train, X_test, y_train, y_test = train_test_split(*samples, test_size=test, random_state=random)
        train, held_out = Part(X_train, y_train), Part(X_test, y_test)
    return Dataset(
        name=name,
        train=train,
        test=held_out,
        labels=LABELS,
        class_names=CLASS_NAMES,
        feature_names=tuple(f"x{index}" for index in range(samples.X.shape[1])),
        origin=origin,
    )
