"""The engine that runs any circuit through JAX: on the CPU, or on the GPU that JAX was installed for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import JAX
from mcquack.circuits.circuit import Circuit
from mcquack.simulators.engine import (
    EncodedRows,
    Gradient,
    PullsExpectations,
    Wrt,
    checked_cotangent,
    checked_parameters,
    checked_wrt,
)
from mcquack.simulators.hamming import CountsOnes

if TYPE_CHECKING:
    from mcquack.simulators.jax.functions import JaxProgram

AMPLITUDES_AT_ONCE = 1 << 21  # 32 MiB in double precision; derivatives take a few times as much


@dataclass(frozen=True, eq=False)
class JaxStates(EncodedRows):
    """Encoded samples: their states as arrays of JAX, each of as many rows as run at once, the last with some added."""

    states: tuple[Any, ...]


class JaxEngine(PullsExpectations[JaxStates], CountsOnes):
    """Exact simulation of any circuit of 1 to 20 qubits through JAX, an optional dependency (``mcquack[jax]``).

    Circuits are compiled when they are first run, once for each circuit and number of rows, where numbers of rows are
    rounded up to powers of two. On the CPU the gate engine is faster; this one is for GPUs, and its functions
    :func:`~mcquack.simulators.jax.functions.jax_states` and ``jax_kernel`` can be differentiated further.

    Parameters
    ----------
    feature_map : Circuit, optional
        The circuit; a classifier that is given the engine brings its own.
    dtype : "float32" or "float64"
        In which numbers are computed, and kept. "float64" does not change what JAX does elsewhere in the process.

    Examples
    --------
    >>> from mcquack import McQuackClassifier
    >>> model = McQuackClassifier(engine=JaxEngine(dtype="float64"))
    >>> JaxEngine.name, JaxEngine.most_qubits
    ('jax', 20)
    """

    name = "jax"
    most_qubits = 20

    def check(self, feature_map: Circuit) -> None:
        super().check(feature_map)
        if not JAX.is_installed:
            raise JAX.needed(what='the engine "jax"')

    @property
    def _functions(self) -> ModuleType:
        """The functions of JAX, which is imported when a circuit is run."""
        from mcquack.simulators.jax import functions

        return functions

    @property
    def _program(self) -> JaxProgram:
        return self._functions.program_of(self.feature_map)

    def _size(self, n_rows: int) -> int:
        """How many rows run at once: a power of two, so that few different numbers are compiled for."""
        most = max(1, AMPLITUDES_AT_ONCE >> self.feature_map.n_qubits)
        return min(most, 1 << max(0, n_rows - 1).bit_length())

    def _chunks(self, rows: FloatArray) -> Iterator[FloatArray]:
        """The rows, some at once, with rows of zeros added to the last."""
        size = self._size(len(rows))
        for first in range(0, len(rows), size):
            yield _padded(rows[first : first + size], size)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> JaxStates:
        rows = self.feature_map.checked_rows(X).astype(self.dtype)
        w, b = (array.astype(self.dtype) for array in checked_parameters(self.feature_map, weights, bias))
        run = self._program.states_jit
        with self._functions.precision(self.dtype):
            return JaxStates(rows, w, b, tuple(run(chunk, w, b) for chunk in self._chunks(rows)))

    def fidelities(self, samples: JaxStates, centroids: JaxStates) -> FloatArray:
        found = np.zeros((_rows(samples), _rows(centroids)), self.dtype)
        with self._functions.precision(self.dtype):
            for rows, left in _placed(samples):
                for columns, right in _placed(centroids):
                    found[rows, columns] = self._functions.fidelities_jit(left, right)
        return np.minimum(found[: len(samples), : len(centroids)], 1)

    def pullback(self, samples: JaxStates, centroids: JaxStates, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        weighting = np.zeros((_rows(samples), _rows(centroids)), self.dtype)
        weighting[: len(samples), : len(centroids)] = checked_cotangent(cotangent, samples, centroids)
        _, *of_centroids = own = self._pulled(centroids, self._pull_fidelities(centroids, samples, weighting.T))
        if wrt == "centroids":
            return Gradient(centroids=own[0])
        _, *of_samples = self._pulled(samples, self._pull_fidelities(samples, centroids, weighting))
        weights, bias = (left + right for left, right in zip(of_samples, of_centroids, strict=True))
        return Gradient(weights=weights, bias=bias)

    def _pull_fidelities(self, own: JaxStates, others: JaxStates, weighting: FloatArray) -> Iterator[Any]:
        """For some of one side's rows at once, the derivatives by their states."""
        for rows, left in _placed(own):
            parts = [
                self._functions.pull_fidelities_jit(left, right, weighting[rows, at]) for at, right in _placed(others)
            ]
            yield sum(parts[1:], parts[0]) if parts else np.zeros_like(left)

    def _pulled(self, encoded: JaxStates, cotangents: Iterator[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives by features, weights and biases, from those by the states."""
        by_features = np.zeros((_rows(encoded), self.feature_map.n_features), self.dtype)
        by_weights, by_bias = np.zeros_like(encoded.weights), np.zeros_like(encoded.bias)
        pull = self._program.pulled_jit
        with self._functions.precision(self.dtype):
            chunks = zip(_placed(encoded), self._chunks(encoded.features), cotangents, strict=True)
            for (rows, states), features, cotangent in chunks:
                found = pull(features, encoded.weights, encoded.bias, states, cotangent)
                by_features[rows] = found[0]
                by_weights += np.asarray(found[1])
                by_bias += np.asarray(found[2])
        return by_features[: len(encoded)], by_weights, by_bias

    def hamming_distributions(self, samples: JaxStates, centroids: JaxStates) -> FloatArray:
        self.feature_map.for_overlaps()
        found = np.zeros((_rows(samples), len(centroids), self.feature_map.n_qubits + 1), self.dtype)
        run = self._program.hamming_jit
        with self._functions.precision(self.dtype):
            for rows, states in _placed(samples):
                for column, point in enumerate(centroids.features):
                    found[rows, column] = run(states, point[None], centroids.weights, centroids.bias)
        return found[: len(samples)]

    def expectations(self, encoded: JaxStates, observables: Sequence[int | Sequence[int]]) -> FloatArray:
        masks = self.z_masks(observables)
        found = np.zeros((_rows(encoded), len(masks)), self.dtype)
        with self._functions.precision(self.dtype):
            for rows, states in _placed(encoded):
                found[rows] = self._functions.expectations_jit(states, masks)
        return np.asarray(np.clip(found[: len(encoded)], -1, 1))

    def _pulled_expectations(
        self, encoded: JaxStates, slopes: FloatArray, observables: Sequence[int | Sequence[int]], *, of_features: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        masks = self.z_masks(observables)
        chunks = zip(_placed(encoded), self._chunks(slopes), strict=True)
        return self._pulled(
            encoded, (self._functions.pull_expectations_jit(states, masks, own) for (_, states), own in chunks)
        )

    def statevectors(self, encoded: JaxStates) -> NDArray[np.complexfloating[Any, Any]]:
        """Amplitudes (N, 2**n) of each sample with their phase, qubit 0 the most significant bit of an index."""
        found = np.zeros((_rows(encoded), self.feature_map.dimension), np.result_type(self.dtype, np.complex64))
        for rows, states in _placed(encoded):
            found[rows] = states
        return found[: len(encoded)]


def _padded(rows: FloatArray, size: int) -> FloatArray:
    return np.concatenate([rows, np.zeros((size - len(rows), rows.shape[1]), rows.dtype)]) if len(rows) < size else rows


def _rows(encoded: JaxStates) -> int:
    """The number of rows, with those that were added."""
    return sum(map(len, encoded.states))


def _placed(encoded: JaxStates) -> Iterator[tuple[slice, Any]]:
    """The states that run at once, each with the place of its rows among all."""
    first = 0
    for states in encoded.states:
        yield slice(first, first + len(states)), states
        first += len(states)
