"""The quantum Boltzmann machine of the QML benchmark suite: a thermal state, its Hamiltonian linear in the features.

A sample x of n features sets the Hamiltonian of n qubits

    H(x) = Σ_i (θ_{2i}·x) Z_i + (θ_{2i+1}·x) X_i + Σ_{i<j} (θ_{2n+k}·x) Z_i Z_j,

and the thermal state ρ = e^{-H/T} / tr e^{-H/T} is measured: p(c) is proportional to Tr[ρ D_c] with one diagonal
D_c ≥ 0 for each class. H is real and symmetric, so one eigendecomposition H/T = U diag(ε) Uᵀ gives ρ and every
derivative of it: with w = e^{-ε} and the divided differences K_kl = (w_k - w_l) / (ε_l - ε_k),

    d Tr[e^{-H/T} O] = -Tr[G dH/T],    G = U (K ∘ Uᵀ O U) Uᵀ.

H has numbers on its diagonal and, for each qubit, one where a bit flips: of G, only those are ever computed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from mcquack.arrays import FloatArray, IntArray
from mcquack.simulators.compiled.eigensystems import eigensystems
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, lane_count, load, sizes, splat, store, where_below
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.team import STOP_ASKED, Team, available_threads, stop_asked, taken

Visible = Literal["single", "half", "full"]
Couplings = Literal["shared", "each"]

_FLOOR = 1e-30
"""Is added to Tr[ρ D_c]: eigenvectors are known to 1e-16, so probabilities below their square are not known at all."""

MOST_QUBITS_IN_LANES = 7  # beyond, W matrices side by side do not fit into the cache, and LAPACK is faster
WORK_WORTH_A_THREAD = 4e5  # D³ times samples; it takes a tenth of a millisecond
ROWS_AT_ONCE = 512
_CLOSE = 0.5  # energies that differ by less have a series in place of their divided difference
_SERIES = tuple((-1.0) ** j / math.factorial(j + 1) for j in range(14, -1, -1))  # of (1 - e^{-x}) / x


@dataclass(frozen=True, kw_only=True)
class BoltzmannMachine:
    """What a quantum Boltzmann machine is before it has parameters.

    Parameters
    ----------
    n_qubits
        As many as features.
    n_classes
        Of two classes, the second has probability (1 + f) / 2, where f is the mean of Z over the visible qubits. Of
        more, class c has the share of the basis state n_classes - 1 - c of the first ⌈log2 n_classes⌉ qubits among
        those of all classes: the last class is 0…0, so that two classes are the original with one visible qubit.
    visible_qubits
        "single" is the first qubit, "half" the first half of them, "full" all; more than two classes need "single".
    temperature
        T, above zero.
    zz
        "shared" couples all pairs of qubits by row 2n of the parameters, as the published results were computed;
        "each" has a row for each pair (0, 1), (0, 2), …, as the model is documented.

    Examples
    --------
    >>> import numpy as np
    >>> machine = BoltzmannMachine(n_qubits=2)
    >>> theta = 0.1 * np.arange(1, 11).reshape(machine.n_rows, 2)
    >>> machine.probabilities(theta, np.array([[0.3, 0.6]])).round(4).tolist()
    [[0.4233, 0.5767]]
    """

    n_qubits: int
    n_classes: int = 2
    visible_qubits: Visible = "single"
    temperature: float = 1.0
    zz: Couplings = "shared"

    @property
    def n_rows(self) -> int:
        """Rows of the parameters: two for each qubit and one for each pair, of which shared couplings use the first."""
        return 2 * self.n_qubits + math.comb(self.n_qubits, 2)

    @cached_property
    def _terms(self) -> FloatArray:
        """The diagonals (terms, D) of the Z_i and of what couples qubits, ±1 or their sum."""
        bits = np.arange(2**self.n_qubits) >> np.arange(self.n_qubits)[::-1, None] & 1
        single = 1.0 - 2.0 * bits
        pairs = [single[i] * single[j] for i, j in combinations(range(self.n_qubits), 2)]
        if self.zz == "shared" and pairs:
            pairs = [np.sum(pairs, axis=0)]
        return np.array([*single, *pairs])

    @cached_property
    def _observables(self) -> FloatArray:
        """D_c (M, D)."""
        if self.n_classes > 2:
            n_measured = (self.n_classes - 1).bit_length()
            strings = np.arange(2**self.n_qubits) >> (self.n_qubits - n_measured)
            return np.asarray(strings == np.arange(self.n_classes)[::-1, None], np.float64)
        n_visible = {"single": 1, "half": max(1, self.n_qubits // 2), "full": self.n_qubits}[self.visible_qubits]
        # Shares of ones and zeros among the visible bits: (1 ∓ mean Z) / 2 without a difference.
        ones = (self._terms[:n_visible] < 0).sum(axis=0)
        return np.array([ones, n_visible - ones]) / n_visible

    def _fields(self, theta: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The diagonals (N, D) of H/T, and what flips each qubit (N, n)."""
        n = self.n_qubits
        fields = X @ theta.T / self.temperature
        along = np.concatenate([fields[:, : 2 * n : 2], fields[:, 2 * n : n + len(self._terms)]], axis=1)
        return along @ self._terms, np.ascontiguousarray(fields[:, 1 : 2 * n : 2])

    def probabilities(self, theta: FloatArray, X: FloatArray, *, team: Team | None = None) -> FloatArray:
        """p(c) of every sample (N, M), for parameters (n_rows, n) and samples (N, n).

        Results do not depend on the threads of ``team``; without one, threads are started where they are worth it.
        """
        found = np.empty((len(X), self.n_classes))
        for first in range(0, len(X), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            found[rows] = _measured(*self._fields(theta, X[rows]), self._observables, None, team).probabilities
        return found

    def loss_and_gradient(
        self, theta: FloatArray, X: FloatArray, labels: IntArray, *, team: Team | None = None
    ) -> tuple[float, FloatArray]:
        """The mean cross entropy of a batch and its derivatives (n_rows, n).

        ``labels`` (B,) are from 0 to n_classes - 1. Rows of parameters that nothing uses have derivatives of zero. The
        loss is finite wherever the parameters are; where they are not numbers, neither is the loss. Results do not
        depend on the threads of ``team``; a training keeps one for all its steps.
        """
        n = self.n_qubits
        found = _measured(*self._fields(theta, X), self._observables, labels, team)
        along = found.by_diagonal @ self._terms.T
        by_field = np.zeros((len(X), len(theta)))
        by_field[:, : 2 * n : 2], by_field[:, 1 : 2 * n : 2] = along[:, :n], found.by_flip
        by_field[:, 2 * n : n + len(self._terms)] = along[:, n:]
        return float(found.losses.mean()), by_field.T @ X / (len(X) * self.temperature)


class _Batch(NamedTuple):
    """N samples as diagonals and flips of their Hamiltonians, and what is found of them.

    Without labels, only the probabilities are found, and all that follows them is empty.
    """

    diagonals: Any  # (N, D)
    flips: Any  # (N, n)
    observables: Any  # (M, D)
    labels: Any  # (N,)
    probabilities: Any  # (N, M)
    losses: Any  # (N,)
    by_diagonal: Any  # (N, D), derivatives of each sample's own loss
    by_flip: Any  # (N, n)


class _Room(NamedTuple):
    """Memory of one thread for W samples."""

    matrices: Any  # (D, D, W)
    vectors: Any  # (D, D, W)
    values: Any  # (D, W)
    weights: Any  # (D, W)
    occupied: Any  # (D, W)
    row: Any  # (2, D, W)
    totals: Any  # (n + M + 1, W)
    work: Any  # (5, D, W)


def _room(size: int, n_totals: int) -> _Room:
    width = lane_count(np.float64)
    shapes = [(size, size), (size, size), (size,), (size,), (size,), (2, size), (n_totals,), (5, size)]
    return _Room(*(aligned_zeros((*shape, width), np.float64) for shape in shapes))


def _measured(
    diagonals: FloatArray, flips: FloatArray, observables: FloatArray, labels: IntArray | None, team: Team | None
) -> _Batch:
    (n_samples, size), n_qubits = diagonals.shape, flips.shape[1]
    known = np.zeros(0, np.int64) if labels is None else np.ascontiguousarray(labels, np.int64)
    found = (np.empty((len(known), *shape)) for shape in ((), (size,), (n_qubits,)))
    batch = _Batch(diagonals, flips, observables, known, np.empty((n_samples, len(observables))), *found)
    in_lanes = n_qubits <= MOST_QUBITS_IN_LANES
    n_tasks = -(-n_samples // lane_count(np.float64)) if in_lanes else n_samples
    n_useful = min(n_tasks, int(size**3 * n_samples / WORK_WORTH_A_THREAD))
    if n_useful < 2:
        team = Team(1, patient=True)
    elif team is None:
        team = Team(min(available_threads(None), n_useful), patient=True)
    if in_lanes:
        rooms = [_room(size, n_qubits + len(observables) + 1) for _ in range(team.n_threads)]
        team.run(_measure_in_lanes, rooms, batch)
    else:
        with threadpool_limits(1, user_api="blas"):
            team.run(_measure_one_by_one, [iter(range(n_samples))] * team.n_threads, batch)
    return batch


@inner
def _fill(room: Any, first: int, batch: Any) -> None:
    """The Hamiltonians of W samples from ``first`` on; the last sample stands in where there are no more."""
    n_samples, size = batch.diagonals.shape
    n_qubits = batch.flips.shape[1]
    zero = splat(0.0)
    for place in range(size * size):
        store(room.matrices, place, zero)
    for lane in range(room.values.shape[1]):
        sample = min(first + lane, n_samples - 1)
        for a in range(size):
            room.matrices[a, a, lane] = batch.diagonals[sample, a]
            for qubit in range(n_qubits):
                room.matrices[a, a ^ (size >> (qubit + 1)), lane] = batch.flips[sample, qubit]


@inner
def _occupy(room: Any) -> None:
    """The weights e^{-ε} and the diagonal of ρ, both times the same number; all terms are positive."""
    size, width = room.values.shape
    for lane in range(width):
        lowest = room.values[0, lane]
        for k in range(1, size):
            lowest = min(lowest, room.values[k, lane])
        trace = 0.0
        for k in range(size):
            room.weights[k, lane] = math.exp(lowest - room.values[k, lane])
            trace += room.weights[k, lane]
        for k in range(size):
            room.weights[k, lane] /= trace
    for a in range(size):
        total = splat(0.0)
        for k in range(size):
            amplitude = load(room.vectors, a * size + k)
            total = fma(amplitude * amplitude, load(room.weights, k), total)
        store(room.occupied, a, total)


@inner
def _shares(room: Any, observables: Any) -> None:
    """Tr[ρ D_c] and the floor, for each class, and behind them their sum."""
    n_classes, size = observables.shape
    everything = splat(0.0)
    for label in range(n_classes):
        share = splat(_FLOOR)
        for a in range(size):
            share = fma(splat(observables[label, a]), load(room.occupied, a), share)
        store(room.totals, label, share)
        everything = everything + share
    store(room.totals, n_classes, everything)


@inner
def _observe(room: Any, first: int, batch: Any) -> None:
    """The losses of W samples, and the diagonal O whose expectation changes as the loss does, without Tr[ρ O]."""
    observables, labels = batch.observables, batch.labels
    n_classes, size = observables.shape
    for lane in range(room.values.shape[1]):
        sample = min(first + lane, labels.size - 1)
        own, everything = room.totals[labels[sample], lane], room.totals[n_classes, lane]
        batch.losses[sample] = math.log(everything / own)
        for label in range(n_classes):
            room.totals[label, lane] = 1.0 / everything
        room.totals[labels[sample], lane] -= 1.0 / own
        room.totals[n_classes, lane] = n_classes * (_FLOOR / everything) - _FLOOR / own
    for a in range(size):
        number = load(room.totals, n_classes)
        for label in range(n_classes):
            number = fma(splat(observables[label, a]), load(room.totals, label), number)
        store(room.occupied, a, number)


@inner
def _divided_difference(room: Any, k: int, l: int) -> Any:
    """(w_k - w_l) / (ε_l - ε_k), of energies that may be equal."""
    low, high = load(room.weights, k), load(room.weights, l)
    apart = load(room.values, l) - load(room.values, k)
    distance, largest, close = sizes(apart), where_below(low, high, high, low), splat(_CLOSE)
    series = splat(0.0)
    for coefficient in _SERIES:
        series = fma(series, distance, splat(coefficient))
    return where_below(distance, close, largest * series, (low - high) / where_below(distance, close, close, apart))


@inner
def _transform(room: Any) -> None:
    """K ∘ Uᵀ O U, in place of the Hamiltonians; it is symmetric."""
    size = room.values.shape[0]
    vectors, matrices, left, right = room.vectors, room.matrices, room.row[0], room.row[1]
    for k in range(0, size, 2):
        for a in range(size):
            number = load(room.occupied, a)
            store(left, a, number * load(vectors, a * size + k))
            store(right, a, number * load(vectors, a * size + k + 1))
        for l in range(k, size, 2):
            upper, beside, below, last = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            for a in range(size):
                one, other = load(vectors, a * size + l), load(vectors, a * size + l + 1)
                upper, beside = fma(load(left, a), one, upper), fma(load(left, a), other, beside)
                below, last = fma(load(right, a), one, below), fma(load(right, a), other, last)
            for i, j, total in ((k, l, upper), (k, l + 1, beside), (k + 1, l, below), (k + 1, l + 1, last)):
                number = total * _divided_difference(room, i, j)
                store(matrices, i * size + j, number)
                store(matrices, j * size + i, number)


@inner
def _dot(left: Any, left_row: int, right: Any, right_row: int, size: int) -> Any:
    total = splat(0.0)
    for k in range(size):
        total = fma(load(left, left_row + k), load(right, right_row + k), total)
    return total


@inner
def _take_back(room: Any, n_classes: int, n_qubits: int) -> None:
    """-G on the diagonal, and its sum for each qubit over the places where that qubit flips."""
    size = room.values.shape[0]
    vectors, matrices = room.vectors, room.matrices
    flips = n_classes + 1
    for qubit in range(n_qubits):
        store(room.totals, flips + qubit, splat(0.0))
    for a in range(0, size, 2):
        for l in range(0, size, 2):
            upper, beside, below, last = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            for k in range(size):
                one, other = load(matrices, l * size + k), load(matrices, (l + 1) * size + k)
                above, under = load(vectors, a * size + k), load(vectors, (a + 1) * size + k)
                upper, beside = fma(above, one, upper), fma(above, other, beside)
                below, last = fma(under, one, below), fma(under, other, last)
            store(room.row, l, upper)
            store(room.row, l + 1, beside)
            store(room.row, size + l, below)
            store(room.row, size + l + 1, last)
        for here in range(2):
            store(room.occupied, a + here, -_dot(room.row, here * size, vectors, (a + here) * size, size))
            for qubit in range(n_qubits):
                flipped = (a + here) ^ (size >> (qubit + 1))
                if flipped > a + here:  # G is symmetric: the other half is the same
                    part = _dot(room.row, here * size, vectors, flipped * size, size)
                    store(room.totals, flips + qubit, fma(splat(-2.0), part, load(room.totals, flips + qubit)))


@entry
def _measure_in_lanes(cells: Any, _rank: int, _n_threads: int, room: Any, batch: Any) -> None:
    """Measures samples in blocks of W, and where there are labels derives their losses."""
    n_samples, size = batch.diagonals.shape
    n_classes, n_qubits = batch.observables.shape[0], batch.flips.shape[1]
    width = room.values.shape[1]
    n_blocks = (n_samples + width - 1) // width
    block = taken(cells, n_blocks)  # whoever is free takes the next one: every block is computed alike by anybody
    while block >= 0:
        first = block * width
        _fill(room, first, batch)
        eigensystems(room.matrices, room.values, room.vectors, room.work)
        _occupy(room)
        _shares(room, batch.observables)
        for lane in range(min(width, n_samples - first)):
            for label in range(n_classes):
                batch.probabilities[first + lane, label] = room.totals[label, lane] / room.totals[n_classes, lane]
        if batch.labels.size > 0:
            _observe(room, first, batch)
            _transform(room)
            _take_back(room, n_classes, n_qubits)
            for lane in range(min(width, n_samples - first)):
                for a in range(size):
                    batch.by_diagonal[first + lane, a] = room.occupied[a, lane]
                for qubit in range(n_qubits):
                    batch.by_flip[first + lane, qubit] = room.totals[n_classes + 1 + qubit, lane]
        block = -1 if stop_asked(cells) else taken(cells, n_blocks)


def _measure_one_by_one(cells: IntArray, _rank: int, _n_threads: int, samples: Iterator[int], batch: _Batch) -> None:
    """The same for large matrices, each by LAPACK; all threads take their samples from one iterator."""
    diagonals, flips, observables, labels = batch[:4]
    size, n_classes, n_qubits = diagonals.shape[1], len(observables), flips.shape[1]
    places = np.arange(size)
    flipped = places ^ size >> np.arange(1, n_qubits + 1)[:, None]
    for sample in samples:
        if cells[STOP_ASKED]:
            return
        hamiltonian = np.diag(diagonals[sample])
        hamiltonian[places, flipped] = flips[sample][:, None]
        if not np.isfinite(hamiltonian).all():  # LAPACK may refuse it, or never end
            for array in batch[4 : 8 if len(labels) > 0 else 5]:
                array[sample] = np.nan
            continue
        energies, vectors = np.linalg.eigh(hamiltonian)
        weights = np.exp(energies[0] - energies)
        weights /= weights.sum()
        shares = observables @ (vectors**2 @ weights) + _FLOOR
        total = shares.sum()
        batch.probabilities[sample] = shares / total
        if len(labels) > 0:
            own = shares[labels[sample]]
            batch.losses[sample] = np.log(total / own)
            observable = observables.sum(axis=0) / total - observables[labels[sample]] / own
            observable += n_classes * (_FLOOR / total) - _FLOOR / own
            apart = np.abs(energies[:, None] - energies)
            largest = np.maximum(weights[:, None], weights)
            differences = largest * np.divide(-np.expm1(-apart), apart, out=np.ones_like(apart), where=apart > 0)
            back = vectors @ (differences * (vectors.T @ (observable[:, None] * vectors)))
            batch.by_diagonal[sample] = -np.einsum("ak,ak->a", back, vectors)
            batch.by_flip[sample] = [-np.einsum("ak,ak->", back, vectors[row]) for row in flipped]
