"""What the values of settings are asked, in one voice."""

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from mcquack.errors import InvalidInputError


def is_whole_number(value: Any) -> bool:
    """An integer of Python or NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """An integer or a float of Python or NumPy."""
    return is_whole_number(value) or isinstance(value, float | np.floating)


def require(condition: Any, name: str, expected: str, value: object) -> None:
    """Says what the setting ``name`` must be, unless the condition holds."""
    if not condition:
        raise InvalidInputError(f"{name} must be {expected}, got {value!r}.")


def require_positive(name: str, value: Any) -> None:
    """Refuses all but finite numbers above zero."""
    require(is_number(value) and 0 < value < np.inf, name, "a positive number", value)


def did_you_mean(name: object, known: Iterable[str], *, otherwise: str) -> str:
    """The known names that are close to one that is not, as a question, or what to say if none is."""
    close = difflib.get_close_matches(str(name).lower(), list(known), n=3)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


def required_count(name: str, value: Any) -> int:
    """The value as a plain integer, refused unless it is a whole number of at least 1."""
    require(is_whole_number(value) and value >= 1, name, "a whole number of at least 1", value)
    return int(value)
