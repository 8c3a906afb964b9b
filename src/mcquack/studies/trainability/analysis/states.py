"""What the states of a circuit are like: expressibility, entanglement, and how concentrated their fidelities are."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.circuits.angles import b, x
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.engine import E, Engine
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.statevector import StateEngine, StatevectorEngine

_PAIRS_AT_ONCE = 128
_STATES_AT_ONCE = 64  # as many of 14 qubits as fit into a few megabytes


def expressibility(fidelities: ArrayLike, n_qubits: int, *, n_bins: int = 20) -> float:
    """How far fidelities between independently drawn states are from Haar's: the smaller, the more states are reached.

    It is the divergence of Kullback and Leibler, in nats, of their histogram from that of Haar-random states, beyond
    what a sample of so many Haar-random states would have itself, so it may be slightly negative. Bins have equal
    probability under Haar's measure: of bins of equal width, for 10 qubits and more the first would hold nearly all.

    >>> round(expressibility([1.0] * 100, 3, n_bins=10), 3)  # log 10, as far as ten bins can tell, less 9 / 200
    2.258
    """
    power = 2.0 ** required_count("n_qubits", n_qubits) - 1
    values = np.asarray(fidelities, np.float64).reshape(-1)
    if not len(values) or not np.all((values >= 0) & (values <= 1 + 1e-4)):
        raise InvalidInputError("fidelities must be numbers from 0 to 1, and at least one; pass exact ones.")
    # The share of Haar-random pairs that are less alike: 1 - (1 - F)^(D - 1).
    with np.errstate(divide="ignore"):
        below = -np.expm1(power * np.log1p(-np.minimum(values, 1)))
    edges = np.linspace(0, 1, required_count("n_bins", n_bins) + 1)
    shares, expected = np.histogram(below, edges)[0] / len(values), np.diff(edges)
    seen = shares > 0
    divergence = float(np.sum(shares[seen] * (np.log(shares[seen]) - np.log(expected[seen]))))
    return divergence - (n_bins - 1) / (2 * len(values))


def random_circuit_fidelities(circuit: Circuit, *, n_pairs: int = 1000, seed: int = 0) -> FloatArray:
    """Fidelities between pairs of states of a circuit, all of whose angles are drawn uniformly from a full turn.

    Angles that are equal stay equal, constant ones stay as they are, and features that are amplitudes are normal.

    >>> from mcquack.circuits.library import hardware_efficient
    >>> fidelities = random_circuit_fidelities(hardware_efficient(2, 2), seed=1)
    >>> bool(abs(expressibility(fidelities, 2)) < 0.02)
    True
    """
    states = _drawn_states_of_paper(circuit) if isinstance(circuit, FeatureMap) else _drawn_states(circuit)
    rng = stream(seed, "expressibility")
    found = []
    for start in range(0, required_count("n_pairs", n_pairs), _PAIRS_AT_ONCE):
        left, right = states(rng, min(_PAIRS_AT_ONCE, n_pairs - start))
        found.append(np.abs(np.einsum("nd,nd->n", left.conj(), right)) ** 2)
    return np.asarray(np.minimum(np.concatenate(found), 1), np.float64)


_Draw: TypeAlias = Callable[[np.random.Generator, int], Iterable[Any]]


def _drawn_states_of_paper(feature_map: FeatureMap) -> _Draw:
    """Draws two arrays of so many states of the paper's circuit."""
    n_angles = feature_map.n_angles
    # The same gates, but each angle has a feature of its own, so that many circuits make one batch.
    free = replace(feature_map, n_features=n_angles, features_per_gate=3)
    engine = StatevectorEngine(free, dtype=np.float64)
    ones, zeros = np.ones(free.parameter_shape), np.zeros(free.parameter_shape)

    def drawn(rng: np.random.Generator, n_states: int) -> Iterable[Any]:
        angles = rng.uniform(0, 2 * np.pi, size=(2, n_states, n_angles))
        return (engine.statevectors(engine.encode(each, ones, zeros)) for each in angles)

    return drawn


def _drawn_states(circuit: Circuit) -> _Draw:
    """Draws two arrays of so many states of any circuit."""
    amplitudes = circuit.start == "amplitudes"
    angles = dict.fromkeys(angle for gate in circuit.gates for angle in gate.angles if not angle.is_constant)
    numbers = {angle: number for number, angle in enumerate(angles)}
    # Each angle is a feature of its own, so that many circuits make one batch, or where features are amplitudes a bias.
    free = Circuit(circuit.n_qubits, circuit.n_features, start="amplitudes", padding=circuit.padding)
    if not amplitudes:
        free = Circuit(circuit.n_qubits, max(1, len(numbers)))
    for gate in circuit.gates:
        turned = [
            angle if angle.is_constant else b(f"angle_{numbers[angle]}") if amplitudes else x[numbers[angle]]
            for angle in gate.angles
        ]
        free = free.unitary(gate.qubits, gate.matrix) if gate.matrix else free.gate(gate.name, gate.qubits, *turned)
    engine = GateEngine(free, dtype=np.float64)
    none = np.zeros(free.weights_shape)

    def drawn(rng: np.random.Generator, n_states: int) -> Iterable[Any]:
        turns = rng.uniform(0, 2 * np.pi, size=(2, n_states, max(1, len(numbers))))
        if not amplitudes:
            return (engine.statevectors(engine.encode(each, none, none)) for each in turns)
        X = rng.normal(size=(2, n_states, 1, circuit.n_features))
        # Every state has biases of its own.
        pairs = (zip(rows, each[:, : free.n_bias], strict=True) for rows, each in zip(X, turns, strict=True))
        return (
            np.concatenate([engine.statevectors(engine.encode(row, none, own)) for row, own in of_both])
            for of_both in pairs
        )

    return drawn


def meyer_wallach(states: ArrayLike) -> FloatArray:
    """Meyer and Wallach's Q = 2 (1 - mean over qubits of Tr ρ_q²) of rows (N, 2**n): 0 for products, 1 for GHZ."""
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
    """Mean of Meyer and Wallach's Q over Haar-random states, (2**n - 2) / (2**n + 1)."""
    return (2.0**n_qubits - 2) / (2.0**n_qubits + 1)


def entanglement(engine: StateEngine, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> FloatArray:
    """Meyer and Wallach's Q of the states that samples have under the feature map; the mean is its entangling power."""
    rows = np.asarray(X)
    if len(rows) == 0:
        raise InvalidInputError("there are no samples whose states could be entangled; pass one or more.")
    states: Callable[[Any], Any] = engine.statevectors
    return np.concatenate(
        [
            meyer_wallach(states(engine.encode(rows[start : start + _STATES_AT_ONCE], weights, bias)))
            for start in range(0, len(rows), _STATES_AT_ONCE)
        ]
    )


def haar_log_moments(n_qubits: int) -> tuple[float, float]:
    """Logarithms of 1 / 2**n and (2**n - 1) / (4**n (2**n + 1)), mean and variance of Haar-random fidelities."""
    log_dimension = n_qubits * math.log(2)
    tiny = math.exp(-log_dimension)  # vanishes for thousands of qubits, as it may
    return -log_dimension, -2 * log_dimension + math.log1p(-tiny) - math.log1p(tiny)


def log_fidelities(engine: Engine[E], samples: E, centroids: E) -> FloatArray:
    """log |⟨c_m|x_i⟩|², shape (N, M), from an engine that keeps logarithms wherever it does."""
    return np.asarray(engine.log_fidelities(samples, centroids), np.float64)


def pair_log_fidelities(engine: Engine[Any], X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> FloatArray:
    """log |⟨x_i|x_j⟩|² for all i < j under the feature map with these parameters."""
    rows = np.asarray(X)
    if len(rows) < 2:
        raise InvalidInputError(f"pairs take two samples or more, got {len(rows)}.")
    encoded = engine.encode(rows, np.asarray(weights), np.asarray(bias))
    return log_fidelities(engine, encoded, encoded)[np.triu_indices(len(rows), 1)]


def kernel_concentration(log_values: ArrayLike) -> dict[str, float]:
    """Whether the entries of a kernel, given as logarithms, still differ, or are all alike as those of random states.

    "mean", "variance" and "relative_std", the deviation divided by the mean, are of the fidelities; "log_mean" and
    "log_variance", which is left out where all are equal, are logarithms of these; "log_median" and "log_std"
    are of the logarithms themselves, without pairs of exactly orthogonal states.

    >>> found = kernel_concentration(np.log([0.5, 0.25]))
    >>> round(found["mean"], 4), round(found["variance"], 4)
    (0.375, 0.0156)
    """
    logs = np.asarray(log_values, np.float64).reshape(-1)
    finite = logs[np.isfinite(logs)]
    if not len(finite) or np.isnan(logs).any() or (logs > 1e-3).any():
        raise InvalidInputError("logarithms of fidelities must be at most 0, and some of them finite.")
    top = float(finite.max())
    spread = float(np.var(np.exp(logs - top)))
    log_mean = min(0.0, float(logsumexp(logs)) - math.log(len(logs)))
    found = {"mean": math.exp(log_mean), "variance": 0.0, "relative_std": 0.0, "log_mean": log_mean}
    found |= {"log_median": float(np.median(finite)), "log_std": float(finite.std())}
    if spread > 0:
        log_variance = 2 * top + math.log(spread)
        relative = math.exp(min(log_variance / 2 - log_mean, 700.0))
        found |= {"variance": math.exp(log_variance), "relative_std": relative, "log_variance": log_variance}
    return found
