"""Overlaps of pairs as a readout: the metric learner, whose samples of different classes are to overlap less.

The loss is the mean of |⟨a|b⟩|² over the pairs of classes and over the places of a batch. A batch (M, B) has one row
of each class at every place, one class after the other.
"""

from typing import Any, NamedTuple

from mcquack.simulators.compiled.gates import OF_PARAMETERS, start_state, steps_backward, steps_forward
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, load, load_complex, splat, store
from mcquack.simulators.compiled.memory import copy_block, gather_rows
from mcquack.training.readouts.expectations import ROWWISE, clear_part
from mcquack.training.step import Step, functions_of


class Pairs(NamedTuple):
    """Overlaps between samples of different classes."""

    n_classes: int
    has_members: bool = False


class PairSpace(NamedTuple):
    """States and adjoints (M, 2**n, 2, W) of a block, for one thread."""

    states: Any
    adjoints: Any
    overlaps: Any  # (2, W)


@inner
def _overlap(left: Any, right: Any, overlaps: Any) -> None:
    """⟨left|right⟩ of every lane."""
    real, imag = splat(left.dtype.type(0)), splat(left.dtype.type(0))
    for row in range(left.shape[0]):
        a, b = load_complex(left, row)
        c, d = load_complex(right, row)
        real = fma(b, d, fma(a, c, real))
        imag = fma(-b, c, fma(a, d, imag))
    store(overlaps, 0, real)
    store(overlaps, 1, imag)


@inner
def _add_pull(state: Any, real: Any, imag: Any, adjoint: Any) -> None:
    """adjoint += (real + i imag) · state."""
    for row in range(state.shape[0]):
        a, b = load_complex(state, row)
        store(adjoint, 2 * row, fma(real, a, fma(-imag, b, load(adjoint, 2 * row))))
        store(adjoint, 2 * row + 1, fma(real, b, fma(imag, a, load(adjoint, 2 * row + 1))))


def _backward_item(context: Any, step: Any, part: int, n_items: int, rank: int, work: Any, terms: Any) -> None:
    """The mean overlap between classes of one block of places, and its gradient."""
    embedding, scratch, own_space = context.embedding, work.scratch, work.own
    form, shared = embedding.form, embedding.shared
    bias, gradient = context.trained.values[step.member], context.space.gradients[part]
    n_classes, width = context.readout.n_classes, scratch.features.shape[1]
    n_places = step.n_rows // n_classes
    zero = splat(bias.dtype.type(0))
    clear_part(context.space, part)
    for own in range(n_classes):
        gather_rows(step.X, step.order, own * n_places, n_places, part, scratch.features)
        start_state(form, scratch.features, own_space.states[own], scratch)
        steps_forward(form, shared, bias, bias, scratch.features, own_space.states[own], scratch)
        for row in range(2 * own_space.states.shape[1]):
            store(own_space.adjoints[own], row, zero)
    share = bias.dtype.type(2.0 / (n_classes * (n_classes - 1) * n_places))
    loss, overlaps = 0.0, own_space.overlaps
    for left in range(n_classes):
        for right in range(left + 1, n_classes):
            _overlap(own_space.states[left], own_space.states[right], overlaps)
            for lane in range(width):
                real, imag = overlaps[0, lane], overlaps[1, lane]
                counts = part * width + lane < n_places
                loss += share * (real * real + imag * imag) if counts else 0.0
                overlaps[0, lane] = share * real if counts else 0
                overlaps[1, lane] = share * imag if counts else 0
            of_real, of_imag = load(overlaps, 0), load(overlaps, 1)
            _add_pull(own_space.states[left], of_real, of_imag, own_space.adjoints[right])
            _add_pull(own_space.states[right], of_real, -of_imag, own_space.adjoints[left])
    for own in range(n_classes):
        gather_rows(step.X, step.order, own * n_places, n_places, part, scratch.features)
        copy_block(own_space.adjoints[own], scratch.adjoint)
        steps_backward(
            form, shared, bias, bias, scratch.features, own_space.states[own], scratch, gradient, gradient,
            context.space.currents[part], OF_PARAMETERS,
        )  # fmt: skip
    context.space.part_losses[part] = loss


def _new_step(context: Any, member: int, number: int, first: int, order: Any, moves: Any, cursor: int) -> Any:
    n_parts = context.config.n_parts
    return Step(member, context.data.seen[0], order, 0, order.size, moves, True, False, 0, n_parts, n_parts, 0, 0, 0)


functions_of(Pairs, **ROWWISE, backward_item=_backward_item, new_step=_new_step)
