"""Cosine and sine of half a rotation angle, for a whole register and without a branch."""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from mcquack.simulators.statevector.lanes import LanesType, fma, rounded, splat

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
def _cosine_sine(half_angle):  # type: ignore[no-untyped-def]
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
