"""A straight line through means of known variance that may miss it by more: weights, likelihood and bootstrap."""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from mcquack.randomness import stream
from mcquack.studies.trainability.analysis.size_means import FloatArray, SizeMeans


def weighted_solution(columns: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The matrix that takes logarithms to the weighted least-squares solution, and that solution's covariance."""
    spread = np.asarray(np.linalg.inv(columns.T @ (columns / variances[:, None])), np.float64)
    return spread @ (columns / variances[:, None]).T, spread


def log_likelihood(columns: FloatArray, means: SizeMeans, excess: float) -> float:
    """Of the best line through the means, if each has its own variance and ``excess``."""
    total = means.variances + excess
    residuals = means.logs - columns @ (weighted_solution(columns, total)[0] @ means.logs)
    return -0.5 * float(np.sum(np.log(2 * math.pi * total) + residuals**2 / total))


def most_likely_excess(columns: FloatArray, means: SizeMeans) -> float:
    """Variance of the means around the law beyond that of the seeds."""
    residuals = means.logs - columns @ (weighted_solution(columns, np.ones(len(means)))[0] @ means.logs)
    most = 10 * float(np.max(residuals**2)) + float(np.max(means.variances))
    least = 1e-4 * float(np.min(means.variances))
    found = minimize_scalar(
        lambda log: -log_likelihood(columns, means, math.exp(log)), bounds=(math.log(least), math.log(most))
    )
    excess = math.exp(float(found.x))
    return excess if log_likelihood(columns, means, excess) > log_likelihood(columns, means, 0.0) else 0.0


def resampled_lines(
    columns: FloatArray, variances: FloatArray, residuals: FloatArray, n_resamples: int, *, seed: int
) -> FloatArray:
    """(R, 3): how far constants move when residuals are dealt anew, and the scale that each resample would report."""
    solve, _ = weighted_solution(columns, variances)
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


def studentised_quantiles(moved: FloatArray, errors: FloatArray, tails: float) -> tuple[FloatArray, FloatArray]:
    """Both quantiles of the resamples' deviations in units of their own errors, over the first axis."""
    known = errors[:, 0] > 1e-9 * max(float(np.max(errors)), 1e-300)
    if not known.any():
        return np.zeros(moved.shape[1]), np.zeros(moved.shape[1])
    low, high = np.quantile(moved[known] / errors[known], [tails, 1 - tails], axis=0)
    return low, high
