"""RY on a few neighbouring qubits at a time, in place, with all amplitudes involved held in registers.

An array of amplitudes has shape (2**n, 2, W): real and imaginary row of each. RY is real, so it treats the two alike
and apart. ``rows[index]`` says where the amplitude of basis state ``index`` is stored, ``masks[q]`` what flipping
qubit q does to that place (see :func:`mcquack.circuits.entangler.stored_rows`): so the CNOT ring costs nothing.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from mcquack.simulators.compiled.lanes import (
    LanesType,
    Staged,
    StagedRows,
    away_from_zero,
    fma,
    load,
    packed_tuple,
    rounded,
    splat,
    staged_tuple,
    store,
)

Registers = list[Staged]

# The gates of the last so many qubits are applied to one chunk of the state after the other: a chunk of 2**9 amplitudes
# and its adjoint take 128 KiB, so that all passes but the first find them in the second-level cache.
LOCAL_QUBITS = 9


def _pairs(n_gates: int, gate: int) -> list[tuple[int, int]]:
    """Positions (with the gate's bit 0, with the bit 1) among 2**n_gates registers; gate 0 is the highest bit."""
    bit = 1 << (n_gates - 1 - gate)
    return [(position, position | bit) for position in range(1 << n_gates) if not position & bit]


def _rotated(registers: Registers, rotations: Registers, *, inverse: bool) -> Registers:
    """RY as cos θ/2 times (1, -t; t, 1) with t = tan θ/2: one instruction for each number, and the cosines at last."""
    n_gates = len(rotations) // 2
    registers = list(registers)
    scale = rotations[0]
    for gate in range(n_gates):
        cosine, tangent = rotations[2 * gate : 2 * gate + 2]
        scale = scale * cosine if gate else scale
        up, down = (-tangent, tangent) if inverse else (tangent, -tangent)
        for zero, one in _pairs(n_gates, gate):
            low, high = registers[zero], registers[one]
            registers[zero], registers[one] = down.fma(high, low), up.fma(low, high)
    return [register * scale for register in registers]


def _places(builder: ir.IRBuilder, base: ir.Value, masks: list[ir.Value], part: int) -> list[ir.Value]:
    """Row numbers of the real (part 0) or imaginary (part 1) rows of the 2**k amplitudes around ``base``."""
    amplitudes = [base]
    for mask in masks:
        amplitudes = [place for amplitude in amplitudes for place in (amplitude, builder.xor(amplitude, mask))]
    integer = ir.IntType(64)
    doubled = (builder.shl(amplitude, ir.Constant(integer, 1)) for amplitude in amplitudes)
    return [builder.or_(row, ir.Constant(integer, part)) for row in doubled]


def _int_tuple(builder: ir.IRBuilder, value: ir.Value, count: int) -> list[ir.Value]:
    return [builder.extract_value(value, position) for position in range(count)]


@intrinsic
def _rotate(typingctx: Any, state: Any, base: Any, masks: Any, rotations: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        memory = StagedRows(context, builder, state, args[0])
        flips = _int_tuple(builder, args[2], masks.count)
        for part in (0, 1):
            places = _places(builder, args[1], flips, part)
            registers = [memory.load(place) for place in places]
            rotated = _rotated(registers, staged_tuple(builder, args[3]), inverse=False)
            for place, register in zip(places, rotated, strict=True):
                memory.store(place, register)
        return context.get_dummy_value()

    return types.none(state, types.int64, masks, rotations), code


def _slopes(state: Registers, adjoint: Registers, totals: Registers) -> Registers:
    """Adds Im⟨adjoint|Y_q|state⟩ of these rows to each gate's total: the derivative by its angle."""
    for gate, total in enumerate(totals):
        for zero, one in _pairs(len(totals), gate):
            total = adjoint[one].fma(state[zero], total)
            total = (-adjoint[zero]).fma(state[one], total)
        totals[gate] = total
    return totals


@intrinsic
def _unrotate(
    typingctx: Any, state: Any, adjoint: Any, base: Any, masks: Any, rotations: Any, totals: Any, undo: Any
) -> Any:
    """Adds to ``totals`` the derivatives by the angles and, where ``undo`` is asked for, takes the gates back."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        memories = StagedRows(context, builder, state, args[0]), StagedRows(context, builder, adjoint, args[1])
        flips = _int_tuple(builder, args[3], masks.count)
        gates, sums = staged_tuple(builder, args[4]), staged_tuple(builder, args[5])
        for part in (0, 1):
            places = _places(builder, args[2], flips, part)
            registers = [[memory.load(place) for place in places] for memory in memories]
            sums = _slopes(registers[0], registers[1], sums)
            if undo.literal_value:
                for memory, before in zip(memories, registers, strict=True):
                    for place, register in zip(places, _rotated(before, gates, inverse=True), strict=True):
                        memory.store(place, register)
        return packed_tuple(context, builder, sums, totals)

    if not isinstance(undo, types.Literal):
        return None
    return totals(state, adjoint, types.int64, masks, rotations, totals, undo), code


@njit(nogil=True)
def _cosine_tangent(rotations: Any, qubit: int) -> Any:
    return load(rotations, 2 * qubit), load(rotations, 2 * qubit + 1)


@njit(nogil=True)
def _two(masks: Any, rotations: Any, q: int) -> Any:
    return (masks[q], masks[q + 1]), _cosine_tangent(rotations, q) + _cosine_tangent(rotations, q + 1)


@njit(nogil=True)
def _three(masks: Any, rotations: Any, q: int) -> Any:
    two_masks, two_gates = _two(masks, rotations, q)
    return (*two_masks, masks[q + 2]), two_gates + _cosine_tangent(rotations, q + 2)


@njit(nogil=True)
def set_rotation(rotations: Any, qubit: int, cosine: Any, sine: Any) -> None:
    """Writes cosine and tangent of half an angle; where a cosine vanishes, what stands for it is as good as zero."""
    safe = away_from_zero(cosine)
    store(rotations, 2 * qubit, safe)
    store(rotations, 2 * qubit + 1, sine / safe)


@njit(nogil=True)
def fill_rows(masks: Any, rows: Any) -> None:
    """All images of the XOR-linear map with these columns, qubit 0 being the highest bit of an index."""
    rows[0] = 0
    n = len(masks)
    for position in range(n):
        mask = masks[n - 1 - position]
        for index in range(1 << position):
            rows[1 << position | index] = rows[index] ^ mask


@njit(nogil=True)
def _rotate_qubits(
    state: Any, rows: Any, masks: Any, rotations: Any, first: int, last: int, chunk: int, skipped: int
) -> None:
    """RY on the qubits from ``first`` or ``skipped`` on to ``last`` - 1; those before have the bits of ``chunk``."""
    n = len(masks)
    q = max(first, skipped)
    while q < last:
        left, rest = last - q, n - q
        begin, end = chunk << (q - first), (chunk + 1) << (q - first)
        if left == 1:
            one_mask, one_gate = (masks[q],), _cosine_tangent(rotations, q)
            for high in range(begin, end):
                for low in range(1 << (rest - 1)):
                    _rotate(state, rows[high << rest | low], one_mask, one_gate)
            q += 1
        elif left == 2 or left == 4:
            two_masks, two_gates = _two(masks, rotations, q)
            for high in range(begin, end):
                for low in range(1 << (rest - 2)):
                    _rotate(state, rows[high << rest | low], two_masks, two_gates)
            q += 2
        else:
            three_masks, three_gates = _three(masks, rotations, q)
            for high in range(begin, end):
                for low in range(1 << (rest - 3)):
                    _rotate(state, rows[high << rest | low], three_masks, three_gates)
            q += 3


@njit(nogil=True)
def rotate(state: Any, rows: Any, masks: Any, rotations: Any, skipped: int) -> None:
    """Applies RY to every qubit but the first ``skipped``; ``rotations`` has the rows cos θ/2, tan θ/2 of each."""
    n = len(masks)
    local = max(0, n - LOCAL_QUBITS)
    _rotate_qubits(state, rows, masks, rotations, 0, local, 0, skipped)
    for chunk in range(1 << local):
        _rotate_qubits(state, rows, masks, rotations, local, n, chunk, skipped)


@njit(nogil=True)
def _add(slopes: Any, q: int, total: Any) -> None:
    store(slopes, q, load(slopes, q) + total)


@njit(nogil=True)
def _unrotate_qubits(
    state: Any,
    adjoint: Any,
    rows: Any,
    masks: Any,
    rotations: Any,
    slopes: Any,
    zero: Any,
    undo: Any,
    first: int,
    last: int,
    chunk: int,
    skipped: int,
) -> None:
    """The inverse of :func:`_rotate_qubits` on both arrays, adding to the slopes."""
    n = len(masks)
    q = max(first, skipped)
    while q < last:
        left, rest = last - q, n - q
        begin, end = chunk << (q - first), (chunk + 1) << (q - first)
        if left == 1:
            one_mask, one_gate = (masks[q],), _cosine_tangent(rotations, q)
            one_total = (zero,)
            for high in range(begin, end):
                for low in range(1 << (rest - 1)):
                    base = rows[high << rest | low]
                    one_total = _unrotate(state, adjoint, base, one_mask, one_gate, one_total, undo)
            _add(slopes, q, one_total[0])
            q += 1
        elif left == 2 or left == 4:
            two_masks, two_gates = _two(masks, rotations, q)
            two_totals = (zero, zero)
            for high in range(begin, end):
                for low in range(1 << (rest - 2)):
                    base = rows[high << rest | low]
                    two_totals = _unrotate(state, adjoint, base, two_masks, two_gates, two_totals, undo)
            _add(slopes, q, two_totals[0])
            _add(slopes, q + 1, two_totals[1])
            q += 2
        else:
            three_masks, three_gates = _three(masks, rotations, q)
            three_totals = (zero, zero, zero)
            for high in range(begin, end):
                for low in range(1 << (rest - 3)):
                    base = rows[high << rest | low]
                    three_totals = _unrotate(state, adjoint, base, three_masks, three_gates, three_totals, undo)
            _add(slopes, q, three_totals[0])
            _add(slopes, q + 1, three_totals[1])
            _add(slopes, q + 2, three_totals[2])
            q += 3


@njit(nogil=True)
def unrotate(
    state: Any,
    adjoint: Any,
    rows: Any,
    masks: Any,
    rotations: Any,
    slopes: Any,
    zero: Any,
    undo: Any,
    skipped: int,
) -> None:
    """Writes Im⟨adjoint|Y_q|state⟩ to row q of ``slopes`` and, with ``undo``, takes RY back on both arrays."""
    n = len(masks)
    for q in range(skipped, n):
        store(slopes, q, zero)
    local = max(0, n - LOCAL_QUBITS)
    for chunk in range(1 << local):
        _unrotate_qubits(state, adjoint, rows, masks, rotations, slopes, zero, undo, local, n, chunk, skipped)
    _unrotate_qubits(state, adjoint, rows, masks, rotations, slopes, zero, undo, 0, local, 0, skipped)


# Cosine and sine of half a rotation angle, for a whole register and without a branch.

# Taylor terms that leave less than half a unit in the last place on [-π/2, π/2].
_TERMS = {32: 7, 64: 12}


def _half_turns(dtype: type[np.floating[Any]]) -> tuple[np.floating[Any], np.floating[Any]]:
    """π as a sum of two floats, so that subtracting whole multiples of it keeps all digits."""
    main = dtype(math.pi)
    # π - float64(π); the difference is below what math.pi itself can hold.
    beyond_double = 1.2246467991473532e-16
    return main, dtype(math.pi - float(main) + beyond_double)


def cosine_sine(half_angle: Any) -> Any:
    """(cos, sin) of a register, up to a common sign of each lane.

    A half angle counts modulo π: a common sign of cosine and sine is a global phase of the state. That saves the
    quadrants, and leaves one polynomial each on [-π/2, π/2].
    """
    raise NotImplementedError("compiled code only")


@overload(cosine_sine)
def _half_angles_cosine_sine(half_angle):  # type: ignore[no-untyped-def]
    if not isinstance(half_angle, LanesType):
        return None
    dtype = np.float32 if half_angle.dtype == types.float32 else np.float64
    pi_main, pi_rest = _half_turns(dtype)
    per_half_turn = dtype(1 / math.pi)
    terms = _TERMS[half_angle.dtype.bitwidth]
    sine_terms = tuple(dtype((-1) ** k / math.factorial(2 * k + 1)) for k in range(terms - 1, -1, -1))
    cosine_terms = tuple(dtype((-1) ** k / math.factorial(2 * k)) for k in range(terms, -1, -1))

    def implementation(half_angle):  # type: ignore[no-untyped-def]
        turns = rounded(half_angle * splat(per_half_turn))
        angle = fma(-turns, splat(pi_rest), fma(-turns, splat(pi_main), half_angle))
        square = angle * angle
        cosine, sine = splat(cosine_terms[0]), splat(sine_terms[0])
        for term in cosine_terms[1:]:
            cosine = fma(cosine, square, splat(term))
        for term in sine_terms[1:]:
            sine = fma(sine, square, splat(term))
        return cosine, sine * angle

    return implementation
