"""Samplers that need no device: what one would count, with exact probabilities or with its noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.angles import Angle
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import Gate
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine

# Whoever draws shots from fidelities needs none of the engines and no noise: they are imported by the samplers.
if TYPE_CHECKING:
    from mcquack.simulators.noise import DeviceCalibration

_ROUNDING = 1e-4  # by which single precision may leave the range of probabilities


def sampled_fidelities(fidelities: ArrayLike, *, shots: int, seed: int) -> FloatArray:
    """The share of shots that find only zeros, for every entry of an exact kernel."""
    exact = _checked_probabilities(np.asarray(fidelities, dtype=np.float64), "fidelities")
    n_shots = required_count("shots", shots)
    return stream(seed, "shots", "fidelities").binomial(n_shots, np.clip(exact, 0, 1)) / n_shots


def sampled_hamming(distributions: ArrayLike, *, shots: int, seed: int) -> NDArray[np.int64]:
    """How many shots find k ones, shape (…, n + 1), for exact distributions of this shape."""
    exact = _checked_probabilities(np.asarray(distributions, dtype=np.float64), "distributions")
    if exact.ndim < 1 or not np.allclose(exact.sum(axis=-1), 1, rtol=0, atol=_ROUNDING):
        raise InvalidInputError("distributions must sum to 1 over their last axis; pass hamming_distributions.")
    positive = np.clip(exact, 0, 1)
    shares = positive / positive.sum(axis=-1, keepdims=True)
    return stream(seed, "shots", "weights").multinomial(required_count("shots", shots), shares)


def sampled_ones(
    distributions: ArrayLike, zeros: ArrayLike, *, rows: ArrayLike, shots: int, seed: int
) -> NDArray[np.int64]:
    """How many shots find k ones, shape (N, M, n + 1), where so many (N, M) are known to have found none.

    Zeros that were drawn by :func:`sampled_fidelities` and the others together are distributed as those of
    :func:`sampled_hamming`. ``rows`` are the numbers of the rows in their kernel: what is drawn for one does not depend
    on which others are drawn with it.
    """
    exact = _checked_probabilities(np.asarray(distributions, dtype=np.float64), "distributions")
    found = np.asarray(zeros, np.int64)
    others = np.clip(exact[..., 1:], 0, 1)
    total = others.sum(axis=-1, keepdims=True)
    # Where nothing but zeros can be found, and rounding has found another, it is as close to them as can be.
    surely = np.arange(others.shape[-1]) == 0
    shares = np.where(total > 0, others / np.where(total > 0, total, 1), surely)
    counts = np.empty(exact.shape, np.int64)
    counts[..., 0] = found
    for place, row in enumerate(np.asarray(rows).tolist()):
        left = required_count("shots", shots) - found[place]
        counts[place, :, 1:] = stream(seed, "shots", "ones", str(row)).multinomial(left, shares[place])
    return counts


def _checked_probabilities(array: NDArray[Any], name: str) -> NDArray[Any]:
    if not np.all((array >= -_ROUNDING) & (array <= 1 + _ROUNDING)):
        raise InvalidInputError(
            f"{name} must lie between 0 and 1, got values from {np.min(array):g} to {np.max(array):g}; pass exact ones."
        )
    return array


SamplerEngine = Literal["auto", "ring", "statevector"]


@dataclass(frozen=True, kw_only=True)
class SimulatedSampler:
    """Shots without noise, drawn from exact distributions.

    The same circuits with as many shots and the same seed give the same counts; any other call draws anew. Threads do
    not matter. ``engine`` is "ring", for at most two layers on any number of qubits, "statevector", for at most 20
    qubits, or "auto", which takes the first where it can. Circuits other than the paper's need "auto", which takes the
    gate engine for them.
    """

    seed: int = 0
    engine: SamplerEngine = "auto"
    n_threads: int | None = None

    def __post_init__(self) -> None:
        _check_seed(self.seed)
        require(self.engine in get_args(SamplerEngine), "engine", '"auto", "ring" or "statevector"', self.engine)

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        n_shots = required_count("shots", shots)
        engine = self._engine_for(circuits)
        centroids = _encoded(engine, circuits.centroids)
        size = engine.rows_at_once or max(1, len(circuits.samples))
        parts = [
            engine.hamming_distributions(_encoded(engine, circuits.samples[first : first + size]), centroids)
            for first in range(0, len(circuits.samples), size)
        ]
        found = np.concatenate([np.empty((0, circuits.shape[1], circuits.n_qubits + 1)), *parts])
        return sampled_hamming(found, shots=n_shots, seed=_seed_of(self.seed, circuits, shots))

    def _engine_for(self, circuits: OverlapCircuits) -> Any:
        if not isinstance(circuits.circuit, FeatureMap):
            if self.engine != "auto":
                raise InvalidInputError(
                    f"a sampler on the {self.engine} engine counts for the feature map of the paper alone; use "
                    'engine="auto" for any other circuit.'
                )
            from mcquack.simulators.gates import GateEngine

            return GateEngine(_raw_circuit(circuits.circuit), dtype=np.float64, n_threads=self.n_threads)
        from mcquack.simulators.ring import RingEngine
        from mcquack.simulators.ring.hamming import MAX_LAYERS
        from mcquack.simulators.statevector import StatevectorEngine

        shallow = circuits.n_qubits == 1 or circuits.n_layers <= MAX_LAYERS
        if self.engine == "ring" or (self.engine == "auto" and shallow):
            return RingEngine(circuits.circuit, n_threads=self.n_threads)
        return StatevectorEngine(circuits.circuit, dtype=np.float64, n_threads=self.n_threads)


@dataclass(frozen=True)
class NoisySampler:
    """Shots of a ring of qubits with the errors of a calibration, for at most two layers.

    As with :class:`SimulatedSampler`, the same call gives the same counts, and threads do not matter.
    """

    calibration: DeviceCalibration
    seed: int = field(default=0, kw_only=True)
    n_threads: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        from mcquack.simulators.noise import DeviceCalibration

        require(isinstance(self.calibration, DeviceCalibration), "calibration", "a DeviceCalibration", self.calibration)
        _check_seed(self.seed)

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        from mcquack.simulators.noise import noisy_hamming_counts
        from mcquack.simulators.ring import RingEngine

        n_shots = required_count("shots", shots)
        if not isinstance(circuits.circuit, FeatureMap):
            raise InvalidInputError(
                "the noise of a ring of qubits is simulated here for the feature map of the paper alone; for any other "
                'circuit use a snapshot of a device, such as open_sampler("fake_pittsburgh", circuit), or a '
                "SimulatedSampler, which has no noise."
            )
        engine = RingEngine(circuits.circuit, n_threads=self.n_threads)
        return noisy_hamming_counts(
            engine,
            _encoded(engine, circuits.samples),
            _encoded(engine, circuits.centroids),
            calibration=self.calibration,
            shots=n_shots,
            seed=_seed_of(self.seed, circuits, n_shots),
        )


@lru_cache(maxsize=16)
def _raw_circuit(circuit: Circuit) -> Circuit:
    """The same gates, whose angles are the features, in order."""
    features = iter(range(circuit.n_angles))
    raw = Circuit(circuit.n_qubits, max(circuit.n_angles, 1))
    return raw._with(
        Gate(gate.name, gate.qubits, tuple(Angle((("x", next(features)),)) for _ in gate.angles), gate.matrix)
        for gate in circuit.gates
    )


def _encoded(engine: Engine[Any], angles: FloatArray) -> Any:
    circuit = engine.feature_map
    # A circuit without any angle has a feature all the same.
    rows = angles.reshape(len(angles), circuit.n_angles) if circuit.n_angles else np.zeros((len(angles), 1))
    return engine.encode(rows, np.ones(circuit.weights_shape), np.zeros(circuit.bias_shape))


def _seed_of(seed: int, circuits: OverlapCircuits, shots: int) -> int:
    """From what is asked alone, so that asking again after a crash gives the same answer."""
    return int(stream(seed, "sampler", circuits.digest, str(int(shots))).integers(2**63))


def _check_seed(seed: Any) -> None:
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
