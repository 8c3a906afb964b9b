"""How far the states of a circuit are from Haar-random ones, told by their fidelities."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.checks import require, required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.statevector import StatevectorEngine

FloatArray = NDArray[np.float64]
Bins = Literal["haar", "uniform"]
_DEFAULT_BINS = {"haar": 20, "uniform": 75}  # 75 are those of Sim et al. (2019)
_PAIRS_AT_ONCE = 128


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
    """Of fidelities between independently drawn states: the smaller, the more of all states a circuit reaches.

    Bins are of equal probability under Haar's measure ("haar"), or of equal width as in the literature ("uniform"): for
    10 qubits and more the first of the latter holds nearly all random fidelities, and they tell little.
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
    """Fidelities between pairs of states of this circuit, all of whose angles are drawn uniformly from a full turn."""
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
