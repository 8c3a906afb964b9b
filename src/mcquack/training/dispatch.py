"""Compiled functions that are chosen by the type of a part of their first argument.

The parts of the trainer (embeddings, readouts) are NamedTuples for compiled code. Which function serves which of them
is decided when a task is compiled, so that a step calls no pointer. A part from outside of the package registers its
functions in the same way as those inside.
"""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from mcquack.simulators.compiled.inner import INLINED

_FUNCTIONS: dict[type, dict[str, Any]] = {}


def functions_of(kind: type, **functions: Any) -> None:
    """Let compiled code use these functions for parts of this type, a NamedTuple.

    Parameters
    ----------
    kind : type
        The type of the embedding or readout, as compiled code gets it.
    **functions
        By the name that the trainer calls each of them, see ``mcquack.training.step``; compiled by ``inner``.
    """
    _FUNCTIONS.setdefault(kind, {}).update(functions)


def chosen_by(part: str, name: str) -> Callable[..., Any]:
    """Return a function for compiled code that stands for the one of this name of the first argument's part."""

    def stub(*args: Any) -> Any:
        raise NotImplementedError(f"{name} is for compiled code only")

    @overload(stub, jit_options=INLINED)
    def _choose(*args: Any) -> Any:
        kind = _part_type(args[0], part)
        run: Any = _FUNCTIONS.get(kind, {}).get(name)  # type: ignore[arg-type]

        def implementation(*args: Any) -> Any:
            return run(*args)

        return implementation if run is not None else None

    return stub


def _part_type(whole: Any, part: str) -> type | None:
    """The class of a field of a NamedTuple, from Numba's type of the whole."""
    if not isinstance(whole, types.NamedTuple) or part not in whole.fields:
        return None
    return getattr(whole.types[whole.fields.index(part)], "instance_class", None)
