"""Numbers of ones: the engines that know how often 0 … n of them are found, and what is read from that.

All functions read how often k = 0 … n ones were found, in the last axis: exact probabilities, or counts of shots.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Engine, Gradient, Wrt


class CountsOnes(ABC):
    """What an engine adds that knows how many ones are found when U†(c) U(x)|0…0⟩ is measured."""

    @property
    def counts_ones(self) -> bool:
        """Whether there are :meth:`hamming_distributions` of this engine's circuit."""
        return True

    @abstractmethod
    def hamming_distributions(self, samples: Any, centroids: Any) -> FloatArray:
        """Return P[i, m, k], the exact probability of k ones in U†(c_m) U(x_i)|0…0⟩, shape (N, M, n + 1)."""

    def pull_hamming(self, samples: Any, centroids: Any, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Return derivatives of Σ cotangent∘P by the embedding or by the centroids' features."""
        raise InvalidInputError(
            f"{type(self).__name__} has no derivatives of distributions of numbers of ones; take a RingEngine for at "
            "most two layers, or ParameterShiftEngine(TolerantEngine(…)) for few qubits and more layers."
        )


def counts_ones(engine: Engine[Any]) -> bool:
    """Return whether the engine has distributions of numbers of ones for its circuit."""
    return isinstance(engine, CountsOnes) and engine.counts_ones


def required_ones(engine: Engine[Any]) -> CountsOnes:
    """Return the engine; raise InvalidInputError if it has no distributions of numbers of ones."""
    if not isinstance(engine, CountsOnes):
        raise InvalidInputError(f"{type(engine).__name__} has no distributions of numbers of ones; take a RingEngine.")
    return engine


def tolerant_kernel(hamming: ArrayLike, tolerance: int) -> FloatArray:
    """k^b[…] = Σ_{k ≤ b} P(k), the share of outcomes with at most b ones.

    Parameters
    ----------
    hamming : array (…, n + 1)
        Probabilities or counts of k ones.
    tolerance : int
        b, from 0 to n.

    Examples
    --------
    >>> float(tolerant_kernel([60, 30, 10], tolerance=1))
    0.9
    """
    shares = tolerant_kernels(hamming)
    return shares[..., checked_tolerance(tolerance, shares.shape[-1] - 1)]


def tolerant_kernels(hamming: ArrayLike) -> FloatArray:
    """k^b for b = 0 … n, in the last axis."""
    counts = checked_hamming(hamming)
    kernels: FloatArray = np.cumsum(counts, axis=-1, dtype=np.float64) / np.sum(counts, axis=-1, keepdims=True)
    return np.minimum(kernels, 1.0)


def mean_hamming(hamming: ArrayLike) -> FloatArray:
    """Mean number of ones, for probabilities or counts of k ones in the last axis."""
    counts = checked_hamming(hamming)
    return np.sum(counts * np.arange(counts.shape[-1]), axis=-1) / np.sum(counts, axis=-1)


def checked_hamming(hamming: ArrayLike, *, n_axes: int | None = None) -> NDArray[Any]:
    """Probabilities or counts as an array, refused where they are none."""
    array = np.asarray(hamming)
    expected = "one axis or more" if n_axes is None else f"{n_axes} axes"
    if array.ndim < 1 or not array.shape[-1] or (n_axes is not None and array.ndim != n_axes):
        raise InvalidInputError(
            f"hamming must have {expected}, the last one for 0 … n ones, got an array of shape {array.shape}."
        )
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)) or np.any(array < 0):
        raise InvalidInputError("hamming must be probabilities or counts: finite numbers, none of them negative.")
    if not np.all(np.sum(array, axis=-1) > 0):
        raise InvalidInputError("every pair needs at least one outcome, but the numbers of some sum to 0.")
    return array


def checked_tolerance(tolerance: int, n_qubits: int) -> int:
    """The tolerance as a plain integer, refused unless so many bits can flip."""
    possible = is_whole_number(tolerance) and 0 <= tolerance <= n_qubits
    require(possible, "tolerance", f"a whole number from 0 to the number of qubits {n_qubits}", tolerance)
    return int(tolerance)
