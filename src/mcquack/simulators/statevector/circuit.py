"""The feature map on one block of W samples: forward, and back again with the derivatives.

Nothing is kept on the way forward. On the way back every gate is undone, so the state before it is there when its
derivative needs it: memory does not depend on depth. Of a common phase nothing is kept either; it cannot be measured.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from mcquack.arrays import FloatArray
from mcquack.simulators.compiled.gates import OF_FEATURES, OF_PARAMETERS, GateForm, gate_backward, gate_forward
from mcquack.simulators.compiled.inner import INNER, inner
from mcquack.simulators.compiled.lanes import (
    add_at,
    at,
    conjugate,
    constant,
    fma,
    halved,
    lane_count,
    lane_sum,
    load,
    pointer,
    row_bytes,
    splat,
    store,
)
from mcquack.simulators.compiled.memory import aligned_parts
from mcquack.simulators.compiled.rotations import (
    clear_slopes,
    cosine_sine,
    fill_rows,
    local_qubits,
    rotate,
    rotate_chunk,
    rotate_first,
    set_rotation,
    share_turn,
    squared_cosines,
    unrotate,
    unrotate_chunk,
    unrotate_first,
)
from mcquack.simulators.statevector.phases import (
    add_phase_slopes,
    fill_tables,
    high_bits,
    set_factor,
    shift_phases,
    unshift_phases,
)

# From so many layers on a state is normalised at the end: products of numbers just below 1 are rounded down more often
# than up, and each layer takes some 5e-8 of the norm in single precision.
_DEEP = 8


class Scratch(NamedTuple):
    """What one thread works on; reused for block after block."""

    rows: Any  # (2**n,) where each basis state is stored in the current layer
    rotations: Any  # (2, n, 2, W) cosine and tangent of θ/2 in one or two parts
    scale: Any  # (1, W) the product of the cosines
    factors: Any  # (2n + 1, 2, W) see phases.py
    high_table: Any
    low_table: Any
    currents: Any  # of a chunk
    totals: Any  # (number of chunks, W) of the currents
    slopes: Any  # (3, n, W) by θ and ω of the layer at hand and by φ of the next
    features: Any  # (d, W)
    state: Any  # (2**n, 2, W)
    adjoint: Any  # (2**n, 2, W)


def scratch_bytes(n_qubits: int, n_features: int, *, backward: bool) -> int:
    """Size of :func:`scratch`, as far as it grows with the problem."""
    size = 1 << n_qubits
    return 8 * size + row_bytes() * (n_features + (4 * size if backward else 0) + 32 * math.isqrt(size))


def scratch(n_qubits: int, n_features: int, dtype: Any, *, backward: bool) -> Scratch:
    """Fresh scratch memory; the larger part is needed only for derivatives."""
    width, size = lane_count(dtype), 1 << n_qubits
    low_size = 4 << (n_qubits - high_bits.py_func(n_qubits))
    local_size = 1 << local_qubits.py_func(n_qubits)
    kept = size if backward else 1
    shapes = {
        "features": (n_features, width),
        "state": (kept, 2, width),
        "rotations": (2, n_qubits, 2, width),
        "scale": (1, width),
        "factors": (2 * n_qubits + 1, 2, width),
        "high_table": (max(2, size * 4 // low_size), 2, width),
        "low_table": (low_size, 2, width),
        "currents": (local_size, width),
        "totals": (size // local_size, width),
        "slopes": (3, n_qubits, width),
        "adjoint": (kept, 2, width),
    }
    parts = aligned_parts(list(shapes.values()), dtype)
    return Scratch(rows=np.zeros(size, dtype=np.int64), **dict(zip(shapes, parts, strict=True)))


class RingForm(NamedTuple):
    """A feature map of the paper, without its parameters, as compiled code takes it."""

    feature_index: Any  # (L, n, 3)
    masks: Any  # (L + 1, n) stored_rows of the entangler


class BoundCircuit(NamedTuple):
    """A circuit with its parameters, as compiled code takes it; its form decides which code runs it."""

    weights: Any
    bias: Any
    form: Any  # RingForm or GateForm


class Pointers(NamedTuple):
    """Pointers to what the functions below take from a circuit and from the scratch memory."""

    weights: Any
    bias: Any
    feature_index: Any
    features: Any
    rows: Any
    rotations: Any
    second_rotations: Any
    scale: Any
    factors: Any
    high_table: Any
    low_table: Any


@inner
def _pointers(circuit, features, work):
    return Pointers(
        pointer(circuit.weights),
        pointer(circuit.bias),
        pointer(circuit.form.feature_index),
        pointer(features),
        pointer(work.rows),
        pointer(work.rotations),
        pointer(work.rotations[1]),
        pointer(work.scale),
        pointer(work.factors),
        pointer(work.high_table),
        pointer(work.low_table),
    )


@inner
def _cosine_sine(pointers, gate):
    """Cosine and sine of half an angle w·x + b, up to a common sign."""
    feature = load(pointers.features, at(pointers.feature_index, gate))
    angle = fma(splat(at(pointers.weights, gate)), feature, splat(at(pointers.bias, gate)))
    return cosine_sine(halved(angle))


@inner
def _set_rotations(pointers, n, layer, rotations, scale):
    """Writes the layer's turn and its scale; the number of its parts is returned."""
    for qubit in range(n):
        cosine, sine = _cosine_sine(pointers, 3 * (layer * n + qubit) + 1)
        set_rotation(pointers.rotations, qubit, cosine, sine)
    return share_turn(rotations, 0, scale)


@inner
def _set_tables(pointers, n_layers, n, layer, scale):
    """The tables of ``scale`` times all RZ between this layer's RY and the next."""
    first_phi = constant(pointers.features, 1), constant(pointers.features, 0)
    phi = first_phi
    is_followed = layer + 1 < n_layers
    for qubit in range(n):
        gate = 3 * (layer * n + qubit)
        if is_followed:
            phi = conjugate(_cosine_sine(pointers, gate + 3 * n))
            first_phi = phi if qubit == 0 else first_phi
        set_factor(pointers.factors, n, qubit, conjugate(_cosine_sine(pointers, gate + 2)), phi, first_phi)
    fill_tables(pointers.factors, n, scale, pointers.high_table, pointers.low_table)


@inner
def _start(state, rotations, n):
    """The first layer's RY on |0…0⟩, without the scale: a product state, real, stored in plain order."""
    zero = constant(state, 0)
    store(state, 0, constant(state, 1))
    store(state, 1, zero)
    for qubit in range(n):
        tangent = load(rotations, 2 * qubit + 1)
        for index in range((1 << qubit) - 1, -1, -1):
            value = load(state, 2 * index)
            store(state, 4 * index, value)
            store(state, 4 * index + 1, zero)
            store(state, 4 * index + 2, tangent * value)
            store(state, 4 * index + 3, zero)


@inner
def _normalise(psi, n_rows):
    """Divides a state by its norm, which is so close to 1 that the first terms of its inverse do."""
    zero = constant(psi, 0)
    squares = zero
    for start in range(0, n_rows, 64):  # sums of a few at a time, as one long sum would lose digits
        a, b, c, d = zero, zero, zero, zero
        for row in range(start, min(start + 64, n_rows), 4):
            one, two, three, four = load(psi, row), load(psi, row + 1), load(psi, row + 2), load(psi, row + 3)
            a, b, c, d = fma(one, one, a), fma(two, two, b), fma(three, three, c), fma(four, four, d)
        squares = squares + ((a + b) + (c + d))
    factor = halved(constant(psi, 3) - squares)
    for row in range(n_rows):
        store(psi, row, factor * load(psi, row))


@inner
def ring_forward(circuit, features, state, work):
    """state = U(features)|0…0⟩ in the rows of the last layer, without the last ring."""
    n_layers, n = circuit.form.feature_index.shape[:2]
    n_chunks = 1 << (n - local_qubits(n))
    pointers, psi = _pointers(circuit, features, work), pointer(state)
    rows = pointers.rows
    for layer in range(n_layers):
        masks = pointer(circuit.form.masks[layer])
        fill_rows(masks, n, pointers.rows)
        n_parts = _set_rotations(pointers, n, layer, work.rotations, work.scale)
        _set_tables(pointers, n_layers, n, layer, load(pointers.scale, 0))
        if layer == 0:
            _start(psi, pointers.rotations, n)
        else:
            rotate_first(psi, rows, masks, pointers.rotations, n, 0)
        for chunk in range(n_chunks):
            if layer > 0:
                rotate_chunk(psi, rows, masks, pointers.rotations, n, 0, chunk)
            if n_parts == 1:
                shift_phases(psi, rows, n, pointers.high_table, pointers.low_table, chunk, n_chunks)
        if n_parts == 2:
            rotate(psi, rows, masks, pointers.second_rotations, n, 0)
            shift_phases(psi, rows, n, pointers.high_table, pointers.low_table, 0, 1)
    if n_layers >= _DEEP:
        _normalise(psi, 2 << n)


@inner
def _take_back(psi, chi, masks, n, undo, n_parts, pointers, work):
    """Takes a layer's phases and then its turn back on state and adjoint, and writes the slopes of the layer's angles.

    Without ``undo``, which the first layer need not have, the turn stays, and the slopes are the same.
    """
    local = local_qubits(n)
    n_chunks = 1 << (n - local)
    by_theta, by_omega, by_phi = pointer(work.slopes), pointer(work.slopes[1]), pointer(work.slopes[2])
    currents, totals = pointer(work.currents), pointer(work.totals)
    clear_slopes(by_theta, 0, 3 * n)
    rotations, one = pointers.rotations if n_parts == 1 else pointers.second_rotations, constant(psi, 1)
    for chunk in range(n_chunks):
        unshift_phases(psi, chi, pointers.rows, n, pointers.high_table, pointers.low_table, chunk, n_chunks, currents)
        add_phase_slopes(currents, n, local, chunk, totals, by_omega, by_phi)
        unrotate_chunk(psi, chi, pointers.rows, masks, rotations, by_theta, one, undo, n, 0, chunk)
    unrotate_first(psi, chi, pointers.rows, masks, rotations, by_theta, one, undo, n, 0)
    if undo and n_parts == 2:
        shrink = squared_cosines(rotations, 0, n)
        unrotate(psi, chi, pointers.rows, masks, pointers.rotations, by_theta, shrink, undo, n, 0)


@inner
def _add_embedding_slopes(pointers, first, n, slopes, by_w, by_b):
    for qubit in range(n):
        gate = first + 3 * qubit
        slope = load(slopes, qubit)
        add_at(by_w, gate, lane_sum(slope * load(pointers.features, at(pointers.feature_index, gate))))
        add_at(by_b, gate, lane_sum(slope))


@inner
def _add_feature_slopes(pointers, first, n, slopes, by_features):
    for qubit in range(n):
        gate = first + 3 * qubit
        feature = at(pointers.feature_index, gate)
        slope = fma(splat(at(pointers.weights, gate)), load(slopes, qubit), load(by_features, feature))
        store(by_features, feature, slope)


@inner
def ring_backward(circuit, features, state, work, by_w, by_b, by_features, wanted):
    """Undoes :func:`ring_forward` on ``state`` and on ``work.adjoint`` and adds up the derivatives.

    With adjoint λ of a scalar f, df = 2 Re⟨λ|dψ⟩. Derivatives go to ``by_w`` and ``by_b`` (summed over lanes), to
    ``by_features`` (d, W), or to all of them, as ``wanted`` says. A turn is taken back without its scale, which follows
    with the phases of the layer before.
    """
    n_layers, n = circuit.form.feature_index.shape[:2]
    pointers, psi, chi = _pointers(circuit, features, work), pointer(state), pointer(work.adjoint)
    scale = constant(psi, 1)
    for layer in range(n_layers - 1, -1, -1):
        masks = pointer(circuit.form.masks[layer])
        fill_rows(masks, n, pointers.rows)
        _set_tables(pointers, n_layers, n, layer, scale)
        n_parts = _set_rotations(pointers, n, layer, work.rotations, work.scale)
        scale = load(pointers.scale, 0)
        if layer == 0:
            _take_back(psi, chi, masks, n, False, n_parts, pointers, work)
        else:
            _take_back(psi, chi, masks, n, True, n_parts, pointers, work)
        for kind in range(3 if layer + 1 < n_layers else 2):  # θ and ω of this layer, φ of the next
            first, slopes = 3 * n * layer + (1, 2, 3 * n)[kind], pointer(work.slopes[kind])
            if wanted != OF_FEATURES:
                _add_embedding_slopes(pointers, first, n, slopes, pointer(by_w), pointer(by_b))
            if wanted != OF_PARAMETERS:
                _add_feature_slopes(pointers, first, n, slopes, pointer(by_features))


# What compiled code calls, on circuits of either form.


def forward(circuit: BoundCircuit, features: FloatArray, state: FloatArray, work: NamedTuple) -> None:
    """state = U(features)|0…0⟩ of a block of samples."""
    raise NotImplementedError("compiled code only")


def backward(
    circuit: BoundCircuit,
    features: FloatArray,
    state: FloatArray,
    work: NamedTuple,
    by_w: FloatArray,
    by_b: FloatArray,
    by_features: FloatArray,
    wanted: int,
) -> None:
    """Undoes :func:`forward` on ``state`` and ``work.adjoint``, and adds up the derivatives that are wanted."""
    raise NotImplementedError("compiled code only")


def _form(circuit: Any) -> Any:
    known = isinstance(circuit, types.NamedTuple) and circuit.instance_class is BoundCircuit
    return circuit.types[circuit.fields.index("form")].instance_class if known else None


@overload(forward, jit_options=INNER)
def _forward(circuit, features, state, work):
    run: Any = {RingForm: ring_forward, GateForm: gate_forward}.get(_form(circuit))

    def implementation(circuit, features, state, work):
        run(circuit, features, state, work)

    return implementation if run is not None else None


@overload(backward, jit_options=INNER)
def _backward(circuit, features, state, work, by_w, by_b, by_features, wanted):
    run: Any = {RingForm: ring_backward, GateForm: gate_backward}.get(_form(circuit))

    def implementation(circuit, features, state, work, by_w, by_b, by_features, wanted):
        run(circuit, features, state, work, by_w, by_b, by_features, wanted)

    return implementation if run is not None else None
