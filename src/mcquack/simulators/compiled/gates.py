"""Any circuit on one block of W samples: forward, and back again with the derivatives.

Whatever its gates are, a circuit comes here as steps of two kinds (see ``mcquack.simulators.gates``). A *turn*
is RY on some qubits at once. A *diagonal* is a product of exp(-i/2 θ Z…Z) over any sets of qubits, also many at once:
the phases of all amplitudes are products of those of the gates, as a Walsh-Hadamard transform has sums, and the
derivatives by its angles are such a transform of the currents, so that the number of its gates hardly matters. CNOT,
SWAP and X only rename basis states: they are in the masks of the steps.

Nothing is kept on the way forward; on the way back every step is undone, as in ``mcquack.simulators.statevector``.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.angles import SLOPE_LIMIT
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import (
    Lanes,
    conjugate,
    fma,
    lane_count,
    lane_sum,
    load,
    load_complex,
    parity,
    pointer,
    row_bytes,
    splat,
    store,
    store_complex,
    times,
    times_both,
)
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import (
    fill_rows,
    rotate,
    set_rotation,
    share_turn,
    signed_cosine_sine,
    squared_cosines,
    unrotate,
)
from mcquack.simulators.compiled.shared import shift_alike, unshift_alike

TURN, DIAGONAL = 0, 1
OF_PARAMETERS, OF_FEATURES, OF_BOTH = 0, 1, 2  # which derivatives are wanted of a way back
# Phases are computed for so many amplitudes at a time (8 KiB of them): all passes over them stay in the first cache.
LOW_BITS = 6


class GateForm(NamedTuple):
    """The steps of a circuit, without its parameters, as compiled code takes them.

    Step s has the elements ``firsts[s]`` to ``firsts[s + 1]``. An element has an angle, the sum of its parts, and in a
    diagonal the mask of stored rows whose parity is its sign. A part is ``factor · w · t + bias_factor · b``, where -1
    for a weight is w = 1, for an input t = 0, and for a bias b = 0. Input t is a product of functions of features.
    """

    kinds: IntArray  # (S,) TURN or DIAGONAL
    firsts: IntArray  # (S + 1,)
    frames: IntArray  # (S,) which row of ``masks`` a turn has
    skipped: IntArray  # (S,) how many of those masks come before the first that is turned
    masks: IntArray  # (F, n) what flipping a bit does to the place where a basis state is stored
    low: IntArray  # (E,) the last bits of an element's mask
    high: IntArray  # (E,) the bits before those
    half_offsets: FloatArray  # (E,)
    part_firsts: IntArray  # (E + 1,)
    part_weight: IntArray  # (P,)
    part_factor: FloatArray
    part_input: IntArray
    part_bias: IntArray
    part_bias_factor: FloatArray
    input_firsts: IntArray  # (T + 1,)
    input_function: IntArray
    input_feature: IntArray
    padding: FloatArray  # (1,) of amplitudes; nothing if the circuit starts with zeros


class GateScratch(NamedTuple):
    """What one thread works on; reused for block after block."""

    rows: IntArray  # (2**n,) where each basis state is stored in the frame at hand
    rotations: FloatArray  # (2, n, 2, W) cosine and tangent of half the angles of a turn in one or two parts
    scale: FloatArray  # (1, W) the product of its cosines
    factors: FloatArray  # (K, 2, W) exp(-i/2 θ) of the angles of a diagonal
    phases: FloatArray  # (2**LOW_BITS, 2, W)
    currents: FloatArray  # (2**LOW_BITS, W)
    slopes: FloatArray  # (max(K, n), W)
    inputs: FloatArray  # (T + 1, W), the last of them for norms
    by_inputs: FloatArray  # (T + 1, W)
    features: FloatArray  # (d, W)
    state: FloatArray  # (2**n, 2, W)
    adjoint: FloatArray  # (2**n, 2, W)


def gate_scratch_bytes(n_qubits: int, n_features: int, n_inputs: int, *, backward: bool) -> int:
    """Size of :func:`gate_scratch`, as far as it grows with the problem."""
    size = 1 << n_qubits
    return 8 * size + row_bytes() * (n_features + 2 * n_inputs + (4 * size if backward else 0))


def gate_scratch(n_qubits: int, n_features: int, form: GateForm, dtype: Any, *, backward: bool) -> GateScratch:
    """Fresh scratch memory; the larger part is needed only for derivatives."""
    width, size, chunk = lane_count(dtype), 1 << n_qubits, 1 << min(n_qubits, LOW_BITS)
    kept = size if backward else 1
    most = max(n_qubits, int(np.max(np.diff(form.firsts), initial=1)))
    n_inputs = len(form.input_firsts)
    return GateScratch(
        rows=np.zeros(size, dtype=np.int64),
        rotations=aligned_zeros((2, n_qubits, 2, width), dtype),
        scale=aligned_zeros((1, width), dtype),
        factors=aligned_zeros((most, 2, width), dtype),
        phases=aligned_zeros((chunk, 2, width), dtype),
        currents=aligned_zeros((chunk, width), dtype),
        slopes=aligned_zeros((most, width), dtype),
        inputs=aligned_zeros((n_inputs, width), dtype),
        by_inputs=aligned_zeros((n_inputs, width), dtype),
        features=aligned_zeros((n_features, width), dtype),
        state=aligned_zeros((kept, 2, width), dtype),
        adjoint=aligned_zeros((kept, 2, width), dtype),
    )


@inner
def _function(code: int, x: float) -> float:
    if code == 1:
        return math.pi - x
    if code == 2:
        return math.asin(min(max(x, -1.0), 1.0))
    if code == 3:
        return math.acos(min(max(x, -1.0), 1.0))
    if code == 4:
        return math.atan(x)
    return x


@inner
def _function_slope(code: int, x: float) -> float:
    if code == 1:
        return -1.0
    if code == 2 or code == 3:
        slope = 1 / math.sqrt(max(1 - x * x, SLOPE_LIMIT)) if abs(x) <= 1 else 0.0
        return slope if code == 2 else -slope
    if code == 4:
        return 1 / (1 + x * x)
    return 1.0


@inner
def _fill_inputs(form: GateForm, features: FloatArray, inputs: FloatArray) -> None:
    for place in range(form.input_firsts.size - 1):
        first, last = form.input_firsts[place], form.input_firsts[place + 1]
        for factor in range(first, last):
            code, feature = form.input_function[factor], form.input_feature[factor]
            if code == 0:
                value = load(features, feature)
                store(inputs, place, value if factor == first else load(inputs, place) * value)
            else:
                for lane in range(inputs.shape[1]):
                    found = _function(code, features[feature, lane])
                    inputs[place, lane] = found if factor == first else inputs[place, lane] * found


@inner
def _pull_inputs(form: GateForm, features: FloatArray, by_inputs: FloatArray, by_features: FloatArray) -> None:
    """Adds the derivatives by the features, from those by the inputs."""
    for place in range(form.input_firsts.size - 1):
        first, last = form.input_firsts[place], form.input_firsts[place + 1]
        for own in range(first, last):
            feature = form.input_feature[own]
            for lane in range(by_features.shape[1]):
                slope = _function_slope(form.input_function[own], features[feature, lane])
                for other in range(first, last):
                    if other != own:
                        slope *= _function(form.input_function[other], features[form.input_feature[other], lane])
                by_features[feature, lane] += by_inputs[place, lane] * slope


@inner
def _half_angle(form: GateForm, weights: FloatArray, bias: FloatArray, inputs: FloatArray, element: int) -> Any:
    half = inputs.dtype.type(0.5)
    fixed = form.half_offsets[element]
    found = splat(inputs.dtype.type(0))
    for part in range(form.part_firsts[element], form.part_firsts[element + 1]):
        at = form.part_bias[part]
        if at >= 0:
            fixed += half * form.part_bias_factor[part] * bias[at]
        at = form.part_input[part]
        if at >= 0:
            factor = half * form.part_factor[part]
            if form.part_weight[part] >= 0:
                factor *= weights[form.part_weight[part]]
            found = fma(splat(factor), load(inputs, at), found)
    return found + splat(fixed)


@inner
def _set_rotations(form: GateForm, weights: FloatArray, bias: FloatArray, step: int, work: GateScratch) -> Any:
    """Writes a turn and its scale; the number of its parts is returned."""
    first, skipped = form.firsts[step], form.skipped[step]
    for place in range(form.firsts[step + 1] - first):
        cosine, sine = signed_cosine_sine(_half_angle(form, weights, bias, work.inputs, first + place))
        set_rotation(work.rotations, skipped + place, cosine, sine)
    return share_turn(work.rotations, skipped, work.scale)


@inner
def _set_factors(form: GateForm, weights: FloatArray, bias: FloatArray, step: int, work: GateScratch) -> None:
    first = form.firsts[step]
    for place in range(form.firsts[step + 1] - first):
        cosine, sine = signed_cosine_sine(_half_angle(form, weights, bias, work.inputs, first + place))
        store(work.factors, 2 * place, cosine)
        store(work.factors, 2 * place + 1, -sine)


@inner
def _walsh(array: FloatArray, bits: int) -> None:
    """array[i] = Σ_j (-1)^(number of common ones of i and j) array[j], three bits at a time."""
    size = 1 << bits
    bit = 0
    while bit < bits:
        stride = 1 << bit
        if bits - bit >= 3:
            for block in range(0, size, 8 * stride):
                for at in range(block, block + stride):
                    a, b = load(array, at), load(array, at + stride)
                    c, d = load(array, at + 2 * stride), load(array, at + 3 * stride)
                    e, f = load(array, at + 4 * stride), load(array, at + 5 * stride)
                    g, h = load(array, at + 6 * stride), load(array, at + 7 * stride)
                    a, b, c, d, e, f, g, h = a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h
                    a, b, c, d, e, f, g, h = a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h
                    store(array, at, a + e)
                    store(array, at + stride, b + f)
                    store(array, at + 2 * stride, c + g)
                    store(array, at + 3 * stride, d + h)
                    store(array, at + 4 * stride, a - e)
                    store(array, at + 5 * stride, b - f)
                    store(array, at + 6 * stride, c - g)
                    store(array, at + 7 * stride, d - h)
            bit += 3
        else:
            for block in range(0, size, 2 * stride):
                for at in range(block, block + stride):
                    a, b = load(array, at), load(array, at + stride)
                    store(array, at, a + b)
                    store(array, at + stride, a - b)
            bit += 1


@inner
def _spread(phases: FloatArray, bits: int) -> None:
    """:func:`_walsh` for the angles of phases: sums become products, and differences products with the conjugate."""
    size = 1 << bits
    bit = 0
    while bit < bits:
        stride = 1 << bit
        if bits - bit >= 3:
            for block in range(0, size, 8 * stride):
                for at in range(block, block + stride):
                    a, b = times_both(load_complex(phases, at), load_complex(phases, at + stride))
                    c, d = times_both(load_complex(phases, at + 2 * stride), load_complex(phases, at + 3 * stride))
                    e, f = times_both(load_complex(phases, at + 4 * stride), load_complex(phases, at + 5 * stride))
                    g, h = times_both(load_complex(phases, at + 6 * stride), load_complex(phases, at + 7 * stride))
                    (a, c), (b, d), (e, g), (f, h) = (
                        times_both(a, c),
                        times_both(b, d),
                        times_both(e, g),
                        times_both(f, h),
                    )
                    (a, e), (b, f), (c, g), (d, h) = (
                        times_both(a, e),
                        times_both(b, f),
                        times_both(c, g),
                        times_both(d, h),
                    )
                    store_complex(phases, at, a)
                    store_complex(phases, at + stride, b)
                    store_complex(phases, at + 2 * stride, c)
                    store_complex(phases, at + 3 * stride, d)
                    store_complex(phases, at + 4 * stride, e)
                    store_complex(phases, at + 5 * stride, f)
                    store_complex(phases, at + 6 * stride, g)
                    store_complex(phases, at + 7 * stride, h)
            bit += 3
        else:
            for block in range(0, size, 2 * stride):
                for at in range(block, block + stride):
                    a, b = times_both(load_complex(phases, at), load_complex(phases, at + stride))
                    store_complex(phases, at, a)
                    store_complex(phases, at + stride, b)
            bit += 1


@inner
def _fill_phases(
    form: GateForm, step: int, chunk: int, bits: int, scale: Lanes, factors: FloatArray, phases: FloatArray
) -> None:
    """The product of ``scale`` and exp(-i/2 θ) of all angles, each with its sign, for the rows of a chunk."""
    one = splat(phases.dtype.type(1)), splat(phases.dtype.type(0))
    store_complex(phases, 0, (scale, one[1]))
    for row in range(1, 1 << bits):
        store_complex(phases, row, one)
    first = form.firsts[step]
    for place in range(form.firsts[step + 1] - first):
        low, factor = form.low[first + place], load_complex(factors, place)
        if parity(chunk & form.high[first + place]):
            factor = conjugate(factor)
        store_complex(phases, low, times(load_complex(phases, low), factor))
    _spread(phases, bits)


@inner
def _shift(form: GateForm, step: int, n: int, scale: Lanes, state: FloatArray, work: GateScratch) -> None:
    """Multiplies the state by a diagonal and by ``scale``."""
    bits = min(n, LOW_BITS)
    for chunk in range(1 << (n - bits)):
        _fill_phases(form, step, chunk, bits, scale, work.factors, work.phases)
        for place in range(1 << bits):
            row = chunk << bits | place
            store_complex(state, row, times(load_complex(state, row), load_complex(work.phases, place)))


@inner
def _unshift(form: GateForm, step: int, n: int, scale: Lanes, state: FloatArray, work: GateScratch) -> None:
    """Takes a diagonal back on both arrays, times ``scale``, and writes the derivatives by its angles to the slopes."""
    bits = min(n, LOW_BITS)
    first, count = form.firsts[step], form.firsts[step + 1] - form.firsts[step]
    zero = splat(state.dtype.type(0))
    for place in range(count):
        store(work.slopes, place, zero)
    adjoint = work.adjoint
    for chunk in range(1 << (n - bits)):
        _fill_phases(form, step, chunk, bits, scale, work.factors, work.phases)
        for place in range(1 << bits):
            row = chunk << bits | place
            back = conjugate(load_complex(work.phases, place))
            psi, chi = times(load_complex(state, row), back), times(load_complex(adjoint, row), back)
            store(work.currents, place, fma(chi[0], psi[1], -(chi[1] * psi[0])))
            store_complex(state, row, psi)
            store_complex(adjoint, row, chi)
        _walsh(work.currents, bits)
        for place in range(count):
            current, total = load(work.currents, form.low[first + place]), load(work.slopes, place)
            store(work.slopes, place, total - current if parity(chunk & form.high[first + place]) else total + current)


@inner
def start_state(form: GateForm, features: FloatArray, state: FloatArray, work: GateScratch) -> None:
    """|0…0⟩, or the features as amplitudes, divided by their norm; its inverse goes to the last row of the inputs."""
    scalar = state.dtype.type
    zero = splat(scalar(0))
    for row in range(2 * state.shape[0]):
        store(state, row, zero)
    if form.padding.size == 0:
        store(state, 0, splat(scalar(1)))
        return
    n_features, last = features.shape[0], work.inputs.shape[0] - 1
    padding = splat(scalar(form.padding[0]))
    squares = zero
    for index in range(state.shape[0]):
        value = load(features, index) if index < n_features else padding
        store(state, 2 * index, value)
        squares = fma(value, value, squares)
    store(work.inputs, last, squares)
    for lane in range(work.inputs.shape[1]):
        square = work.inputs[last, lane]
        work.inputs[last, lane] = 1 / math.sqrt(square) if square > 0 else 0
    inverse = load(work.inputs, last)
    for index in range(state.shape[0]):
        value = load(state, 2 * index)
        store(state, 2 * index, value * inverse)
    for lane in range(work.inputs.shape[1]):
        if work.inputs[last, lane] == 0:
            state[0, 0, lane] = 1


@inner
def _pull_start(state: FloatArray, work: GateScratch, by_features: FloatArray) -> None:
    """Adds the derivatives by the features that are amplitudes of the start."""
    two = splat(state.dtype.type(2))
    along = splat(state.dtype.type(0))
    for index in range(state.shape[0]):
        along = fma(load(state, 2 * index), two * load(work.adjoint, 2 * index), along)
    inverse = load(work.inputs, work.inputs.shape[0] - 1)
    for feature in range(by_features.shape[0]):
        across = fma(two, load(work.adjoint, 2 * feature), -(load(state, 2 * feature) * along))
        store(by_features, feature, fma(across, inverse, load(by_features, feature)))


@inner
def _multiply(state: FloatArray, scale: Lanes) -> None:
    for row in range(2 * state.shape[0]):
        store(state, row, scale * load(state, row))


@inner
def _turn_of(form: GateForm, shared: Any, weights: FloatArray, bias: FloatArray, step: int, work: GateScratch) -> Any:
    """The number of parts of a turn, its rotations and its scale: those that the samples share, or worked out now."""
    if shared is not None and shared.places[step] >= 0:
        place = shared.places[step]
        n_parts, turn, scales = shared.n_parts[place], shared.rotations[place], shared.scales[place]
    else:
        n_parts, turn, scales = _set_rotations(form, weights, bias, step, work), work.rotations, work.scale
    return n_parts, turn, scales


@inner
def gate_forward(circuit: Any, features: FloatArray, state: FloatArray, work: GateScratch) -> None:
    """state = U(features)|start⟩, in the rows of the last frame."""
    form = circuit.form
    weights, bias = circuit.weights.reshape(circuit.weights.size), circuit.bias.reshape(circuit.bias.size)
    start_state(form, features, state, work)
    steps_forward(form, None, weights, bias, features, state, work)


@inner
def steps_forward(
    form: GateForm,
    shared: Any,
    weights: FloatArray,
    bias: FloatArray,
    features: FloatArray,
    state: FloatArray,
    work: GateScratch,
) -> None:
    """Takes a state through all steps; those that the samples share, if any are given, are worked out already.

    A turn leaves its scale to the diagonal that follows; where none does, the state is multiplied by it.
    """
    n = form.masks.shape[1]
    _fill_inputs(form, features, work.inputs)
    one = splat(state.dtype.type(1))
    scale, is_scaled = one, True
    frame = -1
    for step in range(form.kinds.size):
        if form.kinds[step] == TURN:
            if not is_scaled:
                _multiply(state, scale)
            if frame != form.frames[step]:
                frame = form.frames[step]
                fill_rows(pointer(form.masks[frame]), n, pointer(work.rows))
            masks = pointer(form.masks[frame])
            n_parts, turn, scales = _turn_of(form, shared, weights, bias, step, work)
            for part in range(n_parts):
                rotate(pointer(state), pointer(work.rows), masks, pointer(turn[part]), n, form.skipped[step])
            scale, is_scaled = load(scales, 0), False
        else:
            if shared is not None and shared.places[step] >= 0:
                shift_alike(shared.phases[shared.places[step]], scale, state)
            else:
                _set_factors(form, weights, bias, step, work)
                _shift(form, step, n, scale, state, work)
            scale, is_scaled = one, True
    if not is_scaled:
        _multiply(state, scale)


@inner
def _add_embedding_slope(
    form: GateForm, element: int, slope: Lanes, inputs: FloatArray, by_w: FloatArray, by_b: FloatArray
) -> None:
    for part in range(form.part_firsts[element], form.part_firsts[element + 1]):
        at = form.part_bias[part]
        if at >= 0:
            by_b[at] += form.part_bias_factor[part] * lane_sum(slope)
        at = form.part_weight[part]
        if at >= 0:
            by_w[at] += form.part_factor[part] * lane_sum(slope * load(inputs, form.part_input[part]))


@inner
def _add_input_slope(form: GateForm, weights: FloatArray, element: int, slope: Lanes, by_inputs: FloatArray) -> None:
    for part in range(form.part_firsts[element], form.part_firsts[element + 1]):
        at = form.part_input[part]
        if at >= 0:
            factor = form.part_factor[part]
            if form.part_weight[part] >= 0:
                factor *= weights[form.part_weight[part]]
            store(by_inputs, at, fma(splat(factor), slope, load(by_inputs, at)))


@inner
def gate_backward(
    circuit: Any,
    features: FloatArray,
    state: FloatArray,
    work: GateScratch,
    by_w: FloatArray,
    by_b: FloatArray,
    by_features: FloatArray,
    wanted: int,
) -> None:
    """Undoes :func:`gate_forward` on ``state`` and on ``work.adjoint`` and adds up the derivatives.

    With adjoint λ of a scalar f, df = 2 Re⟨λ|dψ⟩. Derivatives go to ``by_w`` and ``by_b`` (summed over lanes), to
    ``by_features`` (d, W), or to all of them, as ``wanted`` says.
    """
    form = circuit.form
    weights, bias = circuit.weights.reshape(circuit.weights.size), circuit.bias.reshape(circuit.bias.size)
    flat_w, flat_b = by_w.reshape(by_w.size), by_b.reshape(by_b.size)
    scale = steps_backward(form, None, weights, bias, features, state, work, flat_w, flat_b, by_w, wanted)
    if wanted != OF_PARAMETERS:
        _pull_inputs(form, features, work.by_inputs, by_features)
        if form.padding.size > 0:
            _multiply(state, scale)
            _multiply(work.adjoint, scale)
            _set_inverse_norms(form, features, work)
            _pull_start(state, work, by_features)


@inner
def steps_backward(
    form: GateForm,
    shared: Any,
    weights: FloatArray,
    bias: FloatArray,
    features: FloatArray,
    state: FloatArray,
    work: GateScratch,
    by_w: FloatArray,
    by_b: FloatArray,
    currents: FloatArray,
    wanted: int,
) -> Any:
    """Undoes :func:`steps_forward` on ``state`` and ``work.adjoint`` but for the scale that it returns.

    Derivatives by the inputs stay in ``work.by_inputs``; what diagonals that the samples share have of derivatives is
    added to their ``currents``.
    """
    n = form.masks.shape[1]
    one = splat(state.dtype.type(1))
    _fill_inputs(form, features, work.inputs)
    for place in range(work.by_inputs.shape[0]):
        store(work.by_inputs, place, splat(state.dtype.type(0)))
    scale, is_scaled = one, True
    frame = -1
    for step in range(form.kinds.size - 1, -1, -1):
        first, count = form.firsts[step], form.firsts[step + 1] - form.firsts[step]
        offset = 0
        if form.kinds[step] == TURN:
            if not is_scaled:
                _multiply(state, scale)
                _multiply(work.adjoint, scale)
            if frame != form.frames[step]:
                frame = form.frames[step]
                fill_rows(pointer(form.masks[frame]), n, pointer(work.rows))
            offset, shrink, masks = form.skipped[step], one, pointer(form.masks[frame])
            n_parts, turn, scales = _turn_of(form, shared, weights, bias, step, work)
            for part in range(n_parts - 1, -1, -1):
                rotations = pointer(turn[part])
                unrotate(
                    pointer(state), pointer(work.adjoint), pointer(work.rows), masks, rotations,
                    pointer(work.slopes), shrink, True, n, offset,
                )  # fmt: skip
                shrink = shrink * squared_cosines(rotations, offset, n)
            scale, is_scaled = load(scales, 0), False
        elif shared is not None and shared.places[step] >= 0:
            place = shared.places[step]
            unshift_alike(shared.phases[place], scale, state, work.adjoint, currents[place])
            scale, is_scaled = one, True
            count = 0
        else:
            _set_factors(form, weights, bias, step, work)
            _unshift(form, step, n, scale, state, work)
            scale, is_scaled = one, True
        for place in range(count):
            slope = load(work.slopes, offset + place)
            if wanted != OF_PARAMETERS:
                _add_input_slope(form, weights, first + place, slope, work.by_inputs)
            if wanted != OF_FEATURES:
                _add_embedding_slope(form, first + place, slope, work.inputs, by_w, by_b)
    return scale


@inner
def _set_inverse_norms(form: GateForm, features: FloatArray, work: GateScratch) -> None:
    last = work.inputs.shape[0] - 1
    n_padded = work.adjoint.shape[0] - features.shape[0]
    for lane in range(work.inputs.shape[1]):
        square = n_padded * form.padding[0] * form.padding[0]
        for feature in range(features.shape[0]):
            square += features[feature, lane] * features[feature, lane]
        work.inputs[last, lane] = 1 / math.sqrt(square) if square > 0 else 0
