"""Steps of training by drawn batches, as compiled code: circuits that are measured by expectation values.

A step takes a batch through a circuit, measures it, compares what a head makes of the expectation values with the
labels, goes back through the circuit for the derivatives, and lets Adam move all parameters, which are one flat array.
Blocks of samples are divided among the threads and summed in their order, so results do not depend on how many
threads there are.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.gates import OF_PARAMETERS, TURN, start_state, steps_backward, steps_forward
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, lane_sum, load, splat, store
from mcquack.simulators.compiled.memory import gather_rows
from mcquack.simulators.compiled.rotations import signed_cosine_sine
from mcquack.simulators.compiled.shared import add_shared_slopes, fill_shared
from mcquack.simulators.compiled.team import barrier, stop_asked, stop_barrier
from mcquack.training.optimizer import ADAM, descend

# What a sample begins as: |0…0⟩, with its features in the angles of the circuit; copies of its amplitudes; two samples
# with real amplitudes at once, as real and imaginary parts; amplitudes that were computed before; a product of
# qubits behind a layer of weights, two samples at once; and the same where no gate but a ring of CNOTs follows.
ZEROS, COPIES, REAL_PAIRS, STORED, PRODUCTS, PRODUCTS_ALONE = range(6)
# What is made of the expectation values: logits of a cross entropy, fidelities with target states, (1 - y f) / 2, and
# the square of f + b - y.
CROSS_ENTROPY, FIDELITIES, LINEAR, SQUARES = range(4)
GOING, CONVERGED, DIVERGED = range(3)


class Problem(NamedTuple):
    """What is fixed during training."""

    rows: Any  # (N, …) what a sample begins as, see above
    labels: Any  # (N,)
    form: Any  # of the circuit, without its parameters
    row_of_index: Any  # (2**n,) where basis states are stored in the end
    flips: Any  # (Q,) which rows an observable exchanges
    turned: Any  # (Q,) 1 where it multiplies by i besides
    signs: Any  # (Q, 2**n)
    every_qubit: bool  # whether the observables are Z of each qubit in order
    ideals: Any  # (M, A) what the head wants of each class
    start: int
    n_copies: int
    head: int
    factor: float  # of the squares
    bias_at: int  # the first of the circuit's biases among the parameters, those before it being of the start
    weights_at: int
    head_at: int


class Room(NamedTuple):
    """What one thread works on beside the memory of the gate engine; P is 2 where two samples share a state, else 1."""

    inputs: Any  # (P, d, W) behind which a layer of weights stands
    tanh: Any  # (P, n, W)
    turns: Any  # (P, n, 2, W) cosine and sine of half an angle
    slopes: Any  # (P, n, W)
    folded: Any  # (P, 2**n, W)
    measured: Any  # (Q, P, W)
    cotangent: Any  # (Q, P, W)


class Work(NamedTuple):
    """All memory of one thread."""

    gates: Any
    room: Any


class Sums(NamedTuple):
    """What the blocks of a batch leave behind."""

    losses: Any  # (blocks,)
    gradients: Any  # (blocks, P)
    currents: Any  # (blocks, K, 2**n)


class Trained(NamedTuple):
    """What training changes, in place."""

    parameters: Any  # (P,)
    mean: Any
    square: Any
    gradient: Any  # of the last step
    losses: Any  # of all steps
    progress: Any  # (2,) the number of steps taken, and whether they go on


@inner
def _qubits(problem: Any) -> Any:
    return problem.form.masks.shape[1]


# Starts


@inner
def _copied(values: Any, n_copies: int, state: Any) -> None:
    """Amplitudes (K, W) of one copy, multiplied with themselves."""
    size = values.shape[0]
    zero = splat(state.dtype.type(0))
    for row in range(size):
        store(state, 2 * row, load(values, row))
        store(state, 2 * row + 1, zero)
    known = size
    for _ in range(n_copies - 1):
        for row in range(known - 1, -1, -1):
            own = load(state, 2 * row)
            for other in range(size - 1, -1, -1):
                store(state, 2 * (row * size + other), own * load(values, other))
                store(state, 2 * (row * size + other) + 1, zero)
        known *= size


@inner
def _gather_pairs(problem: Any, order: Any, block: int, target: Any) -> None:
    """Rows of both samples that share a lane, transposed into (2, d, W)."""
    for part in range(2):
        gather_rows(problem.rows, order, 0, order.size, 2 * block + part, target[part])


@inner
def _set_turns(problem: Any, parameters: Any, room: Any) -> None:
    """Angles π/2 tanh(W x) + w + π/2 of a product of qubits, as cosine and sine of their halves."""
    n = _qubits(problem)
    scalar = parameters.dtype.type
    first = problem.weights_at
    n_features = room.inputs.shape[1]
    for part in range(2):
        for qubit in range(n):
            total = splat(scalar(0))
            for feature in range(n_features):
                weight = splat(parameters[first + qubit * n_features + feature])
                total = fma(weight, load(room.inputs[part], feature), total)
            store(room.tanh[part], qubit, total)
            for lane in range(room.tanh.shape[2]):
                room.tanh[part, qubit, lane] = math.tanh(room.tanh[part, qubit, lane])
            fixed = splat(scalar(0.5) * parameters[qubit] + scalar(math.pi / 4))
            half = fma(splat(scalar(math.pi / 4)), load(room.tanh[part], qubit), fixed)
            cosine, sine = signed_cosine_sine(half)
            store(room.turns[part], 2 * qubit, cosine)
            store(room.turns[part], 2 * qubit + 1, sine)


@inner
def _product(turns: Any, part: int, n: int, state: Any) -> None:
    """The product of the qubits, as the real or the imaginary parts of a state."""
    store(state, part, splat(state.dtype.type(1)))
    for qubit in range(n):
        cosine, sine = load(turns, 2 * qubit), load(turns, 2 * qubit + 1)
        for index in range((1 << qubit) - 1, -1, -1):
            value = load(state, 2 * index + part)
            store(state, 4 * index + part, cosine * value)
            store(state, 4 * index + 2 + part, sine * value)


@inner
def _pull_product(turns: Any, part: int, n: int, state: Any, adjoint: Any, slopes: Any) -> None:
    """Derivatives by the angles of a product of qubits; ``state`` and ``adjoint`` are used up.

    From the last qubit on, each is summed over; what those before it make is the product of their own, which the state
    holds from row 2**k on for the first k.
    """
    store(state, 2 + part, splat(state.dtype.type(1)))
    for qubit in range(n - 1):
        cosine, sine, size = load(turns, 2 * qubit), load(turns, 2 * qubit + 1), 1 << qubit
        for index in range(size):
            value = load(state, 2 * (size + index) + part)
            store(state, 4 * (size + index) + part, cosine * value)
            store(state, 4 * (size + index) + 2 + part, sine * value)
    for qubit in range(n - 1, -1, -1):
        cosine, sine, size = load(turns, 2 * qubit), load(turns, 2 * qubit + 1), 1 << qubit
        total = splat(state.dtype.type(0))
        for index in range(size):
            low, high = load(adjoint, 4 * index + part), load(adjoint, 4 * index + 2 + part)
            total = fma(load(state, 2 * (size + index) + part), fma(cosine, high, -(sine * low)), total)
            store(adjoint, 2 * index + part, fma(cosine, low, sine * high))
        store(slopes, qubit, total)


@inner
def _add_layer_slopes(problem: Any, room: Any, gradient: Any) -> None:
    """Derivatives by the layer of weights and by the first angles, from those by the angles of the start."""
    n, n_features, first = _qubits(problem), room.inputs.shape[1], problem.weights_at
    scalar = gradient.dtype.type
    for part in range(2):
        for qubit in range(n):
            slope, tanh = load(room.slopes[part], qubit), load(room.tanh[part], qubit)
            gradient[qubit] += lane_sum(slope)
            inner_slope = splat(scalar(math.pi / 2)) * slope * fma(-tanh, tanh, splat(scalar(1)))
            for feature in range(n_features):
                by_weight = lane_sum(inner_slope * load(room.inputs[part], feature))
                gradient[first + qubit * n_features + feature] += by_weight


@inner
def _begin(problem: Any, parameters: Any, order: Any, block: int, work: Any) -> None:
    """The state of every sample of a block before the first step of the circuit."""
    gates, room = work.gates, work.room
    state = gates.state
    if problem.start == STORED:
        gather_rows(problem.rows, order, 0, order.size, block, state.reshape(2 * state.shape[0], state.shape[2]))
    elif problem.start == REAL_PAIRS:
        _gather_pairs(problem, order, block, room.inputs)
        for part in range(2):
            for row in range(state.shape[0]):
                store(state, 2 * row + part, load(room.inputs[part], row))
    elif problem.start == PRODUCTS:
        _gather_pairs(problem, order, block, room.inputs)
        _set_turns(problem, parameters, room)
        for part in range(2):
            _product(room.turns[part], part, _qubits(problem), state)
    else:
        gather_rows(problem.rows, order, 0, order.size, block, gates.features)
        if problem.start == COPIES:
            _copied(gates.features, problem.n_copies, state)
        else:
            start_state(problem.form, gates.features, state, gates)


# Measurements


@inner
def _fold(problem: Any, part: int, state: Any, folded: Any, measured: Any) -> None:
    """⟨Z⟩ of every qubit: probabilities are summed two by two, and each round of differences is a qubit."""
    n, size = _qubits(problem), state.shape[0]
    for index in range(size):
        value = load(state, 2 * problem.row_of_index[index] + part)
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
def _unfold(problem: Any, part: int, state: Any, cotangent: Any, folded: Any, adjoint: Any) -> None:
    """λ = Σ_q cotangent_q Z_q |ψ⟩."""
    n, n_parts = _qubits(problem), cotangent.shape[1]
    store(folded, 0, splat(state.dtype.type(0)))
    for qubit in range(n):
        own = load(cotangent, qubit * n_parts + part)
        for index in range((1 << qubit) - 1, -1, -1):
            value = load(folded, index)
            store(folded, 2 * index, value + own)
            store(folded, 2 * index + 1, value - own)
    for index in range(state.shape[0]):
        row = 2 * problem.row_of_index[index] + part
        store(adjoint, row, load(folded, index) * load(state, row))


@inner
def _measure(problem: Any, state: Any, room: Any) -> None:
    """Expectation values of all samples of a block."""
    measured = room.measured
    n_parts = measured.shape[1]
    if problem.every_qubit:
        for part in range(n_parts):
            _fold(problem, part, state, room.folded[part], measured)
        return
    for observable in range(problem.flips.size):
        real, imag = splat(state.dtype.type(0)), splat(state.dtype.type(0))
        flip = problem.flips[observable]
        for row in range(state.shape[0]):
            sign, other = splat(problem.signs[observable, row]), row ^ flip
            a, b = load(state, 2 * row), load(state, 2 * row + 1)
            c, d = load(state, 2 * other), load(state, 2 * other + 1)
            if problem.turned[observable]:
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
def _pull_measured(problem: Any, state: Any, room: Any, adjoint: Any) -> None:
    """λ = Σ_q cotangent_q O_q |ψ⟩ of all samples of a block."""
    cotangent = room.cotangent
    n_parts = cotangent.shape[1]
    if problem.every_qubit:
        for part in range(n_parts):
            _unfold(problem, part, state, cotangent, room.folded[part], adjoint)
        return
    zero = splat(state.dtype.type(0))
    for row in range(state.shape[0]):
        real, imag = zero, zero
        for observable in range(problem.flips.size):
            other = row ^ problem.flips[observable]  # the row that the observable brings here
            sign = splat(problem.signs[observable, other])
            of_real = sign * load(cotangent, n_parts * observable)
            of_imag = sign * load(cotangent, n_parts * observable + n_parts - 1)
            a, b = load(state, 2 * other), load(state, 2 * other + 1)
            if problem.turned[observable]:
                real, imag = fma(-of_real, b, real), fma(of_imag, a, imag)
            else:
                real, imag = fma(of_real, a, real), fma(of_imag, b, imag)
        store(adjoint, 2 * row, real)
        store(adjoint, 2 * row + 1, imag)


@inner
def _measure_alone(problem: Any, room: Any) -> None:
    """⟨Z⟩ behind one ring of CNOTs, which are products of those before it."""
    n = _qubits(problem)
    for part in range(2):
        for qubit in range(n):
            for lane in range(room.measured.shape[2]):
                first, last = (1, n) if qubit == 0 and n > 2 else (0, qubit + 1)
                value = 1.0
                for other in range(first, last):
                    value *= _z(room, part, other, lane)
                room.measured[qubit, part, lane] = value


@inner
def _z(room: Any, part: int, qubit: int, lane: int) -> Any:
    cosine, sine = room.turns[part, qubit, 0, lane], room.turns[part, qubit, 1, lane]
    return (cosine - sine) * (cosine + sine)


@inner
def _pull_alone(problem: Any, room: Any) -> None:
    """Derivatives by the angles of the start, of what :func:`_measure_alone` measures."""
    n = _qubits(problem)
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
                                value *= _z(room, part, other, lane)
                        total += value
                sine = -2 * room.turns[part, qubit, 0, lane] * room.turns[part, qubit, 1, lane]
                room.slopes[part, qubit, lane] = total * sine


# Heads


@inner
def _cross_entropy(
    problem: Any, parameters: Any, label: int, room: Any, part: int, lane: int, share: float, gradient: Any
) -> float:
    """Logits W z of one sample; the softmax is taken twice rather than kept."""
    measured = room.measured
    n_outputs, n_classes, first = measured.shape[0], problem.ideals.shape[0], problem.head_at
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
    problem: Any, parameters: Any, label: int, room: Any, lane: int, share: float, gradient: Any
) -> float:
    """½ Σ_j Σ_c (α_cj F_cj - |⟨ψ_c|ψ_y⟩|²)², F being fidelities of qubit j with the target state of class c."""
    n_classes, n_axes = problem.ideals.shape
    n_qubits = room.measured.shape[0] // n_axes
    total = 0.0
    for number in range(n_classes):
        wanted = 1.0
        for axis in range(n_axes):
            wanted += problem.ideals[number, axis] * problem.ideals[label, axis]
        for qubit in range(n_qubits):
            fidelity = 1.0
            for axis in range(n_axes):
                fidelity += problem.ideals[number, axis] * room.measured[qubit * n_axes + axis, 0, lane]
            at = problem.head_at + number * n_qubits + qubit
            off = 0.5 * (parameters[at] * fidelity - wanted)
            total += 0.5 * off * off
            gradient[at] += share * off * 0.5 * fidelity
            slope = share * off * 0.5 * parameters[at]
            for axis in range(n_axes):
                room.cotangent[qubit * n_axes + axis, 0, lane] += slope * problem.ideals[number, axis]
    return share * total


@inner
def _head(problem: Any, parameters: Any, order: Any, block: int, room: Any, gradient: Any) -> float:
    """The block's part of the mean loss; derivatives by the expectation values and by the head's own parameters."""
    n_outputs, n_parts, width = room.measured.shape
    share = 1.0 / order.size
    loss = 0.0
    for part in range(n_parts):
        for lane in range(width):
            for output in range(n_outputs):
                room.cotangent[output, part, lane] = 0
            position = (block * n_parts + part) * width + lane
            if position >= order.size:
                continue
            label = problem.labels[order[position]]
            if problem.head == CROSS_ENTROPY:
                loss += _cross_entropy(problem, parameters, label, room, part, lane, share, gradient)
            elif problem.head == FIDELITIES:
                loss += _fidelity_loss(problem, parameters, label, room, lane, share, gradient)
            elif problem.head == LINEAR:
                wanted = problem.ideals[label, 0]
                loss += share * 0.5 * (1.0 - wanted * room.measured[0, part, lane])
                room.cotangent[0, part, lane] = -0.5 * share * wanted
            else:
                off = room.measured[0, part, lane] + parameters[problem.head_at] - problem.ideals[label, 0]
                loss += share * problem.factor * off * off
                slope = share * 2 * problem.factor * off
                gradient[problem.head_at] += slope
                room.cotangent[0, part, lane] = slope
    return loss


# Steps


@inner
def clear_sums(gradient: Any, currents: Any) -> None:
    """Zeros, before a block adds what it says."""
    for place in range(gradient.size):
        gradient[place] = 0
    for place in range(currents.shape[0]):
        for row in range(currents.shape[1]):
            currents[place, row] = 0


@inner
def _block_gradient(
    problem: Any, shared: Any, parameters: Any, order: Any, block: int, work: Any, gradient: Any, currents: Any
) -> Any:
    """The block's part of the loss; its derivatives go to ``gradient`` and ``currents``."""
    gates, room = work.gates, work.room
    clear_sums(gradient, currents)
    if problem.start == PRODUCTS_ALONE:
        _gather_pairs(problem, order, block, room.inputs)
        _set_turns(problem, parameters, room)
        _measure_alone(problem, room)
        loss = _head(problem, parameters, order, block, room, gradient)
        _pull_alone(problem, room)
        _add_layer_slopes(problem, room, gradient)
        return loss
    weights, bias = parameters[problem.weights_at :], parameters[problem.bias_at :]
    by_w, by_b = gradient[problem.weights_at :], gradient[problem.bias_at :]
    _begin(problem, parameters, order, block, work)
    steps_forward(problem.form, shared, weights, bias, gates.features, gates.state, gates)
    _measure(problem, gates.state, room)
    loss = _head(problem, parameters, order, block, room, gradient)
    _pull_measured(problem, gates.state, room, gates.adjoint)
    scale = steps_backward(
        problem.form, shared, weights, bias, gates.features, gates.state, gates, by_w, by_b, currents, OF_PARAMETERS
    )
    if problem.start == PRODUCTS:
        n = _qubits(problem)
        for part in range(2):
            _pull_product(room.turns[part], part, n, gates.state, gates.adjoint, room.slopes[part])
            for qubit in range(n):
                store(room.slopes[part], qubit, scale * load(room.slopes[part], qubit))
        _add_layer_slopes(problem, room, gradient)
    return loss


@inner
def has_converged(losses: Any, n_steps: int, interval: int) -> Any:
    """Whether the mean of the last losses differs from that of as many before by less than half its standard error."""
    if interval < 1 or n_steps < 2 * interval + 2:
        return False
    last, before = 0.0, 0.0
    for step in range(n_steps - interval, n_steps):
        last += losses[step]
        before += losses[step - interval]
    last /= interval
    before /= interval
    spread = 0.0
    for step in range(n_steps - interval, n_steps):
        spread += (losses[step] - last) ** 2
    return abs(last - before) <= math.sqrt(spread / interval) / math.sqrt(interval) / 2


@inner
def finish_step(trained: Any, loss: float, rate: float, interval: int) -> None:
    """Moves the parameters along the gradient, notes the loss, and says whether training goes on."""
    done = trained.progress[0]
    trained.losses[done] = loss
    if not math.isfinite(loss):
        trained.progress[1] = DIVERGED
        return
    trained.progress[0] = done + 1
    n_parameters = trained.parameters.size
    descend(
        trained.parameters, trained.gradient, trained.mean, trained.square, ADAM, rate, done + 1, 0, n_parameters
    )  # fmt: skip
    if has_converged(trained.losses, done + 1, interval):
        trained.progress[1] = CONVERGED


@inner
def finish_batch(form: Any, shared: Any, trained: Any, sums: Any, bias_at: int, rate: float, interval: int) -> None:
    """Adds up what the blocks of a batch say, in their order, and finishes the step."""
    loss = 0.0
    n_blocks, currents = sums.losses.size, sums.currents
    for block in range(n_blocks):
        loss += sums.losses[block]
    for place in range(trained.gradient.size):
        trained.gradient[place] = 0
        for block in range(n_blocks):
            trained.gradient[place] += sums.gradients[block, place]
    for block in range(1, n_blocks):
        for place in range(currents.shape[1]):
            for row in range(currents.shape[2]):
                currents[0, place, row] += currents[block, place, row]
    add_shared_slopes(form, shared, TURN, currents[0], trained.gradient[bias_at:])
    finish_step(trained, loss, rate, interval)


@entry
def run_steps(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    shared: Any,
    trained: Any,
    sums: Any,
    orders: Any,
    rate: float,
    interval: int,
) -> None:
    """A step for each of the batches in ``orders`` (steps, B), until training has converged or diverged."""
    n_blocks = sums.losses.size
    for number in range(orders.shape[0]):
        order = orders[number]
        fill_shared(problem.form, shared, TURN, trained.parameters[problem.bias_at :], rank, n_threads)
        barrier(cells, n_threads)
        for block in range(rank, n_blocks, n_threads):
            sums.losses[block] = _block_gradient(
                problem, shared, trained.parameters, order, block, work, sums.gradients[block], sums.currents[block]
            )
        barrier(cells, n_threads)
        if rank == 0:
            finish_batch(problem.form, shared, trained, sums, problem.bias_at, rate, interval)
        if stop_barrier(cells, rank, n_threads) or trained.progress[1] != GOING:
            return


@entry
def measure_rows(
    cells: Any, rank: int, n_threads: int, work: Any, problem: Any, shared: Any, parameters: Any, measured: Any
) -> None:
    """Expectation values (N, Q) of all rows of a problem."""
    weights, bias = parameters[problem.weights_at :], parameters[problem.bias_at :]
    fill_shared(problem.form, shared, TURN, bias, rank, n_threads)
    barrier(cells, n_threads)
    gates, room = work.gates, work.room
    n_outputs, n_parts, width = room.measured.shape
    order = problem.labels  # in their order, here
    for block in range(rank, (order.size + n_parts * width - 1) // (n_parts * width), n_threads):
        if problem.start == PRODUCTS_ALONE:
            _gather_pairs(problem, order, block, room.inputs)
            _set_turns(problem, parameters, room)
            _measure_alone(problem, room)
        else:
            _begin(problem, parameters, order, block, work)
            steps_forward(problem.form, shared, weights, bias, gates.features, gates.state, gates)
            _measure(problem, gates.state, room)
        for part in range(n_parts):
            for lane in range(width):
                position = (block * n_parts + part) * width + lane
                if position < order.size:
                    for output in range(n_outputs):
                        measured[position, output] = room.measured[output, part, lane]
        if stop_asked(cells):
            return
