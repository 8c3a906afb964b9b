"""Inner functions, which only compiled code calls: each becomes part of the entries that use it.

Numba compiles every function apart, with all below it, and once more in each of its callers. For the hundred small
functions of an epoch that is most of the time to compile. Where the version of Numba is one that it was tested with,
``quick_compile`` lets a function wait for its entry, which compiles the whole at once.
"""

import os
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any

import numba
from numba import njit
from numba.extending import overload

if TYPE_CHECKING:
    from mcquack.simulators.compiled.entry import Entry

_TESTED = (0, 61), (0, 68)  # the first and the last version of Numba that quick_compile was tested with


def _is_tested() -> bool:
    first, last = _TESTED
    return first <= tuple(int(part) for part in numba.__version__.split(".")[:2]) <= last


def accepted(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of ``numba.njit`` that this version of Numba has: some are not documented for it."""
    if _is_tested():
        return dict(options)
    return {name: value for name, value in options.items() if _is_accepted(name, value)}


def _is_accepted(name: str, value: Any) -> bool:
    try:
        njit(**{name: value})(_nothing).compile(())
    except Exception:  # a KeyError today
        return False
    return True


def _nothing() -> None:
    pass


def _quick_options() -> Mapping[str, Any]:
    if os.environ.get("MCQUACK_PLAIN_NUMBA") == "1" or not _is_tested():
        return {}
    try:
        from mcquack.simulators.compiled.quick_compile import OPTIONS
    except Exception:  # private places of Numba may be anything
        return {}
    return OPTIONS


_QUICK = _quick_options()
IS_QUICK = bool(_QUICK)
# How inner functions are compiled, for ``inner`` and for ``overload(..., jit_options=INNER)``. Arrays come from Python,
# which holds them as long as the call lasts: nothing counts references here.
INNER = {**accepted({"nogil": True, "_nrt": False, "no_cfunc_wrapper": True}), **_QUICK}
# The same for functions whose arguments are many arrays: to pass them would take longer than a short function runs.
INLINED = {**INNER, **accepted({"forceinline": True})}


class Inner:
    """A function for compiled code. Python may call it too, and gets an entry of the same function."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        # A function that is overloaded is compiled for types. One that is decorated by njit would also be compiled for
        # each small number that stands in a call.
        overload(self, jit_options=options, strict=False)(lambda *_: function)

    @cached_property
    def entry(self) -> "Entry":
        """The function as Python calls it."""
        from mcquack.simulators.compiled.entry import entry

        return entry(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self.entry(*arguments)


def inner(function: Callable[..., Any]) -> Inner:
    """Make a function part of the compiled functions that call it."""
    return Inner(function, INNER)


def inlined(function: Callable[..., Any]) -> Inner:
    """Make a function part of the compiled functions that call it, in the place of each call."""
    return Inner(function, INLINED)
