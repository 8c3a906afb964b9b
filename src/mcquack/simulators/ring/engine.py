"""The engine for a hundred qubits and more: exact fidelities of shallow circuits, with derivatives by reverse sweep."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Encoded, Gradient, Wrt, checked_cotangent
from mcquack.simulators.ring.chain import join_last_rotations, log_fidelity, overlap, pull_last_rotations, pull_overlap
from mcquack.simulators.statevector.entry import entry
from mcquack.simulators.statevector.team import available_threads

# Rotations as matrices, and derivatives by their entries turned into derivatives by their angles.

ComplexArray = NDArray[np.complex128]

# ∂R/∂φ and ∂R/∂ω multiply every entry of R by one of these.
_BY_PHI = 0.5j * np.array([[-1, 1], [-1, 1]])
_BY_OMEGA = 0.5j * np.array([[-1, -1], [1, 1]])


def rotation_matrices(angles: FloatArray) -> ComplexArray:
    """Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) for angles (…, 3), shape (…, 2, 2)."""
    return _with_phases(angles, np.cos(angles[..., 1] / 2), np.sin(angles[..., 1] / 2))


def angle_slopes(angles: FloatArray, by_entries: ComplexArray) -> FloatArray:
    """Re Σ by_entries ∘ ∂R/∂angle, for each of the three angles."""
    rotations = rotation_matrices(angles)
    half_turned = _with_phases(angles, -np.sin(angles[..., 1] / 2) / 2, np.cos(angles[..., 1] / 2) / 2)
    slopes = (rotations * _BY_PHI, half_turned, rotations * _BY_OMEGA)
    return np.stack([(by_entries * slope).sum(axis=(-2, -1)).real for slope in slopes], axis=-1)


def _with_phases(angles: FloatArray, cosine: FloatArray, sine: FloatArray) -> ComplexArray:
    """The phases of Rot around the entries of RY."""
    phi, omega = angles[..., 0], angles[..., 2]
    outer, inner = np.exp(0.5j * (phi + omega)), np.exp(0.5j * (phi - omega))
    # Row by row whatever the layout of the angles: compiled code would be made anew, and slower, for any other.
    matrices = np.empty((*angles.shape[:-1], 2, 2), dtype=np.complex128)
    matrices[..., 0, 0], matrices[..., 0, 1] = outer.conj() * cosine, -inner * sine
    matrices[..., 1, 0], matrices[..., 1, 1] = inner.conj() * sine, outer * cosine
    return matrices


# From derivatives by the angles of circuits to derivatives by what the angles are made of.


def checked_wrt(wrt: Wrt) -> Wrt:
    """Refuses all but the two sides that are trained."""
    if wrt not in ("embedding", "centroids"):
        raise InvalidInputError(f'wrt must be "embedding" or "centroids", not {wrt!r}: samples are data.')
    return wrt


def gradient_by_angles(
    feature_map: FeatureMap,
    samples: Encoded,
    centroids: Encoded,
    *,
    of_samples: FloatArray,
    of_centroids: FloatArray,
    wrt: Wrt,
) -> Gradient:
    """The gradient from the derivatives by the angles of all samples (N, L, n, 3) and of all centroids (M, L, n, 3)."""
    index = feature_map.feature_index
    if wrt == "embedding":
        by_weights = np.sum(of_samples * samples.features[:, index], axis=0)
        by_weights += np.sum(of_centroids * centroids.features[:, index], axis=0)
        return Gradient(weights=by_weights, bias=of_samples.sum(axis=0) + of_centroids.sum(axis=0))
    by_features = np.zeros(centroids.features.shape)
    for row, slopes in zip(by_features, of_centroids, strict=True):
        np.add.at(row, index, slopes * centroids.weights)
    return Gradient(centroids=by_features)


MAX_LAYERS = 4
MAX_QUBITS = 100_000  # beyond which a single sample would take gigabytes
# Work is divided by these blocks, never by thread, so the result does not depend on how many there are.
_SAMPLES_PER_BLOCK = 8


@dataclass(frozen=True, eq=False)
class RotationRows:
    """Data points as the rotations of their circuits: nothing else distinguishes them."""

    features: FloatArray
    weights: FloatArray
    bias: FloatArray
    angles: FloatArray  # (N, L, n, 3)
    rotations: ComplexArray  # (N, L, n, 2, 2)

    def __len__(self) -> int:
        return len(self.features)


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


def check_qubits(n_qubits: int) -> None:
    """Refuses circuits that are too wide for this engine."""
    if n_qubits > MAX_QUBITS:
        raise InvalidInputError(f"the ring engine takes 1 to {MAX_QUBITS:,} qubits, got {n_qubits}; use fewer.")


class RingEngine:
    """Exact simulation of feature maps with few layers, for any number of qubits.

    Fidelities are computed as logarithms, so that 1e-200 is as exact as 1; numbers are double throughout. With L layers
    the time grows as n · 4**(2L - 2), so at most 4 are taken. ``n_threads`` as in the statevector engine.
    """

    def __init__(self, feature_map: FeatureMap, *, n_threads: int | None = None) -> None:
        check_qubits(feature_map.n_qubits)
        if feature_map.n_qubits > 1 and feature_map.n_layers > MAX_LAYERS:
            states = 4 ** (feature_map.n_layers - 1)
            raise InvalidInputError(
                f"the ring engine takes at most {MAX_LAYERS} layers, and this circuit has {feature_map.n_layers}: each "
                f"fidelity would need {states:,} × {states:,} numbers for every qubit. Use more qubits or fewer "
                "repetitions, or for at most 20 qubits the statevector engine."
            )
        self.feature_map = feature_map
        self.n_threads = available_threads(n_threads)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> RotationRows:
        """The rotations of every row."""
        shape = self.feature_map.parameter_shape
        w, b = np.asarray(weights), np.asarray(bias)
        for name, array in (("weights", w), ("bias", b)):
            if array.shape != shape:
                raise InvalidInputError(f"{name} must have the shape {shape} of the feature map, got {array.shape}.")
        features = np.asarray(X)
        angles = self.feature_map.angles(features.astype(np.float64), w.astype(np.float64), b.astype(np.float64))
        return RotationRows(features, w, b, angles, rotation_matrices(angles))

    def log_fidelities(self, samples: RotationRows, centroids: RotationRows) -> FloatArray:
        """log |⟨c_m|x_i⟩|², shape (N, M); minus infinity for orthogonal states."""
        found = np.empty((len(samples), len(centroids)))
        left, right = self._chained(samples), self._chained(centroids)
        self.in_blocks(len(samples), lambda first, last, _: _log_fidelities(left, right, first, last, found))
        return np.minimum(found, 0.0)

    def fidelities(self, samples: RotationRows, centroids: RotationRows) -> FloatArray:
        """K[i, m] = |⟨c_m|x_i⟩|², shape (N, M)."""
        return np.exp(self.log_fidelities(samples, centroids))

    def pullback(self, samples: RotationRows, centroids: RotationRows, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """Derivatives of Σ cotangent∘K: by the embedding's weights and biases, or by the centroids' features."""
        checked_wrt(wrt)
        slopes = np.require(checked_cotangent(cotangent, samples, centroids), np.float64, ["C", "W"])
        of_samples, of_centroids = self._angle_slopes(samples, centroids, slopes)
        return gradient_by_angles(
            self.feature_map, samples, centroids, of_samples=of_samples, of_centroids=of_centroids, wrt=wrt
        )

    def _angle_slopes(
        self, samples: RotationRows, centroids: RotationRows, cotangent: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives of Σ cotangent∘K by the angles of every sample and of every centroid."""
        left, right = self._chained(samples), self._chained(centroids)
        by_samples = np.zeros_like(left)
        by_centroids = np.zeros((n_blocks(len(samples)), *right.shape), dtype=np.complex128)
        self.in_blocks(
            len(samples),
            lambda first, last, block: _pull(left, right, cotangent, first, last, by_samples, by_centroids[block]),
        )
        of_samples = self._unchained(samples, by_samples)
        of_centroids = self._unchained(centroids, by_centroids.sum(axis=0).conj())
        return angle_slopes(samples.angles, of_samples), angle_slopes(centroids.angles, of_centroids)

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
        blocks = list(_blocks(n_samples))
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


def _blocks(n_samples: int) -> Iterator[tuple[int, int, int]]:
    for block in range(n_blocks(n_samples)):
        first = block * _SAMPLES_PER_BLOCK
        yield first, min(first + _SAMPLES_PER_BLOCK, n_samples), block
