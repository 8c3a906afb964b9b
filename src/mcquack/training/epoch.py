"""One whole epoch on the CPU engine as one compiled call: all its mini-batches, then the kernel and its scores.

The members of a thread team (see ``simulators/compiled/team.py``) run this function together, and share its work by
tickets. What is computed, and in which order it is added up, does not depend on their number. What is short each
computes for itself; a member that comes too late for a phase may find there what later phases wrote, but gets no
ticket to use it for.

Where the embedding moves, samples and centroids of a step are one list of rows: the centroids take the lanes that the
last samples leave free.
"""

import math
from typing import Any, NamedTuple

from mcquack.kernels.fidelity import pool_rows, spread_rows
from mcquack.kernels.losses import LossRule, alignment_slopes, loss_row, loss_terms
from mcquack.simulators.compiled.entry import borrowing_entry
from mcquack.simulators.compiled.gates import OF_BOTH, OF_FEATURES, OF_PARAMETERS
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, lane_sum, load, splat
from mcquack.simulators.compiled.memory import clear_block, copy_block, gather_rows
from mcquack.simulators.compiled.team import all_done, decide_to_stop, done, stop_asked, stops, taken
from mcquack.simulators.statevector.circuit import Circuit, backward, forward
from mcquack.simulators.statevector.overlaps import kernel_rows, overlap_block, pull_overlaps, sample_adjoint
from mcquack.training.optimizer import descend, shrink

KAO, CO = 0, 1
# The phases of a step; the first two are also those of the kernel at the end.
ENCODE, SCORE, PULL, TAKE_BACK, MOVE, NOTE = range(6)
# How many blocks can be encoded while one is taken back, about.
AHEAD = 2
# So many parameters are moved in the time that it takes to hand out a ticket, or in little more.
WORTH_SHARING = 4096


class Problem(NamedTuple):
    """What is fixed during training."""

    X: Any  # (N, d)
    seen: Any  # (copies, N, d): X alone, or the blurred samples of each pass, which an epoch has anew
    labels: Any  # (N,)
    row_weights: Any  # (N,)
    form: Any  # of the circuit, without its parameters


class Trained(NamedTuple):
    """What training changes, in place; the optimizer's memory has the shapes of what it belongs to."""

    weights: Any
    bias: Any
    centroids: Any
    log_beta: Any  # (1,) of a loss whose β is learned, else (0,)
    weights_mean: Any
    weights_square: Any
    bias_mean: Any
    bias_square: Any
    centroids_mean: Any
    centroids_square: Any
    log_beta_mean: Any
    log_beta_square: Any
    steps: Any


class Pace(NamedTuple):
    """The settings of one epoch as numbers."""

    batch_size: int
    joint: bool
    is_blurred: bool  # whether every pass sees samples of its own
    passes_co: int
    with_kernel: bool
    optimizer: int
    decoupled: bool  # whether the penalties on the embedding shrink it beside the optimizer
    class_score: int
    loss: Any
    lr_ka: float
    lr_co: float
    reg_weights: float
    reg_bias: float
    reg_co: float
    low: float
    high: float


class Buffers(NamedTuple):
    """Room for one mini-batch with the centroids, and for the states of all samples if they are kept through CO."""

    features: Any  # (blocks, d, W) of the samples and centroids of a step
    states: Any  # (blocks, 2**n, 2, W)
    kept: Any  # (blocks, 2**n, 2, W) of all samples for CO, or of as many as a mini-batch touches
    columns: Any  # (threads, M·k, 2**n, 2)
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
    by_features: Any  # (blocks with centroids, d, W)
    slope_w: Any  # (number of weights,)
    slope_b: Any
    slope_c: Any  # (M·k·d,)
    slope_beta: Any  # (1,), or (0,) where β is not learned


class Totals(NamedTuple):
    """What an epoch reports: sums over its steps, and at its end the training samples' kernel and its scores."""

    losses: Any  # (2,) KAO, CO
    n_steps: Any  # (2,)
    squared_norms: Any  # (3,) weights, bias, centroids
    kernel: Any  # (N, M·k)
    scores: Any  # (N, M), the kernel itself if k = 1
    measures: Any  # (3,) loss, alignment and accuracy


@inner
def _encode_row_block(
    work: Any, problem: Any, X: Any, trained: Any, room: Any, order: Any, first: int, base: int, block: int
) -> None:
    """States of one block of a step's rows: ``base`` samples from ``order[first]`` on, and then the centroids."""
    features = room.features[block]
    width = features.shape[1]
    gather_rows(X, order, first, base, block, features)
    centroids = trained.centroids
    for lane in range(max(0, base - block * width), min(width, base + centroids.shape[0] - block * width)):
        for feature in range(features.shape[0]):
            features[feature, lane] = centroids[block * width + lane - base, feature]
    forward(Circuit(trained.weights, trained.bias, problem.form), features, room.states[block], work)


@inner
def _encode_sample_block(work: Any, problem: Any, X: Any, trained: Any, order: Any, block: int, state: Any) -> None:
    """States of the samples at the places of this block in the whole order."""
    gather_rows(X, order, 0, order.size, block, work.features)
    forward(Circuit(trained.weights, trained.bias, problem.form), work.features, state, work)


@inner
def _fill_columns(states: Any, base: int, columns: Any) -> None:
    """Copies the centroids out of their lanes, the first of which is row ``base``."""
    width = states.shape[3]
    for centroid in range(columns.shape[0]):
        state, lane = states[(base + centroid) // width], (base + centroid) % width
        for index in range(columns.shape[1]):
            columns[centroid, index, 0] = state[index, 0, lane]
            columns[centroid, index, 1] = state[index, 1, lane]


@inner
def _fill_scores(
    rank: int, problem: Any, pace: Any, room: Any, order: Any, first: int, count: int, samples: Any, from_block: int,
    skip: int, low: int, high: int,
) -> None:  # fmt: skip
    """Overlaps, kernel and scores of some blocks of a mini-batch, which begins in lane ``skip`` of its first block."""
    width = samples.shape[3]
    columns = room.columns[rank]
    for block in range(low, high):
        rows = slice(block * width, (block + 1) * width)
        overlap_block(samples[from_block + block], columns, room.overlaps[block])
        kernel_rows(room.overlaps[block], room.kernel[rows])
        if columns.shape[0] > room.scores.shape[1]:
            pool_rows(room.kernel[rows], pace.class_score, room.scores[rows])
        for row in range(max(skip, block * width), min(skip + count, (block + 1) * width)):
            sample = order[first + row - skip]
            room.batch_labels[row] = problem.labels[sample]
            room.batch_weights[row] = problem.row_weights[sample]


@inner
def _fill_pulls(rule: Any, pace: Any, room: Any, count: int, skip: int, low: int, high: int, terms: Any) -> None:
    """Derivatives of the loss by the overlaps of some blocks; lanes of other rows get zeros."""
    width = room.overlaps.shape[3]
    n_classes = room.scores.shape[1]
    k = room.kernel.shape[1] // n_classes
    for block in range(low, high):
        rows = slice(block * width, (block + 1) * width)
        for row in range(block * width, (block + 1) * width):
            if skip <= row < skip + count:
                loss_row(
                    rule, terms, room.scores[row], room.batch_labels[row], room.batch_weights[row],
                    room.cotangent[row], k,
                )  # fmt: skip
            else:
                for of_class in range(n_classes):
                    room.cotangent[row, of_class * k] = 0
        if k > 1:
            spread_rows(room.kernel[rows], k, pace.class_score, room.cotangent[rows])
        pull_overlaps(room.overlaps[block], room.cotangent[rows], room.pulls[block])


@inner
def _centroid_adjoint(
    samples: Any, from_block: int, pulls: Any, n_used: int, centroid: int, adjoint: Any, lane: int
) -> None:
    """λ_m = Σ_i conj(pull_im) |x_i⟩ into the lane of centroid m."""
    zero = splat(samples.dtype.type(0))
    for index in range(adjoint.shape[0]):
        real, imag = zero, zero
        for block in range(n_used):
            p_real, p_imag = load(pulls[block], 2 * centroid), load(pulls[block], 2 * centroid + 1)
            state = samples[from_block + block]
            s_real, s_imag = load(state, 2 * index), load(state, 2 * index + 1)
            real = fma(p_imag, s_imag, fma(p_real, s_real, real))
            imag = fma(-p_imag, s_real, fma(p_real, s_imag, imag))
        adjoint[index, 0, lane] = lane_sum(real)
        adjoint[index, 1, lane] = lane_sum(imag)


@inner
def _take_back(
    rank: int, work: Any, problem: Any, trained: Any, room: Any, samples: Any, from_block: int, n_used: int, base: int,
    part: int, n_parts: int, moves_embedding: bool, moves_centroids: bool,
) -> None:  # fmt: skip
    """The way back of a share of a step's blocks, whose derivatives by the embedding are one partial sum."""
    if moves_embedding:
        _clear(room.flat_by_w[part])
        _clear(room.flat_by_b[part])
    n_blocks = (base + trained.centroids.shape[0] + room.states.shape[3] - 1) // room.states.shape[3]
    for block in range(part * n_blocks // n_parts, (part + 1) * n_blocks // n_parts):
        _take_block_back(
            rank, work, problem, trained, room, samples, from_block, n_used, base, block, part,
            moves_embedding, moves_centroids,
        )  # fmt: skip


@inner
def _take_block_back(
    rank: int, work: Any, problem: Any, trained: Any, room: Any, samples: Any, from_block: int, n_used: int, base: int,
    block: int, part: int, moves_embedding: bool, moves_centroids: bool,
) -> None:  # fmt: skip
    """The way back of one block; its states stay where there are others, whose centroids need them."""
    n_centroids, width = trained.centroids.shape[0], room.states.shape[3]
    if block * width < base:
        sample_adjoint(room.pulls[block], room.columns[rank], work.adjoint)
    else:
        clear_block(work.adjoint)
    first_lane, last_lane = max(0, base - block * width), min(width, base + n_centroids - block * width)
    for lane in range(first_lane, last_lane):
        centroid = block * width + lane - base
        _centroid_adjoint(samples, from_block, room.pulls, n_used, centroid, work.adjoint, lane)
    state = room.states[block]
    if base + n_centroids > width:
        copy_block(state, work.state)
        state = work.state
    by_features = room.by_features[max(0, block - base // width)]
    wanted = OF_PARAMETERS
    if moves_centroids and first_lane < last_lane:
        clear_block(by_features)
        wanted = OF_BOTH if moves_embedding else OF_FEATURES
    circuit = Circuit(trained.weights, trained.bias, problem.form)
    backward(circuit, room.features[block], state, work, room.by_w[part], room.by_b[part], by_features, wanted)


@inner
def _clear(values: Any) -> None:
    for place in range(values.size):
        values[place] = 0


@inner
def _squared_norm(values: Any) -> float:
    # Four sums, so that an addition need not wait for the one before it.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = values.size // 4 * 4
    for place in range(0, whole, 4):
        a += float(values[place]) * float(values[place])
        b += float(values[place + 1]) * float(values[place + 1])
        c += float(values[place + 2]) * float(values[place + 2])
        d += float(values[place + 3]) * float(values[place + 3])
    for place in range(whole, values.size):
        a += float(values[place]) * float(values[place])
    return (a + b) + (c + d)


@inner
def _range_penalty(centroids: Any, low: float, high: float) -> float:
    """R of the paper: how far centroid features lie outside the range of the data."""
    total = 0.0
    for value in centroids:
        total += max(float(value) - high, 0.0) + max(low - float(value), 0.0)
    return total


@inner
def _sum_parts(parts: Any, n_parts: int, parameter: Any, regulariser: float, slopes: Any, low: int, high: int) -> None:
    scalar = slopes.dtype.type
    for place in range(low, high):
        slopes[place] = scalar(2 * regulariser) * parameter[place]
    for part in range(n_parts):
        for place in range(low, high):
            slopes[place] += parts[part, place]


@inner
def _centroid_slopes(by_features: Any, base: int, centroids: Any, pace: Any, slopes: Any, low: int, high: int) -> None:
    """Derivatives by the features ``low`` to ``high`` of all centroids in a row."""
    scalar = slopes.dtype.type
    width, n_features = by_features.shape[2], centroids.shape[1]
    for centroid in range(low // n_features, (high + n_features - 1) // n_features):
        start = centroid * n_features
        row = base % width + centroid
        rows, lane = by_features[row // width], row % width
        for feature in range(max(low - start, 0), min(high - start, n_features)):
            slope = rows[feature, lane]
            if centroids[centroid, feature] > pace.high:
                slope += scalar(pace.reg_co)
            elif centroids[centroid, feature] < pace.low:
                slope -= scalar(pace.reg_co)
            slopes[start + feature] = slope


@inner
def _move_embedding(share: int, n_shares: int, trained: Any, pace: Any, room: Any, n_parts: int) -> None:
    step = trained.steps[KAO] + 1
    weights, bias = trained.weights.reshape(trained.weights.size), trained.bias.reshape(trained.bias.size)
    reg_weights, reg_bias = pace.reg_weights, pace.reg_bias
    if pace.decoupled:
        reg_weights, reg_bias = 0.0, 0.0
    low, high = share * weights.size // n_shares, (share + 1) * weights.size // n_shares
    _sum_parts(room.flat_by_w, n_parts, weights, reg_weights, room.slope_w, low, high)
    if pace.decoupled:
        shrink(weights, 2 * pace.lr_ka * pace.reg_weights, low, high)
    descend(
        weights, room.slope_w, trained.weights_mean.reshape(weights.size), trained.weights_square.reshape(weights.size),
        pace.optimizer, pace.lr_ka, step, low, high,
    )  # fmt: skip
    low, high = share * bias.size // n_shares, (share + 1) * bias.size // n_shares
    _sum_parts(room.flat_by_b, n_parts, bias, reg_bias, room.slope_b, low, high)
    if pace.decoupled:
        shrink(bias, 2 * pace.lr_ka * pace.reg_bias, low, high)
    descend(
        bias, room.slope_b, trained.bias_mean.reshape(bias.size), trained.bias_square.reshape(bias.size),
        pace.optimizer, pace.lr_ka, step, low, high,
    )  # fmt: skip


@inner
def _move_centroids(share: int, n_shares: int, trained: Any, pace: Any, room: Any, base: int) -> None:
    flat = trained.centroids.reshape(trained.centroids.size)
    low, high = share * flat.size // n_shares, (share + 1) * flat.size // n_shares
    _centroid_slopes(room.by_features, base, trained.centroids, pace, room.slope_c, low, high)
    descend(
        flat, room.slope_c, trained.centroids_mean.reshape(flat.size), trained.centroids_square.reshape(flat.size),
        pace.optimizer, pace.lr_co, trained.steps[CO] + 1, low, high,
    )  # fmt: skip


@inner
def _rule(trained: Any, pace: Any) -> Any:
    """The loss with the β of this moment."""
    rule = pace.loss
    beta = math.exp(float(trained.log_beta[0])) if rule.learned else rule.beta
    return LossRule(rule.code, beta, rule.smoothing, rule.floor, rule.learned)


@inner
def _move_beta(trained: Any, pace: Any, room: Any, rule: Any, by_beta: float) -> None:
    """One step on log β, which every step of the epoch takes, whatever else it moves."""
    room.slope_beta[0] = rule.beta * by_beta
    step = trained.steps[KAO] + (0 if pace.joint else trained.steps[CO]) + 1
    descend(
        trained.log_beta, room.slope_beta, trained.log_beta_mean, trained.log_beta_square, pace.optimizer, pace.lr_co,
        step, 0, 1,
    )  # fmt: skip


@inner
def _add_losses(
    trained: Any, pace: Any, totals: Any, loss: float, moves_embedding: bool, moves_centroids: bool
) -> None:
    """The loss before the step, with the penalties on what the step moves."""
    if moves_embedding:
        penalty = 0.0
        if pace.reg_weights > 0.0:
            penalty += pace.reg_weights * _squared_norm(trained.weights.reshape(trained.weights.size))
        if pace.reg_bias > 0.0:
            penalty += pace.reg_bias * _squared_norm(trained.bias.reshape(trained.bias.size))
        totals.losses[KAO] += loss + penalty
        totals.n_steps[KAO] += 1
    if moves_centroids:
        outside = _range_penalty(trained.centroids.reshape(trained.centroids.size), pace.low, pace.high)
        totals.losses[CO] += loss + pace.reg_co * outside
        totals.n_steps[CO] += 1


@inner
def _note_step(trained: Any, room: Any, totals: Any, moves_embedding: bool, moves_centroids: bool) -> None:
    if moves_embedding:
        trained.steps[KAO] += 1
        totals.squared_norms[0] += _squared_norm(room.slope_w)
        totals.squared_norms[1] += _squared_norm(room.slope_b)
    if moves_centroids:
        trained.steps[CO] += 1
        totals.squared_norms[2] += _squared_norm(room.slope_c)


@inner
def _step(
    cells: Any, end: int, rank: int, n_threads: int, work: Any, problem: Any, X: Any, trained: Any, pace: Any,
    room: Any, order: Any, first: int, count: int, moves_embedding: bool, moves_centroids: bool, samples: Any,
    shift: int, encoded: int, last: int, totals: Any,
) -> Any:  # fmt: skip
    """Moves the embedding downhill on the loss + λ_w‖w‖² + λ_b‖b‖², the centroids on the loss + λ_CO R, or both.

    Where the embedding rests, the states of the samples in the whole order stand in ``samples``, from block ``shift``
    on, and ``encoded`` tells before which block they are there already. Members that have nothing to take back encode
    more of them, though not from block ``last`` on. Returned are how far they got, and where the tickets end.
    """
    n_centroids, width = trained.centroids.shape[0], room.states.shape[3]
    base = count if moves_embedding else 0
    n_blocks = (base + n_centroids + width - 1) // width
    n_parts = min(room.by_w.shape[0], n_blocks)
    row = 0 if moves_embedding else first
    from_block, skip = row // width - shift, row % width
    n_used = (skip + count + width - 1) // width
    n_new = 0 if moves_embedding else max(0, shift + from_block + n_used - encoded)
    n_ahead = max(0, min(AHEAD * (n_threads - n_parts), last - encoded - n_new))
    n_shares = 1 + (trained.weights.size + trained.centroids.size) // WORTH_SHARING
    n_short = min(n_used, n_threads)
    n_items = n_blocks + n_new, n_short, n_short, n_parts + n_ahead + 1, n_shares, 1
    rows = slice(skip, skip + count)
    terms = 0.0, 0.0, 0.0, 0.0
    rule = _rule(trained, pace)
    for phase in range(len(n_items)):
        start, end = end, end + n_items[phase]
        ticket = taken(cells, end)
        while ticket >= 0:
            item = ticket - start
            low, high = item * n_used // n_short, (item + 1) * n_used // n_short
            if phase == ENCODE and item < n_blocks:
                _encode_row_block(work, problem, X, trained, room, order, first, base, item)
            elif phase == ENCODE:
                block = encoded + item - n_blocks
                _encode_sample_block(work, problem, X, trained, order, block, samples[block - shift])
            elif phase == SCORE:
                _fill_scores(rank, problem, pace, room, order, first, count, samples, from_block, skip, low, high)
            elif phase == PULL:
                _fill_pulls(rule, pace, room, count, skip, low, high, terms)
            elif phase == TAKE_BACK and item < n_parts:
                _take_back(
                    rank, work, problem, trained, room, samples, from_block, n_used, base, item, n_parts,
                    moves_embedding, moves_centroids,
                )  # fmt: skip
            elif phase == TAKE_BACK and item < n_parts + n_ahead:
                block = encoded + n_new + item - n_parts
                _encode_sample_block(work, problem, X, trained, order, block, samples[block])
            elif phase == TAKE_BACK:
                _add_losses(trained, pace, totals, terms[0], moves_embedding, moves_centroids)
            elif phase == MOVE:
                if moves_embedding:
                    _move_embedding(item, n_shares, trained, pace, room, n_parts)
                if moves_centroids:
                    _move_centroids(item, n_shares, trained, pace, room, base)
                if item == 0 and rule.learned:
                    _move_beta(trained, pace, room, rule, terms[2])
            else:
                _note_step(trained, room, totals, moves_embedding, moves_centroids)
                decide_to_stop(cells, end)
            done(cells)
            ticket = taken(cells, end)
        all_done(cells, end)
        if phase == ENCODE:
            _fill_columns(room.states, base, room.columns[rank])
        elif phase == SCORE:
            labels, weights = room.batch_labels[rows], room.batch_weights[rows]
            terms = loss_terms(rule, room.scores[rows], labels, weights)
    return encoded + n_new + n_ahead, end


@inner
def _fill_kernel(
    rank: int, work: Any, problem: Any, trained: Any, pace: Any, room: Any, order: Any, is_kept: bool, block: int,
    totals: Any,
) -> None:  # fmt: skip
    """The kernel of one block of all samples, and the scores of the classes."""
    width, n_samples = room.states.shape[3], order.size
    columns, overlaps = room.columns[rank], room.overlaps[rank]
    rows = slice(rank * width, (rank + 1) * width)
    kernel, scores = room.kernel[rows], room.scores[rows]
    if is_kept:
        overlap_block(room.kept[block], columns, overlaps)
    else:
        _encode_sample_block(work, problem, problem.X, trained, order, block, work.state)
        overlap_block(work.state, columns, overlaps)
    kernel_rows(overlaps, kernel)
    pooled = columns.shape[0] > scores.shape[1]
    if pooled:
        pool_rows(kernel, pace.class_score, scores)
    for lane in range(min(width, n_samples - block * width)):
        sample = order[block * width + lane]
        for centroid in range(kernel.shape[1]):
            totals.kernel[sample, centroid] = kernel[lane, centroid]
        if pooled:
            for of_class in range(scores.shape[1]):
                totals.scores[sample, of_class] = scores[lane, of_class]


@inner
def _accuracy(scores: Any, labels: Any, row_weights: Any) -> float:
    """Share of the weight of samples whose class has the highest score, the first of several."""
    hits, mass = 0.0, 0.0
    for row in range(scores.shape[0]):
        best = 0
        for of_class in range(1, scores.shape[1]):
            if scores[row, of_class] > scores[row, best]:
                best = of_class
        hits += row_weights[row] if best == labels[row] else 0.0
        mass += row_weights[row]
    return hits / mass if mass > 0.0 else 0.0


@inner
def _measure(problem: Any, trained: Any, pace: Any, totals: Any) -> None:
    labels, row_weights = problem.labels, problem.row_weights
    totals.measures[0] = loss_terms(_rule(trained, pace), totals.scores, labels, row_weights)[0]
    totals.measures[1] = alignment_slopes(totals.scores, labels, row_weights)[0]
    totals.measures[2] = _accuracy(totals.scores, labels, row_weights)


@borrowing_entry
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
    """All mini-batches of KAO or of joint steps, all of CO, and (if asked for) the kernel of the training samples."""
    n_samples, size, width = problem.X.shape[0], pace.batch_size, room.states.shape[3]
    n_first, n_all = kao_orders.shape[0], (n_samples + width - 1) // width
    # The samples' states rest during CO: encode them once, or, where they do not all fit, once per pass.
    keeps_all = room.kept.shape[0] >= n_all
    end = 0
    for number in range(n_first + pace.passes_co):
        moves_embedding = number < n_first
        # All passes of CO see the same blurred samples, whose states are encoded once.
        X = problem.seen[min(number, n_first) if pace.is_blurred else 0]
        order = kao_orders[number] if moves_embedding else co_order
        encoded, last = (n_all, 0) if number > n_first else (0, n_all if number == n_first and keeps_all else 0)
        for first in range(0, n_samples, size):
            shift = 0
            if not moves_embedding and not keeps_all:
                shift = encoded = first // width
            encoded, end = _step(
                cells, end, rank, n_threads, work, problem, X, trained, pace, room, order, first,
                min(size, n_samples - first), moves_embedding, pace.joint or not moves_embedding,
                room.states if moves_embedding else room.kept, shift, encoded, last, totals,
            )  # fmt: skip
            if stops(cells, end):
                return
    if not pace.with_kernel:
        return
    is_kept = keeps_all and pace.passes_co > 0 and not pace.is_blurred
    n_items = (trained.centroids.shape[0] + width - 1) // width, n_all, 1
    for phase in range(len(n_items)):
        start, end = end, end + n_items[phase]
        ticket = taken(cells, end)
        while ticket >= 0:
            if phase == ENCODE:
                _encode_row_block(work, problem, problem.X, trained, room, co_order, 0, 0, ticket - start)
            elif phase == SCORE and not stop_asked(cells):
                _fill_kernel(rank, work, problem, trained, pace, room, co_order, is_kept, ticket - start, totals)
            elif phase > SCORE:
                _measure(problem, trained, pace, totals)
            done(cells)
            ticket = taken(cells, end)
        all_done(cells, end)
        if phase == ENCODE:
            _fill_columns(room.states, 0, room.columns[rank])
