"""The engine for a hundred qubits and more: exact fidelities of shallow circuits, with derivatives by reverse sweep."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.rotations import ComplexArray, angle_slopes, rotation_matrices
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.engine import (
    AngleRows,
    Gradient,
    ThreadedEngine,
    Wrt,
    angle_rows,
    checked_cotangent,
    checked_wrt,
    gradient_by_angles,
    paper_map,
)
from mcquack.simulators.ring.chain import join_last_rotations, log_fidelity, overlap, pull_last_rotations, pull_overlap
from mcquack.simulators.ring.hamming import check_layers, hamming_distributions, pull_hamming

MAX_LAYERS = 4
# Work is divided by these blocks, never by thread, so the result does not depend on how many there are.
_SAMPLES_PER_BLOCK = 8


@dataclass(frozen=True, eq=False)
class RotationRows(AngleRows):
    """Data points as the rotations of their circuits: nothing else distinguishes them."""

    rotations: ComplexArray  # (N, L, n, 2, 2)


@entry
def _log_fidelities(samples: Any, centroids: Any, first: int, last: int, found: Any) -> None:
    n_layers, n_qubits = samples.shape[1:3]
    size = 4 ** (n_layers - 1)
    chain = np.empty((n_qubits, size, size), dtype=np.complex128)
    steps = np.empty((2 * n_layers, size, size), dtype=np.complex128)
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    for row in range(first, last):
        for column in range(centroids.shape[0]):
            join_last_rotations(samples[row], centroids[column], joints)
            found[row, column] = log_fidelity(*overlap(samples[row], centroids[column], joints, chain, steps))


@entry
def _pull(
    samples: Any, centroids: Any, cotangent: Any, first: int, last: int, by_samples: Any, by_centroids: Any
) -> None:
    n_layers, n_qubits = samples.shape[1:3]
    size = 4 ** (n_layers - 1)
    chain = np.empty((n_qubits, size, size), dtype=np.complex128)
    steps = np.empty((2 * n_layers, size, size), dtype=np.complex128)
    adjoint = np.empty((size, size), dtype=np.complex128)
    joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    by_joints = np.empty((n_qubits, 2, 2), dtype=np.complex128)
    for row in range(first, last):
        for column in range(centroids.shape[0]):
            if cotangent[row, column] == 0.0:
                continue
            sample, centroid = samples[row], centroids[column]
            join_last_rotations(sample, centroid, joints)
            kernel = np.exp(log_fidelity(*overlap(sample, centroid, joints, chain, steps)))
            # ∂K = 2 K Re ∂ log⟨c|x⟩
            pull = 2 * kernel * cotangent[row, column]
            if pull == 0.0:
                continue
            by_joints[:] = 0.0
            pull_overlap(
                sample, centroid, joints, chain, steps, adjoint, pull, by_samples[row], by_centroids[column], by_joints
            )
            pull_last_rotations(sample, centroid, by_joints, by_samples[row], by_centroids[column])


class RingEngine(ThreadedEngine[RotationRows]):
    """Exact simulation of feature maps with few layers, for any number of qubits.

    Fidelities are computed as logarithms, so that 1e-200 is as exact as 1; numbers are double throughout. With L layers
    the time grows as n · 4**(2L - 2), so at most 4 are taken.

    Parameters
    ----------
    feature_map : FeatureMap, optional
        The circuit, of at most four layers; a classifier that is given the engine brings its own.
    dtype : "float32" or "float64"
        Type of the parameters that training keeps between steps.
    n_threads : int, optional
        Threads to use, by default all that Numba may use. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import FeatureMap
    >>> circuit = FeatureMap(n_qubits=100, n_features=1, n_layers=1)
    >>> engine = RingEngine(circuit)
    >>> ones = np.ones(circuit.parameter_shape)
    >>> rows = engine.encode([[0.1], [0.2]], ones, ones)
    >>> engine.fidelities(rows, rows).diagonal().round(12).tolist()
    [1.0, 1.0]
    """

    name = "ring"
    most_qubits = 100_000  # beyond which a single sample would take gigabytes
    few_layers = True

    @property
    def rows_at_once(self) -> int:
        """As many rows as have rotations of 64 MiB."""
        return max(16, (1 << 20) // (self.feature_map.n_qubits * self.feature_map.n_layers))

    @property
    def feature_map(self) -> FeatureMap:
        return paper_map(self, super().feature_map)

    def check(self, feature_map: Circuit) -> None:
        super().check(feature_map)
        feature_map = paper_map(self, feature_map)
        if feature_map.n_qubits > 1 and feature_map.n_layers > MAX_LAYERS:
            states = 4 ** (feature_map.n_layers - 1)
            raise InvalidInputError(
                f"the ring engine takes at most {MAX_LAYERS} layers, and this circuit has {feature_map.n_layers}: each "
                f"fidelity would need {states:,} × {states:,} numbers for every qubit. Use more qubits or fewer "
                "repetitions, or for at most 20 qubits the statevector engine."
            )

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> RotationRows:
        rows = angle_rows(self.feature_map, X, weights, bias)
        return RotationRows(rows.features, rows.weights, rows.bias, rows.angles, rotation_matrices(rows.angles))

    def log_fidelities(self, samples: RotationRows, centroids: RotationRows) -> FloatArray:
        """log |⟨c_m|x_i⟩|², shape (N, M); minus infinity for orthogonal states."""
        found = np.empty((len(samples), len(centroids)))
        left, right = self._chained(samples), self._chained(centroids)
        self.in_blocks(len(samples), lambda first, last, _: _log_fidelities(left, right, first, last, found))
        return np.minimum(found, 0.0)

    def fidelities(self, samples: RotationRows, centroids: RotationRows) -> FloatArray:
        return np.exp(self.log_fidelities(samples, centroids))

    def pullback(self, samples: RotationRows, centroids: RotationRows, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        checked_wrt(wrt)
        slopes = np.require(checked_cotangent(cotangent, samples, centroids), np.float64, ["C", "W"])
        left, right = self._chained(samples), self._chained(centroids)
        by_samples = np.zeros_like(left)
        by_centroids = np.zeros((n_blocks(len(samples)), *right.shape), dtype=np.complex128)
        self.in_blocks(
            len(samples),
            lambda first, last, block: _pull(left, right, slopes, first, last, by_samples, by_centroids[block]),
        )
        of_samples = self._unchained(samples, by_samples)
        of_centroids = self._unchained(centroids, by_centroids.sum(axis=0).conj())
        return self._gradient(samples, centroids, of_samples, of_centroids, wrt)

    def hamming_distributions(self, samples: RotationRows, centroids: RotationRows) -> FloatArray:
        if self.feature_map.n_qubits == 1:
            fidelities = self.fidelities(samples, centroids)
            return np.stack([fidelities, 1 - fidelities], axis=-1)
        check_layers(self.feature_map)
        return hamming_distributions(samples.rotations, centroids.rotations, in_blocks=self.in_blocks)

    def pull_hamming(
        self, samples: RotationRows, centroids: RotationRows, cotangent: ArrayLike, *, wrt: Wrt
    ) -> Gradient:
        wrt = checked_wrt(wrt)
        slopes = np.require(cotangent, np.float64, ["C", "W"])
        shape = len(samples), len(centroids), self.feature_map.n_qubits + 1
        if slopes.shape != shape:
            raise InvalidInputError(f"cotangent must have the shape {shape} of the distributions, got {slopes.shape}.")
        if self.feature_map.n_qubits == 1:
            return self.pullback(samples, centroids, slopes[..., 0] - slopes[..., 1], wrt=wrt)
        check_layers(self.feature_map)
        blocks = n_blocks(len(samples))
        by_rotations = pull_hamming(
            samples.rotations, centroids.rotations, slopes, n_blocks=blocks, in_blocks=self.in_blocks
        )
        return self._gradient(samples, centroids, *by_rotations, wrt)

    def _gradient(
        self,
        samples: RotationRows,
        centroids: RotationRows,
        of_samples: ComplexArray,
        of_centroids: ComplexArray,
        wrt: Wrt,
    ) -> Gradient:
        return gradient_by_angles(
            self.feature_map,
            samples,
            centroids,
            of_samples=angle_slopes(samples.angles, of_samples),
            of_centroids=angle_slopes(centroids.angles, of_centroids),
            wrt=wrt,
        )

    def _chained(self, rows: RotationRows) -> ComplexArray:
        """The rotations as the chain takes them: a single qubit has no ring, so that all of its rotations are one."""
        if self.feature_map.n_qubits > 1:
            return rows.rotations
        total = rows.rotations[:, 0]
        for layer in range(1, self.feature_map.n_layers):
            total = rows.rotations[:, layer] @ total
        return np.ascontiguousarray(total[:, None])

    def _unchained(self, rows: RotationRows, by_chained: ComplexArray) -> ComplexArray:
        """Derivatives by the entries of the rotations, from those by the entries of what ``_chained`` gave."""
        if self.feature_map.n_qubits > 1:
            return by_chained
        n_layers = self.feature_map.n_layers
        by_rotations = np.empty_like(rows.rotations)
        for layer in range(n_layers):
            before = after = np.eye(2, dtype=np.complex128)
            for other in range(layer):
                before = rows.rotations[:, other] @ before
            for other in range(layer + 1, n_layers):
                after = rows.rotations[:, other] @ after
            # d(A R B) by R, for entries that are not conjugated.
            by_rotations[:, layer] = np.swapaxes(after, -1, -2) @ by_chained[:, 0] @ np.swapaxes(before, -1, -2)
        return by_rotations

    def in_blocks(self, n_samples: int, work: Callable[[int, int, int], None]) -> None:
        """Calls ``work(first, last, block)`` for every block of samples, on several threads where it pays."""
        starts = range(0, n_samples, _SAMPLES_PER_BLOCK)
        blocks = [(first, min(first + _SAMPLES_PER_BLOCK, n_samples), block) for block, first in enumerate(starts)]
        n_threads = min(self.n_threads, len(blocks))
        if n_threads <= 1:
            for block in blocks:
                work(*block)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for _ in pool.map(lambda block: work(*block), blocks):
                pass


def n_blocks(n_samples: int) -> int:
    """Into how many pieces the work on so many samples is divided."""
    return -(-n_samples // _SAMPLES_PER_BLOCK)
