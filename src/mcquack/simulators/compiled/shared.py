"""Gates that are the same for all samples: what they need is worked out once, not for each block of samples.

In most circuits that are trained by drawn batches the features come first, as a state to begin with, and the angles of
all other gates are parameters alone. A turn then has one cosine and tangent for all samples. A diagonal has one phase
for each amplitude, and the currents of all samples are summed before a Walsh-Hadamard transform makes derivatives of
them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import (
    conjugate,
    fma,
    lane_count,
    lane_sum,
    load_complex,
    splat,
    store_complex,
    times,
)
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import set_rotation, share_turn, signed_cosine_sine


class SharedSteps(NamedTuple):
    """The steps of a circuit whose angles hold no feature, and what they are with the parameters at hand."""

    places: Any  # (S,) among the shared turns or diagonals; -1 for a step that depends on the sample
    element_masks: Any  # (E,) of the elements of diagonals
    rotations: Any  # (T, 2, n, 2, W)
    scales: Any  # (T, 1, W)
    n_parts: Any  # (T,)
    phases: Any  # (K, 2, 2**n) real and imaginary parts


def shared_steps(form: Any, *, turn: int, low_bits: int, dtype: Any) -> SharedSteps:
    """Room for the shared steps of a gate form; ``turn`` is the kind of a turn, ``low_bits`` cut its masks in two."""
    n, width = form.masks.shape[1], lane_count(dtype)
    inputs_until = np.concatenate([[0], np.cumsum(form.part_input >= 0)])
    has_input = np.diff(inputs_until[form.part_firsts]) > 0  # by element
    inputs_until = np.concatenate([[0], np.cumsum(has_input)])
    shared = np.diff(inputs_until[form.firsts]) == 0
    places = np.full(len(form.kinds), -1, np.int64)
    counts = []
    for of_kind in (form.kinds == turn, form.kinds != turn):
        chosen = shared & of_kind
        places[chosen] = np.arange(chosen.sum())
        counts.append(int(chosen.sum()))
    return SharedSteps(
        places=places,
        element_masks=form.high << min(n, low_bits) | form.low,
        rotations=aligned_zeros((counts[0], 2, n, 2, width), dtype),
        scales=aligned_zeros((counts[0], 1, width), dtype),
        n_parts=np.zeros(counts[0], np.int64),
        phases=np.zeros((counts[1], 2, 1 << n), dtype),
    )


def empty_currents(shared: SharedSteps, n_blocks: int) -> NDArray[Any]:
    """Room for the currents of the shared diagonals, by block of samples: (blocks, K, 2**n)."""
    return np.zeros((n_blocks, shared.phases.shape[0], shared.phases.shape[2]), shared.phases.dtype)


@inner
def _half_angle(form: Any, bias: Any, element: int) -> Any:
    found = form.half_offsets[element]
    for part in range(form.part_firsts[element], form.part_firsts[element + 1]):
        at = form.part_bias[part]
        if at >= 0:
            found += bias.dtype.type(0.5) * form.part_bias_factor[part] * bias[at]
    return found


@inner
def fill_shared(form: Any, shared: Any, turn: int, bias: Any, rank: int, n_threads: int) -> None:
    """Works out every ``n_threads``-th of the shared steps with these parameters."""
    for step in range(rank, form.kinds.size, n_threads):
        place, first = shared.places[step], form.firsts[step]
        if place < 0:
            continue
        count = form.firsts[step + 1] - first
        if form.kinds[step] == turn:
            skipped = form.skipped[step]
            for at in range(count):
                cosine, sine = signed_cosine_sine(splat(_half_angle(form, bias, first + at)))
                set_rotation(shared.rotations[place, 0], skipped + at, cosine, sine)
            shared.n_parts[place] = share_turn(shared.rotations[place], skipped, shared.scales[place])
        else:
            _fill_phases(form, shared, bias, first, count, shared.phases[place, 0], shared.phases[place, 1])


@inner
def _fill_phases(form: Any, shared: Any, bias: Any, first: int, count: int, real: Any, imag: Any) -> None:
    """exp(-i/2 θ) of all angles, each with its sign, multiplied for every amplitude."""
    size = real.size
    for row in range(size):
        real[row], imag[row] = 1, 0
    for element in range(first, first + count):
        half = _half_angle(form, bias, element)
        cosine, sine = np.cos(half), -np.sin(half)
        at = shared.element_masks[element]
        a, b = real[at], imag[at]
        real[at], imag[at] = a * cosine - b * sine, a * sine + b * cosine
    stride = 1
    while stride < size:
        for block in range(0, size, 2 * stride):
            for at in range(block, block + stride):
                a, b, c, d = real[at], imag[at], real[at + stride], imag[at + stride]
                ac, bd, ad, bc = a * c, b * d, a * d, b * c
                real[at], imag[at] = ac - bd, ad + bc
                real[at + stride], imag[at + stride] = ac + bd, bc - ad
        stride *= 2


@inner
def shift_alike(phases: Any, scale: Any, state: Any) -> None:
    """Multiplies all samples of a block by one phase for each amplitude, and by ``scale``."""
    for row in range(state.shape[0]):
        phase = scale * splat(phases[0, row]), scale * splat(phases[1, row])
        store_complex(state, row, times(load_complex(state, row), phase))


@inner
def unshift_alike(phases: Any, scale: Any, state: Any, adjoint: Any, currents: Any) -> None:
    """Takes :func:`shift_alike` back on both arrays, and adds the currents of all samples."""
    for row in range(state.shape[0]):
        back = conjugate((scale * splat(phases[0, row]), scale * splat(phases[1, row])))
        psi, chi = times(load_complex(state, row), back), times(load_complex(adjoint, row), back)
        currents[row] += lane_sum(fma(chi[0], psi[1], -(chi[1] * psi[0])))
        store_complex(state, row, psi)
        store_complex(adjoint, row, chi)


@inner
def add_shared_slopes(form: Any, shared: Any, turn: int, currents: Any, by_b: Any) -> None:
    """Adds the derivatives by the biases of all shared diagonals, whose currents (K, 2**n) are transformed in place."""
    for step in range(form.kinds.size):
        place = shared.places[step]
        if place < 0 or form.kinds[step] == turn:
            continue
        own = currents[place]
        stride = 1
        while stride < own.size:
            for block in range(0, own.size, 2 * stride):
                for at in range(block, block + stride):
                    a, b = own[at], own[at + stride]
                    own[at], own[at + stride] = a + b, a - b
            stride *= 2
        for element in range(form.firsts[step], form.firsts[step + 1]):
            slope = own[shared.element_masks[element]]
            for part in range(form.part_firsts[element], form.part_firsts[element + 1]):
                at = form.part_bias[part]
                if at >= 0:
                    by_b[at] += form.part_bias_factor[part] * slope
