"""RY on a few neighbouring qubits at a time, in place, with all amplitudes involved held in registers.

An array of amplitudes has shape (2**n, 2, W): real and imaginary row of each. RY is real, so it treats the two alike
and apart. ``rows[index]`` says where the amplitude of basis state ``index`` is stored, ``masks[q]`` what flipping
qubit q does to that place (see :func:`mcquack.circuits.entangler.stored_rows`): so the CNOT ring costs nothing.

RY is cos θ/2 times (1, -t; t, 1) with t = tan θ/2. What is here applies these matrices alone, one instruction for each
number, and leaves the cosines of all qubits to whoever multiplies the state next: their product is the *scale* of a
turn. Amplitudes grow meanwhile by its inverse, which :func:`share_turn` keeps within bounds.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from mcquack.arrays import FloatArray
from mcquack.simulators.compiled.inner import INNER, inner
from mcquack.simulators.compiled.lanes import (
    Lanes,
    LanesType,
    Pointer,
    Staged,
    StagedRows,
    any_below,
    at,
    away_from_zero,
    bit_length,
    clipped,
    constant,
    fma,
    load,
    packed_tuple,
    put,
    rounded,
    row_bytes,
    splat,
    staged_tuple,
    store,
)

Registers = list[Staged]

# The least scale of a turn: squares of what its inverse makes of amplitudes are far from overflow in either precision.
_LEAST_SCALE = 1e-14
# For so many numbers of the local bits at a time all other qubits are turned: a call for each would be too short.
_SPAN = 16


@inner
def local_qubits(n: int) -> int:
    """How many of the last qubits are turned together, one chunk of the state after the other.

    A chunk has 2**8 amplitudes up to 16 qubits and 2**10 of 20: with its adjoint it fits the second cache, as do those
    that the other qubits mix. So a turn of all qubits reads the state twice.
    """
    return n if n <= 8 else max(8, (n + 1) // 2)


def _pairs(n_gates: int, gate: int) -> list[tuple[int, int]]:
    """Positions (with the gate's bit 0, with the bit 1) among 2**n_gates registers; gate 0 is the highest bit."""
    bit = 1 << (n_gates - 1 - gate)
    return [(position, position | bit) for position in range(1 << n_gates) if not position & bit]


def _rotated(registers: Registers, tangents: Registers, *, inverse: bool) -> Registers:
    registers = list(registers)
    for gate, tangent in enumerate(tangents):
        up, down = (-tangent, tangent) if inverse else (tangent, -tangent)
        for zero, one in _pairs(len(tangents), gate):
            low, high = registers[zero], registers[one]
            registers[zero], registers[one] = down.fma(high, low), up.fma(low, high)
    return registers


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
def _rotate(typingctx: Any, state: types.Type, base: types.Type, masks: types.Type, tangents: types.Type) -> Any:
    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        memory = StagedRows(context, builder, state, args[0])
        flips = _int_tuple(builder, args[2], masks.count)
        for part in (0, 1):
            places = _places(builder, args[1], flips, part)
            registers = [memory.load(place) for place in places]
            rotated = _rotated(registers, staged_tuple(builder, args[3]), inverse=False)
            for place, register in zip(places, rotated, strict=True):
                memory.store(place, register)
        return context.get_dummy_value()

    return types.none(state, types.int64, masks, tangents), code


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
    typingctx: Any,
    state: types.Type,
    adjoint: types.Type,
    base: types.Type,
    masks: types.Type,
    tangents: types.Type,
    totals: types.Type,
    undo: types.Type,
) -> Any:
    """Adds to ``totals`` the derivatives by the angles and, where ``undo`` is asked for, takes the gates back."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
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
    return totals(state, adjoint, types.int64, masks, tangents, totals, undo), code


@inner
def set_rotation(rotations: FloatArray, qubit: int, cosine: Lanes, sine: Lanes) -> None:
    """Writes cosine and tangent of half an angle; where a cosine vanishes, what stands for it is as good as zero."""
    safe = away_from_zero(cosine)
    store(rotations, 2 * qubit, safe)
    store(rotations, 2 * qubit + 1, sine / safe)


@inner
def share_turn(rotations: FloatArray, skipped: int, scale: FloatArray) -> int:
    """In how many parts a turn is carried out, 1 or 2, so that no amplitude grows beyond bounds; its scale is written.

    ``rotations`` (2, n, 2, W) holds cosine and tangent of every qubit but the first ``skipped``, at first for the whole
    turn in ``rotations[0]``. Lanes with a product of cosines that is nearly zero, as half a turn of a qubit has, make
    two turns of half the angle; the others of their block rest in the second.
    """
    n, width = rotations.shape[1], rotations.shape[3]
    product = load(rotations, 2 * skipped)
    for qubit in range(skipped + 1, n):
        product = product * load(rotations, 2 * qubit)
    store(scale, 0, product)
    if not any_below(product, splat(rotations.dtype.type(_LEAST_SCALE))):
        return 1
    for lane in range(width):
        small = abs(scale[0, lane]) < _LEAST_SCALE
        if small:
            scale[0, lane] = 1 if scale[0, lane] > 0 else -1
        for qubit in range(skipped, n):
            cosine, tangent = 1.0, 0.0
            if small:
                whole = float(rotations[0, qubit, 1, lane])
                tangent = whole / (1 + math.hypot(1.0, whole))
                cosine = 1 / math.hypot(1.0, tangent)
                rotations[0, qubit, 0, lane], rotations[0, qubit, 1, lane] = cosine, tangent
                scale[0, lane] *= cosine * cosine
            rotations[1, qubit, 0, lane], rotations[1, qubit, 1, lane] = cosine, tangent
    return 2


@inner
def fill_rows(masks: Pointer, n: int, rows: Pointer) -> None:
    """All images of the XOR-linear map with these columns, qubit 0 being the highest bit of an index."""
    low = min(n, 3)
    for index in range(1 << low):
        image = 0
        for position in range(low):
            image ^= at(masks, n - 1 - position) * (index >> position & 1)
        put(rows, index, image)
    # Eight at a time, from the images of an index with a one-bit less.
    for eight in range(1, 1 << (n - low)):
        lowest = eight & -eight
        image = at(rows, (eight ^ lowest) << 3) ^ at(masks, n - 3 - bit_length(lowest))
        for index in range(8):
            put(rows, eight << 3 | index, image ^ at(rows, index))


@inner
def _tangent(rotations: Pointer, qubit: int) -> Any:
    return load(rotations, 2 * qubit + 1)


@inner
def _qubits_at_once(left: int, most: int) -> int:
    """So many of the qubits left that no pass has a single one if it can be helped."""
    return min(left, most) if left != most + 1 else (left + 1) // 2


@intrinsic
def _back_at_once(typingctx: Any) -> Any:
    """How many qubits are turned back in one pass: with state, adjoint, tangents and sums, three take 22 registers."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return context.get_constant(types.int64, 3 if row_bytes() == 64 else 2)

    return types.int64(), code


@inner
def _turn(
    state: Pointer,
    rows: Pointer,
    masks: Pointer,
    rotations: Pointer,
    q: int,
    taken: int,
    start: int,
    stop: int,
    step: int,
) -> None:
    """RY on one to three qubits from ``q`` on; the basis states from ``start`` to ``stop`` have zeros there."""
    if taken == 3:
        masks_3 = at(masks, q), at(masks, q + 1), at(masks, q + 2)
        tangents_3 = _tangent(rotations, q), _tangent(rotations, q + 1), _tangent(rotations, q + 2)
        for index in range(start, stop, step):
            _rotate(state, at(rows, index), masks_3, tangents_3)
    elif taken == 2:
        masks_2 = at(masks, q), at(masks, q + 1)
        tangents_2 = _tangent(rotations, q), _tangent(rotations, q + 1)
        for index in range(start, stop, step):
            _rotate(state, at(rows, index), masks_2, tangents_2)
    else:
        masks_1, tangents_1 = (at(masks, q),), (_tangent(rotations, q),)
        for index in range(start, stop, step):
            _rotate(state, at(rows, index), masks_1, tangents_1)


@inner
def rotate_first(state: Pointer, rows: Pointer, masks: Pointer, rotations: Pointer, n: int, skipped: int) -> None:
    """Turns all but the local qubits, without the scale."""
    local = local_qubits(n)
    first = n - local
    for low in range(0, 1 << local if skipped < first else 0, _SPAN):
        q = skipped
        while q < first:
            taken = _qubits_at_once(first - q, 3)
            inner = first - q - taken
            for before in range(1 << q):
                for behind in range(1 << inner):
                    start = (before << (taken + inner) | behind) << local | low
                    _turn(state, rows, masks, rotations, q, taken, start, start + _SPAN, 1)
            q += taken


@inner
def rotate_chunk(
    state: Pointer, rows: Pointer, masks: Pointer, rotations: Pointer, n: int, skipped: int, chunk: int
) -> None:
    """Turns the local qubits of one chunk, without the scale."""
    first = n - local_qubits(n)
    q = max(first, skipped)
    while q < n:
        taken = _qubits_at_once(n - q, 3)
        begin, end, size = chunk << (n - first), (chunk + 1) << (n - first), 1 << (n - q)
        if size == 1 << taken:
            _turn(state, rows, masks, rotations, q, taken, begin, end, size)
        else:
            for start in range(begin, end, size):
                _turn(state, rows, masks, rotations, q, taken, start, start + (size >> taken), 1)
        q += taken


@inner
def rotate(state: Pointer, rows: Pointer, masks: Pointer, rotations: Pointer, n: int, skipped: int) -> None:
    """RY on all qubits but the first ``skipped``, without the scale; ``rotations`` has cos θ/2 and tan θ/2 of each."""
    rotate_first(state, rows, masks, rotations, n, skipped)
    for chunk in range(1 << (n - local_qubits(n))):
        rotate_chunk(state, rows, masks, rotations, n, skipped, chunk)


@inner
def squared_cosines(rotations: Pointer, first: int, last: int) -> Any:
    """The square of the product of the cosines of some qubits: by so much products of two amplitudes grow without."""
    product = load(rotations, 2 * first)
    for qubit in range(first + 1, last):
        product = product * load(rotations, 2 * qubit)
    return product * product


@inner
def _add(slopes: Pointer, q: int, shrink: Lanes, total: Lanes) -> None:
    store(slopes, q, fma(shrink, total, load(slopes, q)))


@inner
def _unturn(
    state: Pointer,
    adjoint: Pointer,
    rows: Pointer,
    masks: Pointer,
    rotations: Pointer,
    slopes: Pointer,
    shrink: Lanes,
    undo: bool,
    q: int,
    taken: int,
    start: int,
    stop: int,
    step: int,
) -> None:
    """The inverse of :func:`_turn` on both arrays; the slopes get ``shrink`` times what both say."""
    zero = constant(slopes, 0)
    if taken == 3:
        masks_3 = at(masks, q), at(masks, q + 1), at(masks, q + 2)
        tangents_3 = _tangent(rotations, q), _tangent(rotations, q + 1), _tangent(rotations, q + 2)
        totals_3 = zero, zero, zero
        for index in range(start, stop, step):
            totals_3 = _unrotate(state, adjoint, at(rows, index), masks_3, tangents_3, totals_3, undo)
        _add(slopes, q, shrink, totals_3[0])
        _add(slopes, q + 1, shrink, totals_3[1])
        _add(slopes, q + 2, shrink, totals_3[2])
    elif taken == 2:
        masks_2 = at(masks, q), at(masks, q + 1)
        tangents_2 = _tangent(rotations, q), _tangent(rotations, q + 1)
        totals_2 = zero, zero
        for index in range(start, stop, step):
            totals_2 = _unrotate(state, adjoint, at(rows, index), masks_2, tangents_2, totals_2, undo)
        _add(slopes, q, shrink, totals_2[0])
        _add(slopes, q + 1, shrink, totals_2[1])
    else:
        masks_1, tangents_1, totals_1 = (at(masks, q),), (_tangent(rotations, q),), (zero,)
        for index in range(start, stop, step):
            totals_1 = _unrotate(state, adjoint, at(rows, index), masks_1, tangents_1, totals_1, undo)
        _add(slopes, q, shrink, totals_1[0])


@inner
def unrotate_chunk(
    state: Pointer,
    adjoint: Pointer,
    rows: Pointer,
    masks: Pointer,
    rotations: Pointer,
    slopes: Pointer,
    shrink: Lanes,
    undo: bool,
    n: int,
    skipped: int,
    chunk: int,
) -> None:
    """The inverse of :func:`rotate_chunk`, adding Im⟨adjoint|Y_q|state⟩ to row q of ``slopes``, ``shrink`` times."""
    first = n - local_qubits(n)
    q = max(first, skipped)
    while q < n:
        taken = _qubits_at_once(n - q, _back_at_once())
        begin, end, size = chunk << (n - first), (chunk + 1) << (n - first), 1 << (n - q)
        if size == 1 << taken:
            _unturn(
                state, adjoint, rows, masks, rotations, slopes, shrink, undo, q, taken, begin, end, size
            )  # fmt: skip
        else:
            for start in range(begin, end, size):
                stop = start + (size >> taken)
                _unturn(
                    state, adjoint, rows, masks, rotations, slopes, shrink, undo, q, taken, start, stop, 1
                )  # fmt: skip
        if undo:
            shrink = shrink * squared_cosines(rotations, q, q + taken)
        q += taken


@inner
def unrotate_first(
    state: Pointer,
    adjoint: Pointer,
    rows: Pointer,
    masks: Pointer,
    rotations: Pointer,
    slopes: Pointer,
    shrink: Lanes,
    undo: bool,
    n: int,
    skipped: int,
) -> None:
    """The inverse of :func:`rotate_first`, after that of all chunks, adding to the slopes of its qubits."""
    local = local_qubits(n)
    first = n - local
    if skipped >= first:
        return
    if undo:
        shrink = shrink * squared_cosines(rotations, first, n)
    for low in range(0, 1 << local, _SPAN):
        q, left = skipped, shrink
        while q < first:
            taken = _qubits_at_once(first - q, _back_at_once())
            inner = first - q - taken
            for before in range(1 << q):
                for behind in range(1 << inner):
                    start = (before << (taken + inner) | behind) << local | low
                    _unturn(
                        state, adjoint, rows, masks, rotations, slopes, left, undo, q, taken, start, start + _SPAN, 1
                    )  # fmt: skip
            if undo:
                left = left * squared_cosines(rotations, q, q + taken)
            q += taken


@inner
def unrotate(
    state: Pointer,
    adjoint: Pointer,
    rows: Pointer,
    masks: Pointer,
    rotations: Pointer,
    slopes: Pointer,
    shrink: Lanes,
    undo: bool,
    n: int,
    skipped: int,
) -> None:
    """Writes Im⟨adjoint|Y_q|state⟩ to row q of ``slopes``, ``shrink`` times, and, with ``undo``, takes RY back on both
    arrays, without the scale.
    """
    clear_slopes(slopes, skipped, n)
    for chunk in range(1 << (n - local_qubits(n))):
        unrotate_chunk(state, adjoint, rows, masks, rotations, slopes, shrink, undo, n, skipped, chunk)
    unrotate_first(state, adjoint, rows, masks, rotations, slopes, shrink, undo, n, skipped)


@inner
def clear_slopes(slopes: Pointer, first: int, last: int) -> None:
    """Sets some rows of slopes to zero."""
    for row in range(first, last):
        store(slopes, row, constant(slopes, 0))


# Cosine and sine of half a rotation angle, for a whole register and without a branch.

# Terms of the polynomials for sine and cosine that leave less than half a unit in the last place on [-π/2, π/2].
_TERMS = {32: (5, 6), 64: (12, 13)}


def _polynomials(bits: int) -> tuple[list[float], list[float]]:
    """Coefficients of sin(x)/x and cos(x) as polynomials in x², the highest power first.

    The short ones are interpolated where a Chebyshev polynomial vanishes, which spreads the error over the range; the
    long ones are Taylor's, as double precision cannot hold better coefficients.
    """
    n_sine, n_cosine = _TERMS[bits]
    if bits == 64:
        sine = [(-1) ** k / math.factorial(2 * k + 1) for k in range(n_sine)]
        cosine = [(-1) ** k / math.factorial(2 * k) for k in range(n_cosine)]
        return sine[::-1], cosine[::-1]
    found = []
    for n_terms, function in ((n_sine, lambda square: np.sinc(np.sqrt(square) / np.pi)), (n_cosine, _cosine_of_square)):
        fitted = np.polynomial.Chebyshev.interpolate(function, n_terms - 1, [0, (math.pi / 2) ** 2])
        found.append(fitted.convert(kind=np.polynomial.Polynomial).coef[::-1].tolist())
    return found[0], found[1]


def _cosine_of_square(square: Any) -> Any:
    return np.cos(np.sqrt(square))


def _half_turns(dtype: type[np.floating[Any]]) -> tuple[np.floating[Any], np.floating[Any]]:
    """π as a sum of two floats, so that subtracting whole multiples of it keeps all digits."""
    main = dtype(math.pi)
    # π - float64(π); the difference is below what math.pi itself can hold.
    beyond_double = 1.2246467991473532e-16
    return main, dtype(math.pi - float(main) + beyond_double)


def cosine_sine(half_angle: Lanes) -> tuple[Lanes, Lanes]:
    """(cos, sin) of a register, up to a common sign of each lane.

    A half angle counts modulo π: a common sign of cosine and sine is a global phase of the state. That saves the
    quadrants, and leaves one polynomial each on [-π/2, π/2].
    """
    raise NotImplementedError("compiled code only")


@overload(cosine_sine, jit_options=INNER)
def _half_angles_cosine_sine(half_angle):  # type: ignore[no-untyped-def]
    if not isinstance(half_angle, LanesType):
        return None
    dtype = np.float32 if half_angle.dtype == types.float32 else np.float64
    pi_main, pi_rest = _half_turns(dtype)
    per_half_turn = dtype(1 / math.pi)
    sine_terms, cosine_terms = (tuple(map(dtype, terms)) for terms in _polynomials(half_angle.dtype.bitwidth))

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


# Cosine and sine with their signs: a phase of one amplitude among others is no common one.


def signed_cosine_sine(angle: Lanes) -> tuple[Lanes, Lanes]:
    """(cos, sin) of a register."""
    raise NotImplementedError("compiled code only")


@overload(signed_cosine_sine, jit_options=INNER)
def _signed_cosine_sine(angle):  # type: ignore[no-untyped-def]
    if not isinstance(angle, LanesType):
        return None
    dtype = np.float32 if angle.dtype == types.float32 else np.float64
    per_half_turn, half, eight, one = dtype(1 / math.pi), dtype(0.5), dtype(8), dtype(1)
    # Beyond, whole turns are not to be told from rounding: any angle is as good, but it must be one.
    most = dtype(2.0**16 if dtype is np.float32 else 2.0**40)

    def implementation(angle):  # type: ignore[no-untyped-def]
        angle = clipped(angle, splat(most))
        cosine, sine = cosine_sine(angle)
        turns = rounded(angle * splat(per_half_turn)) * splat(half)
        odd = turns - rounded(turns)  # ±1/2 after an odd number of half turns
        sign = fma(odd * odd, splat(-eight), splat(one))
        return sign * cosine, sign * sine

    return implementation
