"""Shots of a noisy device: in each, the errors that happened are drawn, and then one bit string."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.noise.calibration import DeviceCalibration, FloatArray
from mcquack.simulators.noise.channels import RingNoise, flip_chances, ring_noise
from mcquack.simulators.noise.sampling import count_weights, factors_of
from mcquack.simulators.ring.engine import RingEngine, RotationRows
from mcquack.simulators.ring.rotations import ComplexArray

IntArray = NDArray[np.int64]
_Counter = Callable[[ComplexArray, ComplexArray, np.random.Generator], IntArray]
MAX_LAYERS = 2


def noisy_weight_counts(
    engine: RingEngine,
    samples: RotationRows,
    centroids: RotationRows,
    *,
    calibration: DeviceCalibration,
    shots: int,
    seed: int,
) -> IntArray:
    """How many of the shots of each circuit U†(c) U(x) read k ones, shape (N, M, n+1).

    Rotations that meet are one, and a last ring and its inverse are none, as a compiler leaves them. Each pair has its
    own stream of random numbers: the result depends neither on threads nor on the other pairs.
    """
    required_count("shots", shots)
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    require(isinstance(calibration, DeviceCalibration), "calibration", "a DeviceCalibration", calibration)
    counts_of = _counter(engine.feature_map, calibration, shots)
    counts = np.empty((len(samples), len(centroids), engine.feature_map.n_qubits + 1), dtype=np.int64)

    def count(row: int) -> None:
        for column, centroid in enumerate(centroids.rotations):
            generator = stream(seed, "noisy shots", str(row), str(column))
            counts[row, column] = counts_of(samples.rotations[row], centroid, generator)

    with ThreadPoolExecutor(engine.n_threads) as pool:
        for _ in pool.map(count, range(len(samples))):
            pass
    return counts


def _counter(feature_map: FeatureMap, calibration: DeviceCalibration, shots: int) -> _Counter:
    """What counts the shots of one pair, for rotations (L, n, 2, 2)."""
    n_layers, n_qubits = feature_map.n_layers, feature_map.n_qubits
    if n_qubits == 1 or n_layers == 1:
        return partial(_product_counts, flip_chances(calibration, n_qubits), shots)
    if n_layers > MAX_LAYERS:
        raise InvalidInputError(
            f"noise is simulated for at most {MAX_LAYERS} layers, and this feature map has {n_layers}: each layer more "
            "would take 256 times as long. Use more qubits or fewer repetitions, so that two layers hold all features."
        )
    return partial(_ring_counts, ring_noise(calibration, n_qubits), shots)


def _ring_counts(
    noise: RingNoise, shots: int, sample: ComplexArray, centroid: ComplexArray, generator: np.random.Generator
) -> IntArray:
    """Two layers with a ring of CNOTs in between."""
    counts = np.zeros(sample.shape[1] + 1, dtype=np.int64)
    count_weights(generator, factors_of(sample, centroid), noise, shots, counts)
    return counts


def _product_counts(
    flips: FloatArray, shots: int, sample: ComplexArray, centroid: ComplexArray, generator: np.random.Generator
) -> IntArray:
    """Without a ring every qubit is by itself, and all of its rotations are one."""
    ones = _chances_of_one(sample, centroid)
    bits = generator.random((shots, len(ones))) < ones * (1 - flips) + (1 - ones) * flips
    return np.bincount(bits.sum(axis=1), minlength=len(ones) + 1)


def _chances_of_one(sample: ComplexArray, centroid: ComplexArray) -> FloatArray:
    """Of each qubit, after the rotations (L, n, 2, 2) of the sample and then the inverse of the centroid's."""
    states = np.zeros((sample.shape[1], 2), dtype=np.complex128)
    states[:, 0] = 1.0
    for rotations in (*sample, *np.swapaxes(centroid, -1, -2).conj()[::-1]):
        states = np.einsum("qij,qj->qi", rotations, states)
    return np.abs(states[:, 1]) ** 2
