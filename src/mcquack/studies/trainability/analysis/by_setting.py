"""Any number of a run, averaged over the runs that share some settings: what a learning rate or a start does."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t

from mcquack.bench.ranking.intervals import Interval
from mcquack.checks import require
from mcquack.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class GroupMean:
    """Mean over the runs with these settings, with Student's interval where there are two or more.

    ``n_left_out`` runs of the group had no value, because they diverged or because it is not defined for them.
    """

    settings: Mapping[str, Any]
    mean: float
    interval: Interval | None
    n: int
    n_left_out: int = 0


def means_by(
    rows: Iterable[tuple[Mapping[str, Any], float | None]], names: Sequence[str], *, level: float = 0.95
) -> tuple[GroupMean, ...]:
    """Means for each combination of the named settings, in the order in which they first occur.

    A combination without any value is left out.
    """
    require(0 < level < 1, "level", "between 0 and 1", level)
    groups: dict[tuple[Any, ...], list[float | None]] = {}
    for settings, value in rows:
        absent = [name for name in names if name not in settings]
        if absent:
            raise InvalidInputError(f"a run has no setting {absent[0]!r}; it has {', '.join(map(str, settings))}.")
        groups.setdefault(tuple(settings[name] for name in names), []).append(value)
    means = []
    for key, all_values in groups.items():
        values = np.array([value for value in all_values if value is not None and math.isfinite(value)])
        if len(values):
            means.append(
                GroupMean(
                    settings=dict(zip(names, key, strict=True)),
                    mean=float(values.mean()),
                    interval=_interval(values, level),
                    n=len(values),
                    n_left_out=len(all_values) - len(values),
                )
            )
    return tuple(means)


def _interval(values: "np.ndarray[Any, np.dtype[np.float64]]", level: float) -> Interval | None:
    if len(values) < 2:
        return None
    half = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return Interval(low=float(values.mean()) - half, high=float(values.mean()) + half, level=level)
