"""Complex numbers in registers: an array (K, 2, W) holds the real and the imaginary row of each."""

from typing import Any

from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, load, store


@inner
def load_complex(array: Any, index: int) -> Any:
    """(real, imaginary) of the number at ``index``."""
    return load(array, 2 * index), load(array, 2 * index + 1)


@inner
def store_complex(array: Any, index: int, value: Any) -> None:
    """Writes (real, imaginary) to ``index``."""
    store(array, 2 * index, value[0])
    store(array, 2 * index + 1, value[1])


@inner
def times(left: Any, right: Any) -> Any:
    """left · right."""
    return fma(left[0], right[0], -(left[1] * right[1])), fma(left[0], right[1], left[1] * right[0])


@inner
def conjugate(value: Any) -> Any:
    """The same number with the other sign of its imaginary part."""
    return value[0], -value[1]


@inner
def times_both(left: Any, right: Any) -> Any:
    """left · right and left · conj(right), which share half of their products."""
    real, imag = left[0] * right[0], left[1] * right[0]
    return (
        (fma(-left[1], right[1], real), fma(left[0], right[1], imag)),
        (fma(left[1], right[1], real), fma(-left[0], right[1], imag)),
    )
