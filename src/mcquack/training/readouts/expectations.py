"""Expectation values as a readout: variational classifiers, and the measured models of the QML benchmark suite.

A state is measured by Pauli observables, and a head makes a loss of the expectation values of one sample. As no sample
needs another, a block of samples goes through its circuit, the measurement, the loss and back again in one piece: no
state outlives its block.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, load, splat, store
from mcquack.simulators.compiled.team import Team, barrier, stop_asked
from mcquack.simulators.statevector.overlaps import expectation_block, observable_adjoint
from mcquack.training.embeddings import PRODUCTS_ALONE, PlainCircuit, StartedCircuit, Work
from mcquack.training.step import (
    Context,
    Data,
    Step,
    TrainedArrays,
    bound_functions,
    compiled_only,
    embed_rows,
    functions_of,
    prepare,
    prepare_items,
    pull_rows,
    with_names,
)

# What is made of the expectation values: logits V z of a cross entropy, fidelities with target states, (1 - y f) / 2,
# the square of f + b - y, and two logits, of a classifier's own class and of all others.
Head: TypeAlias = Literal["cross entropy", "fidelities", "linear", "squares", "two logits"]
CROSS_ENTROPY, FIDELITIES, LINEAR, SQUARES, TWO_LOGITS = range(5)
_NOTHING = np.zeros(0, np.int64)


class Expectations(NamedTuple):
    """Expectation values of Pauli observables, and the head that makes a loss of them."""

    signs: Any  # (Q, 2**n)
    head: int
    per_block: int  # how many samples a block has
    is_diagonal: bool = True  # whether all observables are products of Z, measured for one sample in each lane
    # Where they are not:
    flips: Any = _NOTHING  # (Q,) which rows an observable exchanges
    turned: Any = _NOTHING  # (Q,) 1 where it multiplies by i besides
    row_of_index: Any = _NOTHING  # (2**n,) where basis states are stored in the end
    every_qubit: bool = False  # whether the observables are Z of each qubit in order
    ideals: Any = np.zeros((0, 0))  # (M, A) what the head wants of each class
    factor: float = 1.0  # of the squares
    head_at: int = 0  # the first of the head's parameters
    has_members: bool = False  # whether part m of a step is member m of an ensemble


class MeasuredSpace(NamedTuple):
    """What one thread needs for a measurement; P is 2 where two samples share a state, else 1."""

    folded: Any  # (P, 2**n, W)
    measured: Any  # (Q, P, W)
    cotangent: Any  # (Q, P, W)


# (context, work): expectation values of all samples of a block, into ``work.own.measured``.
measure = compiled_only("measure")
# (context, work): from the derivatives by them, ``work.own.cotangent``, the adjoint of the states.
pull_measured = compiled_only("pull_measured")


@inner
def _qubits(readout: Any) -> Any:
    count = 0
    while 1 << count < readout.signs.shape[1]:
        count += 1
    return count


@inner
def _fold(readout: Any, part: int, state: Any, folded: Any, measured: Any) -> None:
    """⟨Z⟩ of every qubit: probabilities are summed two by two, and each round of differences is a qubit."""
    n, size = _qubits(readout), state.shape[0]
    for index in range(size):
        value = load(state, 2 * readout.row_of_index[index] + part)
        store(folded, index, value * value)
    n_parts = measured.shape[1]
    for qubit in range(n - 1, -1, -1):
        total = splat(state.dtype.type(0))
        for index in range(1 << qubit):
            low, high = load(folded, 2 * index), load(folded, 2 * index + 1)
            total = total + (low - high)
            store(folded, index, low + high)
        store(measured, qubit * n_parts + part, total)


@inner
def _unfold(readout: Any, part: int, state: Any, cotangent: Any, folded: Any, adjoint: Any) -> None:
    """λ = Σ_q cotangent_q Z_q |ψ⟩."""
    n, n_parts = _qubits(readout), cotangent.shape[1]
    store(folded, 0, splat(state.dtype.type(0)))
    for qubit in range(n):
        own = load(cotangent, qubit * n_parts + part)
        for index in range((1 << qubit) - 1, -1, -1):
            value = load(folded, index)
            store(folded, 2 * index, value + own)
            store(folded, 2 * index + 1, value - own)
    for index in range(state.shape[0]):
        row = 2 * readout.row_of_index[index] + part
        store(adjoint, row, load(folded, index) * load(state, row))


@inner
def _measure_states(context: Any, work: Any) -> None:
    """Expectation values of all samples of a block."""
    readout, state, room = context.readout, work.scratch.state, work.own
    measured = room.measured
    n_parts = measured.shape[1]
    if readout.every_qubit:
        for part in range(n_parts):
            _fold(readout, part, state, room.folded[part], measured)
        return
    if readout.is_diagonal:
        expectation_block(state, readout.signs, measured)
        return
    for observable in range(readout.flips.size):
        real, imag = splat(state.dtype.type(0)), splat(state.dtype.type(0))
        flip = readout.flips[observable]
        for row in range(state.shape[0]):
            sign, other = splat(readout.signs[observable, row]), row ^ flip
            a, b = load(state, 2 * row), load(state, 2 * row + 1)
            c, d = load(state, 2 * other), load(state, 2 * other + 1)
            if readout.turned[observable]:
                real = fma(sign * d, a, real)
                imag = fma(-(sign * c), b, imag)
            else:
                real = fma(sign * c, a, real)
                imag = fma(sign * d, b, imag)
        if n_parts == 1:
            store(measured, observable, real + imag)
        else:
            store(measured, 2 * observable, real)
            store(measured, 2 * observable + 1, imag)


@inner
def _pull_states(context: Any, work: Any) -> None:
    """λ = Σ_q cotangent_q O_q |ψ⟩ of all samples of a block."""
    readout, state, adjoint, room = context.readout, work.scratch.state, work.scratch.adjoint, work.own
    cotangent = room.cotangent
    n_parts = cotangent.shape[1]
    if readout.every_qubit:
        for part in range(n_parts):
            _unfold(readout, part, state, cotangent, room.folded[part], adjoint)
        return
    if readout.is_diagonal:
        observable_adjoint(state, readout.signs, cotangent, adjoint)
        return
    zero = splat(state.dtype.type(0))
    for row in range(state.shape[0]):
        real, imag = zero, zero
        for observable in range(readout.flips.size):
            other = row ^ readout.flips[observable]  # the row that the observable brings here
            sign = splat(readout.signs[observable, other])
            of_real = sign * load(cotangent, n_parts * observable)
            of_imag = sign * load(cotangent, n_parts * observable + n_parts - 1)
            a, b = load(state, 2 * other), load(state, 2 * other + 1)
            if readout.turned[observable]:
                real, imag = fma(-of_real, b, real), fma(of_imag, a, imag)
            else:
                real, imag = fma(of_real, a, real), fma(of_imag, b, imag)
        store(adjoint, 2 * row, real)
        store(adjoint, 2 * row + 1, imag)


@inner
def _z(start: Any, part: int, qubit: int, lane: int) -> Any:
    cosine, sine = start.turns[part, qubit, 0, lane], start.turns[part, qubit, 1, lane]
    return (cosine - sine) * (cosine + sine)


@inner
def _measure_alone(start: Any, room: Any) -> None:
    """⟨Z⟩ behind one ring of CNOTs, which are products of those before it."""
    n = start.turns.shape[1]
    for part in range(2):
        for qubit in range(n):
            for lane in range(room.measured.shape[2]):
                first, last = (1, n) if qubit == 0 and n > 2 else (0, qubit + 1)
                value = 1.0
                for other in range(first, last):
                    value *= _z(start, part, other, lane)
                room.measured[qubit, part, lane] = value


@inner
def _pull_alone(start: Any, room: Any) -> None:
    """Derivatives by the angles of the start, of what :func:`_measure_alone` measures."""
    n = start.turns.shape[1]
    for part in range(2):
        for qubit in range(n):
            for lane in range(room.measured.shape[2]):
                total = 0.0
                for measured in range(n):
                    first, last = (1, n) if measured == 0 and n > 2 else (0, measured + 1)
                    if first <= qubit < last:
                        value = float(room.cotangent[measured, part, lane])
                        for other in range(first, last):
                            if other != qubit:
                                value *= _z(start, part, other, lane)
                        total += value
                sine = -2 * start.turns[part, qubit, 0, lane] * start.turns[part, qubit, 1, lane]
                start.slopes[part, qubit, lane] = total * sine


def _measure_started(context: Any, work: Any) -> None:
    if context.embedding.start == PRODUCTS_ALONE:
        _measure_alone(work.start, work.own)
    else:
        _measure_states(context, work)


def _pull_started(context: Any, work: Any) -> None:
    if context.embedding.start == PRODUCTS_ALONE:
        _pull_alone(work.start, work.own)
    else:
        _pull_states(context, work)


functions_of(PlainCircuit, measure=_measure_states.py_func, pull_measured=_pull_states.py_func)
functions_of(StartedCircuit, measure=_measure_started, pull_measured=_pull_started)


# Heads


@inner
def _cross_entropy(
    readout: Any, parameters: Any, label: int, room: Any, part: int, lane: int, share: float, gradient: Any
) -> float:
    """Logits W z of one sample; the softmax is taken twice rather than kept."""
    measured = room.measured
    n_outputs, n_classes, first = measured.shape[0], readout.ideals.shape[0], readout.head_at
    largest, own = -np.inf, 0.0
    for number in range(n_classes):
        logit = _logit(parameters, first + number * n_outputs, measured, part, lane)
        largest = max(largest, logit)
        own = logit if number == label else own
    total = 0.0
    for number in range(n_classes):
        total += math.exp(_logit(parameters, first + number * n_outputs, measured, part, lane) - largest)
    for number in range(n_classes):
        at = first + number * n_outputs
        slope = math.exp(_logit(parameters, at, measured, part, lane) - largest) / total
        slope = share * (slope - 1.0 if number == label else slope)
        for output in range(n_outputs):
            gradient[at + output] += slope * measured[output, part, lane]
            room.cotangent[output, part, lane] += slope * parameters[at + output]
    return share * (math.log(total) + largest - own)


@inner
def _logit(parameters: Any, first: int, measured: Any, part: int, lane: int) -> float:
    total = 0.0
    for output in range(measured.shape[0]):
        total += parameters[first + output] * measured[output, part, lane]
    return total


@inner
def _fidelity_loss(
    readout: Any, parameters: Any, label: int, room: Any, lane: int, share: float, gradient: Any
) -> float:
    """½ Σ_j Σ_c (α_cj F_cj - |⟨ψ_c|ψ_y⟩|²)², F being fidelities of qubit j with the target state of class c."""
    n_classes, n_axes = readout.ideals.shape
    n_qubits = room.measured.shape[0] // n_axes
    total = 0.0
    for number in range(n_classes):
        wanted = 1.0
        for axis in range(n_axes):
            wanted += readout.ideals[number, axis] * readout.ideals[label, axis]
        for qubit in range(n_qubits):
            fidelity = 1.0
            for axis in range(n_axes):
                fidelity += readout.ideals[number, axis] * room.measured[qubit * n_axes + axis, 0, lane]
            at = readout.head_at + number * n_qubits + qubit
            off = 0.5 * (parameters[at] * fidelity - wanted)
            total += 0.5 * off * off
            gradient[at] += share * off * 0.5 * fidelity
            slope = share * off * 0.5 * parameters[at]
            for axis in range(n_axes):
                room.cotangent[qubit * n_axes + axis, 0, lane] += slope * readout.ideals[number, axis]
    return share * total


@inner
def _two_logits(room: Any, is_own: bool, lane: int, share: float) -> float:
    """Cross entropy of the logits of a classifier's own class and of all others."""
    scalar = room.measured.dtype.type
    right = 0 if is_own else 1
    ahead = float(room.measured[right, 0, lane]) - float(room.measured[1 - right, 0, lane])
    slope = share / (1.0 + math.exp(ahead))
    room.cotangent[right, 0, lane], room.cotangent[1 - right, 0, lane] = scalar(-slope), scalar(slope)
    return share * math.log1p(math.exp(-ahead))


@inner
def _head(context: Any, step: Any, block: int, own: int, mass: float, room: Any, gradient: Any) -> float:
    """The block's part of the mean loss; derivatives by the expectation values and by the head's own parameters.

    ``own`` is the class of a classifier that tells it from all others.
    """
    readout, data, parameters = context.readout, context.data, context.trained.values[step.member]
    n_outputs, n_parts, width = room.measured.shape
    loss = 0.0
    for part in range(n_parts):
        for lane in range(width):
            for output in range(n_outputs):
                room.cotangent[output, part, lane] = 0
            position = (block * n_parts + part) * width + lane
            if position >= step.n_rows:
                continue
            row = step.order[step.first + position]
            label, share = data.labels[row], data.row_weights[row] / mass
            if readout.head == CROSS_ENTROPY:
                loss += _cross_entropy(readout, parameters, label, room, part, lane, share, gradient)
            elif readout.head == FIDELITIES:
                loss += _fidelity_loss(readout, parameters, label, room, lane, share, gradient)
            elif readout.head == TWO_LOGITS:
                loss += _two_logits(room, label == own, lane, share)
            elif readout.head == LINEAR:
                wanted = readout.ideals[label, 0]
                loss += share * 0.5 * (1.0 - wanted * room.measured[0, part, lane])
                room.cotangent[0, part, lane] = -0.5 * share * wanted
            else:
                off = room.measured[0, part, lane] + parameters[readout.head_at] - readout.ideals[label, 0]
                loss += share * readout.factor * off * off
                slope = share * 2 * readout.factor * off
                gradient[readout.head_at] += slope
                room.cotangent[0, part, lane] = slope
    return loss


# Steps


@inner
def clear_part(space: Any, part: int) -> None:
    """Set the partial gradient to zero before the blocks of a part add to it."""
    gradient, currents = space.gradients[part], space.currents[part]
    for place in range(gradient.size):
        gradient[place] = 0
    for place in range(currents.shape[0]):
        for row in range(currents.shape[1]):
            currents[place, row] = 0


def _backward_item(context: Any, step: Any, item: int, n_items: int, rank: int, work: Any, terms: Any) -> None:
    """Loss and gradient of the blocks of one part, or of all blocks for one member of an ensemble."""
    at = step.member * context.config.n_parts + item
    clear_part(context.space, at)
    mass = 0.0
    for position in range(step.first, step.first + step.n_rows):
        mass += context.data.row_weights[step.order[position]]
    low, high, own = item * step.n_blocks // step.n_parts, (item + 1) * step.n_blocks // step.n_parts, step.member
    if context.readout.has_members:
        low, high, own = 0, step.n_blocks, item
    loss = 0.0
    for block in range(low, high):
        embed_rows(context, step, item, block, work)
        measure(context, work)
        loss += _head(context, step, block, own, mass, work.own, context.space.gradients[at])
        pull_measured(context, work)
        pull_rows(context, step, item, work)
    context.space.part_losses[at] = loss


def _rowwise_items(context: Any, step: Any, n_threads: int) -> Any:
    return prepare_items(context, n_threads), 0, 0, 0, step.n_parts


def _rowwise_loss(context: Any, step: Any) -> Any:
    """Add up the losses of the parts in their order; an ensemble has the mean of its members."""
    loss = 0.0
    for part in range(step.n_parts):
        loss += context.space.part_losses[step.member * context.config.n_parts + part]
    if context.readout.has_members:
        loss /= step.n_parts
    return loss, 0.0, 0.0, 0.0, 0.0


# What all readouts have in common in which no sample needs another.
ROWWISE: dict[str, Any] = {"phase_items": _rowwise_items, "batch_loss": _rowwise_loss}


def _new_step(context: Any, member: int, number: int, first: int, order: Any, moves: Any, cursor: int) -> Any:
    n_rows, per_block = min(context.config.batch_size, order.size - first), context.readout.per_block
    n_blocks = (n_rows + per_block - 1) // per_block
    n_parts = context.config.n_parts if context.readout.has_members else min(context.config.n_parts, n_blocks)
    return Step(member, context.data.seen[0], order, first, n_rows, moves, True, False, 0, n_blocks, n_parts, 0, 0, 0)


functions_of(Expectations, **ROWWISE, backward_item=_backward_item, new_step=_new_step)


def measured_rows(
    embedding: Any,
    readout: Expectations,
    X: FloatArray,
    values: FloatArray,
    *,
    works: Sequence[Work],
    team: Team,
    n_members: int,
) -> FloatArray:
    """Return the expectation values (members, N, Q) of rows, for each row of parameters or each member."""
    data = Data(X, X[None], np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros(0))
    trained = TrainedArrays(values, None, None, None, None, None, None)
    context = Context(data, embedding, readout, trained, None, None, None)
    found = np.empty((n_members, len(X), len(readout.signs)), values.dtype)
    team.run(_measuring(type(embedding)), works, context, np.arange(len(X)), found)
    return np.clip(found, -1, 1, out=found)


_MEASURING: dict[type, Any] = {}


def _measuring(embedding: type) -> Any:
    """Return the compiled function that measures rows with an embedding of this type."""
    if embedding not in _MEASURING:
        run = with_names(_measure_rows, bound_functions(embedding, {}))
        run.__qualname__ = f"measure_{embedding.__name__}"
        _MEASURING[embedding] = entry(run)
    return _MEASURING[embedding]


def _measure_rows(cells: Any, rank: int, n_threads: int, work: Any, context: Any, order: Any, found: Any) -> None:
    """Fill the expectation values (members, N, Q) of all rows of a context; no state outlives its block."""
    n_members, n_rows, n_outputs = found.shape
    _, n_parts, width = work.own.measured.shape
    n_blocks, n_items = (n_rows + n_parts * width - 1) // (n_parts * width), prepare_items(context, n_threads)
    moves = order[:0]
    for member in range(n_members):
        training, part = (0, member) if context.readout.has_members else (member, 0)
        if n_items > 0:
            barrier(cells, n_threads)  # nobody may still use what the member before has prepared
            if rank < n_items:
                prepare(context, training, rank, n_items)
            barrier(cells, n_threads)
        step = Step(training, context.data.X, order, 0, n_rows, moves, True, False, 0, n_blocks, 1, 0, 0, 0)
        for block in range(n_blocks):
            if (member * n_blocks + block) % n_threads != rank:
                continue
            embed_rows(context, step, part, block, work)
            measure(context, work)
            for half in range(n_parts):
                for lane in range(width):
                    position = (block * n_parts + half) * width + lane
                    if position < n_rows:
                        for output in range(n_outputs):
                            found[member, position, output] = work.own.measured[output, half, lane]
            if n_items == 0 and stop_asked(cells):
                return
