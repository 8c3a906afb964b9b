"""The settings that a search may try, as data."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from mcquack.errors import InvalidInputError

Settings = dict[str, Any]


@dataclass(frozen=True)
class SearchSpace:
    """Every combination of the values listed for each setting, numbered as scikit-learn's ParameterGrid does.

    A grid search iterates over it, a random search draws numbers below its length, and an optimiser chooses a position
    in each list of ``searched`` and asks ``at``.
    """

    choices: tuple[tuple[str, tuple[Any, ...]], ...]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """From names with lists of values to try, or with the one value to keep; a value may be a list of numbers."""
        return cls(tuple((name, _values(name, table[name])) for name in sorted(table)))

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        """All settings with their values, as searches of scikit-learn take them."""
        return dict(self.choices)

    @property
    def searched(self) -> dict[str, tuple[Any, ...]]:
        """The settings that have several values."""
        return {name: values for name, values in self.choices if len(values) > 1}

    @property
    def fixed(self) -> Settings:
        """The settings that have one value only."""
        return {name: values[0] for name, values in self.choices if len(values) == 1}

    def at(self, positions: Mapping[str, int]) -> Settings:
        """The settings with these positions in their lists, and the first value where none is given."""
        unknown = positions.keys() - self.values.keys()
        if unknown:
            raise InvalidInputError(f"{sorted(unknown)} are not in this search space; it has {sorted(self.values)}.")
        return {name: values[positions.get(name, 0)] for name, values in self.choices}

    def __len__(self) -> int:
        return math.prod(len(values) for _, values in self.choices)

    def __iter__(self) -> Iterator[Settings]:
        for combination in product(*self.values.values()):
            yield dict(zip(self.values, combination, strict=True))

    def __getitem__(self, number: int) -> Settings:
        if not 0 <= number < len(self):
            raise IndexError(f"settings are numbered from 0 to {len(self) - 1}, got {number}.")
        positions = {}
        for name, values in reversed(self.choices):
            number, positions[name] = divmod(number, len(values))
        return self.at(positions)


def _values(name: str, given: Any) -> tuple[Any, ...]:
    values = tuple(map(_frozen, given)) if isinstance(given, list | tuple) else (given,)
    if not values:
        raise InvalidInputError(f"{name} has no values to try; list at least one.")
    for value in values:
        if not all(map(_is_plain, value if isinstance(value, tuple) else (value,))):
            raise InvalidInputError(f"{name} must be numbers, texts, true, false or lists of them, got {value!r}.")
    if len(set(values)) < len(values):
        raise InvalidInputError(f"{name} lists a value twice: {list(values)}; list each once.")
    return values


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
