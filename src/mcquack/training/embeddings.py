"""Embeddings of rows as states, for the compiled trainer: a circuit, or a circuit behind a start of its own.

A plain circuit has its features in its angles, and any engine of statevectors gives its form. The models of the QML
benchmark suite begin with other states: amplitudes, copies of them, or a layer of weights before the first gates. In
their circuits few gates depend on a sample, and those that all samples share are worked out once for each step.
"""

import math
from typing import Any, Literal, NamedTuple, TypeAlias

from mcquack.simulators.compiled.gates import OF_PARAMETERS, TURN, start_state, steps_backward, steps_forward
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, lane_sum, load, splat, store
from mcquack.simulators.compiled.memory import gather_rows
from mcquack.simulators.compiled.rotations import signed_cosine_sine
from mcquack.simulators.compiled.shared import add_shared_slopes, fill_shared
from mcquack.simulators.statevector.circuit import BoundCircuit, backward, forward
from mcquack.training.step import functions_of


class PlainCircuit(NamedTuple):
    """A circuit that begins with |0…0⟩, or with the features as amplitudes, and has its features in its angles."""

    form: Any  # RingForm or GateForm
    n_weights: int
    n_bias: int
    has_members: bool  # whether part m of a step is member m of an ensemble, with biases of its own


class StartedCircuit(NamedTuple):
    """A circuit behind a start, whose gates without features are the same for all samples of a step."""

    form: Any  # GateForm
    shared: Any  # SharedSteps
    start: int
    n_copies: int
    bias_at: int  # the first of the circuit's biases among the parameters, those before it being of the start
    weights_at: int


# What a sample begins as: |0…0⟩, with its features in the angles of the circuit; copies of its amplitudes; two samples
# with real amplitudes at once, as real and imaginary parts; amplitudes that were computed before; a product of
# qubits behind a layer of weights, two samples at once; and the same where no gate but a ring of CNOTs follows.
# Compiled code has a number for each.
Start: TypeAlias = Literal["zeros", "copies", "real pairs", "stored", "products", "products alone"]
ZEROS, COPIES, REAL_PAIRS, STORED, PRODUCTS, PRODUCTS_ALONE = range(6)


class StartSpace(NamedTuple):
    """What one thread needs of memory for a start; P is 2 where two samples share a state, else 1."""

    inputs: Any  # (P, d, W) behind which a layer of weights stands
    tanh: Any  # (P, n, W)
    turns: Any  # (P, n, 2, W) cosine and sine of half an angle
    slopes: Any  # (P, n, W)


class Work(NamedTuple):
    """All memory of one thread: that of the engine, that of the start, and that of the readout."""

    scratch: Any
    start: Any
    own: Any


# Plain circuits


@inner
def bound_circuit(context: Any, training: int, part: int) -> Any:
    """Return the plain circuit with the parameters of a training; in an ensemble, those of the member ``part``."""
    embedding, values = context.embedding, context.trained.values[training]
    n_weights, n_bias = embedding.n_weights, embedding.n_bias
    first = n_weights + (part * n_bias if embedding.has_members else 0)
    return BoundCircuit(values[:n_weights], values[first : first + n_bias], embedding.form)


def _embed_plain(context: Any, step: Any, part: int, block: int, work: Any) -> None:
    scratch = work.scratch
    gather_rows(step.X, step.order, step.first, step.n_rows, block, scratch.features)
    forward(bound_circuit(context, step.member, part), scratch.features, scratch.state, scratch)


def _pull_plain(context: Any, step: Any, part: int, work: Any) -> None:
    embedding, scratch = context.embedding, work.scratch
    n_weights = embedding.n_weights
    gradient = context.space.gradients[step.member * context.config.n_parts + part]
    by_w, by_b = gradient[:n_weights], gradient[n_weights : n_weights + embedding.n_bias]
    circuit = bound_circuit(context, step.member, part)
    backward(circuit, scratch.features, scratch.state, scratch, by_w, by_b, scratch.features, OF_PARAMETERS)


functions_of(PlainCircuit, embed_rows=_embed_plain, pull_rows=_pull_plain)


# Circuits with a start


@inner
def _qubits(context: Any) -> Any:
    return context.embedding.form.masks.shape[1]


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
def _gather_pairs(step: Any, block: int, target: Any) -> None:
    """Rows of both samples that share a lane, transposed into (2, d, W)."""
    for part in range(2):
        gather_rows(step.X, step.order, step.first, step.n_rows, 2 * block + part, target[part])


@inner
def _set_turns(context: Any, parameters: Any, room: Any) -> None:
    """Angles π/2 tanh(W x) + w + π/2 of a product of qubits, as cosine and sine of their halves."""
    n = _qubits(context)
    scalar = parameters.dtype.type
    first = context.embedding.weights_at
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
def _add_layer_slopes(context: Any, room: Any, gradient: Any) -> None:
    """Derivatives by the layer of weights and by the first angles, from those by the angles of the start."""
    n, n_features, first = _qubits(context), room.inputs.shape[1], context.embedding.weights_at
    scalar = gradient.dtype.type
    for part in range(2):
        for qubit in range(n):
            slope, tanh = load(room.slopes[part], qubit), load(room.tanh[part], qubit)
            gradient[qubit] += lane_sum(slope)
            inner_slope = splat(scalar(math.pi / 2)) * slope * fma(-tanh, tanh, splat(scalar(1)))
            for feature in range(n_features):
                by_weight = lane_sum(inner_slope * load(room.inputs[part], feature))
                gradient[first + qubit * n_features + feature] += by_weight


def _shared_items(context: Any, n_threads: int) -> Any:
    return min(n_threads, context.embedding.form.kinds.size)


def _prepare_shared(context: Any, member: int, item: int, n_items: int) -> None:
    """Works out every ``n_items``-th of the gates that are the same for all samples."""
    embedding = context.embedding
    bias = context.trained.values[member, embedding.bias_at :]
    fill_shared(embedding.form, embedding.shared, TURN, bias, item, n_items)


def _embed_started(context: Any, step: Any, part: int, block: int, work: Any) -> None:
    """The state of every sample of a block behind the circuit; for products alone, the angles of the qubits."""
    embedding, scratch, start = context.embedding, work.scratch, work.start
    values, state = context.trained.values[step.member], scratch.state
    if embedding.start == PRODUCTS_ALONE:
        _gather_pairs(step, block, start.inputs)
        _set_turns(context, values, start)
        return
    if embedding.start == STORED:
        flat = state.reshape(2 * state.shape[0], state.shape[2])
        gather_rows(step.X, step.order, step.first, step.n_rows, block, flat)
    elif embedding.start == REAL_PAIRS:
        _gather_pairs(step, block, start.inputs)
        for half in range(2):
            for row in range(state.shape[0]):
                store(state, 2 * row + half, load(start.inputs[half], row))
    elif embedding.start == PRODUCTS:
        _gather_pairs(step, block, start.inputs)
        _set_turns(context, values, start)
        for half in range(2):
            _product(start.turns[half], half, _qubits(context), state)
    else:
        gather_rows(step.X, step.order, step.first, step.n_rows, block, scratch.features)
        if embedding.start == COPIES:
            _copied(scratch.features, embedding.n_copies, state)
        else:
            start_state(embedding.form, scratch.features, state, scratch)
    weights, bias = values[embedding.weights_at :], values[embedding.bias_at :]
    steps_forward(embedding.form, embedding.shared, weights, bias, scratch.features, state, scratch)


def _pull_started(context: Any, step: Any, part: int, work: Any) -> None:
    embedding, scratch, start = context.embedding, work.scratch, work.start
    at = step.member * context.config.n_parts + part
    gradient = context.space.gradients[at]
    if embedding.start == PRODUCTS_ALONE:
        _add_layer_slopes(context, start, gradient)
        return
    values = context.trained.values[step.member]
    weights, bias = values[embedding.weights_at :], values[embedding.bias_at :]
    by_w, by_b = gradient[embedding.weights_at :], gradient[embedding.bias_at :]
    scale = steps_backward(
        embedding.form, embedding.shared, weights, bias, scratch.features, scratch.state, scratch, by_w, by_b,
        context.space.currents[at], OF_PARAMETERS,
    )  # fmt: skip
    if embedding.start == PRODUCTS:
        n = _qubits(context)
        for half in range(2):
            _pull_product(start.turns[half], half, n, scratch.state, scratch.adjoint, start.slopes[half])
            for qubit in range(n):
                store(start.slopes[half], qubit, scale * load(start.slopes[half], qubit))
        _add_layer_slopes(context, start, gradient)


def _finish_started(context: Any, step: Any, slopes: Any) -> None:
    """Adds the derivatives by the biases of the gates that all samples share."""
    embedding = context.embedding
    currents = context.space.currents[step.member * context.config.n_parts :]
    for part in range(1, step.n_parts):
        for place in range(currents.shape[1]):
            for row in range(currents.shape[2]):
                currents[0, place, row] += currents[part, place, row]
    add_shared_slopes(embedding.form, embedding.shared, TURN, currents[0], slopes[embedding.bias_at :])


functions_of(
    StartedCircuit,
    prepare_items=_shared_items,
    prepare=_prepare_shared,
    embed_rows=_embed_started,
    pull_rows=_pull_started,
    finish_slopes=_finish_started,
    inline_loop=True,
)
