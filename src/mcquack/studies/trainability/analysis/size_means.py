"""A positive quantity at several system sizes, as means over the seeds, on the scale of logarithms."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.observation import Group, Observation

FloatArray = NDArray[np.float64]
GradientOf = Literal["gradients", "fidelity_gradients"]
# Single precision knows a gradient to six digits at best, so that no mean is better known than this.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeMeans:
    """Logarithms of the means over seeds, one for each size in rising order.

    ``variances`` are those of ``logs`` that the seeds explain: their relative variance, pooled over all sizes (each has
    too few for one of its own), divided by how many a size has. ``n_vanished`` values were zero and are left out.
    """

    sizes: FloatArray
    logs: FloatArray
    variances: FloatArray
    counts: NDArray[np.int64]
    n_vanished: int = 0

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def values(self) -> FloatArray:
        """The means themselves."""
        return np.exp(self.logs)

    @property
    def errors(self) -> tuple[FloatArray, FloatArray]:
        """One standard error below and above each mean."""
        deviations = np.sqrt(self.variances)
        return np.exp(self.logs - deviations), np.exp(self.logs + deviations)


def size_means(sizes: ArrayLike, values: ArrayLike, *, logarithmic: bool = False) -> SizeMeans:
    """Means of the values of each size, given one size and one value for each run; zeros are left out and counted.

    ``logarithmic`` says that the values are logarithms already, as those of numbers below 1e-300 have to be.
    """
    of_run, given = np.asarray(sizes, np.float64), np.asarray(values, np.float64)
    if of_run.ndim != 1 or of_run.shape != given.shape:
        raise InvalidInputError(f"expected one size for each value, got shapes {of_run.shape} and {given.shape}.")
    if not (np.isfinite(of_run) & (of_run > 0)).all():
        raise InvalidInputError("sizes must be positive numbers; leave out the runs that have none.")
    if np.isnan(given).any() or np.isposinf(given).any() or (not logarithmic and (given < 0).any()):
        raise InvalidInputError("values must be finite and not negative; pass squares or variances of finite runs.")
    with np.errstate(divide="ignore"):
        logs = given if logarithmic else np.log(given)
    there = np.isfinite(logs)
    distinct, places = np.unique(of_run[there], return_inverse=True)
    counts = np.bincount(places, minlength=len(distinct))
    groups = [logs[there][places == place] for place in range(len(distinct))]
    means = np.array([logsumexp(group) - math.log(len(group)) for group in groups])
    variances = _relative_variance(groups, means) / np.maximum(counts, 1) + _ROUNDING**2
    return SizeMeans(
        sizes=distinct, logs=means, variances=variances, counts=counts, n_vanished=int(np.count_nonzero(~there))
    )


def gradient_means(
    observations: Iterable[Observation],
    group: Group,
    *,
    of: GradientOf = "gradients",
    size: str = "n_qubits",
) -> SizeMeans:
    """Mean squares of the first gradients against the size: their variance over starts, where their mean vanishes.

    Observations without gradients of this group are passed over.
    """
    sizes, logs = [], []
    for observation in observations:
        statistics = getattr(observation, of).get(group)
        if statistics is None:
            continue
        sizes.append(float(observation.settings[size]))
        # Not of the square, which would be zero for a norm of 1e-170.
        logs.append(2 * math.log(statistics.norm) - math.log(statistics.n) if statistics.norm > 0 else -math.inf)
    return size_means(sizes, logs, logarithmic=True)


def _relative_variance(groups: list[FloatArray], means: FloatArray) -> float:
    """Of single values around the mean of their size, over all sizes; zero where no size has two."""
    degrees = sum(len(group) - 1 for group in groups)
    if degrees == 0:
        return 0.0
    squares = sum(float(np.sum((np.exp(group - mean) - 1) ** 2)) for group, mean in zip(groups, means, strict=True))
    return squares / degrees
