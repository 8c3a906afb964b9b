"""Datasets out of nothing but a seed: the recipes of the QML benchmark suite with free parameters, and plus signs.

Each public function gives a ``Dataset``. The functions that end in ``_points`` give the bare samples, before they are
divided into parts; the published datasets of the suite are made by them too, so the order of their draws is fixed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.datasets.dataset import Dataset, Part, PartName, one_at_a_time, pixel_names
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream

__all__ = ["hidden_manifold", "hyperplanes", "linearly_separable", "plus_minus", "two_curves"]

LABELS = (-1, 1)
CLASS_NAMES = ("-1", "+1")
_ROUNDS = 100


def linearly_separable(
    *, n_features: int, n_samples: int = 300, margin: float = 0.02, test: float = 0.2, seed: int = 0
) -> Dataset:
    """Points of a cube on two sides of a plane, with a gap between them.

    They lie in [-1, 1]ⁿ; their coordinates add up to more than ``margin`` × n (class -1) or less than its negative.

    Parameters
    ----------
    n_features, n_samples : The dimension of the cube, and the number of points in all parts.
    margin : Half the width of the gap, at least 0 and below 1.
    test : The share of the points that is set apart for testing.
    seed : The same seed gives the same points.

    Returns
    -------
    Dataset
        With the labels -1 and 1, a training part and, if ``test`` is above 0, a test part.

    Examples
    --------
    >>> from mcquack.datasets import synthetic
    >>> synthetic.linearly_separable(n_features=4, n_samples=100)
    linearly_separable_4: 4 features, 2 classes; 80 train, 20 test
    """
    require(is_number(margin) and 0 <= margin < 1, "margin", "a share of at least 0 and below 1", margin)
    sizes = _counts(n_features=n_features, n_samples=n_samples)
    name = f"linearly_separable_{n_features}"
    return _generated(name, separable_points, test=test, seed=seed, margin=margin, **sizes)


def separable_points(random: RandomState, *, n_features: int, n_samples: int = 300, margin: float = 0.02) -> Part:
    """The first points of twice as many, and of more if it takes more, that lie outside the gap."""
    kept = np.empty((0, n_features))
    for _ in range(_ROUNDS):
        points = 2 * random.uniform(size=(2 * n_samples, n_features)) - 1
        kept = np.concatenate([kept, points[np.abs(points.sum(axis=1)) > margin * n_features]])
        if len(kept) >= n_samples:
            X = kept[:n_samples]
            return Part(X, np.where(X.sum(axis=1) > 0, -1, 1))
    raise InvalidInputError(
        f"a margin of {margin} in {n_features} dimensions leaves hardly any points; choose a smaller."
    )


def hidden_manifold(
    *, n_features: int, manifold_dimension: int = 6, n_samples: int = 300, test: float = 0.2, seed: int = 0
) -> Dataset:
    """Points on a low-dimensional manifold, labelled by a random network that sees the manifold's own coordinates.

    X = tanh(C F / √D - b) for coordinates C on the manifold of D dimensions; half of the samples are of either class.

    Parameters
    ----------
    n_features, manifold_dimension : The dimensions of the space that the points are seen in, and of the manifold.
    n_samples, test, seed : As in ``linearly_separable``.

    Examples
    --------
    >>> from mcquack.datasets import synthetic
    >>> synthetic.hidden_manifold(n_features=12, manifold_dimension=3, n_samples=50).n_features
    12
    """
    sizes = _counts(n_features=n_features, manifold_dimension=manifold_dimension, n_samples=n_samples)
    return _generated(f"hidden_manifold_{n_features}", manifold_points, test=test, seed=seed, **sizes)


def manifold_points(random: RandomState, *, n_features: int, manifold_dimension: int, n_samples: int = 300) -> Part:
    """y = sign of v · tanh(W c) / √D, relative to its median, for the coordinates c of each sample."""
    D = manifold_dimension
    # The order of these draws is that of the published data.
    F = random.normal(size=(D, n_features))
    C = random.normal(size=(n_samples, D))
    b = 2 * random.uniform(size=n_features) - 1
    W = random.normal(size=(D, D))
    v = random.normal(size=D)
    targets = np.tanh(C @ W.T) @ v / np.sqrt(D)
    return Part(np.tanh(C @ F / np.sqrt(D) - b), np.where(targets > np.median(targets), 1, -1))


def two_curves(
    *,
    n_features: int,
    degree: int = 5,
    offset: float = 0.1,
    noise: float = 0.01,
    n_samples: int = 300,
    test: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """Noisy points on a random Fourier curve (class -1) and on a copy of it, a small step apart (class +1).

    Each feature is standardised over the training part.

    Parameters
    ----------
    n_features, degree : The dimension of the space, and the highest frequency of the curve.
    offset : How far the copy is moved on every axis.
    noise : The standard deviation of the points from their curve.
    n_samples, test, seed : As in ``linearly_separable``.

    Examples
    --------
    >>> from mcquack.datasets import synthetic
    >>> curves = synthetic.two_curves(n_features=3, degree=2, offset=0.5, n_samples=40, seed=7)
    >>> sum(curves.class_counts("train")), sum(curves.class_counts("test"))
    (32, 8)
    """
    sizes = _counts(n_features=n_features, degree=degree, n_samples=n_samples)
    require(is_number(offset) and np.isfinite(offset), "offset", "a finite number", offset)
    require(is_number(noise) and 0 <= noise < np.inf, "noise", "a number of at least 0", noise)
    name, shape = f"two_curves_{n_features}", {"offset": offset, "noise": noise}
    return _generated(name, curve_points, test=test, seed=seed, standardise=True, **shape, **sizes)


def curve_points(
    random: RandomState, *, n_features: int, degree: int, offset: float, noise: float = 0.01, n_samples: int = 300
) -> Part:
    """x(t) = c₀₀ + c₀₁ + Σ_f c_f0 cos fπt + c_f1 sin fπt plus noise, on the scale of the curve itself."""
    coefficients = random.uniform(size=(n_features, degree + 1, 2))
    coefficients /= np.linalg.norm(coefficients)
    times, deviations = np.empty(n_samples), np.empty((n_samples, n_features))
    for sample in range(n_samples):  # one by one, in the order of the published data
        times[sample] = random.uniform()
        deviations[sample] = random.normal(0, noise, size=n_features)
    angles = np.pi * np.outer(times, np.arange(1, degree + 1))
    constant = coefficients[:, 0].sum(axis=1)
    cosines, sines = np.cos(angles) @ coefficients[:, 1:, 0].T, np.sin(angles) @ coefficients[:, 1:, 1].T
    y = np.repeat(LABELS, _halves(n_samples))
    return Part(constant + cosines + sines + deviations + offset * (y == 1)[:, None], y)


def hyperplanes(
    *,
    n_hyperplanes: int,
    n_features: int = 10,
    dimension: int = 3,
    n_samples: int = 300,
    test: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """Points told apart by the parity of the number of hyperplanes they lie above; an odd number is class +1.

    They are drawn in a space of low dimension and seen through a random linear map. Each feature is standardised over
    the training part.

    Parameters
    ----------
    n_hyperplanes, dimension : The number of hyperplanes, and the dimension of the space that they divide.
    n_features : The dimension of the space that the points are seen in.
    n_samples, test, seed : As in ``linearly_separable``.

    Examples
    --------
    >>> from mcquack.datasets import synthetic
    >>> synthetic.hyperplanes(n_hyperplanes=4, n_samples=60)
    hyperplanes_4: 10 features, 2 classes; 48 train, 12 test
    """
    sizes = _counts(n_hyperplanes=n_hyperplanes, n_features=n_features, dimension=dimension, n_samples=n_samples)
    name = f"hyperplanes_{n_hyperplanes}"
    return _generated(name, hyperplane_points, test=test, seed=seed, standardise=True, **sizes)


def hyperplane_points(
    random: RandomState, *, n_hyperplanes: int, n_features: int = 10, dimension: int = 3, n_samples: int = 300
) -> Part:
    """Parity of #{w · x + b > 0} over the hyperplanes (w, b), the classes being of equal size; X is not scaled."""
    w = random.uniform(size=(n_hyperplanes, dimension))
    b = random.uniform(size=n_hyperplanes)
    X = np.empty((0, dimension))
    for _ in range(_ROUNDS):
        X = np.concatenate([X, random.normal(size=(4 * n_samples, dimension))])
        y = np.where(np.sum(X @ w.T + b > 0, axis=1) % 2, 1, -1)
        counts = _halves(n_samples)
        rows = [np.flatnonzero(y == label)[:count] for label, count in zip(LABELS, counts, strict=True)]
        if tuple(map(len, rows)) == counts:
            chosen = np.concatenate(rows)
            return Part(X[chosen] @ random.uniform(size=(dimension, n_features)), y[chosen])
    raise InvalidInputError(
        f"of {len(X):,} points drawn, hardly any fall into one of the classes; choose other parameters."
    )


def _halves(n_samples: int) -> tuple[int, int]:
    """How many samples of each class; the second class has one more if the number is odd."""
    return n_samples // 2, n_samples - n_samples // 2


def _counts(**counts: int) -> dict[str, Any]:
    return {name: required_count(name, value) for name, value in counts.items()}


def _generated(
    name: str, draw: Callable[..., Part], *, test: float, seed: int, standardise: bool = False, **parameters: Any
) -> Dataset:
    """Samples drawn from a seed, of which a share is set apart for testing by the same stream."""
    require(is_whole_number(seed) and 0 <= seed < 2**32, "seed", "a whole number from 0 to 2**32 - 1", seed)
    require(is_number(test) and 0 <= test < 1, "test", "a share of at least 0 and below 1", test)
    random = RandomState(seed)
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused below
        samples = draw(random, **parameters)
        _check_finite(samples, name=name)
        n_samples, n_test = len(samples.y), math.ceil(len(samples.y) * test)
        if n_test >= n_samples:
            raise InvalidInputError(
                f"{name}: a test share of {test} takes {n_test} of {n_samples} samples, which leaves none to train on; "
                "ask for more samples or a smaller share."
            )
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


# Pictures of a minus, a plus and its two halves, in the manner of the PlusMinus dataset.

SIGN_SIDE = 16
SIGN_NAMES = ("-", "+", "⊢", "⊣")

# Chosen so that ink, width and brightness are about those of the published pictures.
_FAINTEST = 0.36
_WIDTH = (1.7, 2.9)
_LARGEST_ANGLE = np.radians(10)
_LARGEST_SHIFT = 1.0
_SOFT_EDGE = 2.2


def plus_minus(
    *, n_classes: int = 4, n_train: int = 250, n_validation: int = 50, n_test: int = 50, seed: int = 0
) -> Dataset:
    """Pictures of minus and plus signs, drawn in the manner of the PlusMinus dataset.

    Parameters
    ----------
    n_classes : How many of the four signs - + ⊢ ⊣ there are, from 2 to 4.
    n_train, n_validation, n_test : The number of pictures of each sign in each part; the parts share no picture.
    seed : The same seed gives the same pictures.

    Returns
    -------
    Dataset
        Of 16 × 16 pixels in [0, 1], with the labels 0 to ``n_classes`` - 1.

    Examples
    --------
    >>> from mcquack.datasets import synthetic
    >>> signs = synthetic.plus_minus(n_classes=2, n_train=5, n_validation=1, n_test=1)
    >>> signs.image_shape, signs.class_names
    ((16, 16), ('-', '+'))
    """
    is_possible = is_whole_number(n_classes) and 2 <= n_classes <= len(SIGN_NAMES)
    require(is_possible, "n_classes", f"2 to {len(SIGN_NAMES)}", n_classes)
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    _counts(n_train=n_train, n_validation=n_validation, n_test=n_test)
    sizes: dict[PartName, int] = {"train": n_train, "validation": n_validation, "test": n_test}
    return drawn_signs({part: (size,) * n_classes for part, size in sizes.items()}, seed=seed)


def drawn_signs(counts: Mapping[PartName, Sequence[int]], *, seed: int) -> Dataset:
    """A dataset with so many signs of each class for each of the three parts."""
    n_classes = len(counts["train"])
    parts: dict[PartName, Part] = {}
    for part, n_each in counts.items():
        random = stream(seed, "datasets", "plus minus", part)
        y = random.permutation(np.repeat(np.arange(n_classes), n_each))
        parts[part] = Part(_signs(y, random=random).reshape(len(y), -1).astype(np.float32), y)
    return sign_dataset(parts, n_classes, origin=f"drawn from seed {seed}, in the manner of PlusMinus")


def sign_dataset(parts: Mapping[PartName, Part], n_classes: int, *, origin: str) -> Dataset:
    """Pictures of the first signs as a dataset."""
    return Dataset(
        name=f"pm{n_classes}_generated",
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
        labels=tuple(range(n_classes)),
        class_names=SIGN_NAMES[:n_classes],
        feature_names=pixel_names((SIGN_SIDE, SIGN_SIDE)),
        image_shape=(SIGN_SIDE, SIGN_SIDE),
        origin=origin,
    )


def _signs(classes: NDArray[np.int64], *, random: np.random.Generator) -> FloatArray:
    """A picture for each class index: one intensity and stroke width, turned and moved a little, with soft edges."""
    n = len(classes)
    intensity = 1 - (1 - _FAINTEST) * (1 - np.sqrt(random.uniform(size=n)))  # strong ink is more common than faint
    width = random.uniform(*_WIDTH, size=n)
    angle = random.uniform(-_LARGEST_ANGLE, _LARGEST_ANGLE, size=n)
    along, across = _turned(angle, random.uniform(-_LARGEST_SHIFT, _LARGEST_SHIFT, size=(2, n)))
    horizontal = intensity[:, None, None] * _coverage(across, width)
    vertical = intensity[:, None, None] * _coverage(along, width)
    kind = classes[:, None, None]
    # A half bar begins at the middle of the other; the minus has no other.
    horizontal = np.where(((kind == 2) & (along < 0)) | ((kind == 3) & (along > 0)), 0, horizontal)
    vertical = np.where(kind == 0, 0, vertical)
    return np.asarray(1 - (1 - horizontal) * (1 - vertical))  # two strokes of translucent ink


def _turned(angle: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distances of all pixels from the upright and from the level line through the middle of each picture."""
    centred = np.arange(SIGN_SIDE) - (SIGN_SIDE - 1) / 2
    x, y = centred[None, None, :] - shift[0, :, None, None], centred[None, :, None] - shift[1, :, None, None]
    cosine, sine = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    return cosine * x + sine * y, cosine * y - sine * x


def _coverage(distance: FloatArray, width: FloatArray) -> FloatArray:
    """1 within the stroke, falling to 0 over its soft edge."""
    reach = (width[:, None, None] + _SOFT_EDGE) / 2
    return np.asarray(np.clip((reach - np.abs(distance)) / _SOFT_EDGE, 0, 1))
