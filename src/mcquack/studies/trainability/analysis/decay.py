"""How a quantity falls with the size: means over seeds, three laws fitted to them, and which law they favour."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from mcquack.arrays import FloatArray
from mcquack.bench.ranking import Interval
from mcquack.checks import require, required_count
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.studies.trainability.observation import Group, Observation

GradientOf = Literal["gradients", "fidelity_gradients"]
# Single precision knows a gradient to six digits at best, so that no mean is better known than this.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeMeans:
    """A positive quantity at several system sizes, in rising order, as natural logarithms of its means over seeds.

    ``variances`` are those of ``logs`` that the seeds explain: their relative variance, pooled over all sizes (each has
    too few for one of its own), divided by how many a size has.
    """

    sizes: FloatArray
    logs: FloatArray
    variances: FloatArray
    n_vanished: int = 0  # how many values were zero and are left out

    def __len__(self) -> int:
        return len(self.sizes)


def size_means(sizes: ArrayLike, values: ArrayLike, *, logarithmic: bool = False) -> SizeMeans:
    """Means of the values of each size; zeros are left out and counted. ``logarithmic`` values are natural logarithms.

    >>> np.exp(size_means([4, 2, 4], [1.0, 3.0, 2.0]).logs).round(6).tolist()
    [3.0, 1.5]
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
    degrees = sum(len(group) - 1 for group in groups)
    squares = sum(float(np.sum((np.exp(group - mean) - 1) ** 2)) for group, mean in zip(groups, means, strict=True))
    relative = squares / degrees if degrees else 0.0
    variances = relative / np.maximum(counts, 1) + _ROUNDING**2
    return SizeMeans(sizes=distinct, logs=means, variances=variances, n_vanished=int(np.count_nonzero(~there)))


def gradient_means(observations: Iterable[Observation], group: Group, *, of: GradientOf = "gradients") -> SizeMeans:
    """Mean squares of the first gradients at each number of qubits: their variance over starts, if their mean is zero.

    Parameters
    ----------
    observations : those of one model and start; any without gradients of this group are passed over.
    group : "weights", "bias" or "centroids".
    of : whether the loss or a single entry of the kernel is differentiated.

    Examples
    --------
    >>> from mcquack.studies.trainability import GradientStatistics
    >>> statistics = GradientStatistics(mean=0.0, std=2.0, mean_abs=1.5, norm=4.0, n=4)
    >>> seen = Observation(model="mcquack", seed=0, settings={"n_qubits": 3}, gradients={"weights": statistics})
    >>> np.exp(gradient_means([seen], "weights").logs).round(6).tolist()
    [4.0]
    """
    sizes, logs = [], []
    for observation in observations:
        statistics = getattr(observation, of).get(group)
        if statistics is None:
            continue
        sizes.append(float(observation.settings["n_qubits"]))
        # Not of the square, which would be zero for a norm of 1e-170.
        logs.append(2 * math.log(statistics.norm) - math.log(statistics.n) if statistics.norm > 0 else -math.inf)
    return size_means(sizes, logs, logarithmic=True)


Law = Literal["exponential", "power", "constant"]
LAWS: tuple[Law, ...] = ("exponential", "power", "constant")
FEWEST_SIZES = 5
"""Of fewer, a law with two constants and the scatter around it leaves nothing to compare laws by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DecayFit:
    """One law with its constants a and k, the rate: a·exp(-k n), a·n^(-k) or a."""

    law: Law
    log_amplitude: float
    rate: float  # growth if negative
    rate_interval: Interval
    aicc: float  # Akaike's criterion for small samples
    misfit: float  # the factor by which means typically miss the law
    excess: float  # the part of its logarithm that seeds do not explain, a standard deviation
    draws: FloatArray  # (R, 3): amplitude, slope and scale of every resample, relative to the fit
    spread: FloatArray  # (2, 2): covariance of amplitude and slope, for means of scale 1
    scale: float

    def log_predicted(self, sizes: ArrayLike) -> FloatArray:
        predicted: FloatArray = self.log_amplitude - self.rate * _abscissae(self.law, sizes)
        return predicted

    def log_band(self, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Between which logarithms the mean lies at these sizes; outside those of the fit, if the law goes on."""
        at = np.atleast_1d(np.asarray(sizes, np.float64))
        rows = np.stack([np.ones(len(at)), _abscissae(self.law, at)])
        errors = np.sqrt(np.einsum("in,ij,jn->n", rows, self.spread, rows))
        tails = (1 - self.rate_interval.level) / 2
        low, high = _studentised_quantiles(self.draws[:, :2] @ rows, self.draws[:, 2:] * errors, tails)
        center = self.log_predicted(at)
        return center - high * self.scale * errors, center - low * self.scale * errors


def _abscissae(law: Law, sizes: ArrayLike) -> FloatArray:
    n = np.asarray(sizes, np.float64)
    return {"exponential": n, "power": np.log(n), "constant": np.zeros_like(n)}[law]


def fit_decay(means: SizeMeans, *, law: Law, level: float = 0.95, n_resamples: int = 2000, seed: int = 0) -> DecayFit:
    """The most likely law, if logarithms scatter normally around it by what seeds explain and by one unknown excess.

    Intervals are by the studentised bootstrap of residuals between sizes, so they cover that a law fits only roughly.

    >>> sizes = np.arange(2.0, 14.0)
    >>> round(fit_decay(size_means(sizes, 3 * sizes**-2), law="power").rate, 3)
    2.0
    """
    require(law in LAWS, "law", " or ".join(map(repr, LAWS)), law)
    require(0 < level < 1, "level", "between 0 and 1", level)
    required_count("n_resamples", n_resamples)
    if len(means) < FEWEST_SIZES:
        raise InvalidInputError(f"a law needs means at {FEWEST_SIZES} sizes or more, got {len(means)}; run more sizes.")
    columns = np.stack([np.ones(len(means)), _abscissae(law, means.sizes)], axis=1)[:, : 1 if law == "constant" else 2]
    excess = _most_likely_excess(columns, means)
    total = means.variances + excess
    solve, spread = _weighted_solution(columns, total)
    found = solve @ means.logs
    residuals = (means.logs - columns @ found) / np.sqrt(total)
    n_sizes, n_columns = columns.shape
    scale = math.sqrt(float(residuals @ residuals) / (n_sizes - n_columns))
    draws = _resampled_lines(columns, total, residuals, n_resamples, seed=seed)
    n_constants = n_columns + 1
    aicc = -2 * _log_likelihood(columns, means, excess) + 2 * n_constants * n_sizes / (n_sizes - n_constants - 1)
    slope, error = (float(found[1]), math.sqrt(spread[1, 1])) if n_columns == 2 else (0.0, 0.0)
    low, high = _studentised_quantiles(draws[:, 1:2], draws[:, 2:] * error, (1 - level) / 2)
    ends = slope - high[0] * scale * error, slope - low[0] * scale * error
    return DecayFit(
        law=law,
        log_amplitude=float(found[0]),
        rate=-slope,
        rate_interval=Interval(low=-float(ends[1]), high=-float(ends[0]), level=level),
        aicc=aicc,
        misfit=math.exp(math.sqrt(float(np.mean((means.logs - columns @ found) ** 2)))),
        excess=math.sqrt(excess),
        draws=draws,
        spread=np.pad(spread, (0, 2 - n_columns)),
        scale=scale,
    )


Verdict = Literal["none", "growth", "exponential", "power", "undecided"]
DECIDED = 6.0
"""Difference of AICc from which one law counts as favoured: the other is 20 times less likely."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """The three laws fitted to the same means, and which of them these favour: the question of barren plateaus."""

    means: SizeMeans
    fits: Mapping[Law, DecayFit]

    @property
    def best(self) -> Law:
        return min(self.fits, key=lambda law: self.fits[law].aicc)

    @property
    def halvings(self) -> tuple[float, Interval]:
        """Halvings for each qubit under the exponential law and where they lie; 1 for Haar-random fidelities."""
        rate, ends = self.fits["exponential"].rate, self.fits["exponential"].rate_interval
        bit = math.log(2)
        return rate / bit, Interval(low=ends.low / bit, high=ends.high / bit, level=ends.level)

    @property
    def advantage(self) -> float:
        """AICc of the power law minus that of the exponential law: positive where the exponential one fits better."""
        return self.fits["power"].aicc - self.fits["exponential"].aicc

    @property
    def favoured(self) -> Literal["exponential", "power"] | None:
        """The exponential or the power law, where the other is clearly worse."""
        if abs(self.advantage) < DECIDED:
            return None
        return "exponential" if self.advantage > 0 else "power"

    @property
    def kind(self) -> Verdict:
        """What may be said at all: "none" where no change with the size can be told from scatter."""
        rate = self.fits["exponential" if self.advantage > 0 else "power"].rate_interval
        if rate.low <= 0 <= rate.high:
            return "none"
        if rate.high < 0:
            return "growth"
        return "undecided" if self.favoured is None else self.favoured

    @property
    def sentence(self) -> str:
        low, high = self.means.sizes[0], self.means.sizes[-1]
        return f"From {low:g} to {high:g} qubits it {self._change()}{self._comparison()}{self._roughness()}."

    def _change(self) -> str:
        power, (halvings, ends) = self.fits["power"], self.halvings
        percent = f"{100 * ends.level:g} % interval of the exponent"
        per_qubit = f"2^({-halvings:.2f}) per qubit ({percent} {-ends.high:.2f} to {-ends.low:.2f})"
        ends = power.rate_interval
        by_power = f"n^({-power.rate:.2f}) ({percent} {-ends.high:.2f} to {-ends.low:.2f})"
        return {
            "none": f"shows no change that could be told from scatter; an exponential law would have {per_qubit}",
            "growth": f"does not decay but grows, as {per_qubit if self.advantage > 0 else by_power}",
            "exponential": f"decays exponentially, by a factor of {per_qubit}",
            "power": f"decays polynomially, as {by_power}",
            "undecided": f"decays, by a factor of {per_qubit} or as {by_power}",
        }[self.kind]

    def _comparison(self) -> str:
        better, worse = ("exponential", "power") if self.advantage > 0 else ("power", "exponential")
        told = f"ΔAICc = {abs(self.advantage):.1f}"
        if self.kind == "none":
            return ""
        if self.favoured is None:
            return f"; the sizes do not tell which (the {better} law is ahead by only {told})"
        return f"; the {better} law is favoured over the {worse} law by {told}"

    def _roughness(self) -> str:
        misfit = self.fits[self.best].misfit
        return "" if misfit < 2 else f"; no law is close: means miss even the best by a factor of {misfit:.1f}"


def scaling(means: SizeMeans, *, n_resamples: int = 2000, seed: int = 0) -> Scaling:
    """Fits an exponential law, a power law and a constant, and tells which of them the means favour.

    Parameters
    ----------
    means : at five sizes or more.
    n_resamples, seed : those of the bootstrap behind the intervals.

    Returns
    -------
    The fits, with the verdict as ``kind`` and, in words, as ``sentence``.

    Examples
    --------
    >>> sizes = np.arange(2.0, 14.0)
    >>> found = scaling(size_means(sizes, 2.0**-sizes))
    >>> found.kind, round(found.halvings[0], 3)
    ('exponential', 1.0)
    """
    fits = {law: fit_decay(means, law=law, n_resamples=n_resamples, seed=seed) for law in LAWS}
    return Scaling(means=means, fits=fits)


# A straight line through means of known variance that may miss it by more: weights, likelihood and bootstrap.


def _weighted_solution(columns: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The matrix that takes logarithms to the weighted least-squares solution, and that solution's covariance."""
    spread = np.asarray(np.linalg.inv(columns.T @ (columns / variances[:, None])), np.float64)
    return spread @ (columns / variances[:, None]).T, spread


def _log_likelihood(columns: FloatArray, means: SizeMeans, excess: float) -> float:
    total = means.variances + excess
    residuals = means.logs - columns @ (_weighted_solution(columns, total)[0] @ means.logs)
    return -0.5 * float(np.sum(np.log(2 * math.pi * total) + residuals**2 / total))


def _most_likely_excess(columns: FloatArray, means: SizeMeans) -> float:
    """Variance of the means around the law beyond that of the seeds."""
    residuals = means.logs - columns @ (_weighted_solution(columns, np.ones(len(means)))[0] @ means.logs)
    most = 10 * float(np.max(residuals**2)) + float(np.max(means.variances))
    least = 1e-4 * float(np.min(means.variances))
    found = minimize_scalar(
        lambda log: -_log_likelihood(columns, means, math.exp(log)), bounds=(math.log(least), math.log(most))
    )
    excess = math.exp(float(found.x))
    return excess if _log_likelihood(columns, means, excess) > _log_likelihood(columns, means, 0.0) else 0.0


def _resampled_lines(
    columns: FloatArray, variances: FloatArray, residuals: FloatArray, n_resamples: int, *, seed: int
) -> FloatArray:
    """(R, 3): how far constants move when residuals are dealt anew, and the scale that each resample would report."""
    solve, _ = _weighted_solution(columns, variances)
    roots = np.sqrt(variances)
    hats = np.einsum("nc,cn->n", columns, solve)
    # A fit takes away more of the residuals where it has more leverage.
    pool = residuals / np.sqrt(np.maximum(1 - hats, 1e-12))
    dealt = stream(seed, "bootstrap of decay").choice(pool - pool.mean(), size=(n_resamples, len(pool)))
    logs = dealt * roots
    moved = logs @ solve.T
    left = (logs - moved @ columns.T) / roots
    scales = np.sqrt(np.sum(left**2, axis=1, keepdims=True) / (len(pool) - columns.shape[1]))
    return np.hstack([moved, np.zeros((n_resamples, 2 - moved.shape[1])), scales])


def _studentised_quantiles(moved: FloatArray, errors: FloatArray, tails: float) -> tuple[FloatArray, FloatArray]:
    """Both quantiles of the resamples' deviations in units of their own errors, over the first axis."""
    known = errors[:, 0] > 1e-9 * max(float(np.max(errors)), 1e-300)
    if not known.any():
        return np.zeros(moved.shape[1]), np.zeros(moved.shape[1])
    low, high = np.quantile(moved[known] / errors[known], [tails, 1 - tails], axis=0)
    return low, high
