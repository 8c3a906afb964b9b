"""Shots of a noisy device: in each, the errors that happened are drawn, and then one bit string."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from mcquack.arrays import ComplexArray, FloatArray, IntArray
from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import paper_map
from mcquack.simulators.noise.calibration import SX_PULSES, DeviceCalibration, ring_schedule
from mcquack.simulators.noise.sampling import RingErrors, Workspace, clock_of, count_weights, ring_errors, workspace
from mcquack.simulators.ring.engine import RingEngine, RotationRows

# Errors as Pauli channels, from the numbers that a calibration gives. A Pauli channel shrinks the expectations of X,
# Y and Z by three factors, its fidelities. Channels after one another multiply them, and a Hadamard exchanges those
# of X and Z.


def depolarising_fidelity(error: FloatArray, *, n_qubits: int = 1) -> FloatArray:
    """By how much a gate of this average error shrinks all Paulis, if it errs in all directions alike."""
    dimension = 2**n_qubits
    return 1 - error * dimension / (dimension - 1)


def idle_fidelities(time: FloatArray, t1: FloatArray, t2: FloatArray) -> FloatArray:
    """Those of relaxation and dephasing over some time, twirled over the Paulis: shape (…, 3) for X, Y and Z."""
    coherence, population = np.exp(-time / t2), np.exp(-time / t1)
    return np.stack([coherence, coherence, population], axis=-1)


def pauli_probabilities(fidelities: FloatArray) -> FloatArray:
    """The chances of X, Y and Z in the channel with these fidelities (…, 3)."""
    of_x, of_y, of_z = np.moveaxis(fidelities, -1, 0)
    chances = [1 + of_x - of_y - of_z, 1 - of_x + of_y - of_z, 1 - of_x - of_y + of_z]
    # Rounding may leave less than nothing.
    return np.maximum(np.stack(chances, axis=-1) / 4, 0.0)


class RingNoise(NamedTuple):
    """The chances of errors in U†(c) U(x) with two layers on n qubits, in the order in which shots draw them.

    The second ring is read backwards, for what happens in it moves to its beginning: both rings look the same then.
    Paulis are those around CNOTs, with the Hadamards beside a CZ drawn into these.
    """

    pauli_bounds: FloatArray  # (2, 3, n, 3): both rings; before, within and after; chances of X, of X or Y, of any
    pair_chances: FloatArray  # (n,): any of the 15 Paulis with the CNOT q → q+1
    flip_chances: FloatArray  # (n,): that a bit is read wrong, be it for its last rotation or for its readout


class _Draws(NamedTuple):
    """The same as what shots are drawn from."""

    before: RingErrors  # of the first ring
    after: RingErrors  # of the second
    misread: FloatArray  # (n,)

    @classmethod
    def of(cls, noise: RingNoise) -> Self:
        before, after = (ring_errors(bounds, noise.pair_chances) for bounds in noise.pauli_bounds)
        return cls(before, after, clock_of(noise.flip_chances))


def ring_noise(calibration: DeviceCalibration, n_qubits: int) -> RingNoise:
    """Where the gates, the waiting times and the readout of a device put errors."""
    rotations = _rotation_fidelities(calibration, n_qubits)[..., None]
    idle = _idle_fidelities_around_cnots(calibration, n_qubits)
    before_first, within_first, middle, within_second, _ = rotations
    places = [
        [before_first * np.ones(3), idle[1] * within_first, idle[2]],
        [idle[4], idle[3] * within_second, middle * np.ones(3)],
    ]
    pair = depolarising_fidelity(calibration.per_qubit("two_qubit_error", n_qubits), n_qubits=2)
    return RingNoise(
        pauli_bounds=np.cumsum(pauli_probabilities(np.array(places)), axis=-1),
        pair_chances=(1 - pair) * 15 / 16,
        flip_chances=flip_chances(calibration, n_qubits),
    )


def flip_chances(calibration: DeviceCalibration, n_qubits: int) -> FloatArray:
    """That the last rotation or the readout turns a bit, shape (n,)."""
    last_rotation = _rotation_fidelities(calibration, n_qubits)[-1]
    readout = 1 - 2 * calibration.per_qubit("readout_error", n_qubits)
    return (1 - last_rotation * readout) / 2


def _rotation_fidelities(calibration: DeviceCalibration, n_qubits: int) -> FloatArray:
    pulse = depolarising_fidelity(calibration.per_qubit("sx_error", n_qubits))
    return pulse ** np.array(SX_PULSES)[:, None]


def _idle_fidelities_around_cnots(calibration: DeviceCalibration, n_qubits: int) -> FloatArray:
    t1, t2 = (calibration.per_qubit(name, n_qubits) for name in ("t1_us", "t2_us"))
    fidelities = idle_fidelities(ring_schedule(calibration, n_qubits).idle_us, t1, t2)
    # A qubit that was the target of the last CNOT waits before the Hadamard which belongs to that.
    behind_hadamard = np.zeros((len(SX_PULSES), n_qubits), dtype=bool)
    behind_hadamard[[1, 4], 1:] = True
    behind_hadamard[[2, 3], 0] = True
    return np.where(behind_hadamard[..., None], fidelities[..., ::-1], fidelities)


_Counter = Callable[[ComplexArray, ComplexArray, np.random.Generator], IntArray]
MAX_LAYERS = 2


def noisy_hamming_counts(
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
    n_qubits = engine.feature_map.n_qubits
    counter = _counter(paper_map(engine, engine.feature_map), calibration, shots)
    counts = np.empty((len(samples), len(centroids), n_qubits + 1), dtype=np.int64)

    def count(rank: int) -> None:
        counts_of = counter()
        for row in range(rank, len(samples), engine.n_threads):
            for column, centroid in enumerate(centroids.rotations):
                generator = stream(seed, "noisy shots", str(row), str(column))
                counts[row, column] = counts_of(samples.rotations[row], centroid, generator)

    with ThreadPoolExecutor(engine.n_threads) as pool:
        for _ in pool.map(count, range(engine.n_threads)):
            pass
    return counts


def _counter(feature_map: FeatureMap, calibration: DeviceCalibration, shots: int) -> Callable[[], _Counter]:
    """What each thread makes itself: a function that counts the shots of one pair."""
    n_layers, n_qubits = feature_map.n_layers, feature_map.n_qubits
    if n_qubits == 1 or n_layers == 1:
        return lambda: partial(_product_counts, flip_chances(calibration, n_qubits), shots)
    if n_layers > MAX_LAYERS:
        raise InvalidInputError(
            f"noise is simulated for at most {MAX_LAYERS} layers, and this feature map has {n_layers}: each layer more "
            "would take 256 times as long. Use more qubits or fewer repetitions, so that two layers hold all features."
        )
    draws = _Draws.of(ring_noise(calibration, n_qubits))
    return lambda: partial(_ring_counts, draws, shots, workspace(n_qubits))


def _ring_counts(
    draws: _Draws,
    shots: int,
    work: Workspace,
    sample: ComplexArray,
    centroid: ComplexArray,
    generator: np.random.Generator,
) -> IntArray:
    counts = np.zeros(sample.shape[1] + 1, dtype=np.int64)
    count_weights(generator, sample, centroid, draws, shots, work, counts)
    return counts


def _product_counts(
    flips: FloatArray, shots: int, sample: ComplexArray, centroid: ComplexArray, generator: np.random.Generator
) -> IntArray:
    """Without a ring every qubit is by itself, and all of its rotations are one."""
    states = np.zeros((sample.shape[1], 2), dtype=np.complex128)
    states[:, 0] = 1.0
    for rotations in (*sample, *np.swapaxes(centroid, -1, -2).conj()[::-1]):
        states = np.einsum("qij,qj->qi", rotations, states)
    ones = np.abs(states[:, 1]) ** 2
    bits = generator.random((shots, len(ones))) < ones * (1 - flips) + (1 - ones) * flips
    return np.bincount(bits.sum(axis=1), minlength=len(ones) + 1)
