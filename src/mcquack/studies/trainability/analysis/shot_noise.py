"""What small fidelities and derivatives mean on a device: the shots after which noise is as large as the signal.

A fidelity F is the share of S shots that find only zeros, so its variance is F (1 - F) / S. A derivative by an angle is
half the difference of two fidelities, those of the circuits with the angle shifted by ±π/2.

>>> from mcquack.circuits.feature_map import FeatureMap
>>> from mcquack.simulators.statevector import StatevectorEngine
>>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
>>> ones, zeros = np.ones(circuit.parameter_shape), np.zeros(circuit.parameter_shape)
>>> start = Parameters(ones, zeros, np.array([[0.0, 0.1], [0.9, 1.0]]))
>>> data = TrainingData(np.array([[0.1, 0.2], [0.8, 0.7]]), np.array([0, 1]), np.ones(2), 2)
>>> engine = StatevectorEngine(circuit, dtype=np.float64)
>>> prediction_shots(engine, data.X, start).n_circuits
2
>>> alignment_gradient_shots(engine, data, start).n_circuits, entry_gradient_shots(engine, data.X, start).n_circuits
(16, 4)
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.checks import require, required_count
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.studies.trainability.analysis.states import log_fidelities
from mcquack.studies.trainability.observation import alignment_and_slopes
from mcquack.training.state import Parameters, TrainingData

EmbeddingGroup = Literal["weights", "bias"]


@dataclass(frozen=True, kw_only=True)
class ShotsNeeded:
    """Shots for each circuit, as a logarithm since they may exceed any number, and how many circuits it takes.

    >>> ShotsNeeded(log10_per_circuit=3.0, n_circuits=4).total
    4000.0
    """

    log10_per_circuit: float
    n_circuits: int

    @property
    def per_circuit(self) -> float:
        """Shots for each circuit, at least one; infinite beyond 1e308."""
        return max(1.0, 10**self.log10_per_circuit) if self.log10_per_circuit < 308 else math.inf

    @property
    def total(self) -> float:
        """Shots for all circuits together."""
        return self.n_circuits * self.per_circuit


def shots_to_tell(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Shots for each of two circuits after which their fidelities differ by one standard error; infinite if equal.

    >>> round(float(shots_to_tell(0.5, 0.4)))
    49
    """
    with np.errstate(over="ignore"):
        return np.power(10.0, _log10_shots_to_tell(_logs(first), _logs(second)))


def shots_to_resolve(derivative: ArrayLike, fidelity: ArrayLike, *, n_gates: int = 2) -> FloatArray:
    """Shots for each shifted circuit after which a derivative of a fidelity is as large as its standard error.

    From the two numbers alone, and so a guess: shifted circuits count as having the same fidelity, but at most 1/2,
    which is where a shift takes a fidelity near 1. A bias turns two gates, one of the sample's circuit and one of the
    centroid's. ``alignment_gradient_shots`` and ``entry_gradient_shots`` look at the shifted circuits themselves.

    >>> round(float(shots_to_resolve(0.01, 0.5)))
    2500
    """
    log_fidelity = np.minimum(_logs(fidelity), math.log(0.5))
    with np.errstate(over="ignore", divide="ignore"):
        log_derivative = np.log(np.abs(np.asarray(derivative, np.float64)))
        log_variance = log_fidelity + np.log1p(-np.exp(log_fidelity))
        logs = math.log(required_count("n_gates", n_gates) / 2) + log_variance - 2 * log_derivative
        return np.asarray(np.exp(logs))


def prediction_shots(engine: Engine[Any], X: ArrayLike, parameters: Parameters) -> ShotsNeeded:
    """Shots to tell a typical sample's two likeliest centroids apart: the median over the samples.

    Parameters
    ----------
    engine : exact, and best in double precision; a ring engine takes a thousand qubits and more.
    X : samples as the circuit takes them.
    parameters : weights, biases and two centroids or more.
    """
    if len(parameters.centroids) < 2:
        raise InvalidInputError("a single centroid has no other to be told from; pass parameters with two or more.")
    samples = engine.encode(np.asarray(X), parameters.weights, parameters.bias)
    centroids = engine.encode(parameters.centroids, parameters.weights, parameters.bias)
    ordered = np.sort(log_fidelities(engine, samples, centroids), axis=1)
    needed = _log10_shots_to_tell(ordered[:, -1], ordered[:, -2])
    return ShotsNeeded(log10_per_circuit=_median(needed), n_circuits=len(parameters.centroids))


def alignment_gradient_shots(
    engine: Engine[Any],
    data: TrainingData,
    parameters: Parameters,
    *,
    group: EmbeddingGroup = "bias",
    n_components: int = 12,
    seed: int = 0,
) -> ShotsNeeded:
    """Shots to see a typical component of the alignment's gradient.

    Signal and noise are root mean squares over components. The slopes ∂A/∂K count as known; measuring them, too, takes
    more. ``n_circuits`` are those of one component.

    Parameters
    ----------
    engine, parameters : as in :func:`prediction_shots`.
    data : the batch.
    group : whether derivatives are by weights or by biases.
    n_components, seed : how many derivatives stand for all, and by what chance they are chosen.
    """
    exact = log_fidelities(
        engine,
        engine.encode(data.X, parameters.weights, parameters.bias),
        engine.encode(parameters.centroids, parameters.weights, parameters.bias),
    )
    # The alignment does not know the size of a kernel, so its slopes are found for fidelities of the size of 1.
    unit = float(exact.max())
    if not math.isfinite(unit):
        raise InvalidInputError("all fidelities are zero, and such a kernel has no alignment; choose other parameters.")
    K = np.exp(exact - unit)
    _, slopes = alignment_and_slopes(K, data)
    signals, noises = [], []
    for of_sample, of_centroid in shifted_pairs(
        engine, data.X, parameters, group=group, n_components=n_components, seed=seed
    ):
        signals.append(np.sum(slopes * (of_sample.derivative(unit) + of_centroid.derivative(unit))))
        noises.append(np.sum(slopes**2 * (of_sample.variance(unit) + of_centroid.variance(unit))))
    return ShotsNeeded(
        log10_per_circuit=float(_log10_ratio(np.mean(noises), np.mean(np.square(signals)), unit)),
        n_circuits=4 * exact.size,
    )


def entry_gradient_shots(
    engine: Engine[Any],
    X: ArrayLike,
    parameters: Parameters,
    *,
    group: EmbeddingGroup = "bias",
    n_components: int = 12,
    seed: int = 0,
) -> ShotsNeeded:
    """Shots to see a typical component of the gradient of a single fidelity: the median over samples and centroids.

    ``n_circuits`` are those of one component; parameters are those of :func:`alignment_gradient_shots`.
    """
    shifts = list(shifted_pairs(engine, X, parameters, group=group, n_components=n_components, seed=seed))
    unit = max(float(max(shift.plus.max(), shift.minus.max())) for pair in shifts for shift in pair)
    signals = [(of_sample.derivative(unit) + of_centroid.derivative(unit)) ** 2 for of_sample, of_centroid in shifts]
    noises = [of_sample.variance(unit) + of_centroid.variance(unit) for of_sample, of_centroid in shifts]
    needed = _log10_ratio(np.mean(noises, axis=0), np.mean(signals, axis=0), unit)
    return ShotsNeeded(log10_per_circuit=_median(needed), n_circuits=4)


@dataclass(frozen=True, eq=False)
class Shift:
    """Logarithms of the fidelities (N, M) with one angle of one side moved by ±π/2, and ∂angle/∂parameter."""

    plus: FloatArray
    minus: FloatArray
    factor: FloatArray

    def derivative(self, unit: float) -> FloatArray:
        """The derivative by the parameter, in units of exp(unit)."""
        return np.asarray(self.factor * (np.exp(self.plus - unit) - np.exp(self.minus - unit)) / 2)

    def variance(self, unit: float) -> FloatArray:
        """Variance of the derivative for a single shot, in units of exp(unit)."""
        plus, minus = (np.exp(logs - unit) * -np.expm1(logs) for logs in (self.plus, self.minus))
        return np.asarray(self.factor**2 * (plus + minus) / 4)


def shifted_pairs(
    engine: Engine[Any], X: ArrayLike, parameters: Parameters, *, group: EmbeddingGroup, n_components: int, seed: int
) -> Iterator[tuple[Shift, Shift]]:
    """What a device runs for some derivatives by chance: shifts of the samples' and of the centroids' gate."""
    require(group in ("weights", "bias"), "group", '"weights" or "bias"', group)
    shape = engine.feature_map.parameter_shape
    n_all = math.prod(shape)
    n_chosen = min(required_count("n_components", n_components), n_all)
    chosen = stream(seed, "shot noise").choice(n_all, size=n_chosen, replace=False)
    rows, weights = np.asarray(X), parameters.weights
    samples = engine.encode(rows, weights, parameters.bias)
    centroids = engine.encode(parameters.centroids, weights, parameters.bias)
    for number in np.sort(chosen):
        place = np.unravel_index(number, shape)
        feature = engine.feature_map.feature_index[place]
        biases = []
        for angle in (math.pi / 2, -math.pi / 2):
            moved = np.array(parameters.bias, copy=True)
            moved[place] += angle
            biases.append(moved)
        by_samples = [log_fidelities(engine, engine.encode(rows, weights, each), centroids) for each in biases]
        by_centroids = [
            log_fidelities(engine, samples, engine.encode(parameters.centroids, weights, each)) for each in biases
        ]
        is_bias = group == "bias"
        of_samples = np.ones((1, 1)) if is_bias else rows[:, feature, None]
        of_centroids = np.ones((1, 1)) if is_bias else np.asarray(parameters.centroids[None, :, feature], np.float64)
        yield (
            Shift(by_samples[0], by_samples[1], of_samples),
            Shift(by_centroids[0], by_centroids[1], of_centroids),
        )


def _logs(fidelities: ArrayLike) -> FloatArray:
    values = np.asarray(fidelities, np.float64)
    if not np.all((values >= 0) & (values <= 1 + 1e-4)):
        raise InvalidInputError("fidelities must be numbers from 0 to 1; pass exact ones.")
    with np.errstate(divide="ignore"):
        return np.minimum(np.log(values), 0.0)


def _log10_shots_to_tell(first: FloatArray, second: FloatArray) -> FloatArray:
    """From logarithms; (F₁(1 - F₁) + F₂(1 - F₂)) / (F₁ - F₂)²."""
    unit = np.maximum(np.maximum(first, second), np.finfo(float).min)
    one, two = np.exp(first - unit), np.exp(second - unit)
    return _log10_ratio(one * -np.expm1(first) + two * -np.expm1(second), (one - two) ** 2, unit)


def _log10_ratio(noise: ArrayLike, signal: ArrayLike, unit: ArrayLike) -> FloatArray:
    """Shots, the noise being in units of exp(unit) and the signal, a square, in those of its square.

    Infinite without a signal, and one where there is no noise.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(np.asarray(noise, np.float64)) - np.log10(np.asarray(signal, np.float64))
    logs = np.where(np.asarray(signal) == 0, np.inf, np.where(np.asarray(noise) == 0, 0.0, logs))
    return np.asarray(logs - np.where(np.asarray(noise) == 0, 0.0, np.asarray(unit)) / math.log(10))


def _median(logs: FloatArray) -> float:
    # The middle one, since the mean of two is not a number where one is infinite.
    return float(np.sort(logs, axis=None)[logs.size // 2])
