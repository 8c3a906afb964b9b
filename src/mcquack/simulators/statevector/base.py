"""What the CPU engines share: exact statevectors of many samples at once, with derivatives by reversible adjoint."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.gates import OF_FEATURES, OF_PARAMETERS
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned, aligned_zeros, copy_block, gather_block, require_bytes
from mcquack.simulators.compiled.team import Team, all_done, barrier, done, stop_asked, taken
from mcquack.simulators.engine import (
    EncodedRows,
    Gradient,
    PullsExpectations,
    ThreadedEngine,
    Wrt,
    checked_cotangent,
    checked_parameters,
    checked_wrt,
)
from mcquack.simulators.hamming import CountsOnes
from mcquack.simulators.statevector.circuit import BoundCircuit, RingForm, backward, forward
from mcquack.simulators.statevector.hamming import hamming_distributions
from mcquack.simulators.statevector.overlaps import (
    centroid_adjoints,
    expectation_block,
    fill_columns,
    kernel_rows,
    observable_adjoint,
    overlap_block,
    pull_overlaps,
    sample_adjoint,
)

Observable: TypeAlias = int | Sequence[int]

# A block always adds its derivatives to the same one of these partial sums, whichever thread it runs on.
N_PARTIAL_SUMS = 16
# What a thread must have to do when it is called, about a quarter of a millisecond: calling it takes a tenth of one,
# and on a machine that does other things too it may come late.
FLOPS_WORTH_A_THREAD = 3e7
# Shorter work than this (about half a second) is waited for without listening for interrupts.
FLOPS_WORTH_LISTENING = 4e10


@dataclass(frozen=True, eq=False)
class StateBlocks(EncodedRows):
    """Encoded samples: W of them side by side in each block, in the row order of the engine."""

    states: NDArray[Any]


@entry
def _encode(cells, rank, n_threads, work, circuit, X, states):
    n_blocks, _, _, width = states.shape
    features = work.features
    for block in range(rank, n_blocks, n_threads):
        gather_block(X, block * width, features)
        forward(circuit, features, states[block], work)
        if stop_asked(cells):
            return


@entry
def _fidelities(cells, rank, n_threads, work, states, columns, overlaps, kernel):
    n_blocks, _, _, width = states.shape
    for block in range(rank, n_blocks, n_threads):
        overlap_block(states[block], columns, overlaps[rank])
        kernel_rows(overlaps[rank], kernel[block * width : (block + 1) * width])


@entry
def _kernel(cells, rank, n_threads, work, circuit, X, C, states, columns, overlaps, rows, kernel):
    """The centroids' states, then the kernel block by block: no sample's state outlives its block."""
    width = states.shape[3]
    state, n_centroids = states[rank], columns.shape[0]
    n_first = (n_centroids + width - 1) // width
    block = taken(cells, n_first)
    while block >= 0:
        gather_block(C, block * width, work.features)
        forward(circuit, work.features, state, work)
        own = columns[block * width : min((block + 1) * width, n_centroids)]
        fill_columns(states[rank : rank + 1], 0, own)
        done(cells)
        block = taken(cells, n_first)
    all_done(cells, n_first)
    one = kernel.dtype.type(1)
    end = n_first + (X.shape[0] + width - 1) // width
    block = taken(cells, end) - n_first
    while block >= 0 and not stop_asked(cells):
        gather_block(X, block * width, work.features)
        forward(circuit, work.features, state, work)
        overlap_block(state, columns, overlaps[rank])
        kernel_rows(overlaps[rank], rows[rank])
        for lane in range(min(width, X.shape[0] - block * width)):
            for centroid in range(n_centroids):
                value = rows[rank, lane, centroid]
                kernel[block * width + lane, centroid] = one if value > one else value
        block = taken(cells, end) - n_first


@entry
def _pullback(
    cells,
    rank,
    n_threads,
    work,
    circuit,
    X,
    C,
    states,
    centroid_states,
    columns,
    cotangent,
    pulls,
    adjoints,
    by_w,
    by_b,
    by_centroids,
    wanted,
):
    n_blocks, size, _, width = states.shape
    n_centroids = columns.shape[0]
    for block in range(rank, n_blocks, n_threads):
        overlap_block(states[block], columns, pulls[block])
        pull_overlaps(pulls[block], cotangent[block * width : (block + 1) * width], pulls[block])
    barrier(cells, n_threads)
    first, last = rank * size // n_threads, (rank + 1) * size // n_threads
    centroid_adjoints(states, pulls, n_blocks, adjoints, n_centroids, first, last)
    barrier(cells, n_threads)
    n_centroid_blocks = centroid_states.shape[0]
    for part in range(rank, by_w.shape[0], n_threads):
        for block in range(part, n_blocks + n_centroid_blocks, by_w.shape[0]):
            if block >= n_blocks:
                own = block - n_blocks
                gather_block(C, own * width, work.features)
                copy_block(centroid_states[own], work.state)
                copy_block(adjoints[own], work.adjoint)
                backward(circuit, work.features, work.state, work, by_w[part], by_b[part], by_centroids[own], wanted)
            elif wanted == OF_PARAMETERS:
                gather_block(X, block * width, work.features)
                copy_block(states[block], work.state)
                sample_adjoint(pulls[block], columns, work.adjoint)
                backward(
                    circuit, work.features, work.state, work, by_w[part], by_b[part], by_centroids[0], OF_PARAMETERS
                )


@entry
def _expectations(cells, rank, n_threads, work, states, signs, expectations):
    for block in range(rank, states.shape[0], n_threads):
        expectation_block(states[block], signs, expectations[block])


@entry
def _pull_expectations(
    cells, rank, n_threads, work, circuit, X, states, signs, cotangent, by_w, by_b, by_features, wanted
):
    n_blocks, _, _, width = states.shape
    for part in range(rank, by_w.shape[0], n_threads):
        for block in range(part, n_blocks, by_w.shape[0]):
            gather_block(X, block * width, work.features)
            copy_block(states[block], work.state)
            observable_adjoint(work.state, signs, cotangent[block], work.adjoint)
            backward(circuit, work.features, work.state, work, by_w[part], by_b[part], by_features[block], wanted)


def _writable(values: ArrayLike, dtype: np.dtype[Any]) -> FloatArray:
    """The array in this type, a copy only if need be: Numba would compile everything anew for a read-only one."""
    return np.require(values, dtype, ["C", "W"])


def _as_rows(lanes: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """What stands in the lanes of blocks (blocks, K, W) as one row for each sample (N, K)."""
    return np.ascontiguousarray(lanes.transpose(0, 2, 1).reshape(-1, lanes.shape[1])[:n_rows])


class StateEngine(ThreadedEngine[StateBlocks], PullsExpectations[StateBlocks], CountsOnes):
    """Base of the engines that keep exact statevectors of 1 to 20 qubits, in blocks of lanes, on the CPU.

    A subclass says what its circuit is to compiled code: ``form``, ``row_of_index``, ``flops``, ``scratch`` and
    ``scratch_bytes``; and which circuits it runs (``check``).
    """

    most_qubits = 20

    @property
    @abstractmethod
    def form(self) -> Any:
        """The circuit without its parameters, as compiled code takes it."""

    @property
    @abstractmethod
    def row_of_index(self) -> NDArray[np.int64]:
        """The row that holds each basis state at the end of the circuit."""

    @abstractmethod
    def flops(self, n_rows: int, *, with_gradient: bool) -> float:
        """Return the nominal number of operations that encode so many rows, or also differentiate them."""

    @abstractmethod
    def scratch(self, n_threads: int, *, backward: bool) -> list[Any]:
        """Return the working memory of each thread."""

    @abstractmethod
    def scratch_bytes(self, *, backward: bool) -> int:
        """Return the size of the working memory of one thread."""

    def circuit(self, weights: ArrayLike, bias: ArrayLike) -> BoundCircuit:
        """Return the circuit with its parameters, as compiled code takes it."""
        found = checked_parameters(self.feature_map, weights, bias)
        w, b = (_writable(values, self.dtype) for values in found)
        return BoundCircuit(w, b, self.form)

    def rows(self, X: ArrayLike) -> FloatArray:
        """Return the data points in this engine's type, as compiled code takes them."""
        return _writable(self.feature_map.checked_rows(X), self.dtype)

    def n_blocks(self, n_rows: int) -> int:
        """Return how many blocks of lanes so many rows fill."""
        return -(-n_rows // lane_count(self.dtype))

    def state_bytes(self, n_rows: int) -> int:
        """Return the size of the states of so many rows."""
        return self.n_blocks(n_rows) * lane_count(self.dtype) * 2 * self.feature_map.dimension * self.dtype.itemsize

    def empty_states(self, n_rows: int) -> NDArray[Any]:
        """Return memory for the states of so many rows, shape (blocks, 2**n, 2, lanes)."""
        return aligned_zeros((self.n_blocks(n_rows), self.feature_map.dimension, 2, lane_count(self.dtype)), self.dtype)

    def threads_for(self, flops: float, n_blocks: int) -> int:
        """Return how many threads so much work is worth."""
        return max(1, min(self.n_threads, n_blocks, int(flops / FLOPS_WORTH_A_THREAD)))

    def team(self, n_threads: int, flops: float) -> Team:
        """Return the threads; they listen for interrupts if the work takes long."""
        return Team(n_threads, patient=flops < FLOPS_WORTH_LISTENING)

    def encode(self, X: ArrayLike, weights: ArrayLike, bias: ArrayLike) -> StateBlocks:
        rows, circuit = self.rows(X), self.circuit(weights, bias)
        flops = self.flops(len(rows), with_gradient=False)
        n_threads = self.threads_for(flops, self.n_blocks(len(rows)))
        require_bytes(
            self.state_bytes(len(rows)) + n_threads * self.scratch_bytes(backward=False),
            f"encoding {len(rows)} samples in {self.feature_map.n_qubits} qubits",
        )
        states = self.empty_states(len(rows))
        works = self.scratch(n_threads, backward=False)
        self.team(n_threads, flops).run(_encode, works, circuit, rows, states)
        return StateBlocks(rows, circuit.weights, circuit.bias, states)

    def _in_own_rows(self, encoded: StateBlocks) -> StateBlocks:
        """The same; encoded anew if it came from a processor with registers of another width."""
        if encoded.states.shape[3] == lane_count(self.dtype):
            return encoded
        return self.encode(encoded.features, encoded.weights, encoded.bias)

    def _columns(self, centroids: StateBlocks) -> FloatArray:
        columns = np.empty((len(centroids), self.feature_map.dimension, 2), dtype=self.dtype)
        fill_columns(centroids.states, 0, columns)
        return columns

    def fidelities(self, samples: StateBlocks, centroids: StateBlocks) -> FloatArray:
        samples = self._in_own_rows(samples)
        n_blocks, width = len(samples.states), lane_count(self.dtype)
        flops = 8.0 * len(samples) * len(centroids) * self.feature_map.dimension
        n_threads = self.threads_for(flops, n_blocks)
        overlaps = aligned_zeros((n_threads, len(centroids), 2, width), self.dtype)
        kernel = np.empty((n_blocks * width, len(centroids)), dtype=self.dtype)
        works = [None] * n_threads
        columns = self._columns(centroids)
        self.team(n_threads, flops).run(_fidelities, works, aligned(samples.states), columns, overlaps, kernel)
        return np.minimum(kernel[: len(samples)], 1)

    def fused_kernel(self, X: FloatArray, centroids: FloatArray, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """Return the kernel in one call; no sample's state outlives its block of lanes."""
        samples, points, circuit = self.rows(X), self.rows(centroids), self.circuit(weights, bias)
        width, size, n_centroids = lane_count(self.dtype), self.feature_map.dimension, len(points)
        flops = self.flops(len(samples) + n_centroids, with_gradient=False)
        n_threads = self.threads_for(flops, self.n_blocks(len(samples)))
        per_thread = self.scratch_bytes(backward=False) + self.state_bytes(1)
        require_bytes(
            n_threads * per_thread + (2 * size + len(samples)) * n_centroids * self.dtype.itemsize,
            f"a kernel of {len(samples)} samples in {self.feature_map.n_qubits} qubits",
        )
        kernel = np.empty((len(samples), n_centroids), self.dtype)
        self.team(n_threads, flops).run(
            _kernel,
            self.scratch(n_threads, backward=False),
            circuit,
            samples,
            points,
            aligned_zeros((n_threads, size, 2, width), self.dtype),
            np.empty((n_centroids, size, 2), self.dtype),
            aligned_zeros((n_threads, n_centroids, 2, width), self.dtype),
            np.empty((n_threads, width, n_centroids), self.dtype),
            kernel,
        )
        return kernel

    def pullback(self, samples: StateBlocks, centroids: StateBlocks, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        of_centroids = checked_wrt(wrt) == "centroids"
        samples, centroids = self._in_own_rows(samples), self._in_own_rows(centroids)
        n_blocks, width = len(samples.states), lane_count(self.dtype)
        n_centroid_blocks = len(centroids.states)
        n_rows = len(centroids) + (0 if of_centroids else len(samples))
        flops = self.flops(n_rows, with_gradient=True)
        n_threads = self.threads_for(flops, self.n_blocks(n_rows))
        require_bytes(
            n_threads * self.scratch_bytes(backward=True) + self.state_bytes(2 * len(centroids)),
            f"derivatives for {self.feature_map.n_qubits} qubits",
        )
        padded = np.zeros((n_blocks * width, len(centroids)), dtype=self.dtype)
        padded[: len(samples)] = checked_cotangent(cotangent, samples, centroids)
        pulls = aligned_zeros((n_blocks, len(centroids), 2, width), self.dtype)
        by_w, by_b = self._partial_sums()
        by_centroids = aligned_zeros((n_centroid_blocks, self.feature_map.n_features, width), self.dtype)
        self.team(n_threads, flops).run(
            _pullback,
            self.scratch(n_threads, backward=True),
            self.circuit(samples.weights, samples.bias),
            samples.features,
            centroids.features,
            aligned(samples.states),
            aligned(centroids.states),
            self._columns(centroids),
            padded,
            pulls,
            self.empty_states(len(centroids)),
            by_w,
            by_b,
            by_centroids,
            OF_FEATURES if of_centroids else OF_PARAMETERS,
        )
        if of_centroids:
            return Gradient(centroids=_as_rows(by_centroids, len(centroids)))
        return Gradient(weights=by_w.sum(axis=0), bias=by_b.sum(axis=0))

    def _partial_sums(self) -> tuple[FloatArray, FloatArray]:
        shapes = self.feature_map.weights_shape, self.feature_map.bias_shape
        by_w, by_b = (np.zeros((N_PARTIAL_SUMS, *shape), self.dtype) for shape in shapes)
        return by_w, by_b

    def z_signs(self, observables: Sequence[Observable]) -> FloatArray:
        """Return ±1 for every stored row (O, 2**n): the product of Z on these qubits in its basis state."""
        signs = np.empty((len(observables), self.feature_map.dimension), self.dtype)
        parities = np.bitwise_count(np.arange(self.feature_map.dimension) & self.z_masks(observables)[:, None]) & 1
        signs[:, self.row_of_index] = 1 - 2 * parities.astype(np.int64)
        return signs

    def expectations(self, encoded: StateBlocks, observables: Sequence[Observable]) -> FloatArray:
        encoded, width = self._in_own_rows(encoded), lane_count(self.dtype)
        flops = 6.0 * len(encoded) * len(observables) * self.feature_map.dimension
        n_threads = self.threads_for(flops, len(encoded.states))
        found = aligned_zeros((len(encoded.states), len(observables), width), self.dtype)
        works = [None] * n_threads
        self.team(n_threads, flops).run(_expectations, works, aligned(encoded.states), self.z_signs(observables), found)
        return np.asarray(np.clip(_as_rows(found, len(encoded)), -1, 1))

    def _pulled_expectations(
        self, encoded: StateBlocks, slopes: FloatArray, observables: Sequence[Observable], *, of_features: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        encoded = self._in_own_rows(encoded)
        n_blocks, width = len(encoded.states), lane_count(self.dtype)
        flops = self.flops(len(encoded), with_gradient=True)
        n_threads = self.threads_for(flops, n_blocks)
        by_features = aligned_zeros((n_blocks, self.feature_map.n_features, width), self.dtype)
        lanes = aligned_zeros((n_blocks, len(observables), width), self.dtype)
        padded = np.zeros((n_blocks * width, len(observables)), self.dtype)
        padded[: len(encoded)] = slopes
        lanes[:] = padded.reshape(n_blocks, width, len(observables)).transpose(0, 2, 1)
        by_w, by_b = self._partial_sums()
        self.team(n_threads, flops).run(
            _pull_expectations,
            self.scratch(n_threads, backward=True),
            self.circuit(encoded.weights, encoded.bias),
            encoded.features,
            aligned(encoded.states),
            self.z_signs(observables),
            lanes,
            by_w,
            by_b,
            by_features,
            OF_FEATURES if of_features else OF_PARAMETERS,
        )
        return _as_rows(by_features, len(encoded)), by_w.sum(axis=0), by_b.sum(axis=0)

    def statevectors(self, encoded: StateBlocks) -> NDArray[np.complexfloating[Any, Any]]:
        """Return the amplitudes (N, 2**n) of each sample; qubit 0 is the most significant bit of an index.

        The gate engine keeps the common phase of a state; the statevector engine does not.
        """
        amplitudes = encoded.states[:, self.row_of_index, 0] + 1j * encoded.states[:, self.row_of_index, 1]
        return _as_rows(amplitudes, len(encoded))

    def hamming_distributions(self, samples: StateBlocks, centroids: StateBlocks) -> FloatArray:
        self.feature_map.for_overlaps()
        points = (centroids.features, centroids.weights, centroids.bias)
        angles = self.feature_map.angles(*(array.astype(np.float64) for array in points))
        by_layers = isinstance(self.form, RingForm)
        return hamming_distributions(self.feature_map, self.statevectors(samples), angles, by_layers=by_layers)
