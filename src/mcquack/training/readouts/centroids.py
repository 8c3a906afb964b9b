"""Fidelities with centroids as a readout: McQuack, Quack, and whatever has a linear head on fidelities.

Centroids are rows like samples. Where the embedding moves, samples and centroids of a step are one list of rows: the
centroids take the lanes that the last samples leave free. Where the embedding rests, the states of the samples rest
too: they are encoded once and kept, as far as memory allows, and only the centroids go through the circuit.
"""

import math
from typing import Any, NamedTuple

from mcquack.kernels.fidelity import pool_rows, spread_rows
from mcquack.kernels.losses import SQUARED_ERROR, LossRule, alignment_slopes, loss_row, loss_terms, squared_terms
from mcquack.simulators.compiled.gates import OF_BOTH, OF_FEATURES, OF_PARAMETERS
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, lane_sum, load, splat
from mcquack.simulators.compiled.memory import clear_block, copy_block, gather_rows
from mcquack.simulators.compiled.team import all_done, done, stop_asked, taken
from mcquack.simulators.statevector.circuit import backward, forward
from mcquack.simulators.statevector.overlaps import (
    fill_columns,
    kernel_rows,
    overlap_block,
    pull_overlaps,
    sample_adjoint,
)
from mcquack.training.embeddings import bound_circuit
from mcquack.training.step import Step, add_losses, functions_of

# How many blocks can be encoded while one is taken back, about.
AHEAD = 2


class Centroids(NamedTuple):
    """Fidelities with encoded centroids, pooled to a score for each class, and a linear head on them if wanted."""

    rule: Any  # the loss
    class_score: int
    n_centroids: int
    rows_at: int  # where the centroids begin among the parameters
    head_at: int  # where the head (scores + 1, outputs) begins
    n_outputs: int  # of the head; 0 where there is none
    beta_at: int  # where the loss's log β is, if it is learned
    n_first: int  # passes in which the embedding moves; those in which centroids move alone follow
    is_blurred: bool  # whether every pass sees samples of its own
    keeps_all: bool  # whether the states of all samples are kept while the embedding rests
    with_kernel: bool  # whether an epoch ends with the kernel of all samples


class CentroidSpace(NamedTuple):
    """Memory for one batch with the centroids, and for the states of all samples if they are kept."""

    features: Any  # (blocks, d, W) of the samples and centroids of a step
    states: Any  # (blocks, 2**n, 2, W)
    kept: Any  # (blocks, 2**n, 2, W) of all samples while the embedding rests, or of as many as a batch touches
    columns: Any  # (threads, C, 2**n, 2)
    overlaps: Any  # (blocks, C, 2, W)
    pulls: Any  # (blocks, C, 2, W)
    kernel: Any  # (blocks * W, C) of a batch
    scores: Any  # (blocks * W, M), the kernel itself if there is one centroid for each class
    outputs: Any  # (blocks * W, T) of the head, the scores themselves if there is none
    cotangent: Any  # (blocks * W, C)
    by_outputs: Any  # (blocks * W, T)
    labels: Any  # (blocks * W,)
    targets: Any  # (blocks * W, T) of a regression
    weights: Any  # (blocks * W,)


class KernelSums(NamedTuple):
    """What is reported at the end of an epoch."""

    kernel: Any  # (N, C)
    scores: Any  # (N, M)
    outputs: Any  # (N, T)
    measures: Any  # (3,) loss, alignment and accuracy


@inner
def _rule(context: Any) -> Any:
    """The loss with the β of this moment."""
    rule = context.readout.rule
    beta = math.exp(float(context.trained.values[0, context.readout.beta_at])) if rule.learned else rule.beta
    return LossRule(rule.code, beta, rule.smoothing, rule.floor, rule.learned)


@inner
def _encode_row_block(context: Any, X: Any, order: Any, first: int, base: int, block: int, work: Any) -> None:
    """States of one block of a step's rows: ``base`` samples from ``order[first]`` on, and then the centroids."""
    own, readout, values = context.space.own, context.readout, context.trained.values[0]
    features = own.features[block]
    n_features, width = features.shape
    gather_rows(X, order, first, base, block, features)
    for lane in range(max(0, base - block * width), min(width, base + readout.n_centroids - block * width)):
        at = readout.rows_at + (block * width + lane - base) * n_features
        for feature in range(n_features):
            features[feature, lane] = values[at + feature]
    forward(bound_circuit(context, 0, 0), features, own.states[block], work.scratch)


@inner
def _encode_sample_block(context: Any, X: Any, order: Any, block: int, state: Any, work: Any) -> None:
    """States of the samples at the places of this block in the whole order."""
    gather_rows(X, order, 0, order.size, block, work.scratch.features)
    forward(bound_circuit(context, 0, 0), work.scratch.features, state, work.scratch)


@inner
def _apply_head(readout: Any, values: Any, scores: Any, outputs: Any) -> None:
    """outputs = scores · head, whose last row is a constant."""
    n_scores, n_outputs = scores.shape[1], readout.n_outputs
    for row in range(scores.shape[0]):
        for output in range(n_outputs):
            total = values[readout.head_at + n_scores * n_outputs + output]
            for score in range(n_scores):
                total += scores[row, score] * values[readout.head_at + score * n_outputs + output]
            outputs[row, output] = total


@inner
def _from_block(step: Any, width: int) -> Any:
    """The first block of the batch among the samples' states, the lane it begins in, and how many blocks it touches."""
    row = 0 if step.moves_embedding else step.first
    skip = row % width
    return row // width - step.shift, skip, (skip + step.n_rows + width - 1) // width


@inner
def _fill_scores(context: Any, state: Any, columns: Any, overlaps: Any, kernel: Any, scores: Any, outputs: Any) -> None:
    """Overlaps of one block with the centroids, its kernel, the scores of the classes and the outputs of the head."""
    overlap_block(state, columns, overlaps)
    kernel_rows(overlaps, kernel)
    if columns.shape[0] > scores.shape[1]:
        pool_rows(kernel, context.readout.class_score, scores)
    if context.readout.n_outputs > 0:
        _apply_head(context.readout, context.trained.values[0], scores, outputs)


def _score_item(context: Any, step: Any, item: int, n_items: int, rank: int, work: Any) -> None:
    """Overlaps, kernel, scores and outputs of some blocks of a batch."""
    own, data = context.space.own, context.data
    samples = own.states if step.moves_embedding else own.kept
    width = samples.shape[3]
    from_block, skip, n_used = _from_block(step, width)
    columns = own.columns[rank]
    for block in range(item * n_used // n_items, (item + 1) * n_used // n_items):
        rows = slice(block * width, (block + 1) * width)
        state, outputs = samples[from_block + block], own.outputs[rows]
        _fill_scores(context, state, columns, own.overlaps[block], own.kernel[rows], own.scores[rows], outputs)
        for row in range(max(skip, block * width), min(skip + step.n_rows, (block + 1) * width)):
            sample = step.order[step.first + row - skip]
            own.labels[row] = data.labels[sample]
            own.weights[row] = data.row_weights[sample]
            for output in range(own.targets.shape[1]):
                own.targets[row, output] = data.targets[sample, output]


@inner
def _fill_row(context: Any, rule: Any, terms: Any, row: int, k: int) -> None:
    """Derivatives of the loss by the scores of one row, at the first centroid of each class."""
    own, readout = context.space.own, context.readout
    if readout.n_outputs == 0:
        loss_row(rule, terms, own.scores[row], own.labels[row], own.weights[row], own.cotangent[row], k)
        return
    values, n_outputs = context.trained.values[0], readout.n_outputs
    if rule.code == SQUARED_ERROR:
        for output in range(n_outputs):
            off = float(own.outputs[row, output]) - own.targets[row, output]
            own.by_outputs[row, output] = terms[1] * own.weights[row] * off
    else:
        loss_row(rule, terms, own.outputs[row], own.labels[row], own.weights[row], own.by_outputs[row], 1)
    for score in range(own.scores.shape[1]):
        total = 0.0
        for output in range(n_outputs):
            total += float(own.by_outputs[row, output]) * float(values[readout.head_at + score * n_outputs + output])
        own.cotangent[row, score * k] = total


def _pull_item(context: Any, step: Any, item: int, n_items: int, terms: Any) -> None:
    """Derivatives of the loss by the overlaps of some blocks; lanes of other rows get zeros."""
    own = context.space.own
    width, n_scores = own.overlaps.shape[3], own.scores.shape[1]
    _, skip, n_used = _from_block(step, width)
    k, rule = own.kernel.shape[1] // n_scores, _rule(context)
    for block in range(item * n_used // n_items, (item + 1) * n_used // n_items):
        rows = slice(block * width, (block + 1) * width)
        for row in range(block * width, (block + 1) * width):
            if skip <= row < skip + step.n_rows:
                _fill_row(context, rule, terms, row, k)
            else:
                for score in range(n_scores):
                    own.cotangent[row, score * k] = 0
        if k > 1:
            spread_rows(own.kernel[rows], k, context.readout.class_score, own.cotangent[rows])
        pull_overlaps(own.overlaps[block], own.cotangent[rows], own.pulls[block])


@inner
def _fill_head_slopes(context: Any, step: Any) -> None:
    """Derivatives by the head: Σ_i score_i · (derivative by the outputs of sample i)."""
    own, readout, slopes = context.space.own, context.readout, context.trained.slopes[0]
    _, skip, _ = _from_block(step, own.overlaps.shape[3])
    n_scores, n_outputs = own.scores.shape[1], readout.n_outputs
    for score in range(n_scores + 1):
        for output in range(n_outputs):
            total = 0.0
            for row in range(skip, skip + step.n_rows):
                value = float(own.scores[row, score]) if score < n_scores else 1.0
                total += value * float(own.by_outputs[row, output])
            slopes[readout.head_at + score * n_outputs + output] = total


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
def _backward_block(context: Any, step: Any, part: int, block: int, rank: int, work: Any) -> None:
    """The way back of one block; its states stay where there are others, whose centroids need them."""
    own, space, embedding, scratch = context.space.own, context.space, context.embedding, work.scratch
    n_centroids, width = context.readout.n_centroids, own.states.shape[3]
    base, samples = step.base, own.states if step.moves_embedding else own.kept
    from_block, _, n_used = _from_block(step, width)
    if block * width < base:
        sample_adjoint(own.pulls[block], own.columns[rank], scratch.adjoint)
    else:
        clear_block(scratch.adjoint)
    first_lane, last_lane = max(0, base - block * width), min(width, base + n_centroids - block * width)
    for lane in range(first_lane, last_lane):
        centroid = block * width + lane - base
        _centroid_adjoint(samples, from_block, own.pulls, n_used, centroid, scratch.adjoint, lane)
    state = own.states[block]
    if base + n_centroids > width:
        copy_block(state, scratch.state)
        state = scratch.state
    by_rows = space.by_rows[max(0, block - base // width)]
    wanted = OF_PARAMETERS
    if step.moves_rows and first_lane < last_lane:
        clear_block(by_rows)
        wanted = OF_BOTH if step.moves_embedding else OF_FEATURES
    n_weights = embedding.n_weights
    gradient = space.gradients[part]
    by_w, by_b = gradient[:n_weights], gradient[n_weights : n_weights + embedding.n_bias]
    backward(bound_circuit(context, 0, 0), own.features[block], state, scratch, by_w, by_b, by_rows, wanted)


@inner
def _ahead(context: Any, step: Any, n_threads: int) -> Any:
    """How many blocks of samples the step must encode first, and how many it may encode ahead."""
    from_block, _, n_used = _from_block(step, context.space.own.states.shape[3])
    n_new = 0 if step.moves_embedding else max(0, step.shift + from_block + n_used - step.encoded)
    return n_new, max(0, min(AHEAD * (n_threads - step.n_parts), step.last - step.encoded - n_new))


def _phase_items(context: Any, step: Any, n_threads: int) -> Any:
    _, _, n_used = _from_block(step, context.space.own.states.shape[3])
    n_new, n_ahead = _ahead(context, step, n_threads)
    n_short = min(n_used, n_threads)
    return 0, step.n_blocks + n_new, n_short, n_short, step.n_parts + n_ahead + 1


def _encode_item(context: Any, step: Any, item: int, n_items: int, rank: int, work: Any) -> None:
    if item < step.n_blocks:
        _encode_row_block(context, step.X, step.order, step.first, step.base, item, work)
    else:
        block = step.encoded + item - step.n_blocks
        _encode_sample_block(context, step.X, step.order, block, context.space.own.kept[block - step.shift], work)


def _backward_item(context: Any, step: Any, item: int, n_items: int, rank: int, work: Any, terms: Any) -> None:
    if item < step.n_parts:
        if step.moves_embedding:
            gradient = context.space.gradients[item]
            for place in range(gradient.size):
                gradient[place] = 0
        for block in range(item * step.n_blocks // step.n_parts, (item + 1) * step.n_blocks // step.n_parts):
            _backward_block(context, step, item, block, rank, work)
    elif item < n_items - 1:
        block = step.encoded + _ahead(context, step, 1)[0] + item - step.n_parts
        _encode_sample_block(context, step.X, step.order, block, context.space.own.kept[block], work)
    else:
        add_losses(context, step, terms[0])
        if context.readout.n_outputs > 0:
            _fill_head_slopes(context, step)


def _after_encode(context: Any, step: Any, rank: int) -> None:
    own = context.space.own
    fill_columns(own.states, step.base, own.columns[rank])


def _batch_loss(context: Any, step: Any) -> Any:
    own = context.space.own
    _, skip, _ = _from_block(step, own.states.shape[3])
    rows = slice(skip, skip + step.n_rows)
    return _loss_terms(_rule(context), own.outputs[rows], own.labels[rows], own.targets[rows], own.weights[rows])


@inner
def _loss_terms(rule: Any, outputs: Any, labels: Any, targets: Any, weights: Any) -> Any:
    """The loss, three numbers that its derivatives need, and its derivative by log β."""
    if rule.code == SQUARED_ERROR:
        loss, first = squared_terms(outputs, targets, weights)
        return loss, first, 0.0, 0.0, 0.0
    loss, first, second, third = loss_terms(rule, outputs, labels, weights)
    return loss, first, second, third, rule.beta * second


def _new_step(context: Any, member: int, number: int, first: int, order: Any, moves: Any, cursor: int) -> Any:
    readout, width, n = context.readout, context.space.own.states.shape[3], order.size
    moves_embedding, moves_rows = moves[0] or moves[1], moves[2]
    count = min(context.config.batch_size, n - first)
    n_first, n_all = readout.n_first, (n + width - 1) // width
    # All passes in which the embedding rests see the same samples, whose states are encoded once.
    X = context.data.seen[min(number, n_first) if readout.is_blurred else 0]
    encoded, last, shift = cursor, n_all if number == n_first and readout.keeps_all else 0, 0
    if first == 0:
        encoded = n_all if number > n_first else 0
    if not moves_embedding and not readout.keeps_all:
        shift = encoded = first // width
    base = count if moves_embedding else 0
    n_blocks = (base + readout.n_centroids + width - 1) // width
    n_parts = min(context.config.n_parts, n_blocks)
    return Step(
        member, X, order, first, count, moves, moves_embedding, moves_rows, base, n_blocks, n_parts, shift, encoded,
        last,
    )  # fmt: skip


def _next_cursor(context: Any, step: Any, n_threads: int) -> Any:
    n_new, n_ahead = _ahead(context, step, n_threads)
    return step.encoded + n_new + n_ahead


# The end of an epoch


@inner
def _fill_kernel(context: Any, order: Any, is_kept: bool, block: int, rank: int, work: Any) -> None:
    """The kernel of one block of all samples, the scores of the classes, and the outputs of the head."""
    own, sums, readout = context.space.own, context.sums.own, context.readout
    width, n_samples = own.states.shape[3], order.size
    columns, overlaps = own.columns[rank], own.overlaps[rank]
    rows = slice(rank * width, (rank + 1) * width)
    kernel, scores, outputs = own.kernel[rows], own.scores[rows], own.outputs[rows]
    state = own.kept[block] if is_kept else work.scratch.state
    if not is_kept:
        _encode_sample_block(context, context.data.X, order, block, state, work)
    _fill_scores(context, state, columns, overlaps, kernel, scores, outputs)
    for lane in range(min(width, n_samples - block * width)):
        sample = order[block * width + lane]
        for centroid in range(kernel.shape[1]):
            sums.kernel[sample, centroid] = kernel[lane, centroid]
        if columns.shape[0] > scores.shape[1]:
            for score in range(scores.shape[1]):
                sums.scores[sample, score] = scores[lane, score]
        for output in range(readout.n_outputs):
            sums.outputs[sample, output] = outputs[lane, output]


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
def _measure(context: Any) -> None:
    """Loss, alignment and accuracy of all samples; a head has no alignment, and a regression no accuracy."""
    data, sums, rule = context.data, context.sums.own, _rule(context)
    sums.measures[0] = _loss_terms(rule, sums.outputs, data.labels, data.targets, data.row_weights)[0]
    sums.measures[1], sums.measures[2] = math.nan, math.nan
    if context.readout.n_outputs == 0:
        sums.measures[1] = alignment_slopes(sums.scores, data.labels, data.row_weights)[0]
    if rule.code != SQUARED_ERROR:
        sums.measures[2] = _accuracy(sums.outputs, data.labels, data.row_weights)


def _finish_epoch(context: Any, cells: Any, end: int, rank: int, work: Any, order: Any) -> None:
    """The kernel of all samples with the centroids, and what it says."""
    own, readout = context.space.own, context.readout
    if not readout.with_kernel:
        return
    width, n_samples = own.states.shape[3], order.size
    is_kept = readout.keeps_all and own.kept.shape[0] > 0 and not readout.is_blurred
    n_items = (readout.n_centroids + width - 1) // width, (n_samples + width - 1) // width, 1
    for phase in range(len(n_items)):
        start, end = end, end + n_items[phase]
        ticket = taken(cells, end)
        while ticket >= 0:
            if phase == 0:
                _encode_row_block(context, context.data.X, order, 0, 0, ticket - start, work)
            elif phase == 1 and not stop_asked(cells):
                _fill_kernel(context, order, is_kept, ticket - start, rank, work)
            elif phase == 2:
                _measure(context)
            done(cells)
            ticket = taken(cells, end)
        all_done(cells, end)
        if phase == 0:
            fill_columns(own.states, 0, own.columns[rank])


functions_of(
    Centroids,
    phase_items=_phase_items,
    encode_item=_encode_item,
    score_item=_score_item,
    pull_item=_pull_item,
    backward_item=_backward_item,
    after_encode=_after_encode,
    batch_loss=_batch_loss,
    new_step=_new_step,
    next_cursor=_next_cursor,
    finish_epoch=_finish_epoch,
)
