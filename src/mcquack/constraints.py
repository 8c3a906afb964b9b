"""Constraints on settings: each class declares what its settings may be, and one function checks all of them.

A class of settings, or an estimator, has the class attribute ``_constraints``, a mapping from names of settings to
constraints. Subclasses declare what they add or change and inherit the rest.

>>> class Fit:
...     _constraints = {"epochs": Whole(1), "optimizer": OneOf("adam", "sgd")}
...
...     def __init__(self, epochs, optimizer="adam"):
...         self.epochs, self.optimizer = epochs, optimizer
>>> check_settings(Fit(10))
>>> check_settings(Fit(0))
Traceback (most recent call last):
mcquack.errors.InvalidInputError: epochs must be a whole number of at least 1, got 0.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from mcquack.checks import MOST_OF_ALL, is_number, is_whole_number, require


class Constraint(ABC):
    """The values that a setting may have."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """The values in words, as they follow "must be" in an error."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Return whether the setting may have this value."""

    def problem(self, value: Any) -> str | None:
        """Return what was expected in the place of this value, or None if it is accepted."""
        return None if self.accepts(value) else self.expected

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidInputError, with the name of the setting, unless the value is accepted."""
        problem = self.problem(value)
        require(problem is None, name, str(problem), value)


Constraints: TypeAlias = Mapping[str, Constraint]


@dataclass(frozen=True)
class Whole(Constraint):
    """Integers of Python or NumPy from ``least`` to ``most``; by default to what an array can count."""

    least: int = 1
    most: int = MOST_OF_ALL

    @property
    def expected(self) -> str:
        if self.most == MOST_OF_ALL:
            return f"a whole number of at least {self.least}"
        return f"a whole number from {self.least} to {self.most:,}"

    def accepts(self, value: Any) -> bool:
        return is_whole_number(value) and self.least <= int(value) <= self.most

    def problem(self, value: Any) -> str | None:
        too_large = is_whole_number(value) and int(value) > self.most
        return f"at most {self.most:,}" if too_large else super().problem(value)


@dataclass(frozen=True)
class Number(Constraint):
    """Finite numbers between two bounds; ``closed`` says which of the bounds are included.

    >>> Number(0, 1).expected, Number(0, 1, closed="neither").expected
    ('a number from 0 to below 1', 'a number between 0 and 1')
    """

    low: float = 0
    high: float = math.inf
    closed: Literal["left", "right", "both", "neither"] = "left"

    @property
    def expected(self) -> str:
        if self.high == math.inf:
            from_zero = self.low == 0 and self.closed == "neither"
            return "a positive number" if from_zero else f"a number of at least {self.low:g}"
        texts = {
            "left": f"a number from {self.low:g} to below {self.high:g}",
            "right": f"a number above {self.low:g} and at most {self.high:g}",
            "both": f"a number from {self.low:g} to {self.high:g}",
            "neither": f"a number between {self.low:g} and {self.high:g}",
        }
        return texts[self.closed]

    def accepts(self, value: Any) -> bool:
        if not is_number(value) or not math.isfinite(value):
            return False
        above = self.low <= value if self.closed in ("left", "both") else self.low < value
        below = value <= self.high if self.closed in ("right", "both") else value < self.high
        return bool(above and below)


class OneOf(Constraint):
    """One of a few names.

    >>> OneOf("adam", "sgd", "adamw").expected
    '"adam", "sgd" or "adamw"'
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    @property
    def expected(self) -> str:
        *first, last = [f'"{name}"' for name in self.names]
        return f"{', '.join(first)} or {last}" if first else last

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.names


class Boolean(Constraint):
    """True or False, of Python or NumPy."""

    @property
    def expected(self) -> str:
        return "True or False"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class Optional(Constraint):
    """None, or what another constraint accepts."""

    inner: Constraint

    @property
    def expected(self) -> str:
        return f"None or {self.inner.expected}"

    def accepts(self, value: Any) -> bool:
        return value is None or self.inner.accepts(value)

    def problem(self, value: Any) -> str | None:
        found = None if value is None else self.inner.problem(value)
        return self.expected if found == self.inner.expected else found


@dataclass(frozen=True)
class Custom(Constraint):
    """Whatever a function accepts, described in words.

    >>> Custom("an even number", lambda value: value % 2 == 0).accepts(3)
    False
    """

    description: str
    function: Callable[[Any], Any]

    @property
    def expected(self) -> str:
        return self.description

    def accepts(self, value: Any) -> bool:
        return bool(self.function(value))


def check_settings(settings: Any) -> None:
    """Raise InvalidInputError on the first setting that its class does not allow.

    A class may also declare settings that only some of its subclasses have; the others are skipped.
    """
    for name, constraint in constraints_of(type(settings)).items():
        if hasattr(settings, name):
            constraint.check(name, getattr(settings, name))


def constraints_of(kind: type) -> Constraints:
    """Return the constraints of a class and of all classes that it inherits from."""
    return _merged(kind.__mro__)


@cache
def _merged(classes: tuple[type, ...]) -> Constraints:
    found: dict[str, Constraint] = {}
    for each in reversed(classes):
        found |= vars(each).get("_constraints", {})
    return MappingProxyType(found)


# Constraints of settings that many classes have

POSITIVE = Number(0, closed="neither")


def _is_random_state(value: Any) -> bool:
    drawn = isinstance(value, np.random.RandomState) or value is None or value is np.random
    return drawn or (is_whole_number(value) and 0 <= value < 2**32)


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(Number(0).accepts(weight) for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


RANDOM_STATE = Custom("None, a whole number from 0 to 2**32 - 1, or a RandomState", _is_random_state)
CLASS_WEIGHT = Custom('None, "balanced" or a dict of numbers of at least 0', _is_class_weight)
VERBOSE = Custom(
    "0 for silence, or 1 to see how far training is",
    lambda value: isinstance(value, bool | np.bool_) or (is_whole_number(value) and value >= 0),
)
