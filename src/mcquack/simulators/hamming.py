"""Distributions of Hamming weights, whichever simulator has prepared the states."""

from typing import Any

from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Engine, Gradient, Wrt
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.ring import hamming as on_ring
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector import hamming as on_statevectors


def hamming_distributions(engine: Engine[Any], samples: Any, centroids: Any) -> FloatArray:
    """P[i, m, k] = probability of k ones in U†(c_m) U(x_i)|0…0⟩, shape (N, M, n + 1), exact."""
    if isinstance(engine, RingEngine):
        return on_ring.hamming_distributions(engine, samples, centroids)
    if isinstance(engine, StatevectorEngine):
        return on_statevectors.hamming_distributions(engine, samples, centroids)
    raise InvalidInputError(
        f"Hamming weights come from a RingEngine or a StatevectorEngine, and {type(engine).__name__} is neither."
    )


def pull_hamming(engine: Engine[Any], samples: Any, centroids: Any, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
    """Derivatives of Σ cotangent∘P by the embedding or by the centroids' features; of a ring engine only."""
    if isinstance(engine, RingEngine):
        return on_ring.pull_hamming(engine, samples, centroids, cotangent, wrt=wrt)
    raise InvalidInputError(
        f"derivatives of Hamming weights come from a RingEngine, not from a {type(engine).__name__}; use the former "
        "for at most two layers, or ParameterShiftEngine(TolerantEngine(…)) for few qubits and more layers."
    )
