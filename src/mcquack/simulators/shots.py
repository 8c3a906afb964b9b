"""What a device would have counted: exact kernels and distributions seen through a number of shots."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.checks import required_count
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import FloatArray

_ROUNDING = 1e-4  # by which single precision may leave the range of probabilities


def sampled_fidelities(fidelities: ArrayLike, *, shots: int, seed: int) -> FloatArray:
    """The share of shots that find only zeros, for every entry of an exact kernel."""
    exact = _checked_probabilities(np.asarray(fidelities, dtype=np.float64), "fidelities")
    n_shots = required_count("shots", shots)
    shares: FloatArray = stream(seed, "shots", "fidelities").binomial(n_shots, np.clip(exact, 0, 1)) / n_shots
    return shares


def sampled_weights(distributions: ArrayLike, *, shots: int, seed: int) -> NDArray[np.int64]:
    """How many shots find k ones, shape (…, n + 1), for exact distributions of this shape."""
    exact = _checked_probabilities(np.asarray(distributions, dtype=np.float64), "distributions")
    if exact.ndim < 1 or not np.allclose(exact.sum(axis=-1), 1, rtol=0, atol=_ROUNDING):
        raise InvalidInputError("distributions must sum to 1 over their last axis; pass those of weight_distributions.")
    positive = np.clip(exact, 0, 1)
    shares = positive / positive.sum(axis=-1, keepdims=True)
    counts: NDArray[np.int64] = stream(seed, "shots", "weights").multinomial(required_count("shots", shots), shares)
    return counts


def _checked_probabilities(array: NDArray[Any], name: str) -> NDArray[Any]:
    if not np.all((array >= -_ROUNDING) & (array <= 1 + _ROUNDING)):
        raise InvalidInputError(
            f"{name} must lie between 0 and 1, got values from {np.min(array):g} to {np.max(array):g}; pass exact ones."
        )
    return array
