"""How a quantity falls with the size: one law fitted to its means, with intervals."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mcquack.bench.ranking.intervals import FEWEST_RESAMPLES, Interval
from mcquack.checks import is_whole_number, require
from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis.line import (
    log_likelihood,
    most_likely_excess,
    resampled_lines,
    studentised_quantiles,
    weighted_solution,
)
from mcquack.studies.trainability.analysis.size_means import FloatArray, SizeMeans

Law = Literal["exponential", "power", "constant"]
LAWS: tuple[Law, ...] = ("exponential", "power", "constant")
FEWEST_SIZES = 5
"""Of fewer, a law with two constants and the scatter around it leaves nothing to compare laws by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Band:
    """Where the mean lies at some sizes with the probability ``level``, if the law holds there."""

    sizes: FloatArray
    center: FloatArray
    low: FloatArray
    high: FloatArray
    level: float


@dataclass(frozen=True, kw_only=True, eq=False)
class DecayFit:
    """a·exp(-k n), a·n^(-k) or a, with k = ``rate`` and log a = ``log_amplitude``; a negative rate is growth.

    ``aicc`` is Akaike's criterion for small samples. ``misfit`` is the factor by which means typically miss the law,
    and ``excess`` the part of its logarithm that seeds do not explain (a standard deviation, zero where they do).
    """

    law: Law
    log_amplitude: float
    rate: float
    rate_interval: Interval
    aicc: float
    misfit: float
    excess: float
    sizes: FloatArray
    draws: FloatArray  # (R, 3): amplitude, slope and scale of every resample, relative to the fit
    spread: FloatArray  # (2, 2): covariance of amplitude and slope, for means of scale 1
    scale: float

    @property
    def factor_per_qubit(self) -> float:
        """By which the quantity is multiplied when n grows by one, under the exponential law."""
        return math.exp(-self._rate_of("exponential"))

    @property
    def halvings_per_qubit(self) -> float:
        """Under the exponential law; 1 for Haar-random states' fidelities, 0 for none."""
        return self._rate_of("exponential") / math.log(2)

    @property
    def halvings_interval(self) -> Interval:
        """Of the halvings per qubit."""
        self._rate_of("exponential")
        ends = self.rate_interval
        return Interval(low=ends.low / math.log(2), high=ends.high / math.log(2), level=ends.level)

    @property
    def formula(self) -> str:
        """The law with its numbers, as people write it."""
        amplitude = f"{math.exp(self.log_amplitude):.3g}"
        if self.law == "exponential":
            return f"{amplitude} · 2^({-self.halvings_per_qubit:.3g} n)"
        return amplitude if self.law == "constant" else f"{amplitude} · n^({-self.rate:.3g})"

    def log_predicted(self, sizes: ArrayLike) -> FloatArray:
        """Logarithms of what the law gives at these sizes."""
        predicted: FloatArray = self.log_amplitude - self.rate * abscissae(self.law, sizes)
        return predicted

    def predicted(self, sizes: ArrayLike) -> FloatArray:
        """What the law gives at these sizes."""
        return np.exp(self.log_predicted(sizes))

    def band(self, sizes: ArrayLike) -> Band:
        """The law with its uncertainty; outside the sizes of the fit it also assumes that the law goes on."""
        at = np.atleast_1d(np.asarray(sizes, np.float64))
        rows = np.stack([np.ones(len(at)), abscissae(self.law, at)])
        errors = np.sqrt(np.einsum("in,ij,jn->n", rows, self.spread, rows))
        tails = (1 - self.rate_interval.level) / 2
        low, high = studentised_quantiles(self.draws[:, :2] @ rows, self.draws[:, 2:] * errors, tails)
        center = self.log_predicted(at)
        return Band(
            sizes=at,
            center=np.exp(center),
            low=np.exp(center - high * self.scale * errors),
            high=np.exp(center - low * self.scale * errors),
            level=self.rate_interval.level,
        )

    def _rate_of(self, law: Law) -> float:
        if self.law != law:
            raise InvalidInputError(f"this is the rate of a law that is {self.law}; take the fit that is {law}.")
        return self.rate


def abscissae(law: Law, sizes: ArrayLike) -> FloatArray:
    """What the logarithm of the quantity is linear in: n, log n, or nothing."""
    n = np.asarray(sizes, np.float64)
    return {"exponential": n, "power": np.log(n), "constant": np.zeros_like(n)}[law]


def fit_decay(means: SizeMeans, *, law: Law, level: float = 0.95, n_resamples: int = 2000, seed: int = 0) -> DecayFit:
    """Most likely law, if logarithms scatter normally around it by what seeds explain and by one unknown excess.

    Intervals are by the studentised bootstrap of residuals between sizes, so they cover that a law fits only roughly.
    """
    require(law in LAWS, "law", " or ".join(map(repr, LAWS)), law)
    require(0 < level < 1, "level", "between 0 and 1", level)
    enough = is_whole_number(n_resamples) and n_resamples >= FEWEST_RESAMPLES
    require(enough, "n_resamples", f"a whole number of at least {FEWEST_RESAMPLES}", n_resamples)
    if len(means) < FEWEST_SIZES:
        raise InvalidInputError(f"a law needs means at {FEWEST_SIZES} sizes or more, got {len(means)}; run more sizes.")
    columns = np.stack([np.ones(len(means)), abscissae(law, means.sizes)], axis=1)[:, : 1 if law == "constant" else 2]
    excess = most_likely_excess(columns, means)
    total = means.variances + excess
    solve, spread = weighted_solution(columns, total)
    found = solve @ means.logs
    residuals = (means.logs - columns @ found) / np.sqrt(total)
    n_sizes, n_columns = columns.shape
    scale = math.sqrt(float(residuals @ residuals) / (n_sizes - n_columns))
    draws = resampled_lines(columns, total, residuals, n_resamples, seed=seed)
    n_constants = n_columns + 1
    aicc = -2 * log_likelihood(columns, means, excess) + 2 * n_constants * n_sizes / (n_sizes - n_constants - 1)
    slope, error = (float(found[1]), math.sqrt(spread[1, 1])) if n_columns == 2 else (0.0, 0.0)
    low, high = studentised_quantiles(draws[:, 1:2], draws[:, 2:] * error, (1 - level) / 2)
    ends = slope - high[0] * scale * error, slope - low[0] * scale * error
    return DecayFit(
        law=law,
        log_amplitude=float(found[0]),
        rate=-slope,
        rate_interval=Interval(low=-float(ends[1]), high=-float(ends[0]), level=level),
        aicc=aicc,
        misfit=math.exp(math.sqrt(float(np.mean((means.logs - columns @ found) ** 2)))),
        excess=math.sqrt(excess),
        sizes=means.sizes,
        draws=draws,
        spread=np.pad(spread, (0, 2 - n_columns)),
        scale=scale,
    )
