"""Noisy points on two copies of one curve, a small step apart."""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from mcquack.checks import is_number, require, required_count
from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.synthetic.generated import generated, halves, required_at_least


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
