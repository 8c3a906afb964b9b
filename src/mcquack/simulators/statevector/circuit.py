"""The feature map on one block of W samples: forward, and back again with the derivatives.

Nothing is kept on the way forward. On the way back every gate is undone, so the state before it is there when its
derivative needs it: memory does not depend on depth. Of a common phase nothing is kept either; it cannot be measured.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from mcquack.simulators.compiled.gates import GateForm, gate_backward, gate_forward
from mcquack.simulators.compiled.lanes import ROW_BYTES, fma, lane_count, lane_sum, load, splat, store
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.compiled.rotations import cosine_sine, fill_rows, rotate, set_rotation, unrotate
from mcquack.simulators.statevector.phases import fill_tables, high_bits, phase_slopes, shift_phases, unshift_phases


class Scratch(NamedTuple):
    """What one thread works on; reused for block after block."""

    rows: Any  # (2**n,) where each basis state is stored in the current layer
    rotations: Any  # (n, 2, W) cosine and tangent of θ/2
    phases: Any  # (n, 4, W) see phases.py
    high_table: Any
    low_table: Any
    currents: Any  # (2**n, W)
    slopes: Any  # (3, n, W) by θ and ω of the layer at hand and by φ of the next
    features: Any  # (d, W)
    state: Any  # (2**n, 2, W)
    adjoint: Any  # (2**n, 2, W)


def scratch_bytes(n_qubits: int, n_features: int, *, backward: bool) -> int:
    """Size of :func:`scratch`, as far as it grows with the problem."""
    size = 1 << n_qubits
    return 8 * size + ROW_BYTES * (n_features + (5 * size if backward else 0) + 32 * math.isqrt(size))


def scratch(n_qubits: int, n_features: int, dtype: Any, *, backward: bool) -> Scratch:
    """Fresh scratch memory; the larger part is needed only for derivatives."""
    width, size = lane_count(dtype), 1 << n_qubits
    low_size = 4 << (n_qubits - high_bits.py_func(n_qubits))
    kept = size if backward else 1
    return Scratch(
        rows=np.zeros(size, dtype=np.int64),
        features=aligned_zeros((n_features, width), dtype),
        state=aligned_zeros((kept, 2, width), dtype),
        rotations=aligned_zeros((n_qubits, 2, width), dtype),
        phases=aligned_zeros((n_qubits, 4, width), dtype),
        high_table=aligned_zeros((max(2, size * 4 // low_size), 2, width), dtype),
        low_table=aligned_zeros((low_size, 2, width), dtype),
        currents=aligned_zeros((kept, width), dtype),
        slopes=aligned_zeros((3, n_qubits, width), dtype),
        adjoint=aligned_zeros((kept, 2, width), dtype),
    )


class RingForm(NamedTuple):
    """A feature map of the paper, without its parameters, as compiled code takes it."""

    feature_index: Any  # (L, n, 3)
    masks: Any  # (L + 1, n) stored_rows of the entangler


class Circuit(NamedTuple):
    """A circuit with its parameters, as compiled code takes it; its form decides which code runs it."""

    weights: Any
    bias: Any
    form: Any  # RingForm or GateForm


@njit(nogil=True)
def _half_angle(circuit: Any, features: Any, layer: int, qubit: int, angle: int) -> Any:
    half = features.dtype.type(0.5)
    weight, bias = circuit.weights[layer, qubit, angle], circuit.bias[layer, qubit, angle]
    feature = load(features, circuit.form.feature_index[layer, qubit, angle])
    return fma(splat(half * weight), feature, splat(half * bias))


@njit(nogil=True)
def _set_rotations(circuit: Any, features: Any, layer: int, rotations: Any) -> None:
    for qubit in range(rotations.shape[0]):
        cosine, sine = cosine_sine(_half_angle(circuit, features, layer, qubit, 1))
        set_rotation(rotations, qubit, cosine, sine)


@njit(nogil=True)
def _set_phases(circuit: Any, features: Any, layer: int, phases: Any) -> None:
    followed = layer + 1 < circuit.weights.shape[0]
    for qubit in range(phases.shape[0]):
        cosine, sine = cosine_sine(_half_angle(circuit, features, layer, qubit, 2))
        if followed:
            next_cosine, next_sine = cosine_sine(_half_angle(circuit, features, layer + 1, qubit, 0))
            both_sines, mixed = sine * next_sine, cosine * next_sine
            store(phases, 4 * qubit, fma(cosine, next_cosine, -both_sines))
            store(phases, 4 * qubit + 1, fma(sine, next_cosine, mixed))
            store(phases, 4 * qubit + 2, fma(cosine, next_cosine, both_sines))
            store(phases, 4 * qubit + 3, fma(sine, next_cosine, -mixed))
        else:
            for sign in range(2):
                store(phases, 4 * qubit + 2 * sign, cosine)
                store(phases, 4 * qubit + 2 * sign + 1, sine)


@njit(nogil=True)
def _start(state: Any, rotations: Any) -> None:
    """The first layer's RY on |0…0⟩: a product state, real, stored in plain order."""
    zero = splat(state.dtype.type(0))
    store(state, 0, splat(state.dtype.type(1)))
    store(state, 1, zero)
    n = rotations.shape[0]
    for qubit in range(n):
        cosine = load(rotations, 2 * qubit)
        sine = cosine * load(rotations, 2 * qubit + 1)
        for index in range((1 << qubit) - 1, -1, -1):
            value = load(state, 2 * index)
            store(state, 4 * index, cosine * value)
            store(state, 4 * index + 1, zero)
            store(state, 4 * index + 2, sine * value)
            store(state, 4 * index + 3, zero)


@njit(nogil=True)
def ring_forward(circuit: Any, features: Any, state: Any, work: Any) -> None:
    """state = U(features)|0…0⟩ in the rows of the last layer, without the last ring."""
    n_layers, n = circuit.weights.shape[:2]
    for layer in range(n_layers):
        fill_rows(circuit.form.masks[layer], work.rows)
        _set_rotations(circuit, features, layer, work.rotations)
        if layer == 0:
            _start(state, work.rotations)
        else:
            rotate(state, work.rows, circuit.form.masks[layer], work.rotations, 0)
        _set_phases(circuit, features, layer, work.phases)
        fill_tables(work.phases, n, work.high_table, work.low_table)
        shift_phases(state, work.rows, n, work.high_table, work.low_table)


@njit(nogil=True)
def _add_embedding_slopes(
    circuit: Any, features: Any, layer: int, angle: int, slopes: Any, by_w: Any, by_b: Any
) -> None:
    for qubit in range(slopes.shape[0]):
        slope = load(slopes, qubit)
        feature = load(features, circuit.form.feature_index[layer, qubit, angle])
        by_w[layer, qubit, angle] += lane_sum(slope * feature)
        by_b[layer, qubit, angle] += lane_sum(slope)


@njit(nogil=True)
def _add_feature_slopes(circuit: Any, layer: int, angle: int, slopes: Any, by_features: Any) -> None:
    for qubit in range(slopes.shape[0]):
        feature = circuit.form.feature_index[layer, qubit, angle]
        weight = splat(circuit.weights[layer, qubit, angle])
        store(by_features, feature, fma(weight, load(slopes, qubit), load(by_features, feature)))


@njit(nogil=True)
def ring_backward(
    circuit: Any, features: Any, state: Any, work: Any, by_w: Any, by_b: Any, by_features: Any, of_features: int
) -> None:
    """Undoes :func:`ring_forward` on ``state`` and on ``work.adjoint`` and adds up the derivatives.

    With adjoint λ of a scalar f, df = 2 Re⟨λ|dψ⟩. Derivatives go to ``by_w`` and ``by_b`` (summed over lanes) where
    ``of_features`` is 0, to ``by_features`` (d, W) where it is 1, and to all of them where it is 2.
    """
    n_layers, n = circuit.weights.shape[:2]
    by_theta, by_omega, by_phi = work.slopes[0], work.slopes[1], work.slopes[2]
    zero = splat(state.dtype.type(0))
    for layer in range(n_layers - 1, -1, -1):
        masks = circuit.form.masks[layer]
        fill_rows(masks, work.rows)
        _set_phases(circuit, features, layer, work.phases)
        fill_tables(work.phases, n, work.high_table, work.low_table)
        unshift_phases(state, work.adjoint, work.rows, n, work.high_table, work.low_table, work.currents)
        phase_slopes(work.currents, n, by_omega, by_phi)
        _set_rotations(circuit, features, layer, work.rotations)
        if layer == 0:
            unrotate(state, work.adjoint, work.rows, masks, work.rotations, by_theta, zero, False, 0)
        else:
            unrotate(state, work.adjoint, work.rows, masks, work.rotations, by_theta, zero, True, 0)
        if of_features != 0:
            _add_feature_slopes(circuit, layer, 1, by_theta, by_features)
            _add_feature_slopes(circuit, layer, 2, by_omega, by_features)
            if layer + 1 < n_layers:
                _add_feature_slopes(circuit, layer + 1, 0, by_phi, by_features)
        if of_features != 1:
            _add_embedding_slopes(circuit, features, layer, 1, by_theta, by_w, by_b)
            _add_embedding_slopes(circuit, features, layer, 2, by_omega, by_w, by_b)
            if layer + 1 < n_layers:
                _add_embedding_slopes(circuit, features, layer + 1, 0, by_phi, by_w, by_b)


# What compiled code calls, on circuits of either form.


def forward(circuit: Any, features: Any, state: Any, work: Any) -> None:
    """state = U(features)|0…0⟩ of a block of samples."""
    raise NotImplementedError("compiled code only")


def backward(
    circuit: Any, features: Any, state: Any, work: Any, by_w: Any, by_b: Any, by_features: Any, of_features: Any
) -> None:
    """Undoes :func:`forward` on ``state`` and ``work.adjoint``, and adds up the derivatives."""
    raise NotImplementedError("compiled code only")


def _form(circuit: Any) -> Any:
    known = isinstance(circuit, types.NamedTuple) and circuit.instance_class is Circuit
    return circuit.types[circuit.fields.index("form")].instance_class if known else None


@overload(forward, jit_options={"nogil": True})
def _forward(circuit, features, state, work):  # type: ignore[no-untyped-def]
    run: Any = {RingForm: ring_forward, GateForm: gate_forward}.get(_form(circuit))

    def implementation(circuit, features, state, work):  # type: ignore[no-untyped-def]
        run(circuit, features, state, work)

    return implementation if run is not None else None


@overload(backward, jit_options={"nogil": True})
def _backward(circuit, features, state, work, by_w, by_b, by_features, of_features):  # type: ignore[no-untyped-def]
    run: Any = {RingForm: ring_backward, GateForm: gate_backward}.get(_form(circuit))

    def implementation(circuit, features, state, work, by_w, by_b, by_features, of_features):  # type: ignore[no-untyped-def]
        run(circuit, features, state, work, by_w, by_b, by_features, of_features)

    return implementation if run is not None else None
