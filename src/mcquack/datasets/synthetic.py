"""Datasets out of nothing but a seed: the recipes of the QML benchmark suite with free parameters, and plus signs."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.datasets.dataset import Dataset, Part, PartName, pixel_names
from mcquack.datasets.generated import collected, generated, halves, required_at_least
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream

__all__ = ["hidden_manifold", "hyperplanes", "linearly_separable", "plus_minus", "two_curves"]

# Points on a low-dimensional manifold, labelled by a random network that sees the manifold's own coordinates.


def hidden_manifold(
    *, n_features: int, manifold_dimension: int = 6, n_samples: int = 300, test: float = 0.2, seed: int = 0
) -> Dataset:
    """X = tanh(C F / √D - b) for coordinates C on the manifold; half of the samples are of either class."""
    required_count("n_features", n_features)
    required_count("manifold_dimension", manifold_dimension)
    required_count("n_samples", n_samples)
    return generated(
        f"hidden_manifold_{n_features}",
        lambda random: manifold_points(
            random, n_features=n_features, manifold_dimension=manifold_dimension, n_samples=n_samples
        ),
        test=test,
        seed=seed,
    )


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


# Points told apart by the parity of the number of hyperplanes they lie above.


def hyperplanes(
    *,
    n_hyperplanes: int,
    n_features: int = 10,
    dimension: int = 3,
    n_samples: int = 300,
    test: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """Points of a space of low ``dimension``, seen through a random linear map; above an odd number of planes is +1.

    Each feature is standardised over the training part.
    """
    required_count("n_hyperplanes", n_hyperplanes)
    required_count("n_features", n_features)
    required_count("dimension", dimension)
    required_count("n_samples", n_samples)
    return generated(
        f"hyperplanes_{n_hyperplanes}",
        lambda random: hyperplane_points(
            random, n_hyperplanes=n_hyperplanes, n_features=n_features, dimension=dimension, n_samples=n_samples
        ),
        test=test,
        seed=seed,
        standardise=True,
    )


def hyperplane_points(
    random: RandomState, *, n_hyperplanes: int, n_features: int = 10, dimension: int = 3, n_samples: int = 300
) -> Part:
    """Parity of #{w · x + b > 0} over the hyperplanes (w, b), the classes being of equal size; X is not scaled."""
    w = random.uniform(size=(n_hyperplanes, dimension))
    b = random.uniform(size=n_hyperplanes)

    def points() -> Part:
        X = random.normal(size=(4 * n_samples, dimension))
        return Part(X, np.where(np.sum(X @ w.T + b > 0, axis=1) % 2, 1, -1))

    chosen = collected(points, counts=halves(n_samples))
    projection = random.uniform(size=(dimension, n_features))
    return Part(chosen.X @ projection, chosen.y)


# Points in a cube on two sides of a plane, with a gap between them.


def linearly_separable(
    *, n_features: int, n_samples: int = 300, margin: float = 0.02, test: float = 0.2, seed: int = 0
) -> Dataset:
    """Points of [-1, 1]ⁿ whose coordinates add up to more than ``margin`` × n (class -1) or less than its negative."""
    required_count("n_features", n_features)
    required_count("n_samples", n_samples)
    require(is_number(margin) and 0 <= margin < 1, "margin", "a share of at least 0 and below 1", margin)
    return generated(
        f"linearly_separable_{n_features}",
        lambda random: separable_points(random, n_features=n_features, n_samples=n_samples, margin=margin),
        test=test,
        seed=seed,
    )


def separable_points(random: RandomState, *, n_features: int, n_samples: int = 300, margin: float = 0.02) -> Part:
    """The first points of twice as many, and of more if it takes more, that lie outside the gap."""
    kept = np.empty((0, n_features))
    for _ in range(100):
        points = 2 * random.uniform(size=(2 * n_samples, n_features)) - 1
        kept = np.concatenate([kept, points[np.abs(points.sum(axis=1)) > margin * n_features]])
        if len(kept) >= n_samples:
            X = kept[:n_samples]
            return Part(X, np.where(X.sum(axis=1) > 0, -1, 1))
    raise InvalidInputError(
        f"a margin of {margin} in {n_features} dimensions leaves hardly any points; choose a smaller."
    )


# Pictures of a minus, a plus and its two halves, drawn here in the manner of the PlusMinus dataset.

SIDE = 16
CLASS_NAMES = ("-", "+", "⊢", "⊣")

# Chosen so that ink, width and brightness are about those of the published pictures.
_FAINTEST = 0.36
_WIDTH = (1.7, 2.9)
_LARGEST_ANGLE = np.radians(10)
_LARGEST_SHIFT = 1.0
_SOFT_EDGE = 2.2


def plus_minus(
    *, n_classes: int = 4, n_train: int = 250, n_validation: int = 50, n_test: int = 50, seed: int = 0
) -> Dataset:
    """Signs of 16 × 16 pixels in [0, 1], so many of each of the first 2 to 4 classes; the parts share no picture."""
    required = is_whole_number(n_classes) and 2 <= n_classes <= len(CLASS_NAMES)
    require(required, "n_classes", f"2 to {len(CLASS_NAMES)}", n_classes)
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    sizes: dict[PartName, int] = {
        "train": required_count("n_train", n_train),
        "validation": required_count("n_validation", n_validation),
        "test": required_count("n_test", n_test),
    }
    return drawn_signs({part: (size,) * n_classes for part, size in sizes.items()}, seed=seed)


def drawn_signs(counts: Mapping[PartName, Sequence[int]], *, seed: int) -> Dataset:
    """So many signs of each class for each of the three parts."""
    n_classes = len(counts["train"])
    parts = {part: _part(part, n_each=each, seed=seed) for part, each in counts.items()}
    return Dataset(
        name=f"pm{n_classes}_generated",
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
        labels=tuple(range(n_classes)),
        class_names=CLASS_NAMES[:n_classes],
        feature_names=pixel_names((SIDE, SIDE)),
        image_shape=(SIDE, SIDE),
        origin=f"drawn from seed {seed}, in the manner of PlusMinus",
    )


def _part(part: PartName, *, n_each: Sequence[int], seed: int) -> Part:
    random = stream(seed, "datasets", "plus minus", part)
    y = random.permutation(np.repeat(np.arange(len(n_each)), n_each))
    return Part(signs(y, random=random).reshape(len(y), -1).astype(np.float32), y)


def signs(classes: NDArray[np.int64], *, random: np.random.Generator) -> FloatArray:
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
    centred = np.arange(SIDE) - (SIDE - 1) / 2
    x, y = centred[None, None, :] - shift[0, :, None, None], centred[None, :, None] - shift[1, :, None, None]
    cosine, sine = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    return cosine * x + sine * y, cosine * y - sine * x


def _coverage(distance: FloatArray, width: FloatArray) -> FloatArray:
    """1 within the stroke, falling to 0 over its soft edge."""
    reach = (width[:, None, None] + _SOFT_EDGE) / 2
    return np.asarray(np.clip((reach - np.abs(distance)) / _SOFT_EDGE, 0, 1))


# Noisy points on two copies of one curve, a small step apart.


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
    """A random Fourier curve of this degree (class -1), and the same moved by ``offset`` on every axis (class +1).

    Each feature is standardised over the training part.
    """
    required_count("n_features", n_features)
    required_count("degree", degree)
    require(is_number(offset) and np.isfinite(offset), "offset", "a finite number", offset)
    required_at_least("noise", noise, 0)
    required_count("n_samples", n_samples)
    return generated(
        f"two_curves_{n_features}",
        lambda random: curve_points(
            random, n_features=n_features, degree=degree, offset=offset, noise=noise, n_samples=n_samples
        ),
        test=test,
        seed=seed,
        standardise=True,
    )


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
    y = np.repeat([-1, 1], halves(n_samples))
    X = _curve(coefficients, times) + deviations + offset * (y == 1)[:, None]
    return Part(X, y)


def _curve(coefficients: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    angles = np.pi * np.outer(times, np.arange(1, coefficients.shape[1]))
    constant = coefficients[:, 0].sum(axis=1)
    cosines, sines = np.cos(angles) @ coefficients[:, 1:, 0].T, np.sin(angles) @ coefficients[:, 1:, 1].T
    return np.asarray(constant + cosines + sines)
