"""The engine for a hundred qubits and more: exact fidelities of shallow circuits, with derivatives by reverse sweep."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.team import Team, stop_asked
from mcquack.simulators.engine import (
    AngleRows,
    Cost,
    Gradient,
    ThreadedEngine,
    Wrt,
    angle_rows,
    checked_cotangent,
    checked_wrt,
    gradient_by_angles,
    lifted,
    paper_map,
)
from mcquack.simulators.hamming import CountsOnes
from mcquack.simulators.ring.chain import (
    gather_samples,
    log_fidelity,
    move_centroid_slopes,
    move_sample_slopes,
    n_blocks,
    pull_back,
    spread_centroid,
    walk,
    workspace,
)
from mcquack.simulators.ring.hamming import MAX_LAYERS as MOST_COUNTED_LAYERS
from mcquack.simulators.ring.hamming import check_layers, hamming_distributions, pull_hamming
from mcquack.simulators.ring.rotations import LANES, angle_slopes, halves, rotations_of

MAX_LAYERS = 4
# What a thread must have to do, about half a millisecond, and how much is waited for without listening for
# interrupts, about half a second.
_FLOPS_WORTH_A_THREAD = 1e7
_FLOPS_WORTH_LISTENING = 1e10


@dataclass(frozen=True, eq=False)
class RotationRows(AngleRows):
    """Data points as the rotations of their circuits: nothing else distinguishes them."""

    rotations: ComplexArray  # (N, L, n, 2, 2), each up to a sign


@entry
def _log_fidelities(cells, rank, n_threads, work, samples, centroids, found):
    for block in range(rank, n_blocks(samples.shape[0]), n_threads):
        if stop_asked(cells):
            return
        first = block * LANES
        gather_samples(samples, first, work.sample)
        for column in range(centroids.shape[0]):
            spread_centroid(centroids[column], work.centroid)
            walk(work)
            for lane in range(min(LANES, samples.shape[0] - first)):
                found[first + lane, column] = log_fidelity(work.total, lane)


@entry
def _pull(cells, rank, n_threads, work, samples, centroids, slopes, of_logs, by_samples, by_centroids):
    weights = np.zeros(LANES)
    for block in range(rank, n_blocks(samples.shape[0]), n_threads):
        if stop_asked(cells):
            return
        first = block * LANES
        count = min(LANES, samples.shape[0] - first)
        gather_samples(samples, first, work.sample)
        work.by_sample[:] = 0.0
        for column in range(centroids.shape[0]):
            weights[:] = 0.0
            for lane in range(count):
                weights[lane] = 2 * slopes[first + lane, column]  # ∂ log K = 2 Re ∂ log⟨c|x⟩
            if not np.any(weights):
                continue
            spread_centroid(centroids[column], work.centroid)
            walk(work)
            for lane in range(0 if of_logs else count):
                weights[lane] *= np.exp(log_fidelity(work.total, lane))  # ∂K = K ∂ log K
            work.by_centroid[:] = 0.0
            pull_back(work, weights)
            move_centroid_slopes(work, by_centroids[block, column])
        move_sample_slopes(work, first, by_samples)


class RingEngine(ThreadedEngine[RotationRows], CountsOnes):
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
    tiny_fidelities = True

    @property
    def _paper(self) -> FeatureMap:
        return paper_map(self, self.feature_map)

    def cost(self, wrt: Wrt = "embedding") -> Cost:
        return Cost(encoded_as="angles")

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
        return RotationRows(rows.features, rows.weights, rows.bias, rows.angles, rotations_of(rows.angles))

    def fidelities(self, samples: RotationRows, centroids: RotationRows, *, log: bool = False) -> FloatArray:
        """Return K[i, m] = |⟨c_m|x_i⟩|², or its logarithm, which is minus infinity for orthogonal states.

        A row whose largest fidelity is below 1e-300 is lifted to that, so that its order stays.
        """
        found = np.empty((len(samples), len(centroids)))
        left, right = self._chained(samples), self._chained(centroids)
        self._run(_log_fidelities, self._flops(samples, centroids), left, right, found, backward=False)
        logs = np.minimum(found, 0.0)
        return logs if log else lifted(logs)

    def pullback(
        self, samples: RotationRows, centroids: RotationRows, cotangent: ArrayLike, *, wrt: Wrt, log: bool = False
    ) -> Gradient:
        """Return derivatives of Σ cotangent∘K, or of Σ cotangent∘log K."""
        wrt = checked_wrt(wrt)
        slopes = np.ascontiguousarray(checked_cotangent(cotangent, samples, centroids), np.float64)
        left, right = self._chained(samples), self._chained(centroids)
        by_samples = np.zeros(left.shape[:-1], dtype=np.complex128)
        by_centroids = np.zeros((n_blocks(len(samples)), *right.shape[:-1]), dtype=np.complex128)
        flops = 4 * self._flops(samples, centroids)
        self._run(_pull, flops, left, right, slopes, log, by_samples, by_centroids, backward=True)
        of_samples = self._unchained(samples, by_samples)
        of_centroids = self._unchained(centroids, by_centroids.sum(axis=0))
        return self._gradient(samples, centroids, of_samples, of_centroids, wrt)

    def _flops(self, samples: RotationRows, centroids: RotationRows) -> float:
        """Nominal count: 8 for each product on the way through the chains."""
        n_rings = self._paper.n_layers - 1
        products: int = 16**n_rings * max(1, 4 * n_rings)
        return 8.0 * len(samples) * len(centroids) * self.feature_map.n_qubits * products

    def _run(self, function: Any, flops: float, left: ComplexArray, *args: Any, backward: bool) -> None:
        n_layers, n_qubits = left.shape[1:3]
        self.run(function, flops, lambda: workspace(n_layers, n_qubits, backward=backward), left, *args)

    def run(self, function: Any, flops: float, make: Callable[[], Any], samples: ComplexArray, *args: Any) -> None:
        """Calls a compiled function on all samples, on several threads where it pays; each makes itself a workspace."""
        most = min(self.n_threads, n_blocks(len(samples)), int(flops / _FLOPS_WORTH_A_THREAD))
        works = [make() for _ in range(max(1, most))]
        Team(len(works), patient=flops < _FLOPS_WORTH_LISTENING).run(function, works, samples, *args)

    @property
    def counts_ones(self) -> bool:
        return self.feature_map.n_qubits == 1 or self._paper.n_layers <= MOST_COUNTED_LAYERS

    def hamming_distributions(self, samples: RotationRows, centroids: RotationRows) -> FloatArray:
        if self.feature_map.n_qubits == 1:
            fidelities = self.fidelities(samples, centroids)
            return np.stack([fidelities, 1 - fidelities], axis=-1)
        check_layers(self._paper)
        return hamming_distributions(samples.rotations, centroids.rotations, run=self.run)

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
        check_layers(self._paper)
        of_samples, of_centroids = pull_hamming(samples.rotations, centroids.rotations, slopes, run=self.run)
        return self._gradient(samples, centroids, halves(of_samples), halves(of_centroids), wrt)

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
            of_samples=angle_slopes(samples.angles, samples.rotations, of_samples),
            of_centroids=angle_slopes(centroids.angles, centroids.rotations, of_centroids),
            wrt=wrt,
        )

    def _chained(self, rows: RotationRows) -> ComplexArray:
        """The rotations as the chain takes them: a single qubit has no ring, so that all of its rotations are one."""
        if self.feature_map.n_qubits > 1:
            return rows.rotations
        total = rows.rotations[:, 0]
        for layer in range(1, self._paper.n_layers):
            total = rows.rotations[:, layer] @ total
        return np.ascontiguousarray(total[:, None])

    def _unchained(self, rows: RotationRows, by_chained: ComplexArray) -> ComplexArray:
        """Derivatives by α and β of the rotations, from those of what ``_chained`` gave."""
        if self.feature_map.n_qubits > 1:
            return by_chained
        n_layers = self._paper.n_layers
        by_rotations = np.empty_like(rows.rotations)
        by_entries = np.zeros((len(rows), 1, 2, 2), dtype=np.complex128)
        by_entries[..., 0] = by_chained[:, 0]
        for layer in range(n_layers):
            before = after = np.eye(2, dtype=np.complex128)
            for other in range(layer):
                before = rows.rotations[:, other] @ before
            for other in range(layer + 1, n_layers):
                after = rows.rotations[:, other] @ after
            # d(A R B) by R, for entries that are not conjugated.
            by_rotations[:, layer] = np.swapaxes(after, -1, -2) @ by_entries @ np.swapaxes(before, -1, -2)
        return halves(by_rotations)
