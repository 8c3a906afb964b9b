"""Values of all combinations of some settings, one or several for each."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.errors import InvalidInputError

Rows = Iterable[tuple[Mapping[str, Any], float]]
_NAMED_IN_ERRORS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class CompleteGrid:
    """Settings by name with their levels, and the values of every cell of the grid in the order of its levels."""

    levels: Mapping[str, tuple[Any, ...]]
    cells: tuple[NDArray[np.float64], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the settings, one for each axis."""
        return tuple(self.levels)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each setting has."""
        return tuple(len(levels) for levels in self.levels.values())


def varying_levels(
    rows: Sequence[tuple[Mapping[str, Any], float]], names: Sequence[str] | None
) -> dict[str, tuple[Any, ...]]:
    """Levels of the named settings, or of all that vary; numbers in rising order, others as they first occur."""
    if not rows:
        raise InvalidInputError("there is nothing to compare; pass rows of settings and values.")
    for settings, value in rows:
        if not math.isfinite(value):
            raise InvalidInputError(f"the value of {_told(settings)} is {value}; leave such rows out, and say so.")
    known = set.intersection(*(set(settings) for settings, _ in rows))
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise InvalidInputError(f"not all rows have a setting {unknown[0]!r}; all have {', '.join(sorted(known))}.")
    wanted = [name for name in rows[0][0] if name in known] if names is None else names
    levels = {name: _ordered(settings[name] for settings, _ in rows) for name in wanted}
    levels = {name: found for name, found in levels.items() if len(found) > 1}
    if not levels:
        raise InvalidInputError("no setting has more than one value, so that none can matter; vary one.")
    return levels


def complete_grid(rows: Rows, *, names: Sequence[str] | None = None) -> CompleteGrid:
    """The grid that rows of settings and values fill, by the named settings or by all that vary.

    Rows that differ in nothing named are replicates of one cell.
    """
    given = list(rows)
    levels = varying_levels(given, names)
    found: dict[tuple[Any, ...], list[float]] = {}
    for settings, value in given:
        found.setdefault(tuple(settings[name] for name in levels), []).append(float(value))
    combinations = list(itertools.product(*levels.values()))
    missing = [combination for combination in combinations if combination not in found]
    if missing:
        examples = "; ".join(_told(dict(zip(levels, each, strict=True))) for each in missing[:_NAMED_IN_ERRORS])
        more = "; …" if len(missing) > _NAMED_IN_ERRORS else ""
        raise InvalidInputError(
            f"the grid of {', '.join(levels)} lacks {len(missing)} of {len(combinations)} cells ({examples}{more}); "
            "run them, or give names= of settings that vary freely."
        )
    return CompleteGrid(levels=levels, cells=tuple(np.array(found[each]) for each in combinations))


def _ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    distinct = tuple(dict.fromkeys(values))
    return tuple(sorted(distinct)) if are_numbers(distinct) else distinct


def are_numbers(levels: Iterable[Any]) -> bool:
    """Whether they have an order; truth values have none."""
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _told(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in settings.items())
