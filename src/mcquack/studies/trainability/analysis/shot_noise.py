"""What small fidelities and derivatives mean on a device: the shots after which noise is as large as the signal.

A fidelity F is the share of S shots that find only zeros, so its variance is F (1 - F) / S. A derivative by an angle is
half the difference of two fidelities, those of the circuits with the angle shifted by ±π/2. Shots are those of each
circuit, as decimal logarithms, since they may exceed any number.

>>> from mcquack.circuits.feature_map import FeatureMap
>>> from mcquack.simulators.statevector import StatevectorEngine
>>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
>>> ones, zeros = np.ones(circuit.parameter_shape), np.zeros(circuit.parameter_shape)
>>> start = Parameters(ones, zeros, np.array([[0.0, 0.1], [0.9, 1.0]]))
>>> round(prediction_shots(StatevectorEngine(circuit, dtype=np.float64), [[0.1, 0.2], [0.8, 0.7]], start), 1)
0.8
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.studies.trainability.analysis.states import log_fidelities
from mcquack.studies.trainability.observation import alignment_and_slopes
from mcquack.training.state import Parameters, TrainingData


def prediction_shots(engine: Engine[Any], X: ArrayLike, parameters: Parameters) -> float:
    """Shots to tell a typical sample's two likeliest centroids apart: the median over the samples."""
    if len(parameters.centroids) < 2:
        raise InvalidInputError("a single centroid has no other to be told from; pass parameters with two or more.")
    ordered = np.sort(_log_kernel(engine, X, parameters), axis=1)
    return _median(log10_shots_to_tell(ordered[:, -1], ordered[:, -2]))


def alignment_gradient_shots(
    engine: Engine[Any], data: TrainingData, parameters: Parameters, *, n_components: int = 12, seed: int = 0
) -> float:
    """Shots to see a typical component of the alignment's gradient by the biases.

    Signal and noise are root mean squares over ``n_components``, which chance chooses. The slopes ∂A/∂K count as known;
    measuring them, too, takes more.
    """
    exact = _log_kernel(engine, data.X, parameters)
    # The alignment does not know the size of a kernel, so its slopes are found for fidelities of the size of 1.
    unit = float(exact.max())
    if not math.isfinite(unit):
        raise InvalidInputError("all fidelities are zero, and such a kernel has no alignment; choose other parameters.")
    _, slopes = alignment_and_slopes(np.exp(exact - unit), data)
    signals, noises = [], []
    for logs in shifted_logs(engine, data.X, parameters, n_components=n_components, seed=seed):
        signals.append(np.sum(slopes * derivative(logs, unit)))
        noises.append(np.sum(slopes**2 * shot_variance(logs, unit)))
    return float(_log10_ratio(np.mean(noises), np.mean(np.square(signals)), unit))


def entry_gradient_shots(
    engine: Engine[Any], X: ArrayLike, parameters: Parameters, *, n_components: int = 12, seed: int = 0
) -> float:
    """Shots to see a typical component of the gradient of a single fidelity: the median over samples and centroids."""
    shifts = list(shifted_logs(engine, X, parameters, n_components=n_components, seed=seed))
    unit = float(np.max(shifts))
    signals = [derivative(logs, unit) ** 2 for logs in shifts]
    noises = [shot_variance(logs, unit) for logs in shifts]
    return _median(_log10_ratio(np.mean(noises, axis=0), np.mean(signals, axis=0), unit))


def shifted_logs(
    engine: Engine[Any], X: ArrayLike, parameters: Parameters, *, n_components: int, seed: int
) -> Iterator[FloatArray]:
    """What a device runs for the derivatives by some biases, which chance chooses, as logarithms of fidelities.

    Each is (2, 2, N, M): one angle of the samples' or of the centroids' gate is moved by π/2 or -π/2.
    """
    shape = engine.feature_map.bias_shape
    if not isinstance(engine.feature_map, FeatureMap):
        # Elsewhere a bias may turn several gates, or one whose derivative takes four values.
        raise InvalidInputError(
            "one angle for each bias and two circuits for its derivative are those of the feature map of the paper "
            "alone; take a FeatureMap."
        )

    def encoded(rows: ArrayLike, bias: FloatArray) -> Any:
        return engine.encode(np.asarray(rows), parameters.weights, bias)

    n_all = math.prod(shape)
    n_chosen = min(required_count("n_components", n_components), n_all)
    samples, centroids = encoded(X, parameters.bias), encoded(parameters.centroids, parameters.bias)
    for number in np.sort(stream(seed, "shot noise").choice(n_all, size=n_chosen, replace=False)):
        moved = np.stack([parameters.bias, parameters.bias])
        moved[(slice(None), *np.unravel_index(number, shape))] += (math.pi / 2, -math.pi / 2)
        by_samples = [log_fidelities(engine, encoded(X, bias), centroids) for bias in moved]
        by_centroids = [log_fidelities(engine, samples, encoded(parameters.centroids, bias)) for bias in moved]
        yield np.array([by_samples, by_centroids])


def derivative(shifted: FloatArray, unit: float) -> FloatArray:
    """The derivatives of the fidelities by a bias, which turns both gates, in units of exp(unit)."""
    fidelities = np.exp(shifted - unit)
    return np.asarray(((fidelities[:, 0] - fidelities[:, 1]) / 2).sum(axis=0))


def shot_variance(shifted: FloatArray, unit: float) -> FloatArray:
    """Variances of these derivatives for a single shot, in units of exp(unit)."""
    variances = np.exp(shifted - unit) * -np.expm1(shifted)
    return np.asarray(((variances[:, 0] + variances[:, 1]) / 4).sum(axis=0))


def log10_shots_to_tell(first: FloatArray, second: FloatArray) -> FloatArray:
    """Shots after which two fidelities, given as logarithms, differ by one standard error; infinite if equal.

    They are (F₁(1 - F₁) + F₂(1 - F₂)) / (F₁ - F₂)².
    """
    unit = np.maximum(np.maximum(first, second), np.finfo(float).min)
    one, two = np.exp(first - unit), np.exp(second - unit)
    return _log10_ratio(one * -np.expm1(first) + two * -np.expm1(second), (one - two) ** 2, unit)


def _log_kernel(engine: Engine[Any], X: ArrayLike, parameters: Parameters) -> FloatArray:
    rows = (np.asarray(X), parameters.centroids)
    return log_fidelities(engine, *(engine.encode(each, parameters.weights, parameters.bias) for each in rows))


def _log10_ratio(noise: ArrayLike, signal: ArrayLike, unit: ArrayLike) -> FloatArray:
    # Noise is in units of exp(unit), the signal in those of its square; no signal gives infinity, and no noise one.
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(np.asarray(noise, np.float64)) - np.log10(np.asarray(signal, np.float64))
    logs = np.where(np.asarray(signal) == 0, np.inf, np.where(np.asarray(noise) == 0, 0.0, logs))
    return np.asarray(logs - np.where(np.asarray(noise) == 0, 0.0, np.asarray(unit)) / math.log(10))


def _median(logs: FloatArray) -> float:
    # The middle one, since the mean of two is not a number where one is infinite.
    return float(np.sort(logs, axis=None)[logs.size // 2])
