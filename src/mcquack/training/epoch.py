"""One whole epoch on the CPU engine as one compiled call: all mini-batches of KAO, then all of CO, then the kernel.

The members of a thread team (see ``simulators/compiled/team.py``) run this function together. What is computed, and
in which order it is added up, does not depend on their number.
"""

from typing import Any, NamedTuple

from numba import njit

from mcquack.kernels.fidelity import pool_rows, spread_rows
from mcquack.kernels.losses import loss_row, loss_terms
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.memory import clear_block, copy_block, gather_block, gather_rows
from mcquack.simulators.compiled.team import barrier, stop_barrier
from mcquack.simulators.statevector.circuit import Circuit, backward, forward
from mcquack.simulators.statevector.overlaps import (
    centroid_adjoints,
    fill_columns,
    kernel_rows,
    overlap_block,
    pull_overlaps,
    sample_adjoint,
)
from mcquack.training.optimizer import descend

KAO, CO = 0, 1


class Problem(NamedTuple):
    """What is fixed during training."""

    X: Any  # (N, d)
    labels: Any  # (N,)
    row_weights: Any  # (N,)
    form: Any  # of the circuit, without its parameters


class Trained(NamedTuple):
    """What training changes, in place; names with ``flat`` are the same memory in one dimension."""

    weights: Any
    bias: Any
    centroids: Any
    flat_weights: Any
    flat_bias: Any
    flat_centroids: Any
    weights_mean: Any
    weights_square: Any
    bias_mean: Any
    bias_square: Any
    centroids_mean: Any
    centroids_square: Any
    steps: Any


class Pace(NamedTuple):
    """The settings of one epoch as numbers."""

    batch_size: int
    epochs_co: int
    with_kernel: bool
    optimizer: int
    class_score: int
    loss: int
    beta: float
    lr_ka: float
    lr_co: float
    reg_weights: float
    reg_bias: float
    reg_co: float
    low: float
    high: float


class Buffers(NamedTuple):
    """Room for one mini-batch, and for the states of all samples if they are kept through CO."""

    features: Any  # (blocks, d, W) of a mini-batch
    states: Any  # (blocks, 2**n, 2, W) of a mini-batch
    kept: Any  # (batches or 1, blocks, 2**n, 2, W) for CO
    centroid_features: Any
    centroid_states: Any
    centroid_adjoints: Any
    columns: Any  # (M·k, 2**n, 2)
    overlaps: Any  # (blocks, M·k, 2, W)
    pulls: Any
    kernel: Any  # (blocks * W, M·k) of a mini-batch
    scores: Any  # (blocks * W, M), the kernel itself if k = 1
    cotangent: Any  # (blocks * W, M·k)
    batch_labels: Any
    batch_weights: Any
    by_w: Any  # (partial sums, *shape of the weights)
    by_b: Any
    flat_by_w: Any  # the same memory, (partial sums, number of weights)
    flat_by_b: Any
    by_centroids: Any  # (centroid blocks, d, W)
    slope_w: Any  # (number of weights,)
    slope_b: Any
    slope_c: Any  # (M·k·d,)


class Totals(NamedTuple):
    """What an epoch reports: sums over its steps, and the kernel of the training samples at its end."""

    losses: Any  # (2,) KAO, CO
    n_steps: Any  # (2,)
    squared_norms: Any  # (3,) weights, bias, centroids
    kernel: Any  # (N, M·k)


@njit(nogil=True, inline="always")
def _encode_batch(
    rank: int,
    n_threads: int,
    work: Any,
    circuit: Any,
    X: Any,
    order: Any,
    first: int,
    count: int,
    features: Any,
    states: Any,
) -> None:
    for block in range(rank, states.shape[0], n_threads):
        if block * states.shape[3] < count:
            gather_rows(X, order, first, count, block, features[block])
            forward(circuit, features[block], states[block], work)


@njit(nogil=True, inline="always")
def _encode_centroids(
    cells: Any, rank: int, n_threads: int, work: Any, circuit: Any, centroids: Any, room: Any
) -> None:
    """States of the centroids, then (behind a barrier) their columns."""
    width = room.centroid_states.shape[3]
    # The last thread begins: the first has one sample block more than it whenever they are unequal.
    for block in range(n_threads - 1 - rank, room.centroid_states.shape[0], n_threads):
        gather_block(centroids, block * width, room.centroid_features[block])
        forward(circuit, room.centroid_features[block], room.centroid_states[block], work)
    barrier(cells, n_threads)
    fill_columns(room.centroid_states, room.columns, rank, n_threads)
    barrier(cells, n_threads)


@njit(nogil=True, inline="always")
def _pull_loss(
    cells: Any,
    rank: int,
    n_threads: int,
    problem: Any,
    pace: Any,
    room: Any,
    order: Any,
    first: int,
    count: int,
    states: Any,
) -> Any:
    """Loss of a mini-batch, with its derivatives in ``room.pulls`` and ``room.centroid_adjoints``."""
    size, width = states.shape[1], states.shape[3]
    n_used = (count + width - 1) // width
    n_centroids, n_classes = room.columns.shape[0], room.scores.shape[1]
    k = n_centroids // n_classes
    for block in range(rank, n_used, n_threads):
        rows = slice(block * width, (block + 1) * width)
        overlap_block(states[block], room.columns, room.overlaps[block])
        kernel_rows(room.overlaps[block], room.kernel[rows])
        if k > 1:
            pool_rows(room.kernel[rows], pace.class_score, room.scores[rows])
        for position in range(block * width, min(count, (block + 1) * width)):
            room.batch_labels[position] = problem.labels[order[first + position]]
            room.batch_weights[position] = problem.row_weights[order[first + position]]
    barrier(cells, n_threads)
    terms = loss_terms(pace.loss, pace.beta, room.scores[:count], room.batch_labels[:count], room.batch_weights[:count])
    for block in range(rank, n_used, n_threads):
        rows = slice(block * width, (block + 1) * width)
        for position in range(block * width, (block + 1) * width):
            if position < count:
                loss_row(
                    pace.loss, terms, room.scores[position], room.batch_labels[position],
                    room.batch_weights[position], room.cotangent[position], k,
                )  # fmt: skip
            else:
                for of_class in range(n_classes):
                    room.cotangent[position, of_class * k] = 0
        if k > 1:
            spread_rows(room.kernel[rows], k, pace.class_score, room.cotangent[rows])
        pull_overlaps(room.overlaps[block], room.cotangent[rows], room.pulls[block])
    barrier(cells, n_threads)
    low, high = rank * size // n_threads, (rank + 1) * size // n_threads
    centroid_adjoints(states, room.pulls, n_used, room.centroid_adjoints, n_centroids, low, high)
    barrier(cells, n_threads)
    return terms[0]


@njit(nogil=True)
def _squared_norm(values: Any) -> float:
    total = 0.0
    for value in values:
        total += float(value) * float(value)
    return total


@njit(nogil=True, inline="always")
def _kao_step(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    trained: Any,
    pace: Any,
    room: Any,
    order: Any,
    first: int,
    count: int,
    totals: Any,
) -> None:
    """Moves the embedding downhill on the loss + λ_w‖w‖² + λ_b‖b‖²."""
    circuit = Circuit(trained.weights, trained.bias, problem.form)
    width = room.states.shape[3]
    _encode_batch(rank, n_threads, work, circuit, problem.X, order, first, count, room.features, room.states)
    _encode_centroids(cells, rank, n_threads, work, circuit, trained.centroids, room)
    loss = _pull_loss(cells, rank, n_threads, problem, pace, room, order, first, count, room.states)
    if rank == 0:
        penalty = pace.reg_weights * _squared_norm(trained.flat_weights) + pace.reg_bias * _squared_norm(
            trained.flat_bias
        )
        totals.losses[KAO] += loss + penalty
        totals.n_steps[KAO] += 1
    n_used = (count + width - 1) // width
    n_parts = room.by_w.shape[0]
    for part in range(rank, n_parts, n_threads):
        for place in range(trained.flat_weights.size):
            room.flat_by_w[part, place] = 0
        for place in range(trained.flat_bias.size):
            room.flat_by_b[part, place] = 0
        for block in range(part, n_used + room.centroid_states.shape[0], n_parts):
            if block < n_used:
                sample_adjoint(room.pulls[block], room.columns, work.adjoint)
                backward(
                    circuit, room.features[block], room.states[block], work,
                    room.by_w[part], room.by_b[part], work.features, False,
                )  # fmt: skip
            else:
                own = block - n_used
                copy_block(room.centroid_adjoints[own], work.adjoint)
                backward(
                    circuit, room.centroid_features[own], room.centroid_states[own], work,
                    room.by_w[part], room.by_b[part], work.features, False,
                )  # fmt: skip
    barrier(cells, n_threads)
    step = trained.steps[KAO] + 1
    low, high = rank * room.slope_w.size // n_threads, (rank + 1) * room.slope_w.size // n_threads
    _sum_parts(room.flat_by_w, trained.flat_weights, pace.reg_weights, room.slope_w, low, high)
    descend(
        trained.flat_weights, room.slope_w, trained.weights_mean, trained.weights_square,
        pace.optimizer, pace.lr_ka, step, low, high,
    )  # fmt: skip
    low, high = rank * room.slope_b.size // n_threads, (rank + 1) * room.slope_b.size // n_threads
    _sum_parts(room.flat_by_b, trained.flat_bias, pace.reg_bias, room.slope_b, low, high)
    descend(
        trained.flat_bias, room.slope_b, trained.bias_mean, trained.bias_square,
        pace.optimizer, pace.lr_ka, step, low, high,
    )  # fmt: skip
    barrier(cells, n_threads)
    if rank == 0:
        trained.steps[KAO] = step
        totals.squared_norms[0] += _squared_norm(room.slope_w)
        totals.squared_norms[1] += _squared_norm(room.slope_b)


@njit(nogil=True)
def _sum_parts(parts: Any, parameter: Any, regulariser: float, slopes: Any, low: int, high: int) -> None:
    scalar = slopes.dtype.type
    for place in range(low, high):
        total = scalar(2 * regulariser) * parameter[place]
        for part in range(parts.shape[0]):
            total += parts[part, place]
        slopes[place] = total


@njit(nogil=True)
def _range_penalty(centroids: Any, low: float, high: float) -> float:
    """R of the paper: how far centroid features lie outside the range of the data."""
    total = 0.0
    for value in centroids:
        total += max(float(value) - high, 0.0) + max(low - float(value), 0.0)
    return total


@njit(nogil=True, inline="always")
def _co_step(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    trained: Any,
    pace: Any,
    room: Any,
    order: Any,
    first: int,
    count: int,
    states: Any,
    totals: Any,
) -> None:
    """Moves the centroids downhill on the loss + λ_CO R; the samples' states are given."""
    circuit = Circuit(trained.weights, trained.bias, problem.form)
    _encode_centroids(cells, rank, n_threads, work, circuit, trained.centroids, room)
    loss = _pull_loss(cells, rank, n_threads, problem, pace, room, order, first, count, states)
    for own in range(rank, room.centroid_states.shape[0], n_threads):
        clear_block(room.by_centroids[own])
        copy_block(room.centroid_adjoints[own], work.adjoint)
        backward(
            circuit, room.centroid_features[own], room.centroid_states[own], work,
            room.by_w[0], room.by_b[0], room.by_centroids[own], True,
        )  # fmt: skip
    barrier(cells, n_threads)
    if rank == 0:
        totals.losses[CO] += loss + pace.reg_co * _range_penalty(trained.flat_centroids, pace.low, pace.high)
        totals.n_steps[CO] += 1
        _centroid_slopes(room.by_centroids, trained.centroids, pace, room.slope_c)
        totals.squared_norms[2] += _squared_norm(room.slope_c)
        trained.steps[CO] += 1
        descend(
            trained.flat_centroids, room.slope_c, trained.centroids_mean, trained.centroids_square,
            pace.optimizer, pace.lr_co, trained.steps[CO], 0, trained.flat_centroids.size,
        )  # fmt: skip
    barrier(cells, n_threads)


@njit(nogil=True)
def _centroid_slopes(by_centroids: Any, centroids: Any, pace: Any, slopes: Any) -> None:
    scalar = slopes.dtype.type
    width = by_centroids.shape[2]
    n_features = centroids.shape[1]
    for centroid in range(centroids.shape[0]):
        for feature in range(n_features):
            slope = by_centroids[centroid // width, feature, centroid % width]
            if centroids[centroid, feature] > pace.high:
                slope += scalar(pace.reg_co)
            elif centroids[centroid, feature] < pace.low:
                slope -= scalar(pace.reg_co)
            slopes[centroid * n_features + feature] = slope


@entry
def run_epoch(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    trained: Any,
    pace: Any,
    room: Any,
    kao_orders: Any,
    co_order: Any,
    totals: Any,
) -> None:
    """All mini-batches of KAO, all of CO, and (if asked for) the kernel of the training samples."""
    n_samples = problem.X.shape[0]
    size = pace.batch_size
    for epoch in range(kao_orders.shape[0]):
        for first in range(0, n_samples, size):
            count = min(size, n_samples - first)
            _kao_step(
                cells, rank, n_threads, work, problem, trained, pace, room, kao_orders[epoch], first, count, totals
            )
            if stop_barrier(cells, rank, n_threads):
                return
    circuit = Circuit(trained.weights, trained.bias, problem.form)
    n_kept = room.kept.shape[0]
    n_batches = (n_samples + size - 1) // size
    # The samples' states rest during CO: encode them once, or, where they do not all fit, once per pass.
    for epoch in range(pace.epochs_co):
        for batch in range(n_batches):
            first = batch * size
            count = min(size, n_samples - first)
            states = room.kept[batch % n_kept]
            if epoch == 0 or n_kept < n_batches:
                _encode_batch(rank, n_threads, work, circuit, problem.X, co_order, first, count, room.features, states)
            _co_step(cells, rank, n_threads, work, problem, trained, pace, room, co_order, first, count, states, totals)
            if stop_barrier(cells, rank, n_threads):
                return
    if not pace.with_kernel:
        return
    _encode_centroids(cells, rank, n_threads, work, circuit, trained.centroids, room)
    width = room.states.shape[3]
    for batch in range(n_batches):
        first = batch * size
        count = min(size, n_samples - first)
        states = room.kept[batch % n_kept]
        if pace.epochs_co == 0 or n_kept < n_batches:
            _encode_batch(rank, n_threads, work, circuit, problem.X, co_order, first, count, room.features, states)
        # A thread reads only the blocks that it wrote itself.
        for block in range(rank, (count + width - 1) // width, n_threads):
            overlap_block(states[block], room.columns, room.overlaps[block])
            kernel_rows(room.overlaps[block], room.kernel[block * width : (block + 1) * width])
            for position in range(block * width, min(count, (block + 1) * width)):
                for centroid in range(room.kernel.shape[1]):
                    totals.kernel[co_order[first + position], centroid] = room.kernel[position, centroid]
