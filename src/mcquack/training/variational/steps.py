"""Epochs of variational classifiers on the CPU engine, each as one compiled call.

Classifier m sees a sample through its circuit and measures Z on two qubits: the logits of "class m" and of "another
class". Classifiers are divided among the threads, so results do not depend on how many there are.
"""

import math
from typing import Any, NamedTuple

from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.gates import OF_PARAMETERS
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.memory import gather_block, gather_rows
from mcquack.simulators.compiled.team import barrier, stop_asked, stop_barrier
from mcquack.simulators.statevector.circuit import Circuit, backward, forward
from mcquack.simulators.statevector.overlaps import expectation_block, observable_adjoint
from mcquack.training.optimizer import descend


class Problem(NamedTuple):
    """What is fixed during training."""

    X: Any  # (N, d)
    labels: Any  # (N,)
    row_weights: Any  # (N,)
    form: Any  # of the circuit, without its parameters
    signs: Any  # (2, 2**n) of the two observables


class Trained(NamedTuple):
    """What training changes, in place; names with ``flat`` are the same memory by classifier."""

    weights: Any  # (M or 1, *shape of the weights)
    bias: Any  # (M, *shape of the biases)
    flat_weights: Any
    flat_bias: Any
    weights_mean: Any
    weights_square: Any
    bias_mean: Any
    bias_square: Any
    weights_steps: Any
    bias_steps: Any


class Pace(NamedTuple):
    """The settings of one epoch as numbers."""

    batch_size: int
    optimizer: int
    lr_weights: float
    lr_bias: float
    reg_weights: float
    reg_bias: float


class Room(NamedTuple):
    """Memory for gradients, by classifier, and for measurements, by thread."""

    expectations: Any  # (threads, 2, W)
    cotangent: Any  # (threads, 2, W)
    by_w: Any  # (M, *shape of the weights)
    by_b: Any
    flat_by_w: Any
    flat_by_b: Any
    slope: Any  # of the shared weights


class Totals(NamedTuple):
    """Sums over the steps of an epoch, by classifier."""

    losses: Any  # (M,)
    n_steps: Any  # (M,)
    squared_norms: Any  # (M, 2) weights, biases


@entry
def measure_classes(
    cells: Any, rank: int, n_threads: int, work: Any, problem: Any, weights: Any, bias: Any, measured: Any, logits: Any
) -> None:
    """Both logits of every sample behind every classifier's circuit; no state outlives its block."""
    n_samples, n_classes, n_observables = logits.shape
    width = measured.shape[2]
    n_blocks = (n_samples + width - 1) // width
    for task in range(rank, n_classes * n_blocks, n_threads):
        own, block = task // n_blocks, task % n_blocks
        circuit = Circuit(weights[own % weights.shape[0]], bias[own], problem.form)
        gather_block(problem.X, block * width, work.features)
        forward(circuit, work.features, work.state, work)
        expectation_block(work.state, problem.signs, measured[rank])
        for lane in range(min(width, n_samples - block * width)):
            for observable in range(n_observables):
                logits[block * width + lane, own, observable] = measured[rank, observable, lane]
        if stop_asked(cells):
            return


@inner
def _slopes(
    problem: Any, order: Any, first: int, count: int, block: int, own: int, mass: float, measured: Any, cotangent: Any
) -> float:
    """Cross entropy of one block, and its derivatives by the two logits; lanes without a sample get zeros."""
    scalar = measured.dtype.type
    total = 0.0
    width = measured.shape[1]
    for lane in range(width):
        position = block * width + lane
        cotangent[0, lane], cotangent[1, lane] = scalar(0), scalar(0)
        if position < count:
            row = order[first + position]
            right = 0 if problem.labels[row] == own else 1
            ahead = float(measured[right, lane]) - float(measured[1 - right, lane])
            share = problem.row_weights[row] / mass
            total += share * math.log1p(math.exp(-ahead))
            slope = share / (1.0 + math.exp(ahead))
            cotangent[right, lane], cotangent[1 - right, lane] = scalar(-slope), scalar(slope)
    return total


@inner
def _gradient(
    work: Any, problem: Any, circuit: Any, order: Any, first: int, count: int, own: int, rank: int, room: Any
) -> float:
    """Mean cross entropy of classifier ``own`` on a mini-batch; its derivatives go to the classifier's memory."""
    width = room.expectations.shape[2]
    for place in range(room.flat_by_w.shape[1]):
        room.flat_by_w[own, place] = 0
    for place in range(room.flat_by_b.shape[1]):
        room.flat_by_b[own, place] = 0
    mass = 0.0
    for position in range(first, first + count):
        mass += problem.row_weights[order[position]]
    loss = 0.0
    for block in range((count + width - 1) // width):
        gather_rows(problem.X, order, first, count, block, work.features)
        forward(circuit, work.features, work.state, work)
        expectation_block(work.state, problem.signs, room.expectations[rank])
        loss += _slopes(problem, order, first, count, block, own, mass, room.expectations[rank], room.cotangent[rank])
        observable_adjoint(work.state, problem.signs, room.cotangent[rank], work.adjoint)
        backward(circuit, work.features, work.state, work, room.by_w[own], room.by_b[own], work.features, OF_PARAMETERS)
    return loss


@inner
def _penalised(slopes: Any, parameter: Any, regulariser: float) -> Any:
    """Adds the derivative of λ‖p‖² to the gradient, and gives λ‖p‖² and the gradient's squared norm."""
    scalar = slopes.dtype.type
    penalty, square = 0.0, 0.0
    for place in range(slopes.size):
        penalty += regulariser * float(parameter[place]) * float(parameter[place])
        slopes[place] += scalar(2 * regulariser) * parameter[place]
        square += float(slopes[place]) * float(slopes[place])
    return penalty, square


@inner
def _descend_bias(own: int, trained: Any, pace: Any, slopes: Any) -> None:
    trained.bias_steps[own] += 1
    descend(
        trained.flat_bias[own], slopes, trained.bias_mean[own], trained.bias_square[own],
        pace.optimizer, pace.lr_bias, trained.bias_steps[own], 0, slopes.size,
    )  # fmt: skip


@inner
def _descend_weights(own: int, trained: Any, pace: Any, slopes: Any) -> None:
    trained.weights_steps[own] += 1
    descend(
        trained.flat_weights[own], slopes, trained.weights_mean[own], trained.weights_square[own],
        pace.optimizer, pace.lr_weights, trained.weights_steps[own], 0, slopes.size,
    )  # fmt: skip


@entry
def run_own_epoch(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    trained: Any,
    pace: Any,
    room: Any,
    order: Any,
    active: Any,
    totals: Any,
) -> None:
    """All mini-batches for each active classifier, which has weights of its own: nobody waits for anybody."""
    n_samples = problem.X.shape[0]
    for own in range(rank, trained.bias.shape[0], n_threads):
        if not active[own]:
            continue
        for first in range(0, n_samples, pace.batch_size):
            count = min(pace.batch_size, n_samples - first)
            circuit = Circuit(trained.weights[own], trained.bias[own], problem.form)
            loss = _gradient(work, problem, circuit, order, first, count, own, rank, room)
            by_w, by_b = room.flat_by_w[own], room.flat_by_b[own]
            of_weights, square_w = _penalised(by_w, trained.flat_weights[own], pace.reg_weights)
            of_bias, square_b = _penalised(by_b, trained.flat_bias[own], pace.reg_bias)
            _descend_weights(own, trained, pace, by_w)
            _descend_bias(own, trained, pace, by_b)
            totals.losses[own] += loss + of_weights + of_bias
            totals.n_steps[own] += 1
            totals.squared_norms[own, 0] += square_w
            totals.squared_norms[own, 1] += square_b
            if stop_asked(cells):
                return


@inner
def _mean_slope(room: Any) -> None:
    scalar = room.slope.dtype.type
    n_classes = room.flat_by_w.shape[0]
    for place in range(room.slope.size):
        total = scalar(0)
        for own in range(n_classes):
            total += room.flat_by_w[own, place]
        room.slope[place] = total / scalar(n_classes)


@entry
def run_shared_epoch(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    trained: Any,
    pace: Any,
    room: Any,
    weights_orders: Any,
    bias_orders: Any,
    totals: Any,
) -> None:
    """All mini-batches for the weights that the classifiers share, then all for the biases that each has alone."""
    n_samples = problem.X.shape[0]
    n_classes = trained.bias.shape[0]
    n_weights_passes = weights_orders.shape[0]
    for step in range(n_weights_passes + bias_orders.shape[0]):
        of_weights = step < n_weights_passes
        order = weights_orders[step] if of_weights else bias_orders[step - n_weights_passes]
        for first in range(0, n_samples, pace.batch_size):
            count = min(pace.batch_size, n_samples - first)
            for own in range(rank, n_classes, n_threads):
                circuit = Circuit(trained.weights[0], trained.bias[own], problem.form)
                totals.losses[own] += _gradient(work, problem, circuit, order, first, count, own, rank, room)
                totals.n_steps[own] += 1
                if not of_weights:
                    slopes = room.flat_by_b[own]
                    penalty, square = _penalised(slopes, trained.flat_bias[own], pace.reg_bias)
                    _descend_bias(own, trained, pace, slopes)
                    totals.losses[own] += penalty
                    totals.squared_norms[own, 1] += square
            barrier(cells, n_threads)
            if of_weights and rank == 0:
                _mean_slope(room)
                penalty, square = _penalised(room.slope, trained.flat_weights[0], pace.reg_weights)
                _descend_weights(0, trained, pace, room.slope)
                for own in range(n_classes):
                    totals.losses[own] += penalty
                totals.squared_norms[0, 0] += square
            if stop_barrier(cells, rank, n_threads):
                return
