"""Compiled functions for the parts of the trainer: which of them serves which embedding and readout.

An embedding or a readout is a NamedTuple for compiled code, and a few functions that work on it. The loop of the
trainer calls these functions by their names. For each pair of an embedding and a readout the loop is compiled with the
functions of both in the place of the names, so that a step calls no pointer. A part from outside of the package
registers its functions in the same way as those inside.
"""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from mcquack.simulators.compiled.inner import inlined, inner

_FUNCTIONS: dict[type, dict[str, Callable[..., Any]]] = {}
_INLINED: set[type] = set()


def functions_of(kind: type, **functions: Callable[..., Any]) -> None:
    """Let the trainer use these functions for parts of this type, a NamedTuple.

    Parameters
    ----------
    kind : type
        The type of the embedding or readout, as compiled code gets it.
    **functions
        Plain functions, by the name that the trainer calls each of them, see ``mcquack.training.step`` and
        ``mcquack.training.embeddings``. They may call the functions of the other part by their names.
    """
    _FUNCTIONS.setdefault(kind, {}).update(functions)


def inline_loop_of(embedding: type) -> None:
    """Compile the whole loop as one function for embeddings of this type.

    It takes longer to compile. It pays if a step takes a few microseconds, as long as passing all arrays to a function.
    """
    _INLINED.add(embedding)


def is_inlined(kind: type) -> bool:
    """Return whether the loop is compiled as one function for an embedding of this type."""
    return kind in _INLINED


def named_functions(kind: type) -> Mapping[str, Callable[..., Any]]:
    """Return the functions that are registered for a part of this type."""
    return _FUNCTIONS.get(kind, {})


def bound(function: Callable[..., Any], names: Mapping[str, Any], *, inline: bool = False) -> Any:
    """Return a function for compiled code in which these names stand for the functions that are given."""
    return (inlined if inline else inner)(with_names(function, names))


def with_names(function: Callable[..., Any], names: Mapping[str, Any]) -> Any:
    """Return a copy of a Python function to which these names mean what is given."""
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def compiled_only(name: str) -> Callable[..., Any]:
    """Return a stand-in for a function that the trainer calls by its name: it is bound before anything is compiled."""

    def stand_in(*args: Any) -> Any:
        raise NotImplementedError(f"{name} is bound to a function of an embedding or readout when it is compiled")

    return stand_in
