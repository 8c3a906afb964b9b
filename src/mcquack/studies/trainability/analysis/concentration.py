"""Whether the entries of a kernel still differ, or are all alike as those of random states are."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from mcquack.checks import required_count
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import E, Engine

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Concentration:
    """Of fidelities between different states, as logarithms, since those of a thousand qubits are below any number.

    ``log_median`` and ``log_std`` are of the logarithms themselves. ``log_variance`` is None where all are equal, and
    pairs of exactly orthogonal states count in the mean and the variance, but not in the other two.
    """

    n_qubits: int
    log_mean: float
    log_variance: float | None
    log_median: float
    log_std: float
    n_pairs: int

    @property
    def mean(self) -> float:
        """1 / 2**n for Haar-random states."""
        return math.exp(self.log_mean)

    @property
    def variance(self) -> float:
        """(2**n - 1) / (4**n (2**n + 1)) for Haar-random states."""
        return 0.0 if self.log_variance is None else math.exp(self.log_variance)

    @property
    def relative_std(self) -> float:
        """Standard deviation divided by the mean, which is what a normalised loss sees: about 1 for Haar's states."""
        return 0.0 if self.log_variance is None else math.exp(min(self.log_variance / 2 - self.log_mean, 700.0))

    @property
    def halvings_per_qubit(self) -> float:
        """-log₂ of the mean divided by n: 1 for Haar-random states, 0 for states that are all equal."""
        return -self.log_mean / (self.n_qubits * math.log(2))

    def as_row(self) -> dict[str, float]:
        """Plain finite numbers by name; "log_variance" is left out where there is none."""
        row = {
            "mean": self.mean,
            "variance": self.variance,
            "relative_std": self.relative_std,
            "log_mean": self.log_mean,
            "log_median": self.log_median,
            "log_std": self.log_std,
        }
        return row if self.log_variance is None else {**row, "log_variance": self.log_variance}


def haar_log_moments(n_qubits: int) -> tuple[float, float]:
    """Logarithms of mean and variance of the fidelities between Haar-random states."""
    log_dimension = n_qubits * math.log(2)
    tiny = math.exp(-log_dimension)  # vanishes for thousands of qubits, as it may
    return -log_dimension, -2 * log_dimension + math.log1p(-tiny) - math.log1p(tiny)


def log_fidelities(engine: Engine[E], samples: E, centroids: E) -> FloatArray:
    """log |⟨c_m|x_i⟩|², shape (N, M), from an engine that keeps logarithms wherever it does."""
    direct: Any = getattr(engine, "log_fidelities", None)
    if direct is not None:
        return np.asarray(direct(samples, centroids), np.float64)
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(engine.fidelities(samples, centroids), np.float64))


def pair_log_fidelities(engine: Engine[Any], X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> FloatArray:
    """log |⟨x_i|x_j⟩|² for all i < j under the feature map with these parameters."""
    rows = np.asarray(X)
    if len(rows) < 2:
        raise InvalidInputError(f"pairs take two samples or more, got {len(rows)}.")
    encoded = engine.encode(rows, np.asarray(weights), np.asarray(bias))
    return log_fidelities(engine, encoded, encoded)[np.triu_indices(len(rows), 1)]


def kernel_concentration(log_values: ArrayLike, n_qubits: int) -> Concentration:
    """Of the logarithms of fidelities, of samples with each other or with centroids."""
    logs = np.asarray(log_values, np.float64).reshape(-1)
    finite = logs[np.isfinite(logs)]
    if not len(finite) or np.isnan(logs).any() or (logs > 1e-3).any():
        raise InvalidInputError("logarithms of fidelities must be at most 0, and some of them finite.")
    top = float(finite.max())
    spread = float(np.var(np.exp(logs - top)))
    return Concentration(
        n_qubits=required_count("n_qubits", n_qubits),
        log_mean=min(0.0, float(logsumexp(logs)) - math.log(len(logs))),
        log_variance=2 * top + math.log(spread) if spread > 0 else None,
        log_median=float(np.median(finite)),
        log_std=float(finite.std()),
        n_pairs=len(logs),
    )
