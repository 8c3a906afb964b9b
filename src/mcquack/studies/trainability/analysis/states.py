"""What the states of a circuit are like: expressibility, entanglement, and how concentrated their fidelities are."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from mcquack.arrays import FloatArray
from mcquack.checks import require, required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import E, Engine
from mcquack.simulators.statevector import StatevectorEngine

Bins = Literal["haar", "uniform"]
_DEFAULT_BINS = {"haar": 20, "uniform": 75}  # 75 are those of Sim et al. (2019)
_PAIRS_AT_ONCE = 128
_STATES_AT_ONCE = 64  # as many of 14 qubits as fit into a few megabytes


@dataclass(frozen=True, kw_only=True)
class Expressibility:
    """Divergence of Kullback and Leibler, in nats, of the histogram of fidelities from that of Haar-random states.

    A finite sample of Haar-random states would have about ``of_haar`` itself, so what counts is ``excess``; it may be
    slightly negative.
    """

    divergence: float
    of_haar: float
    n_fidelities: int
    n_bins: int

    @property
    def excess(self) -> float:
        """The divergence beyond that of a Haar-random sample of the same size."""
        return self.divergence - self.of_haar


def expressibility(
    fidelities: ArrayLike, n_qubits: int, *, bins: Bins = "haar", n_bins: int | None = None
) -> Expressibility:
    """How far fidelities between independently drawn states are from Haar's: the smaller, the more states are reached.

    Parameters
    ----------
    fidelities : exact ones, from 0 to 1, as of :func:`random_circuit_fidelities`.
    n_qubits : width of the circuit.
    bins : of equal probability under Haar's measure ("haar"), or of equal width as in the literature ("uniform"): for
        10 qubits and more the first of the latter holds nearly all random fidelities, and they tell little.
    n_bins : 20 and 75 unless given.

    Examples
    --------
    >>> round(expressibility([1.0] * 100, 3, n_bins=10).divergence, 3)  # log 10: as far as ten bins can tell
    2.303
    """
    require(bins in _DEFAULT_BINS, "bins", '"haar" or "uniform"', bins)
    number = _DEFAULT_BINS[bins] if n_bins is None else required_count("n_bins", n_bins)
    power = 2.0 ** required_count("n_qubits", n_qubits) - 1
    values = np.asarray(fidelities, np.float64).reshape(-1)
    if not len(values) or not np.all((values >= 0) & (values <= 1 + 1e-4)):
        raise InvalidInputError("fidelities must be numbers from 0 to 1, and at least one; pass exact ones.")
    # The share of Haar-random pairs that are less alike: 1 - (1 - F)^(D - 1).
    with np.errstate(divide="ignore"):
        below = -np.expm1(power * np.log1p(-np.minimum(values, 1)))
        edges = np.linspace(0, 1, number + 1)
        ends = edges if bins == "haar" else -np.expm1(power * np.log1p(-edges))
    counts = np.histogram(below if bins == "haar" else np.minimum(values, 1), edges)[0]
    shares, expected = counts / len(values), np.diff(ends)
    seen = shares > 0
    # Where Haar's share of a wide bin underflows, the smallest number stands for it.
    ratios = np.log(shares[seen]) - np.log(np.maximum(expected[seen], np.finfo(float).tiny))
    possible = np.count_nonzero(expected * len(values) > 1) if bins == "uniform" else number
    return Expressibility(
        divergence=float(np.sum(shares[seen] * ratios)),
        of_haar=max(0, int(possible) - 1) / (2 * len(values)),
        n_fidelities=len(values),
        n_bins=number,
    )


def random_circuit_fidelities(feature_map: FeatureMap, *, n_pairs: int = 1000, seed: int = 0) -> FloatArray:
    """Fidelities between pairs of states of this circuit, all of whose angles are drawn uniformly from a full turn.

    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> random_circuit_fidelities(circuit, n_pairs=5).shape
    (5,)
    """
    n_angles = 3 * feature_map.n_layers * feature_map.n_qubits
    # The same gates, but each angle has a feature of its own, so that many circuits make one batch.
    free = replace(feature_map, n_features=n_angles, features_per_gate=3)
    engine = StatevectorEngine(free, dtype=np.float64)
    ones, zeros = np.ones(free.parameter_shape), np.zeros(free.parameter_shape)
    rng = stream(seed, "expressibility")
    found = []
    for start in range(0, required_count("n_pairs", n_pairs), _PAIRS_AT_ONCE):
        angles = rng.uniform(0, 2 * np.pi, size=(2, min(_PAIRS_AT_ONCE, n_pairs - start), n_angles))
        left, right = (engine.statevectors(engine.encode(each, ones, zeros)) for each in angles)
        found.append(np.abs(np.einsum("nd,nd->n", left.conj(), right)) ** 2)
    return np.asarray(np.minimum(np.concatenate(found), 1), np.float64)


def meyer_wallach(states: ArrayLike) -> FloatArray:
    """Meyer and Wallach's Q = 2 (1 - mean over qubits of Tr ρ_q²) of every row of amplitudes (N, 2**n), from 0 to 1.

    It is 0 for product states and 1 for GHZ states.

    >>> meyer_wallach([[1, 0, 0, 0]]).tolist()
    [0.0]
    """
    rows = np.atleast_2d(np.asarray(states))
    n_qubits = rows.shape[1].bit_length() - 1
    if rows.ndim != 2 or rows.shape[1] != 1 << n_qubits or n_qubits < 1:
        raise InvalidInputError(f"expected rows of 2**n amplitudes, got an array of shape {np.shape(states)}.")
    if not np.allclose(np.linalg.norm(rows, axis=1), 1, rtol=0, atol=1e-3):
        raise InvalidInputError("states must have the norm 1; divide each row by its norm.")
    purities = np.zeros((n_qubits, len(rows)))
    for qubit in range(n_qubits):
        halves = rows.reshape(len(rows), 1 << qubit, 2, -1)
        zero, one = halves[:, :, 0].reshape(len(rows), -1), halves[:, :, 1].reshape(len(rows), -1)
        of_zero, of_one = np.linalg.norm(zero, axis=1) ** 2, np.linalg.norm(one, axis=1) ** 2
        coherence = np.abs(np.einsum("nd,nd->n", zero.conj(), one)) ** 2
        purities[qubit] = of_zero**2 + of_one**2 + 2 * coherence
    return np.asarray(np.clip(2 * (1 - purities.mean(axis=0)), 0, 1))


def haar_entanglement(n_qubits: int) -> float:
    """Mean of Meyer and Wallach's Q over Haar-random states, (2**n - 2) / (2**n + 1).

    >>> haar_entanglement(2)
    0.4
    """
    return (2.0**n_qubits - 2) / (2.0**n_qubits + 1)


def entanglement(engine: StatevectorEngine, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> FloatArray:
    """Meyer and Wallach's Q of the states that samples have under the feature map; the mean is its entangling power.

    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> zeros = np.zeros(circuit.parameter_shape)
    >>> entanglement(StatevectorEngine(circuit), np.ones((3, 2)), zeros, zeros).tolist()
    [0.0, 0.0, 0.0]
    """
    rows = np.asarray(X)
    if len(rows) == 0:
        raise InvalidInputError("there are no samples whose states could be entangled; pass one or more.")
    return np.concatenate(
        [
            meyer_wallach(engine.statevectors(engine.encode(rows[start : start + _STATES_AT_ONCE], weights, bias)))
            for start in range(0, len(rows), _STATES_AT_ONCE)
        ]
    )


@dataclass(frozen=True, kw_only=True)
class Concentration:
    """Moments of fidelities between different states, as logarithms, since those of a thousand qubits are so small.

    ``log_median`` and ``log_std`` are of the logarithms themselves. ``log_variance`` is None where all are equal, and
    pairs of exactly orthogonal states count in the mean and the variance, but not in the other two.
    """

    log_mean: float
    log_variance: float | None
    log_median: float
    log_std: float
    n_pairs: int

    @property
    def mean(self) -> float:
        """Mean fidelity, 1 / 2**n for Haar-random states."""
        return math.exp(self.log_mean)

    @property
    def variance(self) -> float:
        """Variance of fidelities, (2**n - 1) / (4**n (2**n + 1)) for Haar-random states."""
        return 0.0 if self.log_variance is None else math.exp(self.log_variance)

    @property
    def relative_std(self) -> float:
        """Standard deviation divided by the mean, which is what a normalised loss sees: about 1 for Haar's states."""
        return 0.0 if self.log_variance is None else math.exp(min(self.log_variance / 2 - self.log_mean, 700.0))

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
    """Logarithms of mean and variance of the fidelities between Haar-random states.

    >>> haar_log_moments(1000)[0] == -1000 * math.log(2)
    True
    """
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
    """log |⟨x_i|x_j⟩|² for all i < j under the feature map with these parameters.

    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> zeros = np.zeros(circuit.parameter_shape)
    >>> pair_log_fidelities(StatevectorEngine(circuit, dtype=np.float64), np.ones((3, 2)), zeros, zeros).round(6) + 0.0
    array([0., 0., 0.])
    """
    rows = np.asarray(X)
    if len(rows) < 2:
        raise InvalidInputError(f"pairs take two samples or more, got {len(rows)}.")
    encoded = engine.encode(rows, np.asarray(weights), np.asarray(bias))
    return log_fidelities(engine, encoded, encoded)[np.triu_indices(len(rows), 1)]


def kernel_concentration(log_values: ArrayLike) -> Concentration:
    """Whether the entries of a kernel still differ, or are all alike as those of random states are.

    Parameters
    ----------
    log_values : natural logarithms of fidelities, of samples with each other or with centroids.

    Examples
    --------
    >>> found = kernel_concentration(np.log([0.5, 0.25]))
    >>> round(found.mean, 4), round(found.variance, 4)
    (0.375, 0.0156)
    """
    logs = np.asarray(log_values, np.float64).reshape(-1)
    finite = logs[np.isfinite(logs)]
    if not len(finite) or np.isnan(logs).any() or (logs > 1e-3).any():
        raise InvalidInputError("logarithms of fidelities must be at most 0, and some of them finite.")
    top = float(finite.max())
    spread = float(np.var(np.exp(logs - top)))
    return Concentration(
        log_mean=min(0.0, float(logsumexp(logs)) - math.log(len(logs))),
        log_variance=2 * top + math.log(spread) if spread > 0 else None,
        log_median=float(np.median(finite)),
        log_std=float(finite.std()),
        n_pairs=len(logs),
    )
